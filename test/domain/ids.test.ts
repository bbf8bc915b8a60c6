import { expect, test } from '@jest/globals'
import {
  conversionKey,
  deliveryWorkflowId,
  diagnosisWorkflowId,
  digitsOfId,
  firstPaymentId,
  formatId,
  ID_PREFIXES,
  type IdKind,
  isId,
  notificationWorkflowId,
  paymentWorkflowId,
  readPaymentTime,
  refundKey,
  refundWorkflowId,
  SETTLE_ACTIVITY_ID,
  typeId,
} from '../../src/domain/ids.ts'
import { newId } from '../../src/ids.ts'

const SUFFIX = '01hzy3v7t8e4a9v2b6q5r0c1d2'
const kinds = Object.keys(ID_PREFIXES) as IdKind[]

test('a UUID is written with the digits of the TypeID specification', () => {
  const valid = '01890a5d-ac96-774b-bcce-b302099a8057'
  expect(formatId('payment', valid)).toBe('pay_01h455vb4pex5vsknk084sn02q')
  expect(formatId('event', 'ffffffff-ffff-ffff-ffff-ffffffffffff')).toBe(`evt_7${'z'.repeat(25)}`)
  expect(formatId('event', '00000000-0000-0000-0000-000000000000')).toBe(`evt_${'0'.repeat(26)}`)
})

test('every kind has its own prefix, which merchants store', () => {
  expect(ID_PREFIXES).toEqual({
    merchant: 'mer',
    payment: 'pay',
    attempt: 'att',
    refund: 're',
    dispute: 'dp',
    disputeAnswer: 'dpa',
    event: 'evt',
    endpoint: 'we',
    apiKey: 'key',
    request: 'req',
    partnerCallback: 'pcb',
    person: 'per',
    signInLink: 'lnk',
    session: 'ses',
    mail: 'mail',
    link: 'plink',
    channel: 'nch',
    channelMessage: 'ncm',
    auditEntry: 'aud',
    refill: 'rfl',
    reserveRelease: 'rel',
  })
})

test.each(kinds)('a new id belongs only to its own kind (%s)', (kind) => {
  const id = newId(kind)
  expect(kinds.filter((each) => isId(each, id))).toEqual([kind])
})

test.each([
  ['', false],
  ['pay_', false],
  [SUFFIX, false],
  [`pay${SUFFIX}`, false],
  [`pay_${SUFFIX}`, true],
  [`pay_${SUFFIX}0`, false],
  [`pay_0${SUFFIX}`, false],
  [`pay_${SUFFIX.slice(1)}`, false],
  [`xpay_${SUFFIX}`, false],
  [`PAY_${SUFFIX}`, false],
  [`pay_${SUFFIX.toUpperCase()}`, false],
  [`pay_7${SUFFIX.slice(1)}`, true],
  // The first digit holds three bits of 128.
  [`pay_8${SUFFIX.slice(1)}`, false],
  // Crockford has no i, l, o and u.
  ...['i', 'l', 'o', 'u', '-'].map((letter): [string, boolean] => [`pay_${SUFFIX.slice(0, -1)}${letter}`, false]),
])('%j as the id of a payment: %s', (text, isOne) => {
  expect([isId('payment', text), typeId('payment').test(text)]).toEqual([isOne, isOne])
})

test('a payment’s id contains its creation time, to the millisecond, and no other id does', () => {
  const before = Date.now()
  const made = readPaymentTime(newId('payment'))
  expect(made).toBeGreaterThanOrEqual(before)
  expect(made).toBeLessThanOrEqual(Date.now())
  // The UUID of RFC 9562, appendix A.6, with the time 2022-02-22T19:22:22Z.
  expect(readPaymentTime('pay_01fwhe4ydgfk1sh6w1b60krjv9')).toBe(0x01_7f_22_e2_79_b0)
  expect(readPaymentTime('pay_7zzzzzzzzzfk1sh6w1b60krjv9')).toBe(2 ** 48 - 1)
  expect([readPaymentTime('mer_01fwhe4ydgfk1sh6w1b60krjv9'), readPaymentTime('pay_1'), readPaymentTime('')]).toEqual([
    null,
    null,
    null,
  ])
})

test('the first id of a payment at a time is the smallest that has this time', () => {
  const time = Date.UTC(2026, 11, 1)
  const first = firstPaymentId(time)
  expect(first).toMatch(/^pay_[0-9a-z]{10}0{16}$/)
  expect([isId('payment', first), readPaymentTime(first)]).toEqual([true, time])
  expect(firstPaymentId(time - 1) < first).toBe(true)
})

test('ids of all kinds are compared by their digits', () => {
  expect(digitsOfId(`pay_${SUFFIX}`)).toBe(SUFFIX)
  expect(digitsOfId(`plink_${SUFFIX}`)).toBe(SUFFIX)
})

test('values that are derived from an id never change: workflows, and keys that partners have stored', () => {
  expect(paymentWorkflowId('pay_1')).toBe('pay_1')
  expect(refundWorkflowId('re_1')).toBe('re_1')
  expect(deliveryWorkflowId('evt_1', 'we_1')).toBe('whd_evt_1_we_1')
  expect(diagnosisWorkflowId('we_1')).toBe('diagnosis_we_1')
  expect([1, 2].map((order) => conversionKey('pay_1', order))).toEqual(['pay_1:convert', 'pay_1:convert:2'])
  expect(notificationWorkflowId('nch_1')).toBe('ntf_nch_1')
  expect([1, 2].map((order) => refundKey('att_1', order))).toEqual(['att_1:refund', 'att_1:refund:2'])
  expect(SETTLE_ACTIVITY_ID).toBe('settle')
})
