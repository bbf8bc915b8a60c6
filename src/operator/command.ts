import { parseArgs } from 'node:util'
import leven from 'leven'
import { ConfigurationError, type Environment } from '../config/read.ts'
import { DatabaseRefusal } from '../db/assert-session.ts'
import { type Call, type Command, type OptionName, Refusal, UsageError } from './call.ts'
import { COMMANDS } from './commands.ts'
import { helpFor } from './help.ts'

export type CommandLine = {
  readonly args: readonly string[]
  /** Default: those of the process. */
  readonly env?: Environment | undefined
  readonly say: (line: string) => void
  readonly give?: Call['give'] | undefined
}

const TEXT = { type: 'string' } as const
const OPTIONS = {
  operator: TEXT,
  reason: TEXT,
  attempt: TEXT,
  proof: TEXT,
  version: TEXT,
  name: TEXT,
  scopes: TEXT,
  'allowed-ips': TEXT,
  days: TEXT,
  limit: TEXT,
  status: TEXT,
  merchant: TEXT,
  since: TEXT,
  'block-hash': TEXT,
  keys: TEXT,
  to: TEXT,
  message: TEXT,
  payment: TEXT,
  day: TEXT,
  percent: TEXT,
  open: TEXT,
  'dry-run': { type: 'boolean' },
  outside: { type: 'boolean' },
  'hold-payouts': { type: 'boolean' },
  'release-payouts': { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

/**
 * Returns the exit code: 0 if it is done, 1 if there was nothing to do or something needs attention. Throws for
 * everything else: `exitCodeFor` maps the error to a code.
 */
export async function runCommand({ args, env, say, give = () => undefined }: CommandLine): Promise<number> {
  const { values, positionals } = parse(args)
  if (values.help === true || positionals[0] === 'help') {
    for (const line of helpFor(positionals.filter((word) => word !== 'help').join(' ')).split('\n')) say(line)
    return 0
  }
  const command = COMMANDS.find(({ words }) => `${positionals.join(' ')} `.startsWith(`${words} `))
  if (command === undefined) throw new UsageError(describeUnknown(positionals))
  const { json: _json, help: _help, ...options } = values
  const subjects = positionals.slice(command.words.split(' ').length)
  check(command, { subjects, options: Object.keys(options) })
  return command.run({ subjects, options, env, say, give })
}

function describeUnknown(positionals: readonly string[]): string {
  const group = COMMANDS.filter(({ words }) => words.startsWith(`${positionals[0]} `))
  if (positionals.length === 0 || (positionals.length === 1 && group.length > 0)) return helpFor(positionals[0])
  const typed = positionals.join(' ')
  const near = COMMANDS.filter(({ words }) => {
    const start = positionals.slice(0, words.split(' ').length).join(' ')
    return leven(start, words) <= Math.max(2, words.length / 4)
  })
  const meant = near.length > 0 ? near : group
  const suggestion =
    meant.length === 0 ? '' : `\nDid you mean:\n${meant.map(({ words }) => `  pinrail ${words}`).join('\n')}`
  return `pinrail has no command "${typed}".${suggestion}\nSee all commands: pinrail --help`
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** Refuses every word and option that the command does not take, because it was meant for something. */
function check(command: Command, given: { subjects: readonly string[]; options: readonly string[] }): void {
  const { words, subjects = [], options = [] } = command
  const needed = subjects.filter((subject) => !subject.endsWith('?')).length
  if (given.subjects.length < needed || given.subjects.length > subjects.length || given.subjects.includes(''))
    throw new UsageError(helpFor(words))
  const known = new Map(options.map((option) => [option.replace('!', ''), option.endsWith('!')]))
  const stranger = given.options.find((name) => !known.has(name))
  if (stranger !== undefined) throw new UsageError(`pinrail ${words} has no option --${stranger}\n${helpFor(words)}`)
  const absent = [...known].filter(([name, isNeeded]) => isNeeded && !given.options.includes(name as OptionName))
  if (absent.length > 0)
    throw new UsageError(
      `pinrail ${words} needs ${absent.map(([name]) => `--${name}`).join(' and ')}\n${helpFor(words)}`,
    )
}

function exitCodeFor(error: unknown): number {
  if (error instanceof Refusal) return 1
  return [UsageError, ConfigurationError, DatabaseRefusal].some((kind) => error instanceof kind) ? 2 : 3
}

export type Streams = { readonly out: (text: string) => void; readonly err: (text: string) => void }

/** `name`: the name with which a person calls `pinrail`. */
export type Program = Pick<CommandLine, 'args' | 'env'> & { readonly name?: string }

/** Prints, and returns the exit code. Never throws. */
export async function runPinrail({ args, env, name = 'pinrail' }: Program, { out, err }: Streams): Promise<number> {
  // Works even if the other options cannot be parsed.
  const isJson = args.includes('--json')
  const lines: string[] = []
  const fields = new Map<string, unknown>()
  const say = (line: string): void => void (isJson ? lines.push(line) : out(`${nameCommands(line, name)}\n`))
  const print = (answer: object): void => out(`${JSON.stringify(answer, withoutBigInt)}\n`)
  try {
    const code = await runCommand({ args, env, say, give: (name, value) => fields.set(name, value) })
    if (isJson) print({ exit_code: code, ...inSnakeCase(Object.fromEntries(fields)), lines })
    return code
  } catch (error) {
    const code = exitCodeFor(error)
    const message = error instanceof Error ? error.message : String(error)
    if (isJson) print({ exit_code: code, error: message, ...inSnakeCase(Object.fromEntries(fields)), lines })
    else err(`${nameCommands(message, name)}\n`)
    return code
  }
}

const GROUPS = [...new Set(COMMANDS.map(({ words }) => words.split(' ')[0]))]
const COMMAND = new RegExp(`\\bpinrail (?=(?:<command>|--help|(?:${GROUPS.join('|')})\\b))`, 'g')

/** Replaces `pinrail` in commands by the name that the person types. */
const nameCommands = (text: string, name: string): string => text.replace(COMMAND, `${name} `)

/** Converts the names of all fields to those of the API. */
function inSnakeCase<T>(value: T): T {
  if (Array.isArray(value)) return value.map(inSnakeCase) as T
  if (value === null || typeof value !== 'object' || value instanceof Date) return value
  const named = Object.entries(value).map(([name, part]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    inSnakeCase(part),
  ])
  return Object.fromEntries(named) as T
}

const withoutBigInt = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)
