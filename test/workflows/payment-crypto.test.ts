import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { until } from '../../scripts/test/until.ts'
import { many, sql } from '../../src/db/db.ts'
import { findImbalances, readBalances } from '../../src/db/ledger.ts'
import { convertToMicroUsdc } from '../../src/domain/money.ts'
import { depositOf, openAddress, send } from './deposits.ts'
import { decide, payment, result, settled, untilStatus, useWorld, world } from './story.ts'

describe('Payments in USDC', () => {
  useWorld()

  const WRONG_TOKEN = '0x2791bca1f2de4661ed88a30c99a7a9449aa84174'

  const usdc = async (account: string) =>
    BigInt((await readBalances(world.db)).find((row) => row.account === account && row.asset === 'USDC')?.amount ?? '0')

  describe('a payment in USDC', () => {
    test('is settled at the rate that was shown, without a converter, and the books say whose the USDC is', async () => {
      const before = { suspense: await usdc('suspense'), conversion: await usdc('conversion') }
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, deposit.askedMicro)
      const row = await settled(paymentId)
      expect(row).toMatchObject({ providerUsed: 'crypto', methodUsed: 'usdc', exception: null })
      expect(row.rate?.rate).toBe(deposit.rate)
      expect(row.usdc?.gross).toBe(deposit.askedMicro)
      expect(await usdc('suspense')).toBe(before.suspense)
      // The sweep brings to the treasury what a converter would have delivered.
      expect(await usdc('conversion')).toBe(before.conversion)
      expect(await findImbalances(world.db)).toEqual([])
    })

    test('a part waits for the rest, and the payment is then paid in full', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, '1000000')
      expect((await payment(paymentId)).status).toBe('pending')
      await send(attemptId, (BigInt(deposit.askedMicro) - 1_000_000n).toString())
      expect((await settled(paymentId)).exception).toBeNull()
    })

    test('too much is settled as it came', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, (2n * BigInt(deposit.askedMicro)).toString())
      const row = await settled(paymentId)
      expect(row.exception).toBe('overpaid')
      // The USDC is fixed by the price twice over, at the rate that was shown: rounding is the exchange account's.
      const double = { ...deposit.asked, minor: (2n * BigInt(deposit.asked.minor)).toString() }
      expect(row.usdc?.gross).toBe(convertToMicroUsdc(double, deposit.rate))
    })

    test('too little by the expiry waits for an operator, who may settle what came', async () => {
      const { paymentId, attemptId } = await openAddress({ expires_in: 1800 })
      await send(attemptId, '20000000')
      expect((await payment(paymentId)).status).toBe('pending')
      await world.skip('31 minutes')
      await untilStatus(paymentId, 'under_review')
      expect(await payment(paymentId)).toMatchObject({ exception: 'underpaid', parkReason: 'underpaid' })
      await decide(paymentId, 'approve')
      const row = await settled(paymentId)
      expect(BigInt(row.usdc?.gross ?? 0)).toBeLessThanOrEqual(20_000_000n)
    })

    test('what comes after the expiry is settled and marked', async () => {
      const { paymentId, attemptId, deposit } = await openAddress({ expires_in: 1800 })
      await world.skip('31 minutes')
      await untilStatus(paymentId, 'expired')
      await send(attemptId, deposit.askedMicro)
      expect((await settled(paymentId)).exception).toBe('paid_late')
    })

    test('another token waits for an operator, also when the right one has come and is settled', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, '50000000', WRONG_TOKEN)
      await untilStatus(paymentId, 'under_review')
      const parked = await payment(paymentId)
      expect(parked).toMatchObject({ exception: 'wrong_asset', parkReason: 'wrong_asset' })
      // Anybody may send another one: it is another version, and the payment has waited no shorter for it.
      await world.skip('2 minutes')
      await send(attemptId, '10000', WRONG_TOKEN)
      const { version, updatedAt } = await payment(paymentId)
      expect([version > parked.version, updatedAt]).toEqual([true, parked.updatedAt])
      await send(attemptId, deposit.askedMicro)
      await untilStatus(paymentId, 'settling')
      await world.settle(paymentId)
      await untilStatus(paymentId, 'succeeded')
      expect((await world.read(paymentId)).incidents).toMatchObject([{ kind: 'misfit', attemptId }])
      await decide(paymentId, 'approve')
      expect(await result(paymentId)).toBe('succeeded')
    })

    // for a part of a cent anybody stopped a payment, or gave an operator work
    test('dust of another token stops no payment, and nobody has to look at it', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, '9999', WRONG_TOKEN)
      expect(await depositOf(attemptId)).toMatchObject({ wrongToken: false })
      await send(attemptId, deposit.askedMicro)
      expect((await settled(paymentId)).exception).toBeNull()
      const { incidents } = await world.read(paymentId)
      const kinds = (await world.timeline(paymentId)).map(({ kind }) => kind)
      expect([incidents, kinds.includes('payment.under_review')]).toEqual([[], false])
      expect(await result(paymentId)).toBe('succeeded')
    })

    // a hundredth of a trillionth of a DAI was taken for more than a cent
    test('dust of a token with eighteen decimals stops no payment either', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      const dai = '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063'
      await send(attemptId, '9999999999999999', dai)
      expect(await depositOf(attemptId)).toMatchObject({ wrongToken: false })
      expect((await world.read(paymentId)).incidents).toEqual([])
      await send(attemptId, deposit.askedMicro)
      expect((await settled(paymentId)).exception).toBeNull()
      await send(attemptId, '10000000000000000', dai)
      expect((await world.read(paymentId)).incidents).toMatchObject([{ kind: 'misfit' }])
      await decide(paymentId, 'approve')
      expect(await result(paymentId)).toBe('succeeded')
    })

    test('another token that an operator has sent back by hand ends the payment as refunded, without a booking', async () => {
      const { paymentId, attemptId } = await openAddress()
      await send(attemptId, '50000000', WRONG_TOKEN)
      await untilStatus(paymentId, 'under_review')
      const books = await readBalances(world.db)
      await decide(paymentId, 'recordExternalRefund')
      expect((await payment(paymentId)).status).toBe('refunded')
      expect(await result(paymentId)).toBe('refunded')
      expect(await readBalances(world.db)).toEqual(books)
    })

    test('a second transfer after the payment was counted is not settled, and is shown', async () => {
      const before = await usdc('suspense')
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, deposit.askedMicro)
      const row = await settled(paymentId)
      await send(attemptId, '7000000')
      await until(
        () => payment(paymentId),
        ({ exception }) => exception === 'duplicate_payment',
      )
      expect((await payment(paymentId)).usdc).toEqual(row.usdc)
      expect((await world.read(paymentId)).parts).toMatchObject([
        { asset: 'USDC', units: deposit.askedMicro, state: 'counted' },
        { asset: 'USDC', units: '7000000', state: 'surplus' },
      ])
      expect(before - (await usdc('suspense'))).toBe(7_000_000n)
    })

    test('a double click shows the same address and amount', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      expect(await world.openAttempt(paymentId, 'crypto', 'usdc')).toMatchObject({ kind: 'redirect', attemptId })
      expect(await depositOf(attemptId)).toEqual(deposit)
    })
  })
})

