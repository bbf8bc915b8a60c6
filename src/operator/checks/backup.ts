import { reconcile } from '../../db/invariants/reconcile.ts'
import { compareSchema, readContent } from '../../db/operator/health.ts'
import { plural } from '../../domain/plural.ts'
import type { CommandContext } from '../call.ts'
import { giveReconciliation, sayDifferences } from '../reconcile.ts'

/** Run it on a restored database before anything starts there. Returns 1 if the database must not be used. */
export async function checkBackup({ db, say, give }: CommandContext): Promise<number> {
  const { missing, newer } = await compareSchema(db)
  if (newer.length > 0) {
    give('newer', newer)
    say(`WARNING: it is newer than this command: ${newer.join(', ')}. Use the image of that version.`)
    return 1
  }
  if (missing.length > 0) {
    give('missing', missing)
    say(`WARNING: it lacks ${plural(missing.length, 'migration')}: run \`pinrail migrate\` on it, then check again`)
    return 1
  }
  const content = await readContent(db)
  const run = await reconcile(db, 'all')
  give('content', content)
  giveReconciliation(give, run)
  const [payments, payouts] = [plural(content.payments, 'payment'), plural(content.payouts, 'payout')]
  say(`${payments} (${content.open} open), ${payouts} (${content.settled} settled)`)
  say(`${plural(content.events, 'event')}; the chain was read to block ${content.block ?? 'none'}`)
  say(
    content.newest === null
      ? 'the database has no entry'
      : `the newest entry is from ${content.newest}: anything later is missing`,
  )
  const isWell = sayDifferences(say, run)
  say(isWell ? 'it is complete and consistent: it can be used' : 'it is inconsistent: restore another backup')
  return isWell ? 0 : 1
}
