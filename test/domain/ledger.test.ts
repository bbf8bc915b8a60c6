import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import * as ledger from '../../src/domain/ledger.ts'
import { splitFee } from '../../src/domain/money.ts'
import type { Part } from '../../src/domain/payment/money/parts.ts'

const usdc = { gross: '1000', fee: '45', net: '955' }
const part = (fields: Partial<Part>): Part => ({
  key: 'att_1:0:4999',
  attemptId: 'att_1',
  kind: 'receipt',
  asset: 'EUR',
  units: '4999',
  chargeMinor: '4999',
  account: 'merchant_payable',
  state: 'counted',
  ...fields,
})
const taken = (fields: Partial<Part>): Part => part({ units: '-4999', chargeMinor: '-4999', ...fields })

/** Kind and lines, as they must be: a booking that only balances may still be wrong. */
const told = (booking: ledger.Booking | null): string[] | null =>
  booking && [
    `${booking.kind} ${booking.reference} ${booking.paymentId}`,
    ...booking.lines.map(({ account, asset, amount }) => `${account} ${asset} ${amount}`),
  ]
const ofPart = (fields: Partial<Part>, isConverted = false, paidAttemptId = 'att_1') => {
  const fact = fields.kind === undefined || fields.kind === 'receipt' ? part(fields) : taken(fields)
  return told(ledger.bookingOfPart(fact, { id: 'pay_1', usdc: isConverted ? usdc : null, paidAttemptId }))
}

describe('a part of fiat money is booked', () => {
  test('counted: the partner owes it to us, and we owe it to the merchant', () => {
    expect(ofPart({})).toEqual([
      'fiat_confirmed att_1:0:4999 pay_1',
      'partner_receivable EUR 4999',
      'merchant_payable EUR -4999',
    ])
  })

  test('surplus or late: the partner owes it, and whose it is is not decided', () => {
    expect(ofPart({ account: 'suspense', state: 'late' })).toEqual([
      'fiat_suspended att_1:0:4999 pay_1',
      'partner_receivable EUR 4999',
      'suspense EUR -4999',
    ])
  })

  test.each(['merchant_payable', 'suspense'] as const)('taken back out of %s before the conversion', (account) => {
    expect(ofPart({ kind: 'reversal', account, state: 'reversed' })).toEqual([
      'fiat_given_back att_1:0:4999 pay_1',
      `${account} EUR 4999`,
      'partner_receivable EUR -4999',
    ])
  })

  test('taken back after the conversion: our loss', () => {
    expect(ofPart({ kind: 'reversal', state: 'reversed' }, true)).toEqual([
      'chargeback att_1:0:4999 pay_1',
      'chargeback_loss EUR 4999',
      'partner_receivable EUR -4999',
    ])
  })

  test('counted after the conversion: it was our loss, and is none any more', () => {
    expect(ofPart({}, true)).toEqual([
      'chargeback_won att_1:0:4999 pay_1',
      'partner_receivable EUR 4999',
      'chargeback_loss EUR -4999',
    ])
    expect(ofPart({ account: 'suspense', state: 'surplus' }, true)?.[0]).toBe('fiat_suspended att_1:0:4999 pay_1')
  })

  test('taken back out of suspense after the conversion: nobody’s loss', () => {
    expect(ofPart({ kind: 'reversal', account: 'suspense', state: 'reversed' }, true)?.[1]).toBe('suspense EUR 4999')
  })

  test.each([
    ['before the conversion', false, 'merchant_payable'],
    ['after a void payout', true, 'conversion'],
  ])('returned %s', (_when, isConverted, account) => {
    expect(ofPart({ kind: 'return', state: 'returned' }, isConverted)).toEqual([
      'fiat_given_back att_1:0:4999 pay_1',
      `${account} EUR 4999`,
      'partner_receivable EUR -4999',
    ])
  })

  test('returned surplus, whatever became of the payment', () => {
    for (const isConverted of [false, true])
      expect(ofPart({ kind: 'return', account: 'suspense', state: 'returned' }, isConverted)?.slice(1)).toEqual([
        'suspense EUR 4999',
        'partner_receivable EUR -4999',
      ])
  })
})

