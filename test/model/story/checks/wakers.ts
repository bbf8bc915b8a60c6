import { isClosed } from '../../../../src/domain/payment/payment.ts'
import { type Facts, findSold, getAsset, getRefundedUnits, getUnreturned, isReportedAfter } from './facts.ts'

/** At the end only payments on the attention list are open. */
export async function checkWakers({ testPayment, row, listed }: Facts): Promise<string[]> {
  const wrong: string[] = []
  const { id, status, closedAt, reviews } = row.payment
  const run = testPayment.server.running(id)
  const asked = listed.filter(({ kind }) => kind === 'review')
  const isOpen = closedAt === null
  if (isOpen && asked.length === 0) wrong.push(`after all that time it is ${status}, and nobody is asked`)
  if (isOpen !== (run !== null))
    wrong.push(`${status}, ${isOpen ? 'open without a workflow' : 'closed, and the workflow runs on'}`)
  if (run !== null && asked.length > 0 && run.attributes.get('NeedsOperator') !== true)
    wrong.push(`waits for an operator (${status}), and NeedsOperator is not set`)
  if (!isOpen && asked.length > 0) wrong.push(`an operator is asked about what is closed: ${asked[0]?.detail}`)
  if (status === 'under_review' && asked.length === 0) wrong.push('under review, and nobody is asked')
  if (asked.length !== reviews.length) wrong.push(`${reviews.length} questions, and ${asked.length} in the list`)
  for (const { provider, back, cancelAsked, status: is, outside } of row.attempts) {
    // If the buyer has got it from elsewhere too, and the partner has other money, a person decides.
    const isDecided = back === 'no' || (outside !== '0' && asked.length > 0)
    if (!isDecided) wrong.push(`a give-back by ${provider} is still ${back}`)
    if (cancelAsked && ['opening', 'open', 'verification_required'].includes(is) && !row.payment.listenEnded)
      wrong.push(`a cancellation by ${provider} is still asked for`)
  }
  if (row.sales.some(({ state }) => state === 'asked') && asked.length === 0)
    wrong.push(`a sale has no end (${status})`)
  const unread = await testPayment.db.query(
    'select 1 from partner_callback e join attempt a on a.id = e.attempt_id where a.payment_id = $1 and applied_at is null',
    [id],
  )
  if (unread.rows.length > 0) wrong.push(`${unread.rows.length} callbacks unread (${status})`)
  return wrong
}

/** Money at a partner that is neither settled nor returned is on the attention list, by the partner's own books. */
export function checkVisible(facts: Facts): string[] {
  const { row, listed, orders } = facts
  const sold = findSold(facts)
  const wrong = orders.flatMap(({ attempt, order }) => {
    const isAsked = listed.some(({ detail, attempt_id: of }) => of === attempt.id && !isLoss(detail))
    return order?.status === 'refunded' && isAsked ? ['a person is asked about an order that was given back'] : []
  })
  if (listed.length > 0) return wrong
  for (const known of orders) {
    const { attempt, order, there } = known
    // A partner that withholds money still has it; a payment that ends without that money does not wait for it.
    const isOurs =
      attempt.provider === 'crypto' || ['paid', 'declined', 'canceled', 'expired'].includes(order?.status ?? '')
    if (!isOurs || there === null) continue
    const settled = sold?.attempt.id === attempt.id ? sold.sale.units : 0n
    const left = there + getRefundedUnits(facts, known) - settled - BigInt(attempt.outside)
    const least = attempt.provider === 'crypto' ? 10_000n : 1n
    if (left >= least)
      wrong.push(`${left} ${getAsset(attempt)} of the buyer's are there, and no list shows it (${row.payment.status})`)
  }
  return wrong
}

const isLoss = (detail: string | null): boolean => detail?.startsWith('loss: ') === true

/** A payment does not end while a partner withholds its money, as far as its readings had arrived by then. */
export async function checkHeldThere({ testPayment, row: { payment, attempts } }: Facts): Promise<string[]> {
  if (payment.takenSale !== null || !isClosed(payment.status) || payment.closedAs !== null) return []
  const withheld = attempts.filter((attempt) => attempt.status === 'on_hold' && getUnreturned(attempt) > 0n)
  const said = { reported: "kind = 'attempt.on_hold'", done: `to_status = '${payment.status}'` }
  for (const { id } of withheld)
    if (!(await isReportedAfter(testPayment, id, said)))
      return [`${payment.status}, and a partner withholds money for it`]
  return []
}
