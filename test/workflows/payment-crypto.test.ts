import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { until } from '../../scripts/test/until.ts'
import { many, sql } from '../../src/db/db.ts'
import { findImbalances, readBalances } from '../../src/db/ledger.ts'
import { convertToMicroUsdc } from '../../src/domain/money.ts'
import { depositOf, openAddress, send } from './deposits.ts'
import { decide, payment, reasons, result, settled, untilReviewed, untilStatus, useWorld, world } from './story.ts'

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
      expect(await untilReviewed(paymentId, 'too_little')).toMatchObject({ exception: 'underpaid' })
      await decide(paymentId, 'settle')
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
      const waits = await untilReviewed(paymentId, 'other_token')
      expect(waits).toMatchObject({ status: 'under_review', exception: 'wrong_asset' })
      // Anybody may send another one, and the payment has waited no shorter for it.
      await world.skip('2 minutes')
      await send(attemptId, '10000', WRONG_TOKEN)
      expect((await payment(paymentId)).reviewSince).toBe(waits.reviewSince)
      await send(attemptId, deposit.askedMicro)
      await untilStatus(paymentId, 'settling')
      await world.settle(paymentId)
      expect((await untilReviewed(paymentId, 'other_token')).status).toBe('succeeded')
      await decide(paymentId, 'write_off')
      expect(await result(paymentId)).toBe('succeeded')
    })

    // for a part of a cent anybody stopped a payment, or gave an operator work
    test('dust of another token stops no payment, and nobody has to look at it', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, '9999', WRONG_TOKEN)
      expect(await depositOf(attemptId)).toMatchObject({ wrongToken: false })
      await send(attemptId, deposit.askedMicro)
      expect((await settled(paymentId)).exception).toBeNull()
      const kinds = (await world.timeline(paymentId)).map(({ kind }) => kind)
      expect([await reasons(paymentId), kinds.includes('payment.under_review')]).toEqual([[], false])
      expect(await result(paymentId)).toBe('succeeded')
    })

    // a hundredth of a trillionth of a DAI was taken for more than a cent
    test('dust of a token with eighteen decimals stops no payment either', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      const dai = '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063'
      await send(attemptId, '9999999999999999', dai)
      expect(await depositOf(attemptId)).toMatchObject({ wrongToken: false })
      expect(await reasons(paymentId)).toEqual([])
      await send(attemptId, deposit.askedMicro)
      expect((await settled(paymentId)).exception).toBeNull()
      await send(attemptId, '10000000000000000', dai)
      await untilReviewed(paymentId, 'other_token')
      await decide(paymentId, 'write_off')
      expect(await result(paymentId)).toBe('succeeded')
    })

    test('another token that an operator has sent back leaves the payment to its buyer, without a booking', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, '50000000', WRONG_TOKEN)
      await untilReviewed(paymentId, 'other_token')
      const books = await readBalances(world.db)
      await decide(paymentId, 'write_off')
      expect(await payment(paymentId)).toMatchObject({ status: 'pending', exception: null, reviews: [] })
      expect(await readBalances(world.db)).toEqual(books)
      await send(attemptId, deposit.askedMicro)
      await settled(paymentId)
    })

    test('a second transfer after the payment was counted is not settled, and is shown', async () => {
      const before = await usdc('suspense')
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, deposit.askedMicro)
      const row = await settled(paymentId)
      await send(attemptId, '7000000')
      const excess = await untilReviewed(paymentId, 'excess')
      expect(excess).toMatchObject({ exception: 'duplicate_payment', usdc: row.usdc })
      expect(excess.reviews[0]?.text).toContain('7.000000 USDC more than the payment needs')
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
  /** Every account of the payment that is not zero. */
  const books = (paymentId: string) =>
    lines(sql`select e.account || ' ' || e.asset || ' ' || sum(e.amount) as line
    from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
    where t.payment_id = ${paymentId} group by e.account, e.asset having sum(e.amount) <> 0 order by 1`)
  const untilHeld = (paymentId: string, micro: string) =>
    until(
      () => world.read(paymentId),
      ({ attempts: [first] }) => first?.held === micro,
    )
  const attention = (paymentId: string) =>
    lines(sql`select kind || coalesce(' ' || detail, '') as line from attention where payment_id = ${paymentId}`)

  describe('less USDC than the smallest unit of the price', () => {
    test('waits for more; when the payment is over without it, it is ours', async () => {
      const { paymentId, attemptId } = await openAddress({ expires_in: 1800 })
      for (const micro of ['4000', '5000']) await send(attemptId, micro)
      await untilHeld(paymentId, '9000')
      await world.skip('31 minutes')
      await untilStatus(paymentId, 'expired')
      await world.skip('72 hours')
      expect(await result(paymentId)).toBe('expired')
      expect(await books(paymentId)).toEqual(['deposits USDC 9000', 'exchange USDC -9000'])
      expect(await attention(paymentId)).toEqual([])
    })

    // whoever sent a part of a cent to an address marked its payment as paid twice, and gave an operator work
    test('comes after the payment was paid: it is ours, the payment ends as it was, and nobody has to look', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, deposit.askedMicro)
      await untilStatus(paymentId, 'settling')
      for (const micro of ['1', '2000']) await send(attemptId, micro)
      await untilHeld(paymentId, (BigInt(deposit.askedMicro) + 2001n).toString())
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
      await untilHeld(paymentId, '20000000')
      const card = await world.openAttempt(paymentId, 'card_partner', 'card')
      if (card.kind !== 'redirect') throw new Error('not opened')
      await world.pay('card_partner', card.attemptId)
      await untilStatus(paymentId, 'settling')
      expect(await payment(paymentId)).toMatchObject({ paidAttemptId: card.attemptId })
      await world.settle(paymentId)
      await untilStatus(paymentId, 'succeeded')
      await untilReviewed(paymentId, 'excess')
      expect(await attention(paymentId)).toEqual([expect.stringMatching(/^review excess: 20.000000 USDC more/)])
      await decide(paymentId, 'give_back', { outside: true })
      expect((await books(paymentId)).filter((line) => line.startsWith('suspense'))).toEqual([])
      expect(await attention(paymentId)).toEqual([])
      // Until the payment would have expired, its address waits for the rest of the price.
      await world.skip('25 hours')
      await world.workflows.tellPartnerNews(paymentId, attemptId)
      await until(
        () => payment(paymentId),
        ({ closedAt }) => closedAt !== null,
      )
      expect(await result(paymentId)).toBe('succeeded')
    })
  })

  describe('USDC that comes after the payment was paid in USDC', () => {
    test('and was returned by hand leaves suspense; what was settled stays in the books as it was', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, deposit.askedMicro)
      await untilStatus(paymentId, 'settling')
      await send(attemptId, '3000000')
      await untilReviewed(paymentId, 'excess')
      expect(await attention(paymentId)).toEqual([expect.stringMatching(/^review excess: 3.000000 USDC more/)])
      await world.settle(paymentId)
      await untilStatus(paymentId, 'succeeded')
      await decide(paymentId, 'give_back', { outside: true })
      expect((await books(paymentId)).filter((line) => line.startsWith('suspense'))).toEqual([])
      expect((await books(paymentId)).filter((line) => line.startsWith('merchant_payable'))).toEqual([])
      expect(await result(paymentId)).toBe('succeeded')
    })
  })
})
