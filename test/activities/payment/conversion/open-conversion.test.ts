import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { many, sql } from '../../../../src/db/db.ts'
import { loadPayment } from '../../../../src/db/payments/payments.ts'
import { needsOperator, nextStep, snapshotOf } from '../../../../src/domain/payment/snapshot.ts'
import { PartnerError } from '../../../../src/providers/provider.ts'
import { createMoneyWorld, type MoneyWorld } from '../money-world.ts'
import { perform } from '../world.ts'

/** What was asked of the converter is carried on to its end, whatever becomes of the payment. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())
afterEach(() => world.clearFaults())

const REFUNDED = [
  'fiat_confirmed partner_receivable EUR 10000',
  'fiat_confirmed merchant_payable EUR -10000',
  'fiat_given_back merchant_payable EUR 10000',
  'fiat_given_back partner_receivable EUR -10000',
]
const KEPT = (micro: string) => [
  `fill_suspended conversion USDC ${micro}`,
  `fill_suspended suspense USDC -${micro}`,
  `fill_kept suspense USDC ${micro}`,
  `fill_kept exchange USDC -${micro}`,
]

const convert = (id: string) => perform(world.activities().convertToUsdc, { paymentId: id, last: false })
const step = async (id: string) => nextStep(snapshotOf(await loadPayment(world.checkout.db, id)))
const isOpen = async (id: string) => (await world.payment(id)).conversionOpen
const conversion = (id: string, fault: Record<string, unknown>) =>
  world.sandbox.fault('converter', { times: 1, attemptId: `${id}:convert`, ...fault })

/** What the converter itself has in its books. */
async function bought(id: string): Promise<string[]> {
  const answer = await fetch(`${world.sandbox.url}/converter/sandbox/conversions`)
  const all = z.array(z.object({ key: z.string(), boughtMicroUsdc: z.string() })).parse(await answer.json())
  return all.filter(({ key }) => key === `${id}:convert`).map(({ boughtMicroUsdc }) => boughtMicroUsdc)
}

async function lines(id: string): Promise<string[]> {
  const row = z.object({ line: z.string() })
  const found = await many(
    world.checkout.db,
    row,
    sql`select t.kind || ' ' || e.account || ' ' || e.asset || ' ' || e.amount as line
        from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
        where t.payment_id = ${id} order by t.id, e.line`,
  )
  return found.map(({ line }) => line)
}

async function refundHeld(id: string): Promise<void> {
  await world.decide(id, 'hold')
  expect((await world.refund(id)).payment.status).toBe('refunded')
}

