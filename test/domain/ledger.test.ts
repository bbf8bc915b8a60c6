import { describe, expect, test } from '@jest/globals'
import * as ledger from '../../src/domain/ledger.ts'

/** The expected kind and lines: a booking that balances can still be wrong. */
const listFacts = (booking: ledger.Booking): string[] => [
  `${booking.kind} ${booking.reference} ${booking.paymentId}`,
  ...booking.lines.map(({ account, asset, amount }) => `${account} ${asset} ${amount}`),
]

test('USDC at an address of the platform is in suspense until its payment takes it', () => {
  expect(listFacts(ledger.deposited({ paymentId: 'pay_1', reference: '1:0x:0', micro: '7' }))).toEqual([
    'deposited 1:0x:0 pay_1',
    'deposits USDC 7',
    'suspense USDC -7',
  ])
})

test('USDC at the address of a refund, or deducted for it, is taken by the platform, or goes back to the merchant', () => {
  const fact = { paymentId: 'pay_1', reference: 're_1', micro: '7' }
  for (const from of ['suspense', 'reserve'] as const)
    expect(listFacts(ledger.refundTaken({ ...fact, from }))).toEqual([
      'refund_taken re_1 pay_1',
      `${from} USDC 7`,
      'exchange USDC -7',
    ])
  expect(listFacts(ledger.returned(fact))).toEqual(['returned re_1 pay_1', 'suspense USDC 7', 'deposits USDC -7'])
})

test('a release of reserves pays what the merchant is owed from the treasury', () => {
  expect(listFacts(ledger.reservePaid({ ownerId: 'rel_1', microUsdc: '7' }))).toEqual([
    'reserve_paid rel_1 null',
    'merchant_payable USDC 7',
    'treasury USDC -7',
  ])
})

test('the treasury, the addresses and the gas are booked by their movements', () => {
  const fact = { reference: 'x', micro: '5' }
  expect(listFacts(ledger.toppedUp(fact))).toEqual(['topped_up x null', 'treasury USDC 5', 'conversion USDC -5'])
  expect(listFacts(ledger.withdrawn(fact))).toEqual(['withdrawn x null', 'suspense USDC 5', 'treasury USDC -5'])
  expect(listFacts(ledger.acknowledged(fact))).toEqual(['acknowledged x null', 'exchange USDC 5', 'suspense USDC -5'])
  expect(listFacts(ledger.claimed({ ...fact, from: 'suspense' }))).toEqual([
    'claimed x null',
    'treasury USDC 5',
    'suspense USDC -5',
  ])
  expect(listFacts(ledger.swept({ ...fact, paymentId: 'pay_1' }))).toEqual([
    'swept x pay_1',
    'treasury USDC 5',
    'deposits USDC -5',
  ])
  expect(listFacts(ledger.gasSpent({ reference: 'x', wei: '9' }))).toEqual([
    'gas x null',
    'gas_expense POL 9',
    'gas_float POL -9',
  ])
})

describe('A refill in the books', () => {
  const money = { minor: '100000', currency: 'EUR' } as const

  test('a refill moves the money from partners and, if it brings nothing, back', () => {
    expect(listFacts(ledger.refillOpened({ refillId: 'rfl_1', money }))).toEqual([
      'refill_opened rfl_1 null',
      'refill EUR 100000',
      'partner_receivable EUR -100000',
    ])
    expect(listFacts(ledger.refillEnded({ refillId: 'rfl_1', money }))).toEqual([
      'refill_ended rfl_1 null',
      'partner_receivable EUR 100000',
      'refill EUR -100000',
    ])
  })

  test.each([
    ['a gain', '1160', '1200', '1190', ['exchange USDC -40', 'spread USDC 10']],
    ['a loss', '1160', '1100', '1090', ['exchange USDC 60', 'spread USDC 10']],
    ['neither', '1160', '1160', '1160', []],
  ])('a refill that arrives books %s, and the spread', (_name, costMicro, marketMicro, micro, result) => {
    const booking = ledger.refillDone({ refillId: 'rfl_1', money, costMicro, marketMicro, micro })
    expect(listFacts(booking)).toEqual([
      'refill_done rfl_1 null',
      'conversion EUR 100000',
      'refill EUR -100000',
      `suspense USDC ${micro}`,
      `conversion USDC -${costMicro}`,
      ...result,
    ])
    expect(ledger.imbalances(booking)).toEqual({})
  })

  test('USDC that arrives belongs to nobody until a refill claims it', () => {
    expect(listFacts(ledger.received({ reference: 'x', micro: '5' }))).toEqual([
      'received x null',
      'treasury USDC 5',
      'suspense USDC -5',
    ])
  })
})

test('an unbalanced booking is detected', () => {
  const wrong: ledger.Booking = {
    kind: 'settled',
    reference: 'x',
    paymentId: null,
    lines: [{ account: 'treasury', asset: 'USDC', amount: '1' }],
  }
  expect(ledger.imbalances(wrong)).toEqual({ USDC: '1' })
})
