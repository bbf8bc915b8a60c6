import { openAccounts } from '../chain/keys/open.ts'
import { isPublicAddress } from '../chain/keys/public-addresses.ts'
import type { Problem } from '../config/live.ts'
import type { Environment } from '../config/read.ts'
import { ENVIRONMENT, preflightProblems } from '../config.ts'

/** Variables that name keys. */
const KEYS = ['TREASURY_KEY', 'RETIRED_TREASURY_KEYS', 'RELAYER_KEYS', 'GAS_FUNDING_KEY'] as const

export type Preflight = {
  /** The variables; those of the process when absent. */
  readonly env?: Environment | undefined
  readonly say: (line: string) => void
  readonly give?: ((name: string, value: unknown) => void) | undefined
}

/**
 * Says everything that live mode would refuse, a line each. Asks no database, no node and no Temporal, but opens the
 * keystores, and asks key services for the addresses of their keys. Answers 0 when api and worker would start.
 */
export async function preflight({ env, say, give = () => undefined }: Preflight): Promise<number> {
  const problems = [...preflightProblems(env), ...(await keyProblems(env ?? ENVIRONMENT))]
  give('problems', problems)
  for (const { name, must } of problems) say(`${name}: ${must}`)
  say(problems.length === 0 ? 'nothing speaks against live mode' : `${problems.length} to mend before live mode`)
  return problems.length === 0 ? 0 : 1
}

async function keyProblems(env: Environment): Promise<Problem[]> {
  const found = await Promise.all(
    KEYS.map(async (name) => {
      const keys = env[name]
      if (keys === undefined || keys === '') return []
      const must = await openAccounts(keys, { password: env['KEYSTORE_PASSWORD'] }).then(
        (accounts) => {
          // A private key in the variable itself was looked at there.
          if (/keystore:|-kms:/.test(keys) && accounts.some(({ address }) => isPublicAddress(address)))
            return 'must not be a public test key'
          return name === 'GAS_FUNDING_KEY' && accounts.length > 1 ? 'must be one key' : null
        },
        (error: unknown) => `must open: ${error instanceof Error ? error.message : String(error)}`,
      )
      return must === null ? [] : [{ name, must }]
    }),
  )
  return found.flat()
}
