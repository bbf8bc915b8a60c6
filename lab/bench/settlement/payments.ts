import type { Db } from '../../../src/db/db.ts'

/** Adds an endpoint, so that every payout ends in an event and a delivery. */
export async function addEndpoint(db: Db): Promise<void> {
  await db.query(
    `insert into webhook_endpoint (id, merchant_id, livemode, url, secrets)
     values ('we_bench', 'mer_1', false, 'https://shop.example/hook', '[]')`,
  )
}

const QUOTE = { rate: '1.08', rateSource: 'bench', netMicro: '1000000', expiresAt: '2100-01-01T00:00:00.000Z' }

/** Brings payments whose payouts are queued to the state of a real one then: paid, converted, `settling`. */
export async function furnishPayments(db: Db): Promise<void> {
  await db.query(
    `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, held, rate, rate_source, rate_locked_at,
       paid_at, created_at, updated_at)
     select 'att_' || id, id, 'wallet_app', 'banking_app', 'paid', 100, 'USD', 100, '1.08', 'bench', now(), now(), now(), now()
     from payment where status = 'created'`,
  )
  await db.query(
    `insert into sale (payment_id, number, attempt_id, units, gross_micro, fill_micro, reference, state, asked_at)
     select p.id, 1, 'att_' || p.id, 100, o.micro_usdc, o.micro_usdc, p.id, 'filled', now()
     from payment p join payout o on o.payment_id = p.id where p.status = 'created'`,
  )
  await db.query(
    `update payment p set status = 'settling', provider_used = 'wallet_app', method_used = 'banking_app', quote = $1,
       paid_attempt_id = 'att_' || p.id, charge_currency = 'USD', confirmed_minor = 100, rate = '1.08',
       rate_source = 'bench', rate_locked_at = now(), paid_at = now(), taken_sale = 1, payout = 'handed', gross_micro = o.micro_usdc, fee_micro = 0,
       net_micro = o.micro_usdc
     from payout o where o.payment_id = p.id and p.status = 'created'`,
    [QUOTE],
  )
}
