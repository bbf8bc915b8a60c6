import { describe, expect, test } from '@jest/globals'
import type { Booking } from '../../../../src/domain/ledger.ts'
import { nothing, type OrderEffect } from '../../../../src/domain/payment/money/effect.ts'
import { bookingsOfRefund, changesOf, dustOf, partOfPrice } from '../../../../src/domain/payment/order-changes.ts'
import type { Payment } from '../../../../src/domain/payment/payment-object.ts'
import { attempt, confirmedMoney, part, payment, stateOf, usdc } from '../decided-payment.ts'

/** What is left of the money of a payment that ends, or that nobody waits for any more. */

const AT = '2026-01-01T12:00:00.000Z'
const linesOf = (bookings: readonly (Booking | null)[]) =>
  bookings
    .flatMap((booking) => booking?.lines ?? [])
    .map(({ account, asset, amount }) => `${account} ${asset} ${amount}`)

describe('a part of the price that is not the payment’s money yet', () => {
  const some = part({ units: '2000', chargeMinor: '2000', account: 'suspense', attemptId: 'att_2' })
  const attempts = [attempt({ status: 'open' }), attempt({ id: 'att_2', status: 'open', provider: 'crypto' })]
  const waits = (parts = [some]) => stateOf({ status: 'pending' }, { attempts, parts })

  test('is too little money of its attempt once it is taken, and the conversion locks the rate', () => {
    const found = partOfPrice(waits())
    expect(found?.attempt.id).toBe('att_2')
    expect(found?.fields(AT)).toEqual({
      paidAttemptId: 'att_2',
      providerUsed: 'crypto',
      methodUsed: 'banking_app',
      chargeCurrency: 'EUR',
      confirmedMinor: '2000',
      paidAt: AT,
      exception: 'underpaid',
      parkReason: 'underpaid',
      statusReason: 'underpaid',
    })
  })

  test('is none where nothing is counted, where that is worth nothing, or where the payment has money', () => {
    expect(partOfPrice(waits([]))).toBeNull()
    expect(partOfPrice(waits([{ ...some, state: 'surplus' }]))).toBeNull()
    expect(partOfPrice(waits([{ ...some, units: '9', chargeMinor: '0' }]))).toBeNull()
    expect(partOfPrice(stateOf({ paidAttemptId: 'att_1' }, { attempts, parts: [part({}), some] }))).toBeNull()
  })

  test('and is worth less than the smallest unit of the price is ours at the end', () => {
    const dust = part({ key: 'a', asset: 'USDC', units: '9', chargeMinor: '0', account: 'suspense' })
    const kept = dustOf(stateOf({ status: 'expired' }, { attempts, parts: [dust] }))
    expect(kept.map((one) => [one.part.kind, one.part.units])).toEqual([['kept', '-9']])
    expect(linesOf(kept.map(({ booking }) => booking))).toEqual(['suspense USDC 9', 'exchange USDC -9'])
    expect(dustOf(stateOf({ paidAttemptId: 'att_1' }, { attempts, parts: [dust] }))).toEqual([])
  })
})

describe('a payment that ends without a transfer', () => {
  const converted = { ...confirmedMoney, usdc, providerUsed: 'wallet_app' } as const
  const back = (fields: Partial<Parameters<typeof part>[0]>) =>
    part({ key: 'back', units: '-4999', chargeMinor: '-4999', state: 'returned', ...fields })
  const UNWOUND = ['merchant_payable USDC 96', 'fee_revenue USDC 4', 'exchange USDC -100']
  const lines = (fields: Partial<Payment>, parts = [back({ kind: 'reversal', state: 'reversed' })]) =>
    linesOf(bookingsOfRefund(payment(fields), { parts }))

  test('leaves us the USDC that was bought for it, as far as any was bought', () => {
    expect(bookingsOfRefund(payment({}), { parts: [] })).toEqual([])
    const fill = { micro: '90', expected: '100', reference: 'fill', accepted: false }
    const [kept, ...others] = bookingsOfRefund(payment({ fill, conversionOrder: 2 }), { parts: [] })
    expect(others).toEqual([])
    expect(kept).toEqual({
      kind: 'fill_kept',
      reference: 'pay_1:2',
      paymentId: 'pay_1',
      lines: [
        { account: 'suspense', asset: 'USDC', amount: '90' },
        { account: 'exchange', asset: 'USDC', amount: '-90' },
      ],
    })
  })

  test('makes up with it for what the partner took back, and not for what went back to the buyer', () => {
    const loss = (minor: string) => [`conversion EUR ${minor}`, `chargeback_loss EUR -${minor}`, ...UNWOUND]
    expect(lines(converted)).toEqual(loss('4999'))
    for (const kind of ['return', 'return_outside'] as const) {
      expect(lines(converted, [back({ kind })])).toEqual(UNWOUND)
      expect(lines(converted, [back({ kind, units: '-1000', chargeMinor: '-1000' })])).toEqual(loss('3999'))
      // Money that was never converted is no part of it.
      expect(lines(converted, [back({ kind, account: 'suspense' })])).toEqual(loss('4999'))
    }
    expect(lines(converted, [])).toEqual(loss('4999'))
  })

  test('lost no fiat money where it was paid in USDC, or where none was confirmed', () => {
    expect(lines({ ...converted, providerUsed: 'crypto' })).toEqual(UNWOUND)
    expect(lines({ ...converted, confirmed: null })).toEqual(UNWOUND)
  })

  test('is unwound with the news that ends it, and with no other', () => {
    const bookings = (effect: Partial<OrderEffect>) =>
      changesOf(payment(converted), attempt({}), {
        effect: { ...nothing('confirmed'), ...effect },
        reference: 'ref',
        rate: null,
        parts: [],
        at: AT,
      }).bookings.map(({ kind }) => kind)
    expect(bookings({ moves: [{ to: 'refunded', why: 'given_back_by_partner' }] })).toEqual(['payout_unwound'])
    expect(bookings({ moves: [{ to: 'under_review', why: 'funds_reversed' }] })).toEqual([])
    expect(bookings({ attempt: 'refunded' })).toEqual([])
  })
})
