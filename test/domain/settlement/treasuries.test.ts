import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Hex } from '../../../src/domain/hex.ts'
import { firstPaymentId, readPaymentTime } from '../../../src/domain/ids.ts'
import {
  appendedTreasuries,
  getTreasury,
  readTreasuries,
  type Treasury,
  treasuriesText,
  whyKeysDiffer,
  whyTooEarly,
} from '../../../src/domain/settlement/treasuries.ts'
import { newId } from '../../../src/ids.ts'

const address = (digit: string): Hex => `0x${digit.repeat(40)}`
const [A, B, C] = ['a', 'b', 'c'].map(address) as [Hex, Hex, Hex]
const DECEMBER = Date.UTC(2026, 11, 1)
const JANUARY = Date.UTC(2027, 0, 1)
const LIST: Treasury[] = [
  { address: A, firstId: null },
  { address: B, firstId: firstPaymentId(DECEMBER) },
  { address: C, firstId: firstPaymentId(JANUARY) },
]
/** An id of that time, with the rest random. */
const idAt = (time: number, rest = newId('payment').slice(14)): string => `${firstPaymentId(time).slice(0, 14)}${rest}`

describe('The treasury of a payment', () => {
  test('the treasury of a payment follows from the id and the date alone, to the millisecond', () => {
    for (const [time, payer] of [
      [0, A],
      [DECEMBER - 1, A],
      [DECEMBER, B],
      [JANUARY - 1, B],
      [JANUARY, C],
      [JANUARY + 10 ** 12, C],
    ] as const) {
      expect(readPaymentTime(idAt(time))).toBe(time)
      for (const rest of ['0'.repeat(16), 'z'.repeat(16)]) expect(getTreasury(idAt(time, rest), LIST)).toBe(payer)
    }
  })

  test('the treasury of a payment is the last one whose date is not after the time of the id', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 47 }), (time) => {
        const expected = time < DECEMBER ? A : time < JANUARY ? B : C
        expect(getTreasury(idAt(time), LIST)).toBe(expected)
      }),
    )
  })

  test('the treasury of an existing payment does not change when a treasury is appended', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: JANUARY - 1 }), (time) => {
        const id = idAt(time)
        expect(getTreasury(id, LIST)).toBe(getTreasury(id, LIST.slice(0, 2)))
      }),
    )
  })

  test('a list of treasuries must begin with one without a date', () => {
    expect(() => getTreasury(idAt(0), [])).toThrow('begins with one that has no date')
  })
})

describe('The list of treasuries', () => {
  test('a list of treasuries is read as it is written, in any case of the letters', () => {
    const text = treasuriesText(LIST)
    expect(text).toBe(`${A},${B}@2026-12-01T00:00:00Z,${C}@2027-01-01T00:00:00Z`)
    expect(readTreasuries(text.split(','))).toEqual(LIST)
    expect(readTreasuries([A, `${B}@2026-12-01T00:00:00.123Z`])).toEqual([
      LIST[0],
      { address: B, firstId: firstPaymentId(DECEMBER + 123) },
    ])
    expect(readTreasuries([`0x${'A'.repeat(40)}`, `${B}@2026-12-01T00:00Z`])).toEqual(LIST.slice(0, 2))
  })

  test.each([
    [[], 'must name a treasury'],
    [[`x${A}`], 'must be addresses'],
    [['0x12'], 'must be addresses, each but the first with a date'],
    [[A, `${B}@yesterday`], `and has ${B}@yesterday`],
    [[A, `${B}@2026-13-01T00:00:00Z`], `and has ${B}@2026-13-01T00:00:00Z`],
    [[A, `${B}@2026-12-01T00:00:00`], 'must be addresses'],
    [[A, B], 'must have a date at each address but the first'],
    [[`${A}@2026-12-01T00:00:00Z`], 'must have a date at each address but the first'],
    [[A, `${B}@2027-01-01T00:00:00Z`, `${C}@2027-01-01T00:00:00Z`], 'must have its dates in their order'],
    [[A, `${A}@2026-12-01T00:00:00Z`], 'must name each address once'],
  ])('the list of treasuries %s is refused: %s', (entries, why) => {
    expect(readTreasuries(entries)).toEqual(expect.stringContaining(why))
  })

  test('a new list of treasuries begins with the old one, or the error names the required beginning', () => {
    expect(appendedTreasuries([], LIST)).toEqual(LIST)
    expect(appendedTreasuries(LIST.slice(0, 2), LIST)).toEqual(LIST.slice(2))
    expect(appendedTreasuries(LIST, LIST)).toEqual([])
    const refusal = appendedTreasuries(LIST, LIST.slice(0, 2))
    expect(refusal).toContain(`must begin with ${treasuriesText(LIST)}`)
    expect(
      appendedTreasuries(LIST.slice(0, 2), [LIST[0]!, { ...LIST[1]!, firstId: firstPaymentId(JANUARY) }]),
    ).toContain('never change or remove an entry')
    expect(appendedTreasuries(LIST, [LIST[0]!, { ...LIST[1]!, firstId: firstPaymentId(DECEMBER + 1) }])).toContain(
      'never change or remove an entry',
    )
  })

  test('a treasury that begins before existing payments gets a date after them, at a whole minute', () => {
    const newest = idAt(DECEMBER + 30_000)
    const why = whyTooEarly(LIST[1]!, newest)
    expect(why).toContain(`treasury ${B} must pay only payments that are still to be made, and ${newest} was made at`)
    expect(why).toContain('made at 2026-12-01T00:00:30Z, after its date 2026-12-01T00:00:00Z.')
    expect(why).toContain(`Write a later date into TREASURIES: ${B}@2026-12-01T00:11:00Z`)
  })

  test('a list of treasuries names each wallet whose key is configured', () => {
    expect(whyKeysDiffer([C, A], LIST)).toBeNull()
    expect(whyKeysDiffer([A, C], LIST.slice(0, 2))).toContain(`must name ${C}, whose key is configured`)
  })
})
