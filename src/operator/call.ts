import { type CommandConfig, type OperatorConfig, readCommandConfig } from '../config/config.ts'
import type { Environment } from '../config/read.ts'
import { assertSession } from '../db/assert-session.ts'
import { createDb, type Db, type Tenant } from '../db/db.ts'
import { assertMode } from '../db/deployment.ts'
import { findMerchant } from '../db/operator/accounts.ts'
import type { Signed } from '../db/operator/actions.ts'

export class UsageError extends Error {}

/** The request cannot be carried out now, and nothing was changed. */
export class Refusal extends Error {}

export type Options = {
  readonly [name in
    | 'operator'
    | 'reason'
    | 'attempt'
    | 'proof'
    | 'version'
    | 'name'
    | 'scopes'
    | 'allowed-ips'
    | 'days'
    | 'limit'
    | 'status'
    | 'merchant'
    | 'since'
    | 'block-hash'
    | 'keys'
    | 'to'
    | 'message'
    | 'payment'
    | 'day'
    | 'percent'
    | 'open']?: string | undefined
} & {
  readonly 'dry-run'?: boolean | undefined
  readonly outside?: boolean | undefined
  readonly 'hold-payouts'?: boolean | undefined
  readonly 'release-payouts'?: boolean | undefined
}

export type Call = {
  readonly subjects: readonly string[]
  readonly options: Options
  /** Default: those of the process. */
  readonly env: Environment | undefined
  /** For people. */
  readonly say: (line: string) => void
  /** For programs: a field of the output of `--json`. */
  readonly give: (name: string, value: unknown) => void
}

/** The help is generated from the commands. */
export type Command = {
  readonly words: string
  /** The subjects in order; `?` at the end marks an optional one. */
  readonly subjects?: readonly string[]
  readonly options?: readonly (OptionName | `${OptionName}!`)[]
  readonly does: string
  /** Returns the exit code: 0, or 1 if there was nothing to do or something needs attention. */
  readonly run: (call: Call) => Promise<number>
}
export type OptionName = keyof Options

export type CommandContext = Call & { readonly db: Db; readonly settings: CommandConfig }

/** Milliseconds: an operator's list may read more than a merchant's request. */
const STATEMENT_TIMEOUT_MS = 60_000

export async function withContext(call: Call, work: (context: CommandContext) => Promise<number>): Promise<number> {
  const settings = readCommandConfig(call.env)
  return withDatabase(settings, (db) => work({ ...call, db, settings }))
}

type DatabaseSettings = Pick<OperatorConfig, 'PINRAIL_MODE' | 'DATABASE_URL' | 'DATABASE_POOLER'>

/** Throws DatabaseRefusal like the start of the API and the worker. */
export async function withDatabase<T>(settings: DatabaseSettings, work: (db: Db) => Promise<T>): Promise<T> {
  const livemode = settings.PINRAIL_MODE === 'live'
  const [url, pooled] = [settings.DATABASE_URL, settings.DATABASE_POOLER === 'transaction']
  const db = createDb({ url, livemode, pooled, pool: 2, statementTimeoutMs: STATEMENT_TIMEOUT_MS })
  try {
    await assertSession(db, { pooled })
    await assertMode(db)
    return await work(db)
  } finally {
    await db.close()
  }
}

/** Every change of money or keys needs both. */
export function signedBy({ options }: Call): Signed {
  const [operator, reason] = [options.operator?.trim(), options.reason?.trim()]
  if (!operator || !reason) throw new UsageError('name yourself and your reason: --operator <name> --reason <text>')
  return { operator, reason }
}

const MOST_LINES = 1000

export function readLimit({ options }: Call, usual: number): number {
  return options.limit === undefined ? usual : wholeNumber('limit', options.limit, MOST_LINES)
}

export function wholeNumber(option: string, text: string, most: number): number {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (number < 1 || number > most) throw new UsageError(`--${option} must be a whole number from 1 to ${most}`)
  return number
}

/** Unix milliseconds. */
export function readSince(text: string): number {
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new UsageError('--since must be a time such as 2026-11-01T00:00:00Z')
  return time
}

export async function requireMerchant({
  db,
  subjects: [id = ''],
}: CommandContext): Promise<Tenant & { readonly name: string }> {
  const merchant = await findMerchant(db, id)
  if (merchant === null) throw new Refusal(`there is no merchant ${id}: see \`pinrail merchants list\``)
  return { merchantId: merchant.id, livemode: db.livemode, name: merchant.name }
}

export type List = {
  readonly none: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly (string | number | null)[])[]
}

/** Returns 1 if the list has no rows, otherwise 0. */
export function sayList(say: Call['say'], { none, head, rows }: List): number {
  const lines = rows.length === 0 ? [none] : columns([head, ...rows])
  for (const line of lines) say(line)
  return rows.length === 0 ? 1 : 0
}

/** Null is shown as a dash. */
export function columns(rows: readonly (readonly (string | number | null)[])[]): string[] {
  const words = rows.map((row) => row.map((word) => String(word ?? '-')))
  const widths = (words[0] ?? []).map((_word, at) => Math.max(...words.map((row) => row[at]?.length ?? 0)))
  return words.map((row) =>
    row
      .map((word, at) => word.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
