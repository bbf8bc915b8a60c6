import { parseArgs } from 'node:util'
import { readMigrationUrl, readOperatorConfig } from '../config.ts'
import { createDb } from '../db/db.ts'
import { assertMode } from '../db/deployment.ts'
import { migrate } from '../db/migrate.ts'
import type { Hex } from '../domain/hex.ts'
import { createSettlementHooks } from '../settlement/hooks.ts'
import { showAttention } from './attention.ts'
import { abandon, acknowledge, changeOf, changePayout, type Operation, reopen, showStatus } from './payouts.ts'
import { preflight } from './preflight.ts'
import { rebuild } from './rebuild.ts'
import { repairFinality } from './repair.ts'
import { takeOverPayouts } from './take-over.ts'

const USAGE = `pinrail <command>
  migrate                            brings the database to the newest schema; safe from several places at once
  attention                          money and time that wait for a person, the oldest first
  preflight                          lists what keeps live mode from starting with these variables
  settlement status                  lanes, payouts by state, how far the chain was read, what is paused
  settlement void <payment>          has the authorization cancelled on chain, which makes a refund safe
  settlement hold <payment>          keeps a payout that is not under way from being sent
  settlement release <payment>       puts a held payout back into the queue
  settlement repair-finality         takes back what rests on blocks that were final and are others now
  settlement rebuild                 makes the settlements anew from the chain and the list of payments
  settlement acknowledge <tx hash>   declares an unknown transfer out of the treasury legitimate
  settlement reopen <wallet>         opens a quarantined lane
  settlement abandon-lane <wallet>   gives a lane up: the other lanes carry its payouts at once
  settlement take-over <treasury>    has the current treasury pay what is queued on one whose key is gone
With --dry-run, void, hold, release, repair-finality, rebuild and take-over only say what they would do.`

const SETTLEMENT: Readonly<Record<string, (operation: Operation, subject: string) => Promise<number>>> = {
  status: showStatus,
  rebuild,
  'repair-finality': repairFinality,
  void: (operation, payment) => changePayout(operation, payment, changeOf('void', operation)),
  hold: (operation, payment) => changePayout(operation, payment, changeOf('hold', operation)),
  release: (operation, payment) => changePayout(operation, payment, changeOf('release', operation)),
  acknowledge: (operation, hash) => acknowledge(operation, hash.toLowerCase() as Hex),
  'abandon-lane': (operation, wallet) => abandon(operation, wallet.toLowerCase() as Hex),
  'take-over': (operation, treasury) => takeOverPayouts(operation, treasury.toLowerCase() as Hex),
  reopen: (operation, wallet) => reopen(operation, wallet.toLowerCase() as Hex),
}

/** Commands that concern everything; the others name what they concern. */
const ALONE = new Set(['status', 'rebuild', 'repair-finality'])

export type CommandLine = {
  readonly args: readonly string[]
  /** The variables; those of the process when absent. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  readonly say: (line: string) => void
}

/** For operators. Answers the exit code: 0 when done, 1 when there was nothing to do or something to look at. */
export async function runCommand({ args, env, say }: CommandLine): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { 'dry-run': { type: 'boolean', default: false } },
  })
  const [group = '', name = '', subject = '', ...more] = positionals
  const dryRun = values['dry-run']
  if (group === 'migrate' && positionals.length === 1 && !dryRun) {
    await migrate(readMigrationUrl(env))
    say('the database has the newest schema')
    return 0
  }
  if (group === 'attention' && positionals.length === 1 && !dryRun) return operate({ env, say, dryRun }, showAttention)
  if (group === 'preflight' && positionals.length === 1 && !dryRun) return preflight({ env, say })
  const command = group === 'settlement' && Object.hasOwn(SETTLEMENT, name) ? SETTLEMENT[name] : undefined
  if (command === undefined || more.length > 0 || (subject === '') !== ALONE.has(name)) throw new Error(USAGE)
  return operate({ env, say, dryRun }, (operation) => command(operation, subject))
}

async function operate(
  { env, say, dryRun }: Pick<CommandLine, 'env' | 'say'> & { readonly dryRun: boolean },
  work: (operation: Operation) => Promise<number>,
): Promise<number> {
  const settings = readOperatorConfig(env)
  const livemode = settings.PINRAIL_MODE === 'live'
  const db = createDb({ url: settings.DATABASE_URL, livemode, pool: 2, statementTimeoutMs: 60_000 })
  const hooks = createSettlementHooks({ publicUrl: settings.PUBLIC_URL, now: Date.now })
  try {
    await assertMode(db)
    return await work({ db, settings, hooks, dryRun, say })
  } finally {
    await db.close()
  }
}
