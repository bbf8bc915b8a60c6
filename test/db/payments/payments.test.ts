import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { newPayment } from '../../../scripts/test/new-payment.ts'
import { until } from '../../../scripts/test/until.ts'
import type { Queryable } from '../../../src/db/db.ts'
import { openDeposit, readDeposit } from '../../../src/db/payments/deposits.ts'
import { markCallbacksApplied, recordCallback, takeUnread } from '../../../src/db/payments/partner-callbacks.ts'
import { insertPayment, loadPayment } from '../../../src/db/payments/payments.ts'
import { EXTENSION_MS } from '../../../src/domain/payment/requests.ts'
import { newId } from '../../../src/ids.ts'
import { type Change, changePayment } from '../../../src/payments/change-payment.ts'
import { extendPayment } from '../../../src/payments/extend-payment.ts'
import { type Seeded, seedDatabase } from '../../webhooks/seed.ts'

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase()
})
afterAll(() => seeded?.close())

test('a change of a payment that leaves its status writes no index', async () => {
  const { db, tenant } = seeded
  const id = newId('payment')
  const payment = newPayment({ id, createdAt: new Date().toISOString() })
  await insertPayment(db, tenant, { payment, claim: null, publicUrl: 'http://127.0.0.1:9' })
  const counts = await db.transaction(async (tx) => {
    await tx.query(
      `update payment set version = version + 1, updated_at = now(), gross_micro = 3, fee_micro = 1,
         net_micro = 2 where id = $1`,
      [id],
    )
    const { rows } = await tx.query(
      `select n_tup_upd::int as updated, n_tup_hot_upd::int as "withoutIndex" from pg_stat_xact_user_tables
       where relname = 'payment'`,
    )
    return rows
  })
  expect(counts).toEqual([{ updated: 1, withoutIndex: 1 }])
})

