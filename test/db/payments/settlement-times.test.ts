import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { newPayment } from '../../../scripts/test/new-payment.ts'
import { insertPayment } from '../../../src/db/payments/payments.ts'
import { readSettlementTimes } from '../../../src/db/payments/settlement-times.ts'
import { newId } from '../../../src/ids.ts'
import { type Seeded, seedDatabase } from '../../webhooks/seed.ts'

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase()
})
afterAll(() => seeded?.close())

/** A payment that was final the given time after its buyer continued, some days ago. */
async function settle(provider: string, { seconds, days = 1 }: { seconds: number; days?: number }): Promise<void> {
  const { db, tenant } = seeded
  const [id, attemptId] = [newId('payment'), newId('attempt')]
  const payment = newPayment({ id, createdAt: new Date().toISOString() })
  await insertPayment(db, tenant, { payment, claim: null, publicUrl: 'http://127.0.0.1:9' })
  await db.query(
    `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, held, created_at, updated_at)
     values ($1, $2, $3, 'card', 'paid', 1, 'EUR', 1, now() - $4 * interval '1 day', now())`,
    [attemptId, id, provider, days],
  )
  await db.query(
    `update payment set paid_attempt_id = $2, succeeded_at = now() - $3 * interval '1 day' + $4 * interval '1 second' where id = $1`,
    [id, attemptId, days, seconds],
  )
}

test('the times of a provider are those of its recent payments, once there are more than 50', async () => {
  for (let number = 1; number <= 50; number++) {
    await settle('card_partner', { seconds: number })
    await settle('wallet_app', { seconds: 1000, days: 31 })
  }
  expect(await readSettlementTimes(seeded.db)).toEqual({})
  await settle('card_partner', { seconds: 26 })
  await settle('wallet_app', { seconds: 20 })
  expect(await readSettlementTimes(seeded.db)).toEqual({ card_partner: { p50: 26, p95: 48 } })
})
