import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { ORDER_STATUSES, type PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { hasNewReading, isOver, OTHER_TOKEN, withReading } from '../../../src/domain/payment/reading.ts'
import { AT, attempt, order, RATE, reads, usdcAttempt } from './payment-story.ts'

const paid = reads(attempt(), { status: 'paid', received: '10000' })
const money = ({ status, held, misfit }: ReturnType<typeof reads>) => [status, held, misfit?.why ?? null].join(' ')

describe('A reading of an order without money', () => {
  test.each([
    ['open', null, 'open 0 '],
    ['verification_required', null, 'verification_required 0 '],
    ['confirming', null, 'confirming 0 '],
    ['confirming', '10000', 'confirming 10000 '],
    ['on_hold', null, 'on_hold 0 '],
    ['on_hold', '10000', 'on_hold 10000 '],
    ['paid', '10000', 'paid 10000 '],
    ['paid', '3000', 'paid 3000 '],
    ['paid', '15000', 'paid 15000 '],
    // Money counts, whatever status its partner gives the order.
    ['open', '3000', 'confirming 3000 '],
    ['verification_required', '10000', 'confirming 10000 '],
    ['canceled', '10000', 'paid 10000 '],
    ['expired', '10000', 'paid 10000 '],
    ['canceled', null, 'canceled 0 '],
    ['expired', '0', 'expired 0 '],
    ['declined', null, 'declined 0 '],
    // It can be an error of the partner, or money that it keeps: an operator must look.
    ['declined', '10000', 'paid 10000 refused'],
    // Refunded money has gone back, although the partner still names the amount that it had received.
    ['refunded', '10000', 'refunded 0 '],
    ['paid', null, 'open 0 no_amount'],
    ['paid', '0', 'open 0 no_amount'],
  ] as const)('an order that is %s with %s received is read as “%s”', (status, received, expected) => {
    expect(money(reads(attempt(), { status, received }))).toBe(expected)
  })
})

describe('A reading of an order that was paid', () => {
  test('a dispute about more than the received amount changes nothing when it is read again', () => {
    const disputed = reads(paid, { status: 'declined', received: '-500' })
    expect(reads(disputed, { status: 'declined', received: '-500' })).toEqual(disputed)
  })

  test.each([
    // A partner that waits, checks or withholds may report less than it has.
    ['open', null, 'confirming 10000 '],
    ['open', '5000', 'confirming 10000 '],
    ['confirming', '15000', 'confirming 15000 '],
    ['on_hold', '4000', 'on_hold 10000 '],
    ['paid', '10000', 'paid 10000 '],
    ['paid', '5000', 'paid 5000 '],
    ['canceled', null, 'canceled 0 '],
    ['declined', null, 'declined 0 '],
    // Money of an order that is refused after its payment has left.
    ['declined', '10000', 'declined 0 '],
    ['refunded', '10000', 'refunded 0 '],
    ['paid', null, 'paid 10000 no_amount'],
    // A dispute took more than the received amount: nothing is there, and an operator must see the rest.
    ['declined', '-500', 'declined 0 amount'],
    ['refunded', '-500', 'refunded 0 amount'],
    ['paid', '-500', 'paid 0 amount'],
  ] as const)('an order that is %s with %s received is read as “%s”', (status, received, expected) => {
    expect(money(reads(paid, { status, received }))).toBe(expected)
  })

  test('a refund ends the order for good, and a payment that arrives after it is another one', () => {
    expect(reads(paid, { status: 'refunded' })).toMatchObject({ returned: true, paidAt: null })
    expect(reads(paid, { status: 'canceled' })).toMatchObject({ returned: false, paidAt: null })
    // By the platform's own decision, whatever status the partner gives it then.
    expect(reads({ ...paid, back: 'asked' }, { status: 'canceled' })).toMatchObject({ returned: true, back: 'no' })
    expect(reads({ ...paid, back: 'wanted' }, { status: 'canceled' })).toMatchObject({ returned: false, back: 'no' })
    expect(reads({ ...paid, back: 'asked' }, { status: 'paid', received: '10000' })).toMatchObject({ back: 'asked' })
  })
})

test('money that the partner reversed stays reversed, although later reports still name the received amount', () => {
  const reversed = reads(paid, { status: 'declined', received: '10000' })
  expect(money(reads(reversed, { status: 'declined', received: '10000' }))).toBe('declined 0 ')
  const refused = reads(attempt(), { status: 'declined', received: '10000' })
  expect(money(reads(refused, { status: 'declined', received: '10000' }))).toBe('paid 10000 refused')
})

describe('An authentic report that does not match its order', () => {
  const yen = { minor: '10000', currency: 'JPY' as const }
  const whole = { status: 'paid', received: '10000' } as const

  test.each([
    ['order', { attemptId: 'att_2' }, 'open 0 order'],
    ['account', { account: 'somebody' }, 'open 0 account'],
    ['currency', { amount: yen }, 'open 0 currency'],
    // The order belongs to the platform and its money is real: it counts as held, and waits for an operator.
    ['amount', { amount: { minor: '1', currency: 'EUR' as const } }, 'paid 10000 amount'],
  ])('money of a misfit is never taken without an operator: %s', (_why, fields, expected) => {
    expect(money(reads(attempt(), { ...whole, ...fields }))).toBe(expected)
  })

  test('a misfit names the partner’s report', () => {
    expect(reads(attempt(), { ...whole, amount: yen }).misfit).toEqual({
      why: 'currency',
      status: 'paid',
      amount: yen,
      received: { minor: '10000', currency: 'EUR' },
    })
  })

  test('a misfit needs no operator while the order holds nothing and expects nothing', () => {
    const other = { amount: { minor: '9999', currency: 'EUR' as const } }
    for (const status of ['open', 'declined', 'canceled', 'expired', 'refunded'] as const) {
      expect(money(reads(attempt(), { ...other, status }))).toBe(`${status} 0 `)
      expect(money(reads(attempt(), { account: 'somebody', status }))).toBe(`${status} 0 `)
    }
    expect(money(reads(attempt(), { ...other, status: 'confirming' }))).toBe('confirming 0 amount')
  })

  test('a misfit ends with the order: its money is reversed with it', () => {
    const changed = { amount: { minor: '9999', currency: 'EUR' as const } }
    for (const status of ['declined', 'canceled', 'expired', 'refunded'] as const)
      expect(money(reads(paid, { ...changed, status }))).toBe(`${status} 0 `)
    expect(money(reads(paid, { attemptId: 'att_2', status: 'canceled' }))).toBe('paid 10000 order')
  })

  test('a misfit keeps an operator’s answer only as long as it does not change', () => {
    const odd = { ...whole, amount: { minor: '1', currency: 'EUR' as const } }
    const accepted = { ...reads(attempt(), odd), misfitAnswer: 'accepted' as const }
    expect(reads(accepted, odd).misfitAnswer).toBe('accepted')
    expect(reads(accepted, { ...odd, received: '10001' }).misfitAnswer).toBe('none')
    expect(reads(accepted, whole)).toMatchObject({ misfit: null, misfitAnswer: 'none' })
  })
})

describe('Money at an address of the platform', () => {
  const rate = { rate: '1.1', source: 'shown', asOf: AT }
  const brought = (status: PartnerOrder['status'], received: string, ...micro: string[]) => {
    const receipts = micro.map((units, index) => ({ key: `${index}`, micro: units }))
    return { status, received, usdc: { receipts, askedMicro: '110000000', rate } }
  }

  test.each([
    ['a part of the price, which may be completed', brought('open', '4545', '50000000'), 'open 50000000 '],
    ['two transfers', brought('paid', '10000', '50000000', '60000000'), 'paid 110000000 '],
    ['nothing', brought('expired', '0'), 'expired 0 '],
  ])('a deposit is read: %s', (_what, report, expected) => {
    expect(money(reads(usdcAttempt({ askedMicro: null }), report))).toBe(expected)
    expect(reads(usdcAttempt({ askedMicro: null }), report).askedMicro).toBe('110000000')
  })

  test('another token changes nothing, and stays recorded whatever arrives after it', () => {
    const odd = reads(usdcAttempt({ status: 'opening' }), { status: 'wrong_asset' })
    expect(money(odd)).toBe('open 0 token')
    expect(odd.misfit).toEqual({
      why: 'token',
      status: 'wrong_asset',
      amount: { minor: '0', currency: 'USDC' },
      received: null,
    })
    expect(money(reads(usdcAttempt({ status: 'confirming' }), { status: 'wrong_asset' }))).toBe('confirming 0 token')
    expect(money(reads(odd, brought('paid', '10000', '110000000')))).toBe('paid 110000000 token')
  })
})

test('another token keeps the amount that was found of it', () => {
  const misfit = { ...OTHER_TOKEN, received: { minor: '5', currency: 'USDT' } } as const
  expect(reads(usdcAttempt({ misfit }), { status: 'wrong_asset' }).misfit).toEqual(misfit)
})

test('money received in another currency than the order does not count', () => {
  const report = { ...order({ status: 'paid' }), received: { minor: '10000', currency: 'USD' as const } }
  expect(money(withReading(attempt(), { order: report, rate: RATE, account: 'ours', at: AT }))).toBe('open 0 currency')
})

describe('A report that is stored', () => {
  test('a report is stored if it changes the status, the money or the misfit', () => {
    expect(hasNewReading(paid, { ...paid, silent: true, partnerReference: 'other' })).toBe(false)
    expect(hasNewReading(paid, { ...paid, status: 'on_hold' })).toBe(true)
    expect(hasNewReading(paid, { ...paid, held: '9999' })).toBe(true)
    expect(hasNewReading(paid, { ...paid, misfit: OTHER_TOKEN })).toBe(true)
  })

  test('the first report is stored as soon as the partner was asked', () => {
    expect(hasNewReading(null, attempt({ status: 'opening' }))).toBe(false)
    expect(hasNewReading(null, attempt())).toBe(true)
  })
})

describe('Other effects of a report', () => {
  test('a report locks the rate when money is first there, and never changes it', () => {
    const locked = { ...RATE, lockedAt: AT }
    expect(paid).toMatchObject({ rate: locked, paidAt: AT })
    expect(reads({ ...paid, held: '0' }, { status: 'paid', received: '1' }, { ...RATE }).rate).toEqual(locked)
    expect(reads(attempt(), { status: 'confirming', received: '10000' }).rate).toBeNull()
    expect(reads(attempt(), { status: 'paid', received: '10000' }, null)).toMatchObject({ rate: null, paidAt: AT })
  })

  test.each([
    ['paid', '10000', AT],
    ['paid', '4000', AT],
    ['canceled', '10000', AT],
    ['confirming', '10000', null],
    ['on_hold', '10000', null],
    ['open', null, null],
    ['refunded', null, null],
    ['declined', null, null],
  ] as const)('money counts as confirmed by a report of %s with %s: %s', (status, received, confirmedAt) => {
    expect(reads(attempt(), { status, received }).confirmedAt).toBe(confirmedAt)
    expect(reads({ ...paid, confirmedAt: '2026-01-01T00:05:00.000Z' }, { status, received }).confirmedAt).toBe(
      confirmedAt,
    )
  })

  test('a report about another order confirms nothing', () => {
    const known = { ...paid, confirmedAt: '2026-01-01T00:05:00.000Z' }
    const foreign = { status: 'paid', received: '10000', account: 'somebody' } as const
    expect(reads(known, foreign)).toMatchObject({ confirmedAt: known.confirmedAt, misfit: { why: 'account' } })
  })

  test('a report keeps the first reference and the last failure, and another status ends the silence', () => {
    const known = attempt({ partnerReference: 'first', failureCode: 'declined', silent: true, status: 'confirming' })
    expect(reads(known, { status: 'confirming' })).toEqual(known)
    expect(reads(known, { status: 'declined', failureCode: 'reversed' })).toMatchObject({
      partnerReference: 'first',
      failureCode: 'reversed',
      silent: false,
    })
    expect(reads(attempt(), { reference: '' }).partnerReference).toBeNull()
    expect(reads(attempt(), { reference: 'ord-9' }).partnerReference).toBe('ord-9')
  })

  test('a report adds the partner’s ids of payments to the known ones, and one about another order does not', () => {
    const first = reads(attempt(), { status: 'paid', received: '10000', payments: ['pi_1', 'ch_1'] })
    expect(first.partnerPayments).toEqual(['pi_1', 'ch_1'])
    const more = { status: 'paid', received: '10000', payments: ['ch_1', 'ch_2'] } as const
    expect(reads(first, more).partnerPayments).toEqual(['pi_1', 'ch_1', 'ch_2'])
    expect(reads(first, { status: 'paid', received: '10000' }).partnerPayments).toEqual(['pi_1', 'ch_1'])
    expect(reads(first, { ...more, account: 'somebody' }).partnerPayments).toEqual(['pi_1', 'ch_1'])
  })

  test('the same report changes nothing the second time', () => {
    const report = fc.record({
      status: fc.constantFrom(...ORDER_STATUSES, 'wrong_asset' as const),
      received: fc.constantFrom(null, '0', '5000', '10000', '15000'),
      account: fc.constantFrom('ours', 'ours', 'somebody'),
    })
    fc.assert(
      fc.property(fc.array(report, { minLength: 1, maxLength: 6 }), (reports) => {
        const last = reports.at(-1) ?? {}
        const read = reports.reduce((known, one) => reads(known, one), attempt())
        expect(reads(read, last)).toEqual(read)
      }),
    )
  })
})

test('a partner’s report ends an order only if the order holds nothing', () => {
  const over = ORDER_STATUSES.filter((status) => isOver(order({ status })))
  expect(over).toEqual(['declined', 'canceled', 'expired', 'refunded'])
  expect(ORDER_STATUSES.filter((status) => isOver(order({ status, received: '1' })))).toEqual(['refunded'])
})

test('a cancellation is requested until the order is not open any more, or an operator decides about it', () => {
  const asked = attempt({ cancelAsked: true })
  const over = ORDER_STATUSES.filter((status) => !reads(asked, { status, received: null }).cancelAsked)
  expect(over.join(' ')).toBe('confirming on_hold paid declined canceled expired refunded')
  expect(reads(asked, { status: 'paid', received: null })).toMatchObject({
    status: 'open',
    misfit: { why: 'no_amount' },
  })
})