describe('callbacks of a partner', () => {
  let paymentId = ''
  let attemptId = ''
  beforeEach(async () => {
    const { db, tenant } = seeded
    await db.query('delete from partner_callback')
    paymentId = newId('payment')
    attemptId = newId('attempt')
    const payment = newPayment({ id: paymentId, createdAt: new Date().toISOString() })
    await insertPayment(db, tenant, { payment, claim: null, publicUrl: 'http://127.0.0.1:9' })
    await change((draft) =>
      draft.addAttempt({ id: attemptId, provider: 'wallet_app', method: 'banking_app', asked: payment.amount }),
    )
  })

  const change = (work: Change) =>
    changePayment(seeded.db, { publicUrl: 'http://shop.example', now: Date.now }, { id: paymentId, change: work })

  /** The number of statements that wait for an open transaction. */
  async function blocked(): Promise<number> {
    const { rows } = await seeded.db.query(
      `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return (rows[0] as { count: number }).count
  }

  /** Another order of the payment. */
  async function another(): Promise<string> {
    const { asked } = (await loadPayment(seeded.db, paymentId)).attempts[0]!
    const id = newId('attempt')
    await change((draft) => draft.addAttempt({ id, provider: 'wallet_app', method: 'banking_app', asked }))
    return id
  }

  const receive = (eventId: string, body = 0, db: Queryable = seeded.db) =>
    recordCallback(db, {
      provider: 'wallet_app',
      eventId,
      subject: { attemptId },
      bodySha256: new Uint8Array(32).fill(body),
      at: new Date().toISOString(),
    })
  const readUnread = async () => (await loadPayment(seeded.db, paymentId)).unread.get(attemptId)
  const apply = (newest: string) => change((draft) => draft.addStatement(markCallbacksApplied(attemptId, newest)))
  const take = (minAgeMs = 0) => takeUnread(seeded.db, { minAgeMs, limit: 100 })
  /** As if the time of the next repeat had come. */
  const makeDue = () => seeded.db.query('update partner_callback set due_at = now()')
  const waitsSeconds = async (): Promise<number> => {
    const { rows } = await seeded.db.query(
      'select round(extract(epoch from due_at - now())) as waits from partner_callback',
    )
    return Number((rows[0] as { waits: string }).waits)
  }

  describe('A callback of a partner', () => {
    test('a callback is unread until a change has applied the partner’s report, and then never again', async () => {
      expect(await receive('first')).toEqual({ payment_id: paymentId, attempt_id: attemptId, applied: false })
      const unread = await readUnread()
      expect(await take()).toEqual([{ attempt_id: attemptId, payment_id: paymentId }])
      await apply(unread ?? '')
      await makeDue()
      expect(await take()).toEqual([])
      expect(await readUnread()).toBeUndefined()
      expect(await receive('first')).toEqual({ payment_id: paymentId, attempt_id: attemptId, applied: true })
    })

    test('a callback that arrives while the partner is being asked stays unread: the response can be older', async () => {
      await receive('before')
      const unread = await readUnread()
      await receive('during the call')
      await apply(unread ?? '')
      expect(await take()).toEqual([{ attempt_id: attemptId, payment_id: paymentId }])
      expect(await receive('before')).toMatchObject({ applied: true })
      expect(await receive('during the call')).toMatchObject({ applied: false })
    })

    // It was answered as received, and was not stored: a chargeback after the end of a payment was never read.
    test.each(['other words', 'another order'])(
      'a callback with an id that was used before is stored, about %s',
      async (what) => {
        await receive('used')
        await apply((await readUnread()) ?? '')
        if (what === 'another order') attemptId = await another()
        const body = what === 'other words' ? 1 : 0
        expect(await receive('used', body)).toEqual({ payment_id: paymentId, attempt_id: attemptId, applied: false })
        expect(await take()).toEqual([{ attempt_id: attemptId, payment_id: paymentId }])
        await apply((await readUnread()) ?? '')
        expect(await receive('used', body)).toEqual({ payment_id: paymentId, attempt_id: attemptId, applied: true })
      },
    )

    test('a callback with one id about two orders at the same moment is stored for both', async () => {
      const one = attemptId
      const two = await another()
      const [first, second] = await seeded.db.transaction(async (tx) => {
        const stored = await receive('used', 0, tx)
        attemptId = two
        const waits = receive('used', 1)
        await until(blocked, (count) => count > 0)
        return [stored, waits] as const
      })
      expect([first, await second]).toEqual(
        [one, two].map((attempt_id) => ({ payment_id: paymentId, attempt_id, applied: false })),
      )
      expect((await take()).map((unread) => unread.attempt_id).sort()).toEqual([one, two].sort())
    })

    test('a callback with the same id and other content during a question to the partner stays unread', async () => {
      await receive('used')
      const unread = await readUnread()
      await receive('used', 1)
      await apply(unread ?? '')
      expect(await take()).toEqual([{ attempt_id: attemptId, payment_id: paymentId }])
    })

    test('a callback about the order from another partner is not stored', async () => {
      const bodySha256 = new Uint8Array(32)
      const at = new Date().toISOString()
      const report = { provider: 'card_partner', eventId: 'first', subject: { attemptId }, bodySha256, at } as const
      expect(await recordCallback(seeded.db, report)).toBeNull()
      expect(await readUnread()).toBeUndefined()
      expect(await take()).toEqual([])
    })

    test('a callback stays unread if the change that would apply it fails', async () => {
      await receive('first')
      const unread = await readUnread()
      const failing = change((draft) => {
        draft.addStatement(markCallbacksApplied(attemptId, unread ?? ''))
        draft.setPayment({ payout: 'handed' })
      })
      await expect(failing).rejects.toThrow('is not free')
      // Postgres reports the failure before it unlocks the row, and a locked one is skipped.
      expect(await until(take, ({ length }) => length > 0)).toHaveLength(1)
    })

    test('a callback is repeated after 3, 6, 12 … seconds, and never later than half an hour', async () => {
      await receive('first')
      const waits: number[] = []
      for (let repeat = 0; repeat < 40; repeat++) {
        await makeDue()
        expect(await take()).toHaveLength(1)
        waits.push(await waitsSeconds())
        expect(await take()).toEqual([])
      }
      expect(waits.slice(0, 5)).toEqual([3, 6, 12, 24, 48])
      expect(Math.max(...waits)).toBe(1800)
      expect(waits.at(-1)).toBe(1800)
    })

    test('a new callback is left to the process that stored it, and a report of the chain is not', async () => {
      await receive('first')
      expect(await take(60_000)).toEqual([])
      await seeded.db.query("update partner_callback set due_at = now() - interval '61 seconds'")
      expect(await take(60_000)).toHaveLength(1)
    })

    test('a callback is taken once by two relays at the same moment', async () => {
      await Promise.all(Array.from({ length: 20 }, (_event, index) => receive(`event ${index}`)))
      const taken = await Promise.all([take(), take(), take(), take()])
      const { rows } = await seeded.db.query('select repeats from partner_callback')
      expect(rows.map(({ repeats }) => repeats)).toEqual(Array.from({ length: 20 }, () => 1))
      // Several callbacks of one attempt are one message.
      expect(taken.every((messages) => messages.length <= 1)).toBe(true)
    })

    test('a callback of an unknown attempt is not stored', async () => {
      attemptId = newId('attempt')
      expect(await receive('first')).toBeNull()
      expect(await take()).toEqual([])
    })
  })
})

describe('A deposit and the expiry', () => {
  // A part waited for an operator at the old end, while the page counted down to the new one.
  test('a buyer who asked for more time can complete a part of the price until the new end', async () => {
    const { db, tenant } = seeded
    const [paymentId, attemptId] = [newId('payment'), newId('attempt')]
    const made = newPayment({ id: paymentId, createdAt: new Date().toISOString() })
    await insertPayment(db, tenant, { payment: made, claim: null, publicUrl: 'http://127.0.0.1:9' })
    const end = Date.parse((await loadPayment(db, paymentId)).payment.expiresAt)
    const context = { publicUrl: 'http://shop.example', now: () => end - 60_000 }
    await changePayment(db, context, {
      id: paymentId,
      change: (draft) => draft.addAttempt({ id: attemptId, provider: 'crypto', method: 'usdc', asked: made.amount }),
    })
    await openDeposit(db, {
      attemptId,
      deriveAddress: () => `0x${'d'.repeat(40)}`,
      chainId: 31_337,
      token: `0x${'e'.repeat(40)}`,
      askedMicro: '49990000',
      rate: { rate: '1', source: 'test', asOf: made.createdAt },
      expiresAt: Math.floor(end / 1000),
      watchSeconds: 86_400,
    })
    expect((await readDeposit(db, attemptId))?.expiresAt).toBe(Math.floor(end / 1000))
    expect(await extendPayment(db, context, paymentId)).toBe(true)
    expect((await readDeposit(db, attemptId))?.expiresAt).toBe(Math.floor((end + EXTENSION_MS) / 1000))
  })
})
