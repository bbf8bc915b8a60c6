import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { newPayment } from '../../../scripts/test/new-payment.ts'
import { openDeposit, readDeposit } from '../../../src/db/payments/deposits.ts'
import { changePayment, extendPayment } from '../../../src/db/payments/payment-changes.ts'
import { insertPayment, loadPayment } from '../../../src/db/payments/payments.ts'
import { EXTENSION_MS } from '../../../src/domain/payment/requests.ts'
import { newId } from '../../../src/ids.ts'
import { type Seeded, seedDatabase } from '../../webhooks/seed.ts'

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase()
})
afterAll(() => seeded?.close())

// a part stood before an operator at the old end, while the page counted down to the new one
test('a buyer who asked for more time may complete a part of the price until the new end', async () => {
  const { db, tenant } = seeded
  const [paymentId, attemptId] = [newId('payment'), newId('attempt')]
  const made = newPayment({ id: paymentId, createdAt: new Date().toISOString() })
  await insertPayment(db, tenant, { payment: made, claim: null, publicUrl: 'http://127.0.0.1:9' })
  const end = Date.parse((await loadPayment(db, paymentId)).payment.expiresAt)
  const context = { publicUrl: 'http://shop.example', now: () => end - 60_000 }
  await changePayment(db, context, {
    id: paymentId,
    work: (work) => work.addAttempt({ id: attemptId, provider: 'crypto', method: 'usdc', asked: made.amount }),
  })
  await openDeposit(db, {
    attemptId,
    addressOf: () => `0x${'d'.repeat(40)}`,
    chainId: 31_337,
    token: `0x${'e'.repeat(40)}`,
    askedMicro: '49990000',
    rate: { rate: '1', source: 'test', asOf: made.createdAt },
    expiresAt: Math.floor(end / 1000),
    watchSeconds: 86_400,
  })
  expect((await readDeposit(db, attemptId))?.expiresAt).toBe(Math.floor(end / 1000))
  expect(await db.transaction((tx) => extendPayment(tx, context, paymentId))).toBe(true)
  expect((await readDeposit(db, attemptId))?.expiresAt).toBe(Math.floor((end + EXTENSION_MS) / 1000))
})
