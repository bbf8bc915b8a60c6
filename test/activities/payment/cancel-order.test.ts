import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import type { CloseAs } from '../../../src/activities/payment/partner-orders.ts'
import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import { many, sql } from '../../../src/db/db.ts'
import { extendPayment } from '../../../src/db/payments/payment-changes.ts'
import { newId } from '../../../src/ids.ts'
import { keepRoom } from '../../../src/providers/around/crowded.ts'
import { PartnerError } from '../../../src/providers/provider.ts'
import { createMoneyWorld, type MoneyWorld } from './money-world.ts'
import { perform } from './world.ts'

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())
beforeEach(() => world.clearFaults())

const close = (paymentId: string, as: CloseAs, changes: Partial<PaymentDeps> = {}) =>
  perform(world.activities(changes).closeUnpaid, { paymentId, as, expiresAt: 0 })

/** The wallet app, whose `cancelOrder` does something else. */
function app(cancelOrder: (attemptId: string) => Promise<never>): Partial<PaymentDeps> {
  const { partners } = world.deps
  const changed = {
    ...partners.wallet_app,
    cancelOrder: ({ attemptId }: { attemptId: string }) => cancelOrder(attemptId),
  }
  return { partners: { ...partners, wallet_app: changed } }
}

const silent = () => app(() => Promise.reject(new PartnerError('unknown', 'no answer')))

/** Every intent that the payment ever had. */
async function intents(id: string): Promise<string[]> {
  const rows = await many(
    world.checkout.db,
    z.object({ line: z.string() }),
    sql`select kind || ' ' || state || ' by ' || operator || ': ' || reason as line from intent where payment_id = ${id} order by id`,
  )
  return rows.map(({ line }) => line)
}
const atPartner = async (attemptId: string) =>
  (await world.deps.partners.wallet_app.readOrder({ attemptId }, AbortSignal.timeout(5000)))?.status
const killed = () => Promise.reject(new Error('the process was killed here'))

test('a crowd before a partner is not its silence: a payment is closed without its word after two minutes only', async () => {
  const { id } = await world.opened()
  const { partners = world.deps.partners } = app(() => new Promise<never>(() => undefined))
  const crowded = { ...partners, ...keepRoom(partners) }
  for (let call = 0; call < 12; call++)
    void crowded.wallet_app.cancelOrder?.({ attemptId: 'att_1' }, AbortSignal.timeout(60_000))
  const closeAt = (attempt: number) =>
    perform(
      world.activities({ partners: crowded }).closeUnpaid,
      { paymentId: id, as: 'expired' as const, expiresAt: 0 },
      { attempt },
    )
  await expect(closeAt(4)).rejects.toMatchObject({ type: 'NotYet' })
  expect((await world.payment(id)).status).toBe('pending')
  expect((await closeAt(20)).payment.status).toBe('expired')
})

describe('the cancellation of a partner’s order is an intent before the partner is asked', () => {
  test('killed before the partner heard it: the next reading of the order carries it out', async () => {
    const { id, attemptId } = await world.opened()
    await expect(close(id, 'canceled', app(killed))).rejects.toThrow('killed here')
    expect(await intents(id)).toEqual(['cancel asked by merchant: the payment was canceled'])
    expect(await atPartner(attemptId)).toBe('open')
    const { payment } = await world.read({ id, attemptId })
    expect(await atPartner(attemptId)).toBe('canceled')
    expect(payment.attempts).toMatchObject([{ status: 'canceled' }])
    expect(await intents(id)).toEqual(['cancel done by merchant: the payment was canceled'])
  })

  test('killed after the partner had done it: the same cancellation ends, once', async () => {
    const { id } = await world.opened()
    const { wallet_app: real } = world.deps.partners
    const done = app(async (attemptId) => {
      await real.cancelOrder?.({ attemptId }, AbortSignal.timeout(5000))
      return killed()
    })
    await expect(close(id, 'canceled', done)).rejects.toThrow('killed here')
    expect((await close(id, 'canceled')).payment).toMatchObject({ status: 'canceled', listenUntil: null })
    expect(await intents(id)).toEqual(['cancel done by merchant: the payment was canceled'])
  })

  test('a partner that is silent is asked again by every reading, also when the payment is closed', async () => {
    const { id, attemptId } = await world.opened()
    const ask = () => world.activities(silent()).closeUnpaid
    const fourth = { attempt: 4 }
    expect((await perform(ask(), { paymentId: id, as: 'expired' as const, expiresAt: 0 }, fourth)).payment.status).toBe(
      'expired',
    )
    expect(await intents(id)).toEqual(['cancel asked by system: the payment has expired'])
    await world.checkout.db.query("update intent set asked_at = now() - interval '2 hours' where payment_id = $1", [id])
    expect(await world.attention(id)).toEqual(['intent_pending cancel'])
    expect((await world.read({ id, attemptId })).payment).toMatchObject({ status: 'expired', listenUntil: null })
    expect(await atPartner(attemptId)).toBe('canceled')
    expect(await world.attention(id)).toEqual([])
  })

  test('money that came wins: the payment is paid, and nothing keeps it from being settled', async () => {
    const { id, attemptId } = await world.opened()
    await expect(close(id, 'canceled', app(killed))).rejects.toThrow('killed here')
    await world.act(attemptId, { action: 'pay' })
    expect((await world.read({ id, attemptId })).payment).toMatchObject({ status: 'processing' })
    expect(await intents(id)).toEqual(['cancel refused by merchant: the payment was canceled'])
    await world.convert(id)
    expect((await world.payment(id)).usdc?.gross).toBe('108000000')
  })

  test('that is still open for the order that was paid stops neither the conversion nor the payout', async () => {
    const { id, attemptId } = await world.paid()
    await world.checkout.change(id, async (work) => {
      await work.ask({ key: `${attemptId}:cancel`, kind: 'cancel', attemptId, operator: 'buyer', reason: 'x' })
    })
    await world.convert(id)
    await perform(world.activities().transferUsdc, id).catch(() => undefined)
    expect((await world.payment(id)).status).toBe('settling')
  })

  test('when late money is not waited for any more, it is given up: nothing is left open without a workflow', async () => {
    const { id } = await world.opened()
    await expect(close(id, 'canceled', app(killed))).rejects.toThrow('killed here')
    await close(
      id,
      'canceled',
      app(async () => null as never),
    )
    await close(
      id,
      'listening_ended',
      app(async () => null as never),
    )
    expect(await intents(id)).toEqual(['cancel refused by merchant: the payment was canceled'])
    expect((await world.payment(id)).closedAt).not.toBeNull()
  })
})

