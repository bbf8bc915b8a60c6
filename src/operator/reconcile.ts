import { INVARIANTS } from '../db/invariants/invariants.ts'
import { MOST_PAYMENTS, type Reconciliation, reconcile } from '../db/invariants/reconcile.ts'
import { plural } from '../domain/plural.ts'
import { type Call, type CommandContext, columns, Refusal, readSince } from './call.ts'

/** Milliseconds: changes of a week are compared by default. */
const USUAL_MS = 7 * 86_400_000

/** Writes nothing. Returns 1 if something differs. */
export async function reconcileBooks(context: CommandContext): Promise<number> {
  const { db, say, give, options, subjects } = context
  const [payment] = subjects
  const since = new Date(options.since === undefined ? Date.now() - USUAL_MS : readSince(options.since)).toISOString()
  const run = await reconcile(db, payment === undefined ? { since } : { payment })
  if (payment !== undefined && run.payments === 0) throw new Refusal(`there is no payment ${payment}`)
  giveReconciliation(give, run)
  const isWell = sayDifferences(say, run)
  const compared = `${plural(run.payments, 'payment')} by ${INVARIANTS.length} invariants`
  say(`compared ${compared}${payment === undefined ? `, changed since ${since} or open` : ''}`)
  if (run.isCut) say(`… the newest ${MOST_PAYMENTS}; the others were not compared`)
  if (isWell) say('everything agrees')
  else say('docs/operations.md, "When the books do not agree", says what to do about each')
  return isWell ? 0 : 1
}

export function giveReconciliation(give: Call['give'], { payments, differences, unread }: Reconciliation): void {
  give('payments', payments)
  give('invariants', INVARIANTS.length)
  give('differences', differences)
  give('unread', unread)
}

/** Returns true without differences. Throws if an invariant could not be read: then the result is unknown. */
export function sayDifferences(say: Call['say'], { differences, unread }: Reconciliation): boolean {
  const rows = differences.map(({ invariant, subject, difference }) => [invariant, subject, difference])
  if (rows.length > 0) for (const line of columns([['invariant', 'payment', 'difference'], ...rows])) say(line)
  if (unread.length > 0)
    throw new Error(`not compared: ${unread.map(({ invariant, why }) => `${invariant} (${why})`).join(', ')}`)
  return rows.length === 0
}
