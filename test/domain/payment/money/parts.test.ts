import { describe, expect, test } from '@jest/globals'
import {
  atPartner,
  attemptsWith,
  chargeSum,
  countedBeside,
  fiatReceipt,
  heldOf,
  PART_STATES,
  type Part,
  partsOf,
  putBack,
  restated,
  returnedOutside,
  STILL_HERE,
  takeAll,
  takeDust,
  takeOutside,
  takeSome,
  unitSum,
  usdcReceipts,
} from '../../../../src/domain/payment/money/parts.ts'
import { part } from '../decided-payment.ts'

const fiat = (minor: string, fields: Partial<Part> = {}) =>
  part({ key: `k${minor}`, units: minor, chargeMinor: minor, ...fields })
const micro = (units: string, chargeMinor: string, fields: Partial<Part> = {}) =>
  part({ key: `u${units}`, asset: 'USDC', units, chargeMinor, ...fields })
const surplus = { state: 'surplus' } as const
const late = { state: 'late' } as const
const other = { attemptId: 'att_2' }
const short = (parts: readonly Part[]) =>
  parts.map(({ key, kind, units, chargeMinor, state }) => [key, kind, units, chargeMinor, state].join(' '))

describe('what is there', () => {
  const parts = [fiat('100'), fiat('20', surplus), fiat('3', other), fiat('7', { state: 'returned' })]

  test('is what is counted, surplus, late or on its way back; of all attempts or of one', () => {
    expect(STILL_HERE).toEqual(['counted', 'surplus', 'late', 'returning'])
    expect(PART_STATES).toEqual([...STILL_HERE, 'returned', 'reversed'])
    expect(chargeSum(parts, {})).toBe('123')
    expect(chargeSum(parts, { attemptId: 'att_1' })).toBe('120')
    expect(chargeSum(parts, { states: ['returned'] })).toBe('7')
    expect(unitSum([micro('5', '0'), micro('9', '1')], { attemptId: 'att_1' })).toBe('14')
    expect(heldOf(parts, 'att_1')).toBe('120')
    expect(partsOf(parts, { attemptId: null })).toEqual([])
  })

  test('with attempts that have units in a state, in the order of their first part', () => {
    const gone = [fiat('5', surplus), fiat('-5', { ...surplus, kind: 'reversal' })]
    expect(attemptsWith([fiat('3', other), fiat('1'), fiat('2', other)], ['counted'])).toEqual(['att_2', 'att_1'])
    expect(attemptsWith(gone, ['surplus'])).toEqual([])
  })

  test('at the partner is also what was returned from elsewhere, and not what went back through it', () => {
    const outside = fiat('-40', { kind: 'return_outside', state: 'returned' })
    const back = fiat('-9', { kind: 'return', state: 'returned' })
    const all = [fiat('100'), outside, back, fiat('-2', { ...other, kind: 'return_outside' })]
    expect(returnedOutside(all, 'att_1')).toBe('40')
    expect(returnedOutside([back], 'att_1')).toBe('0')
    expect(atPartner([fiat('60'), outside], 'att_1')).toBe('100')
    // What the partner took of it then, it has no more.
    const taken = fiat('-15', { kind: 'reversal_outside', state: 'reversed' })
    expect(returnedOutside([...all, taken], 'att_1')).toBe('25')
    expect(atPartner([fiat('60'), outside, taken], 'att_1')).toBe('85')
  })
})

describe('what comes', () => {
  test('by a cumulative report is what it has beyond what is known, under the report’s own key', () => {
    const known = [fiat('60'), fiat('1', other), fiat('2', other)]
    const owner = { state: 'surplus' } as const
    const total = { minor: '100', currency: 'EUR' } as const
    expect(fiatReceipt(known, 'att_1', { total, owner })).toEqual({
      key: 'att_1:1:100',
      attemptId: 'att_1',
      kind: 'receipt',
      asset: 'EUR',
      units: '40',
      chargeMinor: '40',
      ...owner,
    })
  })

  test('in USDC is each deposit that is not known, worth its share of the floored whole', () => {
    const toCharge = (sum: string) => (BigInt(sum) / 10n).toString()
    const receipts = [
      { key: 'u5', micro: '5' },
      { key: 'b', micro: '6' },
      { key: 'c', micro: '0' },
      { key: 'd', micro: '9' },
    ]
    const known = [micro('5', '0'), micro('106', '10', other)]
    expect(short(usdcReceipts(known, 'att_1', { receipts, toCharge, state: 'late' }))).toEqual([
      'b receipt 6 1 late',
      'd receipt 9 1 late',
    ])
    expect(usdcReceipts([], 'att_1', { receipts, toCharge, state: 'counted' })[0]).toMatchObject({
      attemptId: 'att_1',
      asset: 'USDC',
    })
  })
})