describe('The rest of USDC', () => {
  useWorld()

  /** USDC that the payment did not take: too little for anybody, beside another order's money, or too much. */

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
      await world.skip('31 minutes')
      await untilStatus(paymentId, 'expired')
      await world.skip('72 hours')
      expect(await result(paymentId)).toBe('expired')
      expect(await parts(paymentId)).toEqual(['4000 receipt counted', '5000 receipt counted', '-9000 kept counted'])
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
      expect(await attention(paymentId)).toEqual(['surplus 20.000000 USDC'])
      expect((await world.read(paymentId)).attempts.map(({ status }) => status)).toEqual(['surplus', 'confirmed'])
      await world.settle(paymentId)
      await untilStatus(paymentId, 'succeeded')
      await decide(paymentId, 'recordExternalRefund')
      expect(await booked(paymentId, 'attempt.refunded')).toEqual(['exchange USDC -20000000', 'suspense USDC 20000000'])
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
        (all) => all.includes('surplus 3.000000 USDC'),
      )
      await world.settle(paymentId)
      await untilStatus(paymentId, 'succeeded')
      await decide(paymentId, 'recordExternalRefund')
      expect(await booked(paymentId, 'attempt.refunded')).toEqual(['exchange USDC -3000000', 'suspense USDC 3000000'])
      expect((await books(paymentId)).filter((line) => line.startsWith('suspense'))).toEqual([])
      expect((await books(paymentId)).filter((line) => line.startsWith('merchant_payable'))).toEqual([])
      expect(await result(paymentId)).toBe('succeeded')
    })
  })
})
