import type { Command, OptionName } from './call.ts'
import { COMMANDS } from './commands.ts'

/** The help of `pinrail`, made of its commands: what it does not say does not exist. */

const OPTIONS: Readonly<Record<OptionName, string>> = {
  operator: '--operator <name>       who you are: it is kept with what you do',
  reason: '--reason <text>         why: it is kept with what you do',
  attempt: '--attempt <id>          whose money goes back, where it could be two',
  version:
    '--version <number>      of the payment as it was looked at; approve, acknowledge, release and recordExternalRefund need it',
  name: '--name <text>           a name, or a part of one',
  scopes: '--scopes <a,b>          what the key may do; payments:read,payments:write when absent',
  'allowed-ips': '--allowed-ips <a,b>     addresses or networks from which it may be used; all when absent',
  days: '--days <n>              ends after so many days; never when absent',
  limit: '--limit <n>             so many lines at most',
  status: '--status <status>       only those',
  merchant: '--merchant <id>         only of this merchant',
  since: '--since <time>          from then on, such as 2026-11-01T00:00:00Z',
  'block-hash': '--block-hash <hash>     of the receipt’s block, from a source that you trust',
  keys: '--keys <file>           public keys, as /.well-known/jwks.json has them',
  'dry-run': '--dry-run               only says what it would do',
}

const EXIT_CODES = `Exit codes:
  0  done, or nothing to look at
  1  nothing was changed, or something is to be looked at
  2  the command or its variables are wrong
  3  it failed, or what became of it is not known: look before you do it again`

const signature = ({ words, subjects = [] }: Command): string =>
  [words, ...subjects.map((subject) => (subject.endsWith('?') ? `[${subject.slice(0, -1)}]` : `<${subject}>`))].join(
    ' ',
  )

const bare = (option: string): OptionName => option.replace('!', '') as OptionName

/** All commands, or those that begin with the words, with their options. */
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
    '  --json                  one JSON object in place of lines',
    '  --help                  the options of a command',
  ]
  return ['pinrail <command>', ...lines, 'Options:', ...options, ...general, EXIT_CODES].join('\n')
}
