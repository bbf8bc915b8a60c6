import { describe, expect, test } from '@jest/globals'
import type { Hex } from '../../../src/domain/hex.ts'
import {
  isPlausiblePayout,
  isPlausibleRelease,
  isWithinLimit,
  transferLimits,
} from '../../../src/domain/settlement/transfers.ts'

const WALLET = `0x${'a'.repeat(40)}` as const
const OTHER = `0x${'b'.repeat(40)}` as const
const LIMITS = transferLimits({
  PAYOUT_MAX_USDC: 100,
  PAYOUT_MAX_USDC_PER_DAY: 1000,
  CONVERSION_TOLERANCE_PERCENT: 3,
})
const transfer = (microUsdc: string | null, counterparty: Hex = WALLET) => ({
  microUsdc,
  counterparty,
})

test('limits are converted from whole USDC to micro-USDC', () => {
  expect(LIMITS).toEqual({ maxMicroPerPayout: 100_000_000n, maxMicroPerDay: 1_000_000_000n, fillTolerancePercent: 3 })
})

test('a transfer is within the limit up to the most that one payout can be', () => {
  expect(isWithinLimit(transfer('100000000'), LIMITS)).toBe(true)
  expect(isWithinLimit(transfer('100000001'), LIMITS)).toBe(false)
  expect(isWithinLimit(transfer(null), LIMITS)).toBe(true)
})

describe('A payment whose payout a restored database might lack', () => {
  const converted = { recipient: WALLET, net: '50000000', quotedNet: '60000000' }
  const quoted = { recipient: WALLET, net: null, quotedNet: '60000000' }

  test('a converted payment was paid its net amount exactly', () => {
    expect(isPlausiblePayout(transfer('50000000'), converted, LIMITS)).toBe(true)
    for (const micro of ['49999999', '50000001', '60000000'])
      expect(isPlausiblePayout(transfer(micro), converted, LIMITS)).toBe(false)
  })

  test('a payment that was not converted yet was paid at most its quote and the tolerance', () => {
    for (const micro of [null, '1', '60000000', '61800000'])
      expect(isPlausiblePayout(transfer(micro), quoted, LIMITS)).toBe(true)
    expect(isPlausiblePayout(transfer('61800001'), quoted, LIMITS)).toBe(false)
  })

  test('a transfer to another wallet, or above the limit of a payout, was not its payout', () => {
    expect(isPlausiblePayout(transfer('50000000', OTHER), converted, LIMITS)).toBe(false)
    const large = { recipient: WALLET, net: '100000001', quotedNet: '100000001' }
    expect(isPlausiblePayout(transfer('100000001'), large, LIMITS)).toBe(false)
  })
})

describe('A release of reserves that a restored database might lack', () => {
  const release = { id: 'rel_1', recipient: WALLET, mostMicro: 50_000_000n }

  test('a release paid at most what was due, because chargebacks might have taken some of it', () => {
    for (const micro of [null, '1', '50000000']) expect(isPlausibleRelease(transfer(micro), release, LIMITS)).toBe(true)
    expect(isPlausibleRelease(transfer('50000001'), release, LIMITS)).toBe(false)
  })

  test('a transfer to another wallet, or above the limit of a payout, was not its payout', () => {
    expect(isPlausibleRelease(transfer('1', OTHER), release, LIMITS)).toBe(false)
    const large = { ...release, mostMicro: 200_000_000n }
    expect(isPlausibleRelease(transfer('100000000'), large, LIMITS)).toBe(true)
    expect(isPlausibleRelease(transfer('100000001'), large, LIMITS)).toBe(false)
  })
})
