import { expect, test } from '@jest/globals'
import {
  conversionKey,
  deliveryWorkflowId,
  ID_PREFIXES,
  type IdKind,
  isId,
  lateMoneyWorkflowId,
  paymentWorkflowId,
  refundKey,
  TRANSFER_ACTIVITY_ID,
  voidKey,
} from '../../src/domain/ids.ts'
import { newId } from '../../src/ids.ts'

const SUFFIX = '01hzy3v7t8e4a9v2b6q5r0c1d2'
const kinds = Object.keys(ID_PREFIXES) as IdKind[]

test('every kind has a prefix of its own, which merchants store', () => {
  expect(ID_PREFIXES).toEqual({
    merchant: 'mer',
    payment: 'pay',
    attempt: 'att',
    event: 'evt',
    endpoint: 'we',
    apiKey: 'key',
    request: 'req',
    partnerEvent: 'pev',
    person: 'per',
    signInLink: 'lnk',
    session: 'ses',
    mail: 'mail',
    link: 'plink',
    channel: 'nch',
    channelMessage: 'ncm',
    auditEntry: 'aud',
  })
})

test.each(kinds)('a new id is one of its own kind (%s) and of no other', (kind) => {
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
  expect(isId('payment', text)).toBe(isOne)
})

test('what is derived from an id never changes: workflows, and keys that partners have stored', () => {
  expect(paymentWorkflowId('pay_1')).toBe('pay_1')
  expect(deliveryWorkflowId('evt_1', 'we_1')).toBe('whd_evt_1_we_1')
  expect(lateMoneyWorkflowId('att_1')).toBe('late_att_1')
  expect([1, 2].map((order) => conversionKey('pay_1', order))).toEqual(['pay_1:convert', 'pay_1:convert:2'])
  expect(refundKey('att_1')).toBe('att_1:refund')
  expect(voidKey('pay_1')).toBe('pay_1:void')
  expect(TRANSFER_ACTIVITY_ID).toBe('transferUsdc')
})
