import { describe, expect, test } from '@jest/globals'
import { getHeldBack, getSeized } from '../../../src/domain/payment/funds/funds.ts'
import { computePositions } from '../../../src/domain/payment/funds/positions.ts'
import { findDueDay, getPayoutMicro, getReserved } from '../../../src/domain/payment/reserve.ts'
import { newAccount, newFunds } from './funds/story.ts'

describe('The split of the net amount', () => {
  test.each([
    ['1000000', '10', '100000', '900000'],
    ['1', '50', '0', '1'],
    ['999999', '10.25', '102499', '897500'],
    ['57882573', '0.01', '5788', '57876785'],
  ])('a net amount of %s micro-USDC with a reserve of %s %% holds back %s and pays %s', (net, percent, held, paid) => {
    const payment = { reserve: { percent, days: 90 }, usdc: { net }, deduction: null }
    expect([getReserved(payment), getPayoutMicro(payment)]).toEqual([held, paid])
  })

  test('without a reserve the payout pays the whole net amount', () => {
    expect(getPayoutMicro({ reserve: null, usdc: { net: '77' }, deduction: null })).toBe('77')
    expect(getReserved({ reserve: { percent: '10', days: 1 }, usdc: null })).toBe('0')
  })

  test.each([
    ['2026-11-28T00:00:00.000Z', 1, '2026-11-30'],
    ['2026-11-28T23:59:59.999Z', 90, '2027-02-27'],
    ['2028-02-28T12:00:00.000Z', 1, '2028-03-01'],
  ])('a reserve of %s is held for whole days: with %s of them it is due on %s', (paidAt, days, due) => {
    expect(findDueDay(paidAt, { days })).toBe(due)
  })
})

describe('What a chargeback takes', () => {
  const sale = { number: 1, accountId: 'a', units: 10_000n, gross: 1000n, fill: 1000n, state: 'filled' as const }
  const paid = (held: bigint, released = 0n) =>
    newFunds({
      accounts: [newAccount('a', 'EUR', { report: 'paid', held })],
      sales: [sale],
      taken: { ...sale, fee: 45n, reserve: 95n, deducted: 0n },
      payout: 'paid',
      paidOut: 860n,
      released,
    })

  test.each([
    [10_000n, 0n],
    // 0.4999 units of 10 would be 0.04999 micro-USDC of the loss: it is rounded down.
    [9_995n, 0n],
    [9_500n, 50n],
    [9_050n, 95n],
    [0n, 95n],
  ])('a chargeback that leaves %s of 10,000 units takes %s of a reserve of 95', (held, taken) => {
    expect([getSeized(paid(held)), getHeldBack(paid(held))]).toEqual([taken, 95n - taken])
  })

  test('what was released is not taken, whatever is lost afterwards', () => {
    for (const held of [0n, 9_500n])
      expect([getSeized(paid(held, 45n)), getHeldBack(paid(held, 45n))]).toEqual([50n, 0n])
    expect([getSeized(paid(0n, 95n)), getHeldBack(paid(0n, 95n))]).toEqual([0n, 0n])
  })

  test('what is won back after a release is held back again', () => {
    expect([getSeized(paid(9_800n, 45n)), getHeldBack(paid(9_800n, 45n))]).toEqual([20n, 30n])
    expect([getSeized(paid(10_000n, 45n)), getHeldBack(paid(10_000n, 45n))]).toEqual([0n, 50n])
  })

  test('the books balance in each asset, and owe the merchant what was released until it is paid', () => {
    for (const funds of [paid(10_000n), paid(9_500n), paid(0n), paid(9_500n, 45n)]) {
      const sums = new Map<string, bigint>()
      for (const [key, units] of computePositions(funds)) {
        const asset = key.split(' ')[1] ?? ''
        sums.set(asset, (sums.get(asset) ?? 0n) + units)
      }
      expect([...sums.values()].every((sum) => sum === 0n)).toBe(true)
    }
    const released = computePositions(paid(9_500n, 45n))
    expect(released.get('merchant_payable USDC')).toBe(-45n)
    expect(released.get('reserve USDC')).toBeUndefined()
    expect(released.get('chargeback_loss USDC')).toBe(-50n)
    expect(computePositions(paid(10_000n)).get('reserve USDC')).toBe(-95n)
  })

  test('a payment whose payout is void has no reserve', () => {
    const funds = { ...paid(10_000n), payout: 'void' as const, paidOut: 0n }
    expect(getHeldBack(funds)).toBe(0n)
    expect([...computePositions(funds).keys()].some((key) => key.startsWith('reserve'))).toBe(false)
  })
})
