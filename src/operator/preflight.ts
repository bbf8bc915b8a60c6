import { openAccounts } from '../chain/keys/open.ts'
import { isPublicAddress } from '../chain/keys/public-addresses.ts'
import { ENVIRONMENT, preflightProblems } from '../config/config.ts'
import type { Problem } from '../config/live.ts'
import type { Environment } from '../config/read.ts'
import { Secret, splitSecrets } from '../config/secret.ts'
import { assertSessionAt } from '../db/assert-session.ts'
import { readTreasuries, whyKeysDiffer } from '../domain/settlement/treasuries.ts'

const KEYS = ['TREASURY_KEY', 'RETIRED_TREASURY_KEYS', 'RELAYER_KEYS', 'GAS_FUNDING_KEY'] as const

const TREASURY_KEYS: readonly string[] = ['TREASURY_KEY', 'RETIRED_TREASURY_KEYS']

export type Preflight = {
  /** Default: those of the process. */
  readonly env?: Environment | undefined
  readonly say: (line: string) => void
  readonly give?: ((name: string, value: unknown) => void) | undefined
}

/** Variables without which live mode starts, although an operator probably wants them. */
const ADVICE: readonly Problem[] = [
  { name: 'IMPRINT_URL', must: 'should be set: many countries require a page that says who you are' },
  { name: 'PLATFORM_NAME', must: 'should be set: pages, mails and receipts show the name Pinrail' },
]

/**
 * Asks no node and no Temporal, but reads the database's settings, opens the keystores, and asks key services for the
 * addresses of their keys. Returns 0 if API and worker would start in live mode.
 */
export async function preflight({ env, say, give = () => undefined }: Preflight): Promise<number> {
  const found = preflightProblems(env)
  const variables = env ?? ENVIRONMENT
  const problems = [...found, ...(await keyProblems(variables)), ...(await databaseProblems(variables, found))]
  give('problems', problems)
  const advice = ADVICE.filter(({ name }) => !variables[name])
  give('advice', advice)
  for (const { name, must } of [...problems, ...advice]) say(`${name}: ${must}`)
  say(problems.length === 0 ? 'ready for live mode' : `${problems.length} to fix before live mode`)
  return problems.length === 0 ? 0 : 1
}

async function databaseProblems(env: Environment, found: readonly Problem[]): Promise<Problem[]> {
  const pooled = env['DATABASE_POOLER'] === 'transaction'
  const asked = (['DATABASE_URL', 'DATABASE_READ_URL'] as const).map(async (name): Promise<Problem[]> => {
    const url = env[name]
    if (url === undefined || url === '' || found.some((problem) => problem.name === name)) return []
    try {
      await assertSessionAt({ url, pooled })
      return []
    } catch (error) {
      return [{ name, must: `must be a usable database: ${error instanceof Error ? error.message : String(error)}` }]
    }
  })
  return (await Promise.all(asked)).flat()
}

async function keyProblems(env: Environment): Promise<Problem[]> {
  const keys = await Promise.all(KEYS.map(async (name) => ({ name, ...(await openKeys(env, name)) })))
  const unusable = keys.flatMap(({ name, must }) => (must === null ? [] : [{ name, must }]))
  return [...unusable, ...repeats(keys), ...listProblems(env, keys)]
}

/** The keys of treasuries must match the list. A single treasury needs no list. */
function listProblems(env: Environment, keys: readonly { name: string; addresses: readonly string[] }[]): Problem[] {
  const ours = keys.filter(({ name }) => TREASURY_KEYS.includes(name)).flatMap(({ addresses }) => addresses)
  const list = env['TREASURIES'] ? readTreasuries(splitSecrets(new Secret(env['TREASURIES']))) : []
  const differing =
    typeof list === 'string' || (list.length === 0 && ours.length < 2) ? null : whyKeysDiffer(ours, list)
  return differing === null ? [] : [{ name: 'TREASURIES', must: differing.replace(/^TREASURIES /, '') }]
}

type Opened = { readonly addresses: readonly string[]; readonly must: string | null }

async function openKeys(env: Environment, name: (typeof KEYS)[number]): Promise<Opened> {
  const keys = env[name]
  if (keys === undefined || keys === '') return { addresses: [], must: null }
  try {
    const accounts = await openAccounts(keys, { password: env['KEYSTORE_PASSWORD'] })
    const addresses = accounts.map(({ address }) => address.toLowerCase())
    // A private key in the variable itself was already checked.
    if (/keystore:|-kms:/.test(keys) && accounts.some(({ address }) => isPublicAddress(address)))
      return { addresses, must: 'must not be a public test key' }
    return { addresses, must: name === 'GAS_FUNDING_KEY' && accounts.length > 1 ? 'must be one key' : null }
  } catch (error) {
    return { addresses: [], must: `must open: ${error instanceof Error ? error.message : String(error)}` }
  }
}

/** The engine refuses a wallet that has two roles, and one that is listed twice. */
function repeats(wallets: readonly { readonly name: string; readonly addresses: readonly string[] }[]): Problem[] {
  const named = new Map<string, string>()
  return wallets.flatMap(({ name, addresses }) => {
    let other: string | undefined
    for (const address of addresses) {
      other ??= named.get(address)
      named.set(address, named.get(address) ?? name)
    }
    if (other === undefined) return []
    return [{ name, must: other === name ? 'must name each wallet once' : `must not be the same wallets as ${other}` }]
  })
}
