import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { aLink } from '../../../scripts/test/new-link.ts'
import { newPayment } from '../../../scripts/test/new-payment.ts'
import type { Db } from '../../../src/db/db.ts'
import { completeLinks } from '../../../src/db/links/completed.ts'
import { insertLink } from '../../../src/db/links/links.ts'
import { changePayment } from '../../../src/db/payments/payment-changes.ts'
import { succeedTogether } from '../../../src/db/payments/payment-sets.ts'
import { insertPayment, loadPayment, lockPayments } from '../../../src/db/payments/payments.ts'
import { because } from '../../../src/domain/timeline.ts'
import { newId } from '../../../src/ids.ts'
import { addEndpoint, type Seeded, seedDatabase } from '../../webhooks/seed.ts'

let seeded: Seeded
let db: Db
beforeAll(async () => {
  seeded = await seedDatabase()
  db = seeded.db
  await addEndpoint(db, seeded.tenant, { enabledEvents: ['*'] })
})
afterAll(() => seeded?.close())

const context = { publicUrl: 'https://pay.example', now: () => Date.now() }
const transfer = {
  txHash: `0x${'a'.repeat(64)}`,
  logIndex: 1,
  blockNumber: '1',
  finalizedAt: '2026-11-22T10:00:00.000Z',
}

/** A link for so many payments, and payments of it that are about to be settled. */
async function linkWith(maxPayments: number | null, count: number) {
  const link = newId('link')
  await insertLink(db, seeded.tenant, aLink({ id: link, maxPayments }))
  const ids = Array.from({ length: count }, () => newId('payment'))
  for (const id of ids) {
    const payment = { ...newPayment({ id, createdAt: new Date().toISOString() }), paymentLink: link }
    await insertPayment(db, seeded.tenant, { payment, claim: null, publicUrl: 'http://127.0.0.1:9' })
    await db.query("update payment set status = 'settling' where id = $1", [id])
  }
  return { link, ids }
}

const succeed = (id: string) =>
  changePayment(db, context, { id, work: (work) => work.move('succeeded', because('settled', {}), transfer) })

async function succeedAll(ids: readonly string[]) {
  return db.transaction(async (tx) => {
    const states = await lockPayments(tx, ids)
    const successes = [...states.values()].map((state) => ({
      state,
      transfer,
      exception: null,
      reason: because('settled', {}),
    }))
    return succeedTogether(tx, context, successes)
  })
}

async function completions(link: string): Promise<Record<string, unknown>[]> {
  const { rows } = await db.query("select body from event where type = 'payment_link.completed' order by sequence")
  return rows.map(({ body }) => JSON.parse(body.toString()).data.object).filter(({ id }) => id === link)
}

test('the last payment of a link announces once that it is complete, and not before', async () => {
  const { link, ids } = await linkWith(2, 3)
  expect((await succeed(ids[0]!)).events).toHaveLength(1)
  expect(await completions(link)).toEqual([])
  expect((await succeed(ids[1]!)).events).toHaveLength(2)
  expect(await completions(link)).toMatchObject([{ id: link, payments_count: 3, status: 'sold_out' }])
  await succeed(ids[2]!)
  expect(await completions(link)).toHaveLength(1)
})

test('payments that are settled together complete it too, and the event is told with the last of them', async () => {
  const { link, ids } = await linkWith(3, 3)
  expect((await succeedAll(ids)).map((events) => events.length)).toEqual([1, 1, 2])
  expect(await completions(link)).toHaveLength(1)
})

test('the last two payments at the same time complete it once', async () => {
  for (let round = 0; round < 5; round++) {
    const { link, ids } = await linkWith(2, 2)
    await Promise.all(ids.map((id, index) => (index === 0 ? succeed(id) : succeedAll([id]))))
    expect(await completions(link)).toHaveLength(1)
  }
})

test('a link without a limit is never complete, and a payment without a link asks for nothing', async () => {
  const { link, ids } = await linkWith(null, 2)
  for (const id of ids) await succeed(id)
  expect(await completions(link)).toEqual([])
  const { payment } = await loadPayment(db, ids[0]!)
  const asked: string[] = []
  await db.transaction((tx) =>
    completeLinks({ ...tx, query: (text) => (asked.push(text), tx.query(text)) }, { publicUrl: '', at: '' }, [
      { ...payment, paymentLink: null },
    ]),
  )
  expect(asked).toEqual([])
})