describe('a part of fiat money that was returned from elsewhere', () => {
  test.each([
    ['before the conversion', false, 'merchant_payable', 'merchant_payable'],
    ['after a void payout', true, 'merchant_payable', 'conversion'],
    ['beside the payment’s own', true, 'suspense', 'suspense'],
  ] as const)('%s: what the partner still has is ours', (_when, isConverted, account, debit) => {
    expect(ofPart({ kind: 'return_outside', account, state: 'returned' }, isConverted)).toEqual([
      'fiat_given_back att_1:0:4999 pay_1',
      `${debit} EUR 4999`,
      'exchange EUR -4999',
    ])
  })

  test('and that the partner gives back too: it owes us nothing any more', () => {
    for (const isConverted of [false, true])
      expect(ofPart({ kind: 'reversal_outside', state: 'reversed' }, isConverted)).toEqual([
        'fiat_given_back att_1:0:4999 pay_1',
        'exchange EUR 4999',
        'partner_receivable EUR -4999',
      ])
  })
})

describe('a part of USDC never books fiat money', () => {
  test('its coming was booked when the chain proved it', () => {
    expect(told(ledger.deposited({ paymentId: 'pay_1', reference: '1:0x:0', micro: '7' }))).toEqual([
      'deposited 1:0x:0 pay_1',
      'deposits USDC 7',
      'suspense USDC -7',
    ])
    expect(ofPart({ asset: 'USDC', account: 'suspense' })).toBeNull()
  })

  test('taken by the payment: what was counted, and the rounding is ours', () => {
    expect(told(ledger.depositUsed({ paymentId: 'pay_1', usdc, counted: '1001' }))).toEqual([
      'deposit_used pay_1 pay_1',
      'suspense USDC 1001',
      'merchant_payable USDC -955',
      'fee_revenue USDC -45',
      'exchange USDC -1',
    ])
  })

  test('returned from elsewhere: what came is ours', () => {
    expect(ofPart({ kind: 'return', asset: 'USDC', account: 'suspense', state: 'returned' })).toEqual([
      'deposit_returned att_1:0:4999 pay_1',
      'suspense USDC 4999',
      'exchange USDC -4999',
    ])
    // What came beyond the converted is in suspense as ever; the converted is in the payout, which `payout_unwound` books.
    const outside = { kind: 'return_outside', asset: 'USDC', state: 'returned' } as const
    expect(ofPart({ ...outside, account: 'suspense' }, true)?.[0]).toBe('deposit_returned att_1:0:4999 pay_1')
    expect(ofPart({ ...outside, account: 'merchant_payable' }, true)).toBeNull()
  })

  test('too little for anybody: ours, as rounding', () => {
    expect(ofPart({ kind: 'kept', asset: 'USDC', account: 'suspense', units: '-7', chargeMinor: '0' })).toEqual([
      'deposit_kept att_1:0:4999 pay_1',
      'suspense USDC 7',
      'exchange USDC -7',
    ])
    expect(ofPart({ kind: 'kept', units: '-7' })).toBeNull()
  })
})

test('a conversion, and every way in which a fill is kept or used', () => {
  const received = { minor: '4999', currency: 'EUR' } as const
  expect(told(ledger.converted({ paymentId: 'pay_1', received, ...usdc, filled: '990' }))).toEqual([
    'converted pay_1 pay_1',
    'merchant_payable EUR 4999',
    'conversion EUR -4999',
    'conversion USDC 990',
    'merchant_payable USDC -955',
    'fee_revenue USDC -45',
    'exchange USDC 10',
  ])
  const fill = { paymentId: 'pay_1', order: 1, micro: '7' }
  expect(told(ledger.fillSuspended(fill))).toEqual([
    'fill_suspended pay_1 pay_1',
    'conversion USDC 7',
    'suspense USDC -7',
  ])
  expect(told(ledger.fillUsed(fill))).toEqual(['fill_used pay_1 pay_1', 'suspense USDC 7', 'conversion USDC -7'])
  expect(told(ledger.fillKept(fill))).toEqual(['fill_kept pay_1 pay_1', 'suspense USDC 7', 'exchange USDC -7'])
  // Each order is filled once: the facts of another one are others.
  expect(ledger.fillKept({ ...fill, order: 2 }).reference).toBe('pay_1:2')
})

