import { parseArgs } from 'node:util'
import { createDb } from '../../src/db/db.ts'
import type { Hex } from '../../src/domain/payout.ts'
import { createSettlementHooks } from '../../src/worker/settlement-hooks.ts'
import type { Progress } from '../setup/progress.mjs'
import { acknowledge, changeOf, changePayout, type Operation, reopen, showStatus } from './operate.ts'
import { rebuild } from './rebuild.ts'
import { readSettings } from './settings.ts'

const USAGE = `npm run settlement -- <command> [--dry-run]
  status                lanes, payouts by state, how far the chain was read, what is paused
  void <payment>        has the authorization cancelled on chain, which makes a refund safe
  hold <payment>        keeps a payout that is not under way from being sent
  release <payment>     puts a held payout back into the queue
  rebuild               makes the settlements anew from the chain and the list of payments
  acknowledge <tx hash> declares an unknown transfer out of the treasury legitimate
  reopen <wallet>       opens a quarantined lane`

const COMMANDS: Readonly<Record<string, (operation: Operation, subject: string) => Promise<number>>> = {
  status: showStatus,
  rebuild,
  void: (operation, payment) => changePayout(operation, payment, changeOf('void', operation)),
  hold: (operation, payment) => changePayout(operation, payment, changeOf('hold', operation)),
  release: (operation, payment) => changePayout(operation, payment, changeOf('release', operation)),
  acknowledge: (operation, hash) => acknowledge(operation, hash.toLowerCase() as Hex),
  reopen: (operation, wallet) => reopen(operation, wallet.toLowerCase() as Hex),
}

/** Commands that concern everything; the others name what they concern. */
const ALONE = new Set(['status', 'rebuild'])

/** For operators. Answers the exit code: 0 when done, 1 when there was nothing to do or something to look at. */
export async function main(args: readonly string[], progress: Pick<Progress, 'line'>): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { 'dry-run': { type: 'boolean', default: false } },
  })
  const [name = '', subject = ''] = positionals
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined || positionals.length !== (ALONE.has(name) ? 1 : 2)) throw new Error(USAGE)
  const settings = readSettings(process.env)
  const db = createDb({ url: settings.DATABASE_URL, pool: 2, statementTimeoutMs: 60_000 })
  const hooks = createSettlementHooks({ publicUrl: settings.PUBLIC_URL, now: Date.now })
  const say = (line: string): void => progress.line(line)
  try {
    return await command({ db, settings, hooks, dryRun: values['dry-run'], say }, subject)
  } finally {
    await db.close()
  }
}
