import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { until } from '../../scripts/test/until.ts'
import { many, sql } from '../../src/db/db.ts'
import { findImbalances, readBalances } from '../../src/db/ledger.ts'
import { convertToMicroUsdc } from '../../src/domain/money.ts'
import { openAddress, readDeposit, send } from './deposits.ts'
import { decide, fixture, payment, reasons, result, settled, untilReviewed, untilStatus, useFixture } from './story.ts'

describe('Payments in USDC', () => {
  useFixture()

  const WRONG_TOKEN = '0x2791bca1f2de4661ed88a30c99a7a9449aa84174'

  const usdc = async (account: string) =>
    BigInt(
      (await readBalances(fixture.db)).find((row) => row.account === account && row.asset === 'USDC')?.amount ?? '0',
    )

  describe('A payment in USDC', () => {
    test('a payment in USDC is settled at the shown rate, without a converter, and the books name the owners of the USDC', async () => {
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
      expect(await findImbalances(fixture.db)).toEqual([])
    })

    test('a part of the price in USDC waits for the rest, and then the payment is paid in full', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, '1000000')
      expect((await payment(paymentId)).status).toBe('pending')
      await send(attemptId, (BigInt(deposit.askedMicro) - 1_000_000n).toString())
      expect((await settled(paymentId)).exception).toBeNull()
    })

    test('an excess in USDC is settled in full', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, (2n * BigInt(deposit.askedMicro)).toString())
      const row = await settled(paymentId)
      expect(row.exception).toBe('overpaid')
      // The price fixes the USDC twice, at the shown rate: rounding belongs to the exchange account.
      const double = { ...deposit.asked, minor: (2n * BigInt(deposit.asked.minor)).toString() }
      expect(row.usdc?.gross).toBe(convertToMicroUsdc(double, deposit.rate))
    })

    test('too little USDC at the expiry waits for an operator, who can settle it', async () => {
      const { paymentId, attemptId } = await openAddress({ expires_in: 1800 })
      await send(attemptId, '20000000')
      expect((await payment(paymentId)).status).toBe('pending')
      await fixture.skip('31 minutes')
      expect(await untilReviewed(paymentId, 'too_little')).toMatchObject({ exception: 'underpaid' })
      await decide(paymentId, 'settle')
      const row = await settled(paymentId)
      expect(BigInt(row.usdc?.gross ?? 0)).toBeLessThanOrEqual(20_000_000n)
    })

    test('USDC that arrives after the expiry is settled and marked', async () => {
      const { paymentId, attemptId, deposit } = await openAddress({ expires_in: 1800 })
      await fixture.skip('31 minutes')
      await untilStatus(paymentId, 'expired')
      await send(attemptId, deposit.askedMicro)
      expect((await settled(paymentId)).exception).toBe('paid_late')
    })

    test('another token waits for an operator, also when the right one has come and is settled', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, '50000000', WRONG_TOKEN)
      const waits = await untilReviewed(paymentId, 'other_token')
      expect(waits).toMatchObject({ status: 'under_review', exception: 'wrong_asset' })
      // Anybody can send another one, and the payment has waited no shorter for it.
      await fixture.skip('2 minutes')
      await send(attemptId, '10000', WRONG_TOKEN)
      expect((await payment(paymentId)).reviewSince).toBe(waits.reviewSince)
      await send(attemptId, deposit.askedMicro)
      await untilStatus(paymentId, 'settling')
      await fixture.settle(paymentId)
      expect((await untilReviewed(paymentId, 'other_token')).status).toBe('succeeded')
      await decide(paymentId, 'write_off')
      expect(await result(paymentId)).toBe('succeeded')
    })

    // For a part of a cent anybody could stop a payment, or give an operator work.
    test('dust of another token stops no payment, and needs no operator', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, '9999', WRONG_TOKEN)
      expect(await readDeposit(attemptId)).toMatchObject({ wrongToken: false })
      await send(attemptId, deposit.askedMicro)
      expect((await settled(paymentId)).exception).toBeNull()
      const kinds = (await fixture.timeline(paymentId)).map(({ kind }) => kind)
      expect([await reasons(paymentId), kinds.includes('payment.under_review')]).toEqual([[], false])
      expect(await result(paymentId)).toBe('succeeded')
    })

    // A hundredth of a trillionth of a DAI counted as more than a cent.
    test('dust of a token with eighteen decimals stops no payment either', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      const dai = '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063'
      await send(attemptId, '9999999999999999', dai)
      expect(await readDeposit(attemptId)).toMatchObject({ wrongToken: false })
      expect(await reasons(paymentId)).toEqual([])
      await send(attemptId, deposit.askedMicro)
      expect((await settled(paymentId)).exception).toBeNull()
      await send(attemptId, '10000000000000000', dai)
      await untilReviewed(paymentId, 'other_token')
      await decide(paymentId, 'write_off')
      expect(await result(paymentId)).toBe('succeeded')
    })

    test('another token that an operator has sent back leaves the payment open, without a booking', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, '50000000', WRONG_TOKEN)
      await untilReviewed(paymentId, 'other_token')
      const books = await readBalances(fixture.db)
      await decide(paymentId, 'write_off')
      expect(await payment(paymentId)).toMatchObject({ status: 'pending', exception: null, reviews: [] })
      expect(await readBalances(fixture.db)).toEqual(books)
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
      expect(await fixture.openAttempt(paymentId, 'crypto', 'usdc')).toMatchObject({ kind: 'redirect', attemptId })
      expect(await readDeposit(attemptId)).toEqual(deposit)
    })
  })
})