test('a void payout gives the merchant’s USDC to us, and what it was sold for makes up for what was written off', () => {
  const unwound = (lost: { minor: string; currency: 'EUR' } | null) =>
    told(ledger.payoutUnwound({ paymentId: 'pay_1', usdc, lost }))
  const back = ['merchant_payable USDC 955', 'fee_revenue USDC 45', 'exchange USDC -1000']
  expect(unwound(null)).toEqual(['payout_unwound pay_1 pay_1', ...back])
  expect(unwound({ minor: '0', currency: 'EUR' })?.slice(1)).toEqual(back)
  expect(unwound({ minor: '4999', currency: 'EUR' })?.slice(1)).toEqual([
    'conversion EUR 4999',
    'chargeback_loss EUR -4999',
    ...back,
  ])
})

test('USDC that came to an address, and was sent back by hand, leaves nothing in any account', () => {
  const fact = { reference: 'x', micro: '4999', paymentId: 'pay_1' }
  const back = taken({ kind: 'return_outside', asset: 'USDC', account: 'suspense', state: 'returned' })
  const bookings = [
    ledger.deposited(fact),
    ledger.swept(fact),
    ledger.withdrawn(fact),
    ledger.acknowledged(fact),
    ledger.bookingOfPart(back, { id: 'pay_1', usdc: null, paidAttemptId: null }),
  ]
  const left: Record<string, bigint> = {}
  for (const { account, amount } of bookings.flatMap((booking) => booking?.lines ?? []))
    left[account] = (left[account] ?? 0n) + BigInt(amount)
  expect(left).toEqual({ deposits: 0n, suspense: 0n, treasury: 0n, exchange: 0n })
})

test('the treasury, the addresses and the gas', () => {
  const fact = { reference: 'x', micro: '5' }
  expect(told(ledger.settled({ paymentId: 'pay_1', net: '955' }))).toEqual([
    'settled pay_1 pay_1',
    'merchant_payable USDC 955',
    'treasury USDC -955',
  ])
  expect(told(ledger.toppedUp(fact))).toEqual(['topped_up x null', 'treasury USDC 5', 'conversion USDC -5'])
  expect(told(ledger.withdrawn(fact))).toEqual(['withdrawn x null', 'suspense USDC 5', 'treasury USDC -5'])
  expect(told(ledger.acknowledged(fact))).toEqual(['acknowledged x null', 'exchange USDC 5', 'suspense USDC -5'])
  expect(told(ledger.swept({ ...fact, paymentId: 'pay_1' }))).toEqual([
    'swept x pay_1',
    'treasury USDC 5',
    'deposits USDC -5',
  ])
  expect(told(ledger.gasSpent({ reference: 'x', wei: '9' }))).toEqual([
    'gas x null',
    'gas_expense POL 9',
    'gas_float POL -9',
  ])
})

test('every booking balances in every asset, whatever the amounts', () => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 15n }).map(String)
  fc.assert(
    fc.property(amount, amount, amount, (minor, grossAmount, filled) => {
      const received = { minor, currency: 'EUR' as const }
      const split = splitFee(grossAmount)
      const bookings = [
        ledger.converted({ paymentId: 'pay_1', received, ...split, filled }),
        ledger.depositUsed({ paymentId: 'pay_1', usdc: split, counted: filled }),
        ledger.payoutUnwound({ paymentId: 'pay_1', usdc: split, lost: received }),
      ]
      for (const booking of bookings) expect([booking.kind, ledger.imbalances(booking)]).toEqual([booking.kind, {}])
    }),
  )
})

test('an unbalanced booking is seen', () => {
  const wrong: ledger.Booking = {
    kind: 'settled',
    reference: 'x',
    paymentId: null,
    lines: [{ account: 'treasury', asset: 'USDC', amount: '1' }],
  }
  expect(ledger.imbalances(wrong)).toEqual({ USDC: '1' })
})
