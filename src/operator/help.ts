import type { Command, OptionName } from './call.ts'
import { COMMANDS } from './commands.ts'

const OPTIONS: Readonly<Record<OptionName, string>> = {
  operator: '--operator <name>       your name: it is stored with the action',
  reason: '--reason <text>         why: it is stored with the action',
  attempt: '--attempt <id>          the attempt whose money goes back, if there are several',
  outside: '--outside               the buyer got the money from elsewhere: it is recorded, and no partner is asked',
  proof: '--proof <text>          what proves that, such as the reference of a bank; it proves one thing only',
  version: '--version <number>      the version of the payment that you looked at; required by all but hold',
  name: '--name <text>           a name, or a part of one',
  scopes: '--scopes <a,b>          what the key can do; default payments:read,payments:write',
  'allowed-ips': '--allowed-ips <a,b>     addresses or networks from which it can be used; default all',
  days: '--days <n>              a number of days: until a key expires, default never; or for which a reserve is held',
  percent: '--percent <n>           a percentage, or `standard`',
  limit: '--limit <n>             the largest number of lines',
  status: '--status <status>       only this status',
  message: '--message <text>        one line that the merchant reads',
  payment: '--payment <usdc>        what one payment can be worth, in whole USDC, or `standard`',
  day: '--day <usdc>            what the payments of a day can be worth, in whole USDC, or `standard`',
  open: '--open <n>              how many payments can be open at once, or `standard`',
  'hold-payouts':
    '--hold-payouts          sign no payout of the merchant until it is resumed, or suspended again with the next option',
  'release-payouts': '--release-payouts       sign its payouts again, although it stays suspended',
  merchant: '--merchant <id>         only this merchant',
  since: '--since <time>          from this time on, such as 2026-11-01T00:00:00Z',
  'block-hash': '--block-hash <hash>     the hash of the receipt’s block, from a source that you trust',
  to: '--to <treasury>         the treasury that takes over; default the last one whose key a worker has',
  keys: '--keys <file>           public keys, as /.well-known/jwks.json has them',
  'dry-run': '--dry-run               show what would be done, and change nothing',
}

const EXIT_CODES = `Exit codes:
  0  done, or nothing needs attention
  1  nothing was changed, or something needs attention
  2  the command or its variables are wrong
  3  it failed, or the outcome is unknown: check before you repeat it`

const signature = ({ words, subjects = [] }: Command): string =>
  [words, ...subjects.map((subject) => (subject.endsWith('?') ? `[${subject.slice(0, -1)}]` : `<${subject}>`))].join(
    ' ',
  )

const bare = (option: string): OptionName => option.replace('!', '') as OptionName

export function helpFor(words = ''): string {
  const commands = COMMANDS.filter((command) => `${command.words} `.startsWith(words === '' ? '' : `${words} `))
  const shown = commands.length === 0 ? COMMANDS : commands
  const width = Math.max(...shown.map((command) => signature(command).length))
  const lines = shown.map((command) => `  ${signature(command).padEnd(width)}  ${command.does}`)
  const used = (Object.keys(OPTIONS) as OptionName[]).filter((name) =>
    shown.some(({ options = [] }) => options.some((option) => bare(option) === name)),
  )
  const options = used.map((name) => `  ${OPTIONS[name]}`)
  const general = [
    '  --json                  print one JSON object',
    '  --help                  show the options of a command',
  ]
  return ['pinrail <command>', ...lines, 'Options:', ...options, ...general, EXIT_CODES].join('\n')
}
