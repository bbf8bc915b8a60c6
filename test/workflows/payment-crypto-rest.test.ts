import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { until } from '../../scripts/test/until.ts'
import { many, sql } from '../../src/db/db.ts'
import { openAddress, send } from './deposits.ts'
import { decide, payment, result, untilStatus, useWorld, world } from './story.ts'

/** USDC that the payment did not take: too little for anybody, beside another order's money, or too much. */

useWorld()

async function lines(query: ReturnType<typeof sql>): Promise<string[]> {
  return (await many(world.db, z.object({ line: z.string() }), query)).map(({ line }) => line)
}
/** Every line of the payment's books in one kind of booking. */
const booked = (paymentId: string, kind: string) =>
  lines(sql`select e.account || ' ' || e.asset || ' ' || e.amount as line
    from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
    where t.payment_id = ${paymentId} and t.kind = ${kind} order by t.id, e.line`)
/** Every account of the payment that is not zero. */
const books = (paymentId: string) =>
  lines(sql`select e.account || ' ' || e.asset || ' ' || sum(e.amount) as line
    from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
    where t.payment_id = ${paymentId} group by e.account, e.asset having sum(e.amount) <> 0 order by 1`)
const parts = async (paymentId: string) =>
  (await world.read(paymentId)).parts.map(({ units, kind, state }) => `${units} ${kind} ${state}`)
const attention = (paymentId: string) =>
  lines(sql`select kind || coalesce(' ' || detail, '') as line from attention where payment_id = ${paymentId}`)

describe('less USDC than the smallest unit of the price', () => {
  test('waits for more; when the payment is over without it, it is ours', async () => {
    const { paymentId, attemptId } = await openAddress({ expires_in: 1800 })
    for (const micro of ['4000', '5000']) await send(attemptId, micro)
    await until(
      () => parts(paymentId),
      (all) => all.length === 2,
    )
    expect(await books(paymentId)).toEqual(['deposits USDC 9000', 'suspense USDC -9000'])
    await world.skip('31 minutes')
    await untilStatus(paymentId, 'expired')
    expect(await booked(paymentId, 'deposit_kept')).toEqual([])
    await world.skip('72 hours')
    expect(await result(paymentId)).toBe('expired')
    expect(await parts(paymentId)).toEqual(['4000 receipt counted', '5000 receipt counted', '-9000 kept counted'])
    expect(await booked(paymentId, 'deposit_kept')).toEqual(['suspense USDC 9000', 'exchange USDC -9000'])
    expect(await books(paymentId)).toEqual(['deposits USDC 9000', 'exchange USDC -9000'])
    expect(await attention(paymentId)).toEqual([])
  })

  // whoever sent a part of a cent to an address marked its payment as paid twice, and gave an operator work
  test('comes after the payment was paid: it is ours, the payment ends as it was, and nobody has to look', async () => {
    const { paymentId, attemptId, deposit } = await openAddress()
    await send(attemptId, deposit.askedMicro)
    await untilStatus(paymentId, 'settling')
    for (const micro of ['1', '2000']) await send(attemptId, micro)
    await until(
      () => parts(paymentId),
      (all) => all.filter((line) => line.includes('receipt')).length === 3,
    )
    await world.settle(paymentId)
    await untilStatus(paymentId, 'succeeded')
    expect(await payment(paymentId)).toMatchObject({ exception: null })
    expect(await attention(paymentId)).toEqual([])
    expect((await books(paymentId)).filter((line) => line.startsWith('suspense'))).toEqual([])
    expect(await result(paymentId)).toBe('succeeded')
  })
})

describe('a part of the price in USDC', () => {
  test('beside a card that pays it all is a second payment: an operator has it, and nothing stays in suspense', async () => {
    const { paymentId, attemptId } = await openAddress()
    await send(attemptId, '20000000')
    await until(
      () => parts(paymentId),
      (all) => all.length === 1,
    )
    const card = await world.openAttempt(paymentId, 'card_partner', 'card')
    if (card.kind !== 'redirect') throw new Error('not opened')
    await world.pay('card_partner', card.attemptId)
    await untilStatus(paymentId, 'settling')
    expect(await payment(paymentId)).toMatchObject({ exception: 'duplicate_payment', paidAttemptId: card.attemptId })
    expect(await attention(paymentId)).toEqual(['surplus 20000000 USDC'])
    expect((await world.read(paymentId)).attempts.map(({ status }) => status)).toEqual(['surplus', 'confirmed'])
    await world.settle(paymentId)
    await untilStatus(paymentId, 'succeeded')
    await decide(paymentId, 'recordExternalRefund')
    expect(await booked(paymentId, 'deposit_returned')).toEqual(['suspense USDC 20000000', 'exchange USDC -20000000'])
    expect((await books(paymentId)).filter((line) => line.startsWith('suspense'))).toEqual([])
    expect(await attention(paymentId)).toEqual([])
    expect(await result(paymentId)).toBe('succeeded')
  })
})

describe('USDC that comes after the payment was paid in USDC', () => {
  test('and was returned by hand leaves suspense; what was settled stays in the books as it was', async () => {
    const { paymentId, attemptId, deposit } = await openAddress()
    await send(attemptId, deposit.askedMicro)
    await untilStatus(paymentId, 'settling')
    await send(attemptId, '3000000')
    await until(
      () => attention(paymentId),
      (all) => all.includes('surplus 3000000 USDC'),
    )
    await world.settle(paymentId)
    await untilStatus(paymentId, 'succeeded')
    await decide(paymentId, 'recordExternalRefund')
    expect(await booked(paymentId, 'deposit_returned')).toEqual(['suspense USDC 3000000', 'exchange USDC -3000000'])
    expect((await books(paymentId)).filter((line) => line.startsWith('suspense'))).toEqual([])
    expect((await books(paymentId)).filter((line) => line.startsWith('merchant_payable'))).toEqual([])
    expect(await result(paymentId)).toBe('succeeded')
  })
})
