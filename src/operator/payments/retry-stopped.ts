import { loadPayment } from '../../db/payments/payments.ts'
import { listStopped } from '../../db/settlement/payouts.ts'
import { paymentWorkflowId } from '../../domain/ids.ts'
import { plural } from '../../domain/plural.ts'
import { PASSING_STOPS, PAYOUT_STOP_REASONS } from '../../domain/settlement/payout.ts'
import { createTemporalClient } from '../../temporal/connect.ts'
import { sendDecision } from '../../temporal/decisions.ts'
import { type CommandContext, signedBy, UsageError } from '../call.ts'

/** Payouts in one run. */
const MOST = 1000

/**
 * Sends the decisions one after the other. Returns 1 if a payment was not retried, and ends if Temporal or the workers
 * do not respond. A dry run lists the payments.
 */
export async function retryStopped(context: CommandContext): Promise<number> {
  const { db, settings, subjects, options, say, give } = context
  const reasons = PAYOUT_STOP_REASONS.filter((reason) => !PASSING_STOPS.includes(reason))
  const reason = reasons.find((one) => one === subjects[0])
  if (reason === undefined) throw new UsageError(`a reason is one of ${reasons.join(', ')}`)
  const note = signedBy(context)
  const stopped = await listStopped(db, { reason, limit: MOST })
  give('payments', stopped)
  if (options['dry-run'] === true) {
    for (const paymentId of stopped) say(`would retry ${paymentId}`)
    say(`${plural(stopped.length, 'payment')} would be retried`)
    return 0
  }
  const temporal = createTemporalClient(settings)
  let done = 0
  try {
    for (const paymentId of stopped) {
      const workflowId = paymentWorkflowId(paymentId)
      const { version } = (await loadPayment(db, paymentId)).payment
      const decision = { ...note, version }
      const outcome = await sendDecision(temporal.client, { workflowId, say: 'settle', decision })
      if (outcome.kind === 'done') done += 1
      else say(`${paymentId} was not retried: ${outcome.message}`)
      // Without workers every further one would wait as long.
      if (outcome.kind === 'unknown') break
    }
  } finally {
    await temporal.close()
  }
  give('retried', done)
  say(`${done} of ${plural(stopped.length, 'payment')} were retried`)
  return done === stopped.length ? 0 : 1
}
