import type { Limits } from './limits.ts'

/**
 * The settings that a session of Postgres must have, whatever the server, the database, the role or a pooler sets. Each
 * direct connection sends SETTINGS with its first packet. A transaction pooler accepts no settings, so there the
 * database user must have them. `assertSession` compares all of them with those of a session.
 */

export type Setting = {
  readonly name: string
  /** As Postgres shows it. */
  readonly must: string
  /** Other values that work. */
  readonly or?: readonly string[]
  readonly because: string
  /** How to correct it if no statement does. */
  readonly advice?: string
}

/** Any user can set these. */
export const SETTINGS: readonly Setting[] = [
  { name: 'search_path', must: 'public', or: ['"$user", public'], because: 'the tables are in that schema' },
  {
    name: 'DateStyle',
    must: 'ISO, MDY',
    or: ['ISO, DMY', 'ISO, YMD'],
    because: 'the driver reads a timestamp of another form as nothing',
  },
  { name: 'IntervalStyle', must: 'postgres', because: 'the driver reads an interval of another form as zero' },
  { name: 'TimeZone', must: 'UTC', or: ['Etc/UTC'], because: 'the hours of the signing limit begin with those of UTC' },
  { name: 'bytea_output', must: 'hex', because: 'bytes in JSON have one form' },
  { name: 'extra_float_digits', must: '1', or: ['2', '3'], because: 'a fraction is written with all its digits' },
  {
    name: 'default_transaction_isolation',
    must: 'read committed',
    because: 'a stricter level fails transactions that run at the same moment',
  },
  { name: 'default_transaction_read_only', must: 'off', because: 'payments are written' },
  { name: 'standard_conforming_strings', must: 'on', because: 'a backslash in a text is a backslash' },
  { name: 'transform_null_equals', must: 'off', because: 'a comparison with null is null' },
  { name: 'array_nulls', must: 'on', because: 'lists of values contain nulls' },
  { name: 'row_security', must: 'on', because: 'the requests of a merchant read by its policies' },
  { name: 'gin_fuzzy_search_limit', must: '0', because: 'a search finds all payments, not a random part' },
  { name: 'exit_on_error', must: 'off', because: 'a connection outlives a statement that is refused' },
  { name: 'idle_session_timeout', must: '0', because: 'idle connections wait for the next request' },
]

/** Limits of single statements through a pooler. On other connections each process or transaction sets its own. */
export const POOLED_LIMITS: readonly Setting[] = [
  { name: 'statement_timeout', must: '15s', because: 'a statement outside a transaction needs a limit' },
  { name: 'lock_timeout', must: '0', because: 'a statement waits for a lock until its own limit' },
]

/**
 * Not sent by a connection: a user has no right to, an older Postgres lacks them, or the administrator has a choice.
 */
export const REFUSED: readonly Setting[] = [
  {
    name: 'synchronous_commit',
    must: 'on',
    or: ['remote_apply', 'remote_write', 'local'],
    because: 'a signature that a crash forgets could be paid twice',
  },
  { name: 'session_replication_role', must: 'origin', because: 'triggers guard the books' },
  { name: 'role', must: 'none', because: 'the user that connects is the one that has these settings' },
  { name: 'transaction_timeout', must: '0', because: 'each statement has a limit, and a migration has none' },
]

const OTHER_DATABASE = 'Create another database: docs/operations.md has the statement.'

/** Properties that no setting corrects. `assertSession` reads all but the encoding by separate expressions. */
export const BEYOND_SETTINGS: readonly Setting[] = [
  {
    name: 'server_encoding',
    must: 'UTF8',
    because: 'names and descriptions are in every script',
    advice: OTHER_DATABASE,
  },
  {
    name: 'lc_ctype',
    must: 'Unicode',
    because: 'a search for é finds É, and one for i finds I',
    advice: OTHER_DATABASE,
  },
  {
    name: 'row_security_active',
    must: 'off',
    because: 'the workers and the relay read the rows of all merchants',
    advice: 'Connect as the owner of the tables.',
  },
]

const PAST_THE_POOLER = 'Connect past the pooler, or set DATABASE_POOLER=transaction.'

/** Settings that only a direct connection sends. The first one marks it: if it is missing, no setting arrived. */
export const DIRECT: readonly Setting[] = [
  {
    name: 'pinrail.session',
    must: 'direct',
    because: 'without the settings of its first packet a session has no limits',
    advice: PAST_THE_POOLER,
  },
  {
    name: 'plan_cache_mode',
    must: 'force_generic_plan',
    because: 'a connection plans each statement once, for all values',
    advice: PAST_THE_POOLER,
  },
]

/** The settings are in the first packet, so they need no round trip. */
export type Connection = { readonly connectionString: string; readonly options?: string }

/** Returns a direct connection with the settings that it needs. Options in the URL stay, unless they are set here. */
export function directConnection(url: string, limits: Limits): Connection {
  const own = new URL(url).searchParams.get('options')
  const settings = [
    ...[...SETTINGS, ...DIRECT].map(({ name, must }) => [name, must] as const),
    ...Object.entries(limits),
  ]
  const options = settings.map(([name, value]) => `-c ${name}=${String(value).replace(/[ \\]/g, '\\$&')}`)
  return {
    // The driver prefers the options in the URL.
    connectionString: url.replace(/([?&])options=[^&#]*&?/, '$1'),
    options: [...(own === null ? [] : [own]), ...options].join(' '),
  }
}