describe('what goes', () => {
  const mixed = [fiat('100'), fiat('20', surplus), fiat('5', late), fiat('9', { ...other })]

  test('wholly, is one fact', () => {
    expect(short(takeAll(mixed, 'att_1', { kind: 'reversal' }))).toEqual([
      'att_1:reversal:4 reversal -125 -125 reversed',
    ])
    expect(short(takeAll(mixed, 'att_1', { kind: 'return', states: ['surplus', 'late'] }))).toEqual([
      'att_1:return:4 return -25 -25 returned',
    ])
    expect(takeAll([fiat('5'), fiat('-5', { kind: 'reversal' })], 'att_1', { kind: 'return' })).toEqual([])
    expect(takeAll(mixed, 'att_1', { kind: 'return' })[0]).toMatchObject({ attemptId: 'att_1', asset: 'EUR' })
  })

  test('in part, is taken from the surplus first, then from what is late, counted, and on its way back', () => {
    expect(short(takeSome(mixed, 'att_1', '22'))).toEqual([
      'att_1:reversal:4:surplus reversal -20 -20 surplus',
      'att_1:reversal:4:late reversal -2 -2 late',
    ])
    expect(short(takeSome(mixed, 'att_1', '125')).at(-1)).toBe('att_1:reversal:4:counted reversal -100 -100 counted')
    expect(takeSome(mixed, 'att_1', '0')).toEqual([])
    const returning = restated(mixed, 'att_1', { from: ['counted', 'surplus', 'late'], to: 'returning' })
    expect(short(takeSome(returning, 'att_1', '27'))).toEqual([
      'att_1:reversal:4:returning:surplus reversal -20 -20 returning',
      'att_1:reversal:4:returning:late reversal -5 -5 returning',
      'att_1:reversal:4:returning:counted reversal -2 -2 returning',
    ])
    // What was taken while it was on its way back goes where it was, with the rest.
    const all = [...returning, ...takeSome(returning, 'att_1', '27')]
    expect(chargeSum(putBack(all, 'att_1'), { attemptId: 'att_1', states: ['counted'] })).toBe('98')
    expect(attemptsWith(putBack(all, 'att_1'), ['surplus', 'late'])).toEqual([])
  })
})

describe('what was returned from elsewhere', () => {
  const outside = fiat('-40', { kind: 'return_outside', state: 'returned' })
  const parts = [fiat('100'), fiat('-3', { ...other, kind: 'return_outside' }), outside]

  test('and is taken back by the partner is one fact: no owner has less by it', () => {
    const taken = takeOutside(parts, 'att_1', '15')
    expect(short(taken)).toEqual(['att_1:reversal_outside:3 reversal_outside -15 -15 reversed'])
    expect(taken[0]).toMatchObject({ attemptId: 'att_1', asset: 'EUR' })
    expect(heldOf([...parts, ...taken], 'att_1')).toBe('100')
    expect(returnedOutside([...parts, ...taken], 'att_1')).toBe('25')
  })

  test('is nothing where the partner took nothing, or the buyer had nothing from elsewhere', () => {
    expect(takeOutside(parts, 'att_1', '0')).toEqual([])
    expect(takeOutside([fiat('100')], 'att_1', '15')).toEqual([])
    expect(takeOutside([fiat('100'), outside], 'att_2', '15')).toEqual([])
  })
})

test('money beside that of an order is what other orders have counted, and is worth something', () => {
  const some = [fiat('100'), fiat('7', other), fiat('1', { attemptId: 'att_3', ...surplus })]
  expect(countedBeside(some, 'att_1')).toEqual(['att_2'])
  expect(countedBeside(some, 'att_2')).toEqual(['att_1'])
  expect(countedBeside(some, 'att_3')).toEqual(['att_1', 'att_2'])
  const dust = [micro('9', '0', other), fiat('5', { ...other, ...surplus })]
  expect(countedBeside(dust, 'att_1')).toEqual([])
})

describe('the state of a part', () => {
  const parts = [fiat('100'), fiat('20', surplus), fiat('9', other), fiat('7', { state: 'reversed' })]

  test('changes for one attempt and the states that are named', () => {
    const changed = restated(parts, 'att_1', { from: ['counted'], to: 'returned' })
    expect(changed.map(({ state }) => state)).toEqual(['returned', 'surplus', 'counted', 'reversed'])
    expect(changed[0]?.stateBefore).toBeNull()
  })

  test('on its way back is known before, and is the same again when it is put back', () => {
    const returning = restated(parts, 'att_1', { from: ['counted', 'surplus'], to: 'returning' })
    expect(returning.map(({ state, stateBefore }) => `${state} ${stateBefore}`)).toEqual([
      'returning counted',
      'returning surplus',
      'counted undefined',
      'reversed undefined',
    ])
    expect(putBack(returning, 'att_2')).toEqual(returning)
    const back = putBack(returning, 'att_1')
    expect(back.map(({ state }) => state)).toEqual(['counted', 'surplus', 'counted', 'reversed'])
    expect(back[0]?.stateBefore).toBeNull()
  })
})

describe('dust', () => {
  test('is what is counted of an order that was not taken, and worth nothing in the price', () => {
    const dust = [micro('4', '0'), micro('5', '0')]
    expect(short(takeDust(dust, null))).toEqual(['att_1:kept:2 kept -9 0 counted'])
    expect(takeDust(dust, 'att_1')).toEqual([])
    expect(takeDust([...dust, micro('60', '1')], null)).toEqual([])
    expect(takeDust([micro('4', '0', { state: 'surplus' })], null)).toEqual([])
    expect(takeDust([...dust, ...takeDust(dust, null)], null)).toEqual([])
    // Neither what is surplus beside it nor what another order has is dust, or makes it worth more.
    const beside = [micro('60', '1', { state: 'surplus' }), micro('70', '1', other)]
    expect(short(takeDust([...dust, ...beside], null))).toEqual(['att_1:kept:4 kept -9 0 counted'])
  })
})
