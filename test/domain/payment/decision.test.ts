import { describe, expect, test } from '@jest/globals'
import {
  DECISIONS,
  describePayload,
  listOffered,
  PAYOUT_SIGNED,
  PROOF_USED,
  toAnswer,
  whyMalformed,
  whyRefused,
} from '../../../src/domain/payment/decision.ts'
import { ANSWERS, type Say } from '../../../src/domain/payment/funds/answer.ts'
import { toFunds } from '../../../src/domain/payment/funds/stored-funds.ts'
import type { Decision } from '../../../src/domain/payment/requests.ts'
import { newPaymentSnapshot, toSnapshot } from '../../../src/domain/payment/snapshot.ts'
import { after, attempt, handed, opened, pays, sets, settled } from './payment-story.ts'

const signed = { operator: 'ada', reason: 'looked at it' }
/** Has the version of the payments in this file. */
const looked = { ...signed, version: 1 }
const tooLittleState = after(opened(attempt()), pays('3000'))
const tooLittle = toSnapshot(tooLittleState)
const card = attempt({ id: 'att_2', provider: 'card_partner', method: 'card' })
const twice = toSnapshot(after(opened(attempt(), card), pays(), pays('10000', 'att_2')))

describe('A decision is refused', () => {
  test.each([undefined, {}, { operator: 'ada' }, { operator: ' ', reason: 'x' }, { operator: 'ada', reason: ' ' }])(
    'a decision without a name and a reason is refused: %j',
    (incomplete) => {
      expect(whyMalformed('settle', incomplete as Decision | undefined)).toContain('Give {"operator"')
    },
  )

  test.each([{ operator: 'a\0' }, { reason: 'x\0' }, { reason: '\ud83d' }, { attempt: 'att_\0' }, { proof: '\0' }])(
    'a decision with a text that cannot be stored is refused: %j',
    (text) => expect(whyMalformed('give_back', { ...looked, ...text })).toContain('without NUL'),
  )

  test.each(ANSWERS)('the decision %s is refused without the version that was looked at, except for a hold', (say) => {
    for (const version of [undefined, null, '7', 6.5, 0, -1, 2_000_000_000])
      expect(whyMalformed(say, { ...signed, version } as Decision) === null).toBe(say === 'hold')
    expect(whyMalformed(say, looked)).toBeNull()
  })

  test.each(ANSWERS)('the decision %s is refused with an attempt or a proof, except for a give-back', (say) => {
    for (const fields of [{ attempt: 'att_1' }, { outside: true }, { outside: true, proof: 'bank 7' }])
      expect(whyMalformed(say, { ...looked, ...fields })).toBe(
        say === 'give_back' ? null : '"attempt", "outside" and "proof" belong to give_back',
      )
    expect(whyMalformed(say, { ...looked, proof: 'bank 7' })).toContain(
      say === 'give_back' ? 'add "outside": true' : 'belong to give_back',
    )
  })

  test('a decision with an outdated version is refused; the row can be newer than the known version', () => {
    const known = { ...tooLittle, version: 7 }
    expect(whyRefused('settle', { ...signed, version: 6 }, known)).toContain('has changed since you looked at it')
    expect(whyRefused('settle', { ...signed, version: 7 }, known)).toBeNull()
    expect(whyRefused('settle', { ...signed, version: 8 }, known)).toBeNull()
  })

  test('a hold is accepted with a version that is outdated', () => {
    expect(whyRefused('hold', { ...signed, version: 6 }, { ...tooLittle, version: 7 })).toBeNull()
  })

  test('a decision is refused for its form before the payment is looked at', () => {
    expect(whyRefused('settle', signed, tooLittle)).toContain('Add "version"')
    expect(whyRefused('release', signed, tooLittle)).toContain('Add "version"')
  })

  test('a decision is refused only for its form while the payment is not known yet', () => {
    expect(whyRefused('settle', looked, null)).toBeNull()
    expect(whyRefused('settle', signed, null)).toContain('Add "version"')
  })

  test('a decision that changes nothing is refused with the possible decisions', () => {
    expect(whyRefused('write_off', looked, tooLittle)).toBe(
      'The payment is under_review, and write_off changes nothing. Decide with settle, or give_back --attempt att_1, or give_back --attempt att_1 --outside, or hold',
    )
    expect(whyRefused('settle', looked, toSnapshot(settled))).toBe(
      'The payment is succeeded, and settle changes nothing. There is nothing to decide',
    )
    expect(whyRefused('give_back', { ...looked, attempt: 'att_9', outside: true }, tooLittle)).toContain(
      'give_back outside of att_9 changes nothing',
    )
  })

  test('a release of a payment without a hold, and a hold of a payment that has ended, are refused', () => {
    expect(whyRefused('release', looked, tooLittle)).toBe('Nothing is held')
    expect(whyRefused('hold', signed, toSnapshot(settled))).toBe('A succeeded payment cannot be held')
    expect(whyRefused('hold', signed, toSnapshot(after(handed, sets({ held: true }))))).toContain('is held already')
    expect(whyRefused('hold', signed, newPaymentSnapshot('pay_1', 0))).toBeNull()
  })

  test('a give-back is refused if two attempts have money and none is named', () => {
    expect(whyRefused('give_back', looked, twice)).toBe(
      'Name the attempt whose money goes back, as "attempt": att_1 or att_2',
    )
    expect(whyRefused('give_back', { ...looked, attempt: 'att_2' }, twice)).toBeNull()
  })
})

describe('The answer that a decision means', () => {
  test.each<[Say, Partial<Decision>, ReturnType<typeof toAnswer>]>([
    ['settle', {}, { say: 'settle' }],
    ['give_back', {}, { say: 'give_back', accountId: 'att_1' }],
    ['give_back', { attempt: 'att_1', outside: true }, { say: 'give_back', accountId: 'att_1', outside: true }],
    ['hold', {}, { say: 'hold' }],
  ])('the decision %s with %j means its answer', (say, fields, answer) => {
    expect(toAnswer(say, { ...looked, ...fields }, tooLittle)).toStrictEqual(answer)
  })

  test('a decision is refused if it is not offered', () => {
    expect(toAnswer('release', looked, tooLittle)).toBe('Nothing is held')
  })
})

describe('What operators read about decisions', () => {
  test('each decision has an explanation, and the fields of its payload', () => {
    expect(Object.keys(DECISIONS)).toEqual([...ANSWERS])
    expect(new Set(Object.values(DECISIONS)).size).toBe(ANSWERS.length)
    for (const say of ANSWERS) {
      expect(DECISIONS[say].split(' ').length).toBeGreaterThanOrEqual(3)
      expect(describePayload(say)).toMatch(/^\{"operator", "reason".*\}$/)
      expect(describePayload(say).includes('"version"')).toBe(say !== 'hold')
      for (const field of ['"attempt"', '"outside"', '"proof"'])
        expect(describePayload(say).includes(field)).toBe(say === 'give_back')
    }
  })

  test('a refusal by the payout or by the proof says what to do', () => {
    expect(PAYOUT_SIGNED).toContain('Void it instead')
    expect(PROOF_USED).toContain('look for the right one')
  })

  test('the offered decisions name the attempt whose money can go back', () => {
    expect(listOffered(toFunds(tooLittleState))).toStrictEqual([
      { say: 'settle' },
      { say: 'give_back', attempt: 'att_1' },
      { say: 'give_back', attempt: 'att_1', outside: true },
      { say: 'hold' },
    ])
  })
})