test('more time that is given while the partner cancels the order keeps the payment open until the new end', async () => {
  const { id } = await world.opened()
  const { db } = world.checkout
  const end = Date.parse((await world.payment(id)).expiresAt)
  const context = { publicUrl: 'https://pay.example', now: () => end - 60_000 }
  const { wallet_app: real } = world.deps.partners
  const slow = app(async (attemptId) => {
    await db.transaction((tx) => extendPayment(tx, context, id))
    return real.cancelOrder?.({ attemptId }, AbortSignal.timeout(5000)) as Promise<never>
  })
  const passed = { paymentId: id, as: 'expired' as const, expiresAt: end }
  const now = { ...world.deps.context, now: () => end + 1000 }
  await perform(world.activities({ ...slow, context: now }).closeUnpaid, passed)
  expect(await world.payment(id)).toMatchObject({ status: 'pending', expiryExtended: true })
  const later = { ...now, now: () => end + 16 * 60_000 }
  await perform(world.activities({ context: later }).closeUnpaid, { ...passed, expiresAt: end + 15 * 60_000 })
  expect((await world.payment(id)).status).toBe('expired')
})

describe('a buyer who chooses another way to pay', () => {
  const card = (paymentId: string) => ({
    paymentId,
    attemptId: newId('attempt'),
    provider: 'card_partner' as const,
    method: 'card' as const,
  })

  test('has the first order canceled, on record; cut off, nobody is sent to it again', async () => {
    const { id, attemptId } = await world.opened()
    await expect(perform(world.activities(app(killed)).openPartnerOrder, card(id))).rejects.toThrow('killed here')
    expect(await intents(id)).toEqual(['cancel asked by buyer: the buyer chose another way to pay'])
    const again = await world.open(id)
    expect(again).not.toBe(attemptId)
    expect((await world.state(id)).attempts.map(({ status }) => status)).toEqual(['canceled', 'open'])
    expect(await atPartner(attemptId)).toBe('canceled')
  })

  test('because the first partner never answered, goes on while it is down; when it answers, its order is canceled', async () => {
    const { id } = await world.checkout.create()
    const { partners } = world.deps
    const lost: Partial<PaymentDeps> = {
      partners: {
        ...partners,
        wallet_app: {
          ...partners.wallet_app,
          // The order is there, and its answer is lost.
          openOrder: async (order, signal) => {
            await partners.wallet_app.openOrder(order, signal)
            throw new PartnerError('unknown', 'no answer')
          },
        },
      },
    }
    const first = { paymentId: id, attemptId: newId('attempt'), provider: 'wallet_app', method: 'banking_app' } as const
    await expect(perform(world.activities(lost).openPartnerOrder, first)).rejects.toThrow('no answer')
    const { answer } = await perform(world.activities(silent()).openPartnerOrder, card(id))
    expect(answer.kind).toBe('redirect')
    expect((await world.state(id)).attempts.map(({ status }) => status)).toEqual(['opening', 'open'])
    expect(await intents(id)).toEqual(['cancel asked by buyer: the buyer chose another way to pay'])
    await world.read({ id, attemptId: first.attemptId })
    expect(await atPartner(first.attemptId)).toBe('canceled')
    expect((await world.state(id)).attempts.map(({ status }) => status)).toEqual(['canceled', 'open'])
  })

  test('and has seen the page of the first partner, waits until that one has answered', async () => {
    const { id } = await world.opened()
    await expect(perform(world.activities(silent()).openPartnerOrder, card(id))).rejects.toThrow('no answer')
    expect((await world.state(id)).attempts.map(({ status }) => status)).toEqual(['open'])
  })

  test('whose first order cannot be canceled, opens the other without an intent', async () => {
    const { id } = await world.opened()
    const partners = { ...world.deps.partners, wallet_app: { ...world.deps.partners.wallet_app } }
    delete partners.wallet_app.cancelOrder
    const { answer } = await perform(world.activities({ partners }).openPartnerOrder, card(id))
    expect(answer.kind).toBe('redirect')
    expect(await intents(id)).toEqual([])
  })
})
