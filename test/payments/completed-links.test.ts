import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { aLink } from '../../scripts/test/new-link.ts'
import { newPayment } from '../../scripts/test/new-payment.ts'
import type { Db } from '../../src/db/db.ts'
import { insertLink } from '../../src/db/links/links.ts'
import { insertPayment } from '../../src/db/payments/payments.ts'
import { withPaidOut } from '../../src/domain/payment/funds/funds.ts'
import { toFunds } from '../../src/domain/payment/funds/stored-funds.ts'
import { newId } from '../../src/ids.ts'
import { type Change, changeLockedPayments } from '../../src/payments/change-payment.ts'
import { recordCompletedLinks } from '../../src/payments/completed-links.ts'
import { plant } from '../support/plant.ts'
import { addEndpoint, type Seeded, seedDatabase } from '../webhooks/seed.ts'

let seeded: Seeded
let db: Db
beforeAll(async () => {
  seeded = await seedDatabase()
  db = seeded.db
  await addEndpoint(db, seeded.tenant, { enabledEvents: ['*'] })
})
afterAll(() => seeded?.close())

describe('The last payment of a link', () => {
  const context = { publicUrl: 'https://pay.example', now: () => Date.now() }
  const transfer = {
    txHash: `0x${'a'.repeat(64)}`,
    logIndex: 1,
    blockNumber: '1',
    finalizedAt: '2026-11-22T10:00:00.000Z',
  }

  /** A link for this number of payments, and payments of it that are about to be settled. */
  async function linkWith(maxPayments: number | null, count: number) {
    const link = newId('link')
    await insertLink(db, seeded.tenant, aLink({ id: link, maxPayments }))
    const ids = Array.from({ length: count }, () => newId('payment'))
    for (const id of ids) {
      const payment = { ...newPayment({ id, createdAt: new Date().toISOString() }), paymentLink: link }
      await insertPayment(db, seeded.tenant, { payment, claim: null, publicUrl: 'http://127.0.0.1:9' })
      await plant(db, "update payment set status = 'settling', payout = 'handed' where id = $1", [id])
    }
    return { link, ids }
  }

  const pay: Change = ({ state, setFunds, setPayment }) => {
    setFunds(withPaidOut(toFunds(state), 0n))
    setPayment({ transfer })
  }

  const succeed = (...ids: readonly string[]) =>
    db.transaction((tx) =>
      changeLockedPayments(
        tx,
        context,
        ids.map((id) => ({ id, change: pay })),
      ),
    )

  async function completions(link: string): Promise<Record<string, unknown>[]> {
    const { rows } = await db.query(
      "select body, payment_id from event where type = 'payment_link.completed' order by sequence",
    )
    return rows
      .map(({ body, payment_id: payment }) => ({ ...JSON.parse(body.toString()).data.object, payment }))
      .filter(({ id }) => id === link)
  }

  test('the last payment of a link announces once that it is complete, and not before', async () => {
    const { link, ids } = await linkWith(2, 3)
    await succeed(ids[0]!)
    expect(await completions(link)).toEqual([])
    await succeed(ids[1]!)
    expect(await completions(link)).toMatchObject([{ payments_count: 3, status: 'sold_out', payment: ids[1] }])
    await succeed(ids[2]!)
    expect(await completions(link)).toHaveLength(1)
  })

  test('payments that are settled together complete the link too, and the event is written with the last of them', async () => {
    const { link, ids } = await linkWith(3, 3)
    const changed = await succeed(...ids)
    expect(changed.map(({ events }) => events.length)).toEqual([1, 1, 1])
    expect(await completions(link)).toMatchObject([{ payment: ids[2] }])
  })

  test('the last two payments at the same time complete the link once', async () => {
    for (let round = 0; round < 5; round++) {
      const { link, ids } = await linkWith(2, 2)
      await Promise.all(ids.map((id) => succeed(id)))
      expect(await completions(link)).toHaveLength(1)
    }
  })

  test('a link without a limit is never complete, and a payment without a link reads none', async () => {
    const { link, ids } = await linkWith(null, 2)
    for (const id of ids) await succeed(id)
    expect(await completions(link)).toEqual([])
    const asked: string[] = []
    await db.transaction((tx) =>
      recordCompletedLinks(
        { ...tx, query: (text) => (asked.push(text), tx.query(text)) },
        { ids: [], publicUrl: '', at: '' },
      ),
    )
    expect(asked).toEqual([])
  })
})
