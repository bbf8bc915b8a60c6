import type { Shop } from '../world/shop.ts'

/** The rows that a story leaves behind, without what differs from run to run: ids, moments, and what a rate decides. */
export async function rowsOf(shop: Shop): Promise<object> {
  const { db, paymentId } = shop
  const { payment, attempts, parts, sales } = await shop.system.loadPayment(db, paymentId)
  const order = new Map(attempts.map(({ id }, index) => [id, index]))
  const rows = async (statement: string) => (await db.query(statement, [paymentId])).rows as Record<string, string>[]
  const amount = (asset: string, units: string): string => (asset === 'EUR' ? units : units.startsWith('-') ? '-' : '+')
  const { status, parkReason, exception, held, providerUsed, listenEnded, expiryPostponed } = payment
  const entries = await rows(
    `select t.kind, e.account, e.asset, e.amount::text from ledger_entry e join ledger_transaction t on t.id = e.transaction_id
     where t.payment_id = $1`,
  )
  return {
    payment: { status, parkReason, exception, held, providerUsed, listenEnded, expiryPostponed },
    reached: {
      converted: payment.usdc !== null,
      sales: sales.map(({ state }) => state),
      transfer: payment.transfer !== null,
      closed: payment.closedAt !== null,
    },
    attempts: attempts.map(({ provider, status: is, failureCode }) => `${provider} ${is} ${failureCode}`),
    parts: parts.map(
      ({ attemptId, kind, asset, units, state }) =>
        `${order.get(attemptId)} ${kind} ${amount(asset, units)} ${asset} ${state}`,
    ),
    intents: (await rows('select kind, state from intent where payment_id = $1 order by id')).map(
      ({ kind, state }) => `${kind} ${state}`,
    ),
    incidents: (await rows('select kind, closed_at from incident where payment_id = $1 order by id')).map(
      ({ kind, closed_at: closed }) => `${kind} ${closed === null ? 'open' : 'closed'}`,
    ),
    ledger: entries
      // Where a rate leaves something over, it may be more, less or nothing.
      .filter(({ account, asset }) => !(account === 'exchange' && asset === 'USDC'))
      .map(
        ({ kind, account, asset, amount: units }) => `${kind} ${account} ${amount(asset ?? '', units ?? '')} ${asset}`,
      )
      .toSorted(),
    events: (await rows('select type from event where payment_id = $1 order by sequence')).map(({ type }) => type),
    answers: shop.asks.map(
      ({ what, answer }) => `${what}: ${answer?.startsWith('refused') ? 'refused' : outcome(answer)}`,
    ),
  }
}

const outcome = (answer: string | null): string => {
  const { kind = '', status = '' } = JSON.parse(answer ?? '{}') as { kind?: string; status?: string }
  return `${kind}${status}`
}