describe('a conversion that is open when its payment is refunded', () => {
  test('pending at the converter: it is asked until it has filled the order, and the USDC is ours', async () => {
    const { id } = await world.paid()
    await conversion(id, { fault: 'delay', seconds: 600 })
    expect((await convert(id)).wait).toBeGreaterThan(0)
    await refundHeld(id)
    expect(await step(id)).toBe('end_conversion')
    expect((await world.payment(id)).closedAt).toBeNull()
    expect((await convert(id)).wait).toBeGreaterThan(0)
    expect(await lines(id)).toEqual(REFUNDED)

    world.sandbox.advance(600)
    const { payment } = await convert(id)
    const [micro] = await bought(id)
    expect(payment.status).toBe('refunded')
    expect(await lines(id)).toEqual([...REFUNDED, ...KEPT(String(micro))])
    expect((await world.payment(id)).fill).toMatchObject({ micro })
    expect(await step(id)).toBe('done')
    expect((await world.payment(id)).closedAt).not.toBeNull()
    await convert(id)
    expect(await lines(id)).toHaveLength(8)
  })

  test('filled, and the answer lost: the fill is found and booked', async () => {
    const { id } = await world.paid()
    await conversion(id, { fault: 'timeout_after_effect', operation: 'convert' })
    expect((await convert(id)).wait).toBeGreaterThan(0)
    await refundHeld(id)
    await convert(id)
    const [micro] = await bought(id)
    expect(await lines(id)).toEqual([...REFUNDED, ...KEPT(String(micro))])
    expect(await step(id)).toBe('done')
  })

  test('never seen by the converter: no order is made, and a call that comes after it buys nothing', async () => {
    const { id } = await world.paid()
    const { payment } = await loadPayment(world.checkout.db, id)
    await refundHeld(id)
    await convert(id)
    expect(await bought(id)).toEqual([])
    expect(await step(id)).toBe('done')
    const late = { key: `${id}:convert`, amount: payment.amount, rate: '1.16' }
    const answer = await world.deps.converter.convert(late, AbortSignal.timeout(5000))
    expect(answer).toEqual({ kind: 'refused', reason: 'the order was canceled' })
    expect(await bought(id)).toEqual([])
    expect(await lines(id)).toEqual(REFUNDED)
  })

  // the converter was asked once an hour, for ever
  test('filled with nothing: the order is over, and nothing is booked', async () => {
    const { id } = await world.paid()
    await conversion(id, { fault: 'timeout_after_effect', operation: 'convert' })
    expect((await convert(id)).wait).toBeGreaterThan(0)
    await refundHeld(id)
    const cancel = async () => ({ kind: 'filled' as const, microUsdc: '0', reference: 'fill_of_nothing' })
    await perform(world.activities({ converter: { ...world.deps.converter, cancel } }).convertToUsdc, {
      paymentId: id,
      last: false,
    })
    expect([await isOpen(id), await step(id)]).toEqual([false, 'done'])
    expect(await lines(id)).toEqual(REFUNDED)
  })

  test('a converter that is silent leaves it open, and a person sees it after an hour', async () => {
    const { id } = await world.paid()
    await refundHeld(id)
    const silent = {
      ...world.deps.converter,
      cancel: () => Promise.reject(new PartnerError('unknown', 'converter: no answer')),
    }
    const changed = await perform(world.activities({ converter: silent }).convertToUsdc, { paymentId: id, last: false })
    expect(changed.wait).toBe(5)
    expect([await isOpen(id), await step(id)]).toEqual([true, 'end_conversion'])
    expect(await world.attention(id)).toEqual([])
    await world.checkout.db.query("update payment set updated_at = now() - interval '61 minutes' where id = $1", [id])
    expect(await world.attention(id)).toEqual(['conversion_open'])
  })

  test('a fill of which a call that was cut off tells later is booked once', async () => {
    const { id } = await world.paid()
    const slow = {
      ...world.deps.converter,
      convert: async (...order: Parameters<typeof world.deps.converter.convert>) => {
        const answer = await world.deps.converter.convert(...order)
        await refundHeld(id)
        await convert(id)
        return answer
      },
    }
    await perform(world.activities({ converter: slow }).convertToUsdc, { paymentId: id, last: false })
    const [micro] = await bought(id)
    expect(await lines(id)).toEqual([...REFUNDED, ...KEPT(String(micro))])
  })
})

describe('whether the converter may have an order', () => {
  test('is on record before it is asked, and over when the payment has taken the fill', async () => {
    const { id } = await world.paid()
    expect(await isOpen(id)).toBe(true)
    await world.convert(id)
    expect(await isOpen(id)).toBe(false)
  })

  test('stays on record while the payment may be paid again, and is ended when it is over', async () => {
    const { id, attemptId } = await world.paid()
    await conversion(id, { fault: 'timeout_after_effect', operation: 'convert' })
    await convert(id)
    await world.act(attemptId, { action: 'reverse' })
    const { payment } = await world.read({ id, attemptId })
    expect([payment.status, await isOpen(id), await step(id)]).toEqual(['pending', true, 'await_buyer'])
    await convert(id)
    expect(await lines(id)).toHaveLength(4)
    await perform(world.activities().closeUnpaid, { paymentId: id, as: 'canceled', expiresAt: 0 })
    expect([(await world.payment(id)).status, await step(id)]).toEqual(['canceled', 'end_conversion'])
    await convert(id)
    const [micro] = await bought(id)
    expect((await lines(id)).slice(4)).toEqual(KEPT(String(micro)).slice(0, 2))
    expect(await world.attention(id)).toEqual([`suspense ${micro} USDC`])
    expect([await step(id), needsOperator(snapshotOf(await world.state(id)))]).toEqual(['await_operator', 'fill_left'])
    expect((await world.payment(id)).closedAt).toBeNull()

    // An operator books it: it is ours.
    await world.decide(id, 'approve')
    expect((await lines(id)).slice(4)).toEqual(KEPT(String(micro)))
    expect([await world.attention(id), await step(id)]).toEqual([[], 'done'])
    expect((await world.payment(id)).closedAt).not.toBeNull()
    await world.decide(id, 'approve')
    expect(await lines(id)).toHaveLength(8)
  })

  test('an order that was refused may be asked for again, so it stays open', async () => {
    const { id } = await world.paid()
    await conversion(id, { fault: 'conversion_refused' })
    expect((await convert(id)).payment.parkReason).toBe('conversion')
    expect(await isOpen(id)).toBe(true)
    await world.decide(id, 'retry')
    await world.convert(id)
    expect([await isOpen(id), (await world.payment(id)).usdc !== null]).toEqual([false, true])
  })
})
