import { newPayment } from '../../scripts/test/new-payment.ts'
import type { Db, Tenant } from '../../src/db/db.ts'
import { execute, sql } from '../../src/db/db.ts'
import { insertPayment } from '../../src/db/payments/payments.ts'
import { recordEvent } from '../../src/db/webhooks/events.ts'
import { insertEndpoint } from '../../src/db/webhooks/webhook-endpoints.ts'
import { createdPayment } from '../../src/domain/payment/new-payment.ts'
import { renderPayment } from '../../src/domain/payment/payment-object.ts'
import { newId } from '../../src/ids.ts'

/** A payment of one mode with all its dependent rows, as the relay would find it after a crash. */
export type Planted = {
  readonly id: string
  readonly token: string
  readonly attemptId: string
  readonly eventId: string
  readonly endpointId: string
}

const TOKEN = '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359'
export const DESTINATION = `0x${'70'.repeat(20)}` as const

/** All rows about a payment, in every table, as one text. */
export async function readStored(db: Db, { id, attemptId, eventId }: Planted): Promise<string> {
  const all = await Promise.all(
    [
      ['select * from payment where id = $1', id],
      ['select * from attempt where payment_id = $1 order by id', id],
      ['select * from timeline_entry where payment_id = $1 order by id', id],
      ['select * from outbox where subject = $1 order by id', id],
      ['select * from payout where payment_id = $1', id],
      ['select * from deposit where payment_id = $1', id],
      ['select * from event where payment_id = $1 order by id', id],
      ['select * from ledger_transaction where payment_id = $1 order by id', id],
      ['select * from partner_callback where attempt_id = $1 order by provider_event_id', attemptId],
      ['select * from delivery where event_id = $1 order by endpoint_id', eventId],
      ['select * from delivery_attempt where event_id = $1', eventId],
    ].map(async ([text, value]) => (await db.query(text!, [value])).rows),
  )
  return JSON.stringify(all)
}

/**
 * Writes a payment of this mode into the database, whatever the mode of the deployment. It was paid an hour ago and
 * waits for its conversion; its start, its callback, its event and the message of its payout are not passed on.
 */
export async function plant(db: Db, tenant: Tenant): Promise<Planted> {
  const id = newId('payment')
  const [attemptId, endpointId, checkoutToken] = [newId('attempt'), newId('endpoint'), `checkout-of-${id}`]
  const past = new Date(Date.now() - 3_600_000).toISOString()
  const payment = newPayment({
    id,
    checkoutToken,
    amountText: '10.00',
    amount: { minor: '1000', currency: 'EUR' },
    provider: null,
    destination: DESTINATION,
    token: TOKEN,
    quote: { rate: '1.25', rateSource: 'test', netMicro: '11937500', expiresAt: past },
    createdAt: past,
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
  })
  await insertPayment(db, tenant, { payment, claim: null, publicUrl: 'http://127.0.0.1:9' })
  await insertEndpoint(db, tenant, {
    id: endpointId,
    url: 'https://shop.example/hooks',
    description: null,
    enabledEvents: ['*'],
    sealedSecret: 'sealed',
  })
  const eventId = await db.transaction(async (tx) => {
    await execute(tx, sql`insert into outbox (kind, subject) values ('payment_changed', ${id})`)
    const object = renderPayment(createdPayment(payment, tenant), [], 'http://127.0.0.1')
    return recordEvent(tx, { ...tenant, type: 'payment.processing', paymentId: id, object, at: past })
  })
  await execute(
    db,
    sql`insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, held, rate, rate_source,
          rate_locked_at, paid_at, created_at, updated_at)
        values (${attemptId}, ${id}, 'wallet_app', 'banking_app', 'paid', 1000, 'EUR', 1000, '1.25', 'test', ${past}, ${past},
          ${past}, ${past})`,
  )
  await execute(
    db,
    sql`insert into sale (payment_id, number, attempt_id, units, gross_micro, state, asked_at)
        values (${id}, 1, ${attemptId}, 1000, 12500000, 'asked', ${past})`,
  )
  await execute(
    db,
    sql`insert into partner_callback (provider, provider_event_id, attempt_id, body_sha256, received_at)
        values ('wallet_app', ${`of ${attemptId}`}, ${attemptId}, ${Buffer.alloc(32)}, ${past})`,
  )
  await execute(
    db,
    sql`update payment set status = 'processing', paid_at = ${past}, paid_attempt_id = ${attemptId},
          provider_used = 'wallet_app', charge_currency = 'EUR', confirmed_minor = 1000, rate = '1.25',
          rate_source = 'test', rate_locked_at = ${past} where id = ${id}`,
  )
  await execute(db, sql`update outbox set created_at = ${past} where subject = ${id}`)
  await execute(db, sql`update delivery set created_at = ${past} where event_id = ${eventId}`)
  if (eventId === null) throw new Error('nobody subscribes to the event')
  return { id, token: checkoutToken, attemptId, eventId, endpointId }
}
