import type { TestPayment } from '../fixture/payment.ts'

/**
 * The rows that a story leaves, without what differs from run to run: ids, times, and amounts that depend on a rate.
 */
export async function readRows(testPayment: TestPayment): Promise<object> {
  const { db, paymentId } = testPayment
  const { payment, attempts, sales } = await testPayment.system.loadPayment(db, paymentId)
  const rows = async (statement: string) => (await db.query(statement, [paymentId])).rows as Record<string, string>[]
  const amount = (asset: string, units: string): string => (asset === 'EUR' ? units : units.startsWith('-') ? '-' : '+')
  const { status, statusReason, exception, held, payout, closedAs, providerUsed, listenEnded, expiryPostponed } =
    payment
  const entries = await rows(
    `select t.kind, e.account, e.asset, e.amount::text from ledger_entry e join ledger_transaction t on t.id = e.transaction_id
     where t.payment_id = $1`,
  )
  return {
    payment: { status, statusReason, exception, held, payout, closedAs, providerUsed, listenEnded, expiryPostponed },
    reached: {
      converted: payment.takenSale !== null,
      sales: sales.map(({ state }) => state),
      transfer: payment.transfer !== null,
      closed: payment.closedAt !== null,
      reviews: payment.reviews.map(({ reason }) => reason),
    },
    attempts: attempts.map((attempt) => {
      const asset = attempt.provider === 'crypto' ? 'USDC' : attempt.asked.currency
      const { provider, status: is, failureCode, back, returned, outside } = attempt
      const units = [attempt.held, outside].map((each) => amount(asset, each)).join(' ')
      return `${provider} ${is} ${failureCode} ${units} ${asset} ${back} ${returned}`
    }),
    decisions: (await rows('select say, outside from decision where payment_id = $1 order by version')).map(
      ({ say, outside }) => `${say} ${outside}`,
    ),
    ledger: entries
      // The remainder of a rate can be more, less or nothing.
      .filter(({ account, asset }) => !(account === 'exchange' && asset === 'USDC'))
      .map(
        ({ kind, account, asset, amount: units }) => `${kind} ${account} ${amount(asset ?? '', units ?? '')} ${asset}`,
      )
      .toSorted(),
    events: (await rows('select type from event where payment_id = $1 order by sequence')).map(({ type }) => type),
    answers: testPayment.asks.map(
      ({ what, answer }) => `${what}: ${answer?.startsWith('refused') ? 'refused' : outcome(answer)}`,
    ),
  }
}

const outcome = (answer: string | null): string => {
  const { kind = '', status = '' } = JSON.parse(answer ?? '{}') as { kind?: string; status?: string }
  return `${kind}${status}`
}
