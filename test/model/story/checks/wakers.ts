import { lateMoneyWorkflowId } from '../../../../src/domain/ids.ts'
import { needsOperator, nextStep, snapshotOf } from '../../../../src/domain/payment/snapshot.ts'
import { attemptsOf, orderOf } from '../../world/books.ts'
import { type Facts, sum } from './facts.ts'

/** After all that time only what waits for an operator, visibly, is open. */
export async function checkWakers({ shop, row, intents }: Facts): Promise<string[]> {
  const wrong: string[] = []
  const snapshot = snapshotOf(row)
  const step = nextStep(snapshot)
  const { status, parkReason } = row.payment
  const run = shop.server.running(row.payment.id)
  const reason = needsOperator(snapshot)
  if (step !== 'done' && step !== 'await_operator') wrong.push(`after all that time it is ${status} and waits: ${step}`)
  if (step === 'await_operator' && run === null)
    wrong.push(`waits for an operator (${status}, ${reason}) without a workflow`)
  if (run !== null && reason !== null && run.attributes.get('NeedsOperator') !== true)
    wrong.push(`waits for an operator (${status}, ${reason}), and NeedsOperator is not set`)
  const listed = await shop.db.query('select 1 from attention where payment_id = $1', [row.payment.id])
  if (reason !== null && listed.rows.length === 0)
    wrong.push(`waits for an operator (${status}, ${reason}), and no list shows it`)
  if (status === 'under_review' && parkReason === null) wrong.push('parked without a reason')
  if (status === 'under_review' && parkReason === 'funds_reversed') wrong.push('funds_reversed has no end')
  for (const attemptId of snapshot.late ?? [])
    if (shop.server.running(lateMoneyWorkflowId(attemptId)) === null) wrong.push('late money without a workflow')
  for (const { kind, state } of intents)
    if (state === 'asked' || state === 'pending') wrong.push(`a ${kind} is still ${state}`)
  const open = row.sales.filter(({ state }) => state === 'asked')
  if (open.length > 0 && status !== 'under_review') wrong.push(`a sale has no end (${status})`)
  const unread = await shop.db.query(
    'select 1 from partner_event e join attempt a on a.id = e.attempt_id where a.payment_id = $1 and applied_at is null',
    [row.payment.id],
  )
  if (unread.rows.length > 0) wrong.push(`${unread.rows.length} news unread (${status}, ${parkReason})`)
  const isClosed = await shop.db.query('select closed_at from payment where id = $1', [row.payment.id])
  if ((step === 'done') !== (isClosed.rows[0]?.closed_at !== null))
    wrong.push(`closed_at does not fit: ${status}, ${step}`)
  if (step === 'done' && run !== null) wrong.push(`${status}, nothing is left, and the workflow runs on`)
  return wrong
}

/** Money at a partner that is neither settled nor returned is before a person, by the partner's own books. */
export async function checkVisible({ shop, row }: Facts): Promise<string[]> {
  const { payment, parts } = row
  const isSettled = payment.usdc !== null && payment.status !== 'refunded' && payment.parkReason !== 'payout_voided'
  const listed = await shop.db.query('select kind, attempt_id from attention where payment_id = $1', [payment.id])
  for (const attempt of await attemptsOf(shop)) {
    const order = await orderOf(shop, attempt)
    const isListed = listed.rows.some(({ kind, attempt_id: of }) => kind === 'misfit' && of === attempt.id)
    if (order?.status === 'refunded' && isListed) return ['a person is asked about an order that was given back']
  }
  if (listed.rows.length > 0) return []
  for (const attempt of await attemptsOf(shop)) {
    const order = await orderOf(shop, attempt)
    const asked = row.attempts.find(({ id }) => id === attempt.id)?.asked.minor
    if (order?.status !== 'paid' || order.minor !== asked) continue
    const settled = isSettled && attempt.id === payment.paidAttemptId ? BigInt(payment.confirmed?.minor ?? '0') : 0n
    const outside = parts.filter(({ attemptId, kind }) => attemptId === attempt.id && kind === 'return_outside')
    const returned = -sum(outside.map(({ units }) => units))
    if (BigInt(order.receivedMinor ?? '0') > settled + returned)
      return [`a partner holds ${order.receivedMinor} of the buyer's money, and no list shows it (${payment.status})`]
  }
  return []
}