describe('The rest of USDC', () => {
  useFixture()

  /** USDC that the payment did not take: dust, in addition to another order's money, or too much. */

  async function lines(query: ReturnType<typeof sql>): Promise<string[]> {
    return (await many(fixture.db, z.object({ line: z.string() }), query)).map(({ line }) => line)
  }
  /** Every account of the payment that is not zero. */
  const books = (paymentId: string) =>
    lines(sql`select e.account || ' ' || e.asset || ' ' || sum(e.amount) as line
    from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
    where t.payment_id = ${paymentId} group by e.account, e.asset having sum(e.amount) <> 0 order by 1`)
  const untilHeld = (paymentId: string, micro: string) =>
    until(
      () => fixture.read(paymentId),
      ({ attempts: [first] }) => first?.held === micro,
    )
  const attention = (paymentId: string) =>
    lines(sql`select kind || coalesce(' ' || detail, '') as line from attention where payment_id = ${paymentId}`)

  describe('USDC below the smallest unit of the price', () => {
    test('dust, which anybody can send, does not keep a payment of a suspended merchant open', async () => {
      const { merchantId } = fixture.tenant
      const { paymentId, attemptId } = await openAddress()
      await send(attemptId, '9999')
      await untilHeld(paymentId, '9999')
      await fixture.db.query(`update agreement set status = 'suspended' where merchant_id = $1`, [merchantId])
      await fixture.relay.cancelSuspended()
      await untilStatus(paymentId, 'canceled')
      await fixture.db.query(`update agreement set status = 'approved' where merchant_id = $1`, [merchantId])
    })

    test('dust waits for more, and belongs to the platform when the payment ends without it', async () => {
      const { paymentId, attemptId } = await openAddress({ expires_in: 1800 })
      for (const micro of ['4000', '5000']) await send(attemptId, micro)
      await untilHeld(paymentId, '9000')
      await fixture.skip('31 minutes')
      await untilStatus(paymentId, 'expired')
      await fixture.skip('72 hours')
      expect(await result(paymentId)).toBe('expired')
      expect(await books(paymentId)).toEqual(['deposits USDC 9000', 'exchange USDC -9000'])
      expect(await attention(paymentId)).toEqual([])
    })

    // A part of a cent at an address marked its payment as paid twice, and gave an operator work.
    test('dust after a payment was paid belongs to the platform, changes nothing, and needs no operator', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, deposit.askedMicro)
      await untilStatus(paymentId, 'settling')
      for (const micro of ['1', '2000']) await send(attemptId, micro)
      await untilHeld(paymentId, (BigInt(deposit.askedMicro) + 2001n).toString())
      await fixture.settle(paymentId)
      await untilStatus(paymentId, 'succeeded')
      expect(await payment(paymentId)).toMatchObject({ exception: null })
      expect(await attention(paymentId)).toEqual([])
      expect((await books(paymentId)).filter((line) => line.startsWith('suspense'))).toEqual([])
      expect(await result(paymentId)).toBe('succeeded')
    })
  })

  describe('A part of the price in USDC', () => {
    test('a part in USDC next to a card that pays the whole price is a second payment for an operator, and leaves no suspense', async () => {
      const { paymentId, attemptId } = await openAddress()
      await send(attemptId, '20000000')
      await untilHeld(paymentId, '20000000')
      const card = await fixture.openAttempt(paymentId, 'card_partner', 'card')
      if (card.kind !== 'redirect') throw new Error('not opened')
      await fixture.pay('card_partner', card.attemptId)
      await untilStatus(paymentId, 'settling')
      expect(await payment(paymentId)).toMatchObject({ paidAttemptId: card.attemptId })
      await fixture.settle(paymentId)
      await untilStatus(paymentId, 'succeeded')
      await untilReviewed(paymentId, 'excess')
      expect(await attention(paymentId)).toEqual([expect.stringMatching(/^review excess: 20.000000 USDC more/)])
      await decide(paymentId, 'give_back', { outside: true })
      expect((await books(paymentId)).filter((line) => line.startsWith('suspense'))).toEqual([])
      expect(await attention(paymentId)).toEqual([])
      // Until the payment would have expired, its address waits for the rest of the price.
      await fixture.skip('25 hours')
      await fixture.workflows.signalOrderChanged(paymentId, attemptId)
      await until(
        () => payment(paymentId),
        ({ closedAt }) => closedAt !== null,
      )
      expect(await result(paymentId)).toBe('succeeded')
    })
  })

  describe('USDC after the payment was paid in USDC', () => {
    test('later USDC that was returned by hand leaves suspense; the bookings of the settled amount do not change', async () => {
      const { paymentId, attemptId, deposit } = await openAddress()
      await send(attemptId, deposit.askedMicro)
      await untilStatus(paymentId, 'settling')
      await send(attemptId, '3000000')
      await untilReviewed(paymentId, 'excess')
      expect(await attention(paymentId)).toEqual([expect.stringMatching(/^review excess: 3.000000 USDC more/)])
      await fixture.settle(paymentId)
      await untilStatus(paymentId, 'succeeded')
      await decide(paymentId, 'give_back', { outside: true })
      expect((await books(paymentId)).filter((line) => line.startsWith('suspense'))).toEqual([])
      expect((await books(paymentId)).filter((line) => line.startsWith('merchant_payable'))).toEqual([])
      expect(await result(paymentId)).toBe('succeeded')
    })
  })
})
