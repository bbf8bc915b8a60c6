import { expect, test } from '@jest/globals'
import {
  BUYER_MAIL_MS,
  isMailedToBuyer,
  MOST_BUYER_MAILS_A_DAY,
  renderCustomer,
} from '../../../src/domain/payment/buyer.ts'

const owed = { livemode: true, isMember: false, sentToday: 0, age: 0 }

test.each([
  ['in live mode', owed, true],
  ['in test mode', { ...owed, livemode: false }, false],
  ['in test mode, to a person of the account', { ...owed, livemode: false, isMember: true }, true],
  ['as the last one of a day', { ...owed, sentToday: MOST_BUYER_MAILS_A_DAY - 1 }, true],
  ['after the last one of a day', { ...owed, sentToday: MOST_BUYER_MAILS_A_DAY }, false],
  ['at the end of three days', { ...owed, age: 3 * 24 * 3_600_000 - 1 }, true],
  ['after three days', { ...owed, age: 3 * 24 * 3_600_000 }, false],
])('a mail to a buyer %s: %j is sent: %j', (_when, mail, isSent) => {
  expect(isMailedToBuyer(mail)).toBe(isSent)
})

test('a mail to a buyer is worth reading for three days', () => {
  expect(BUYER_MAIL_MS).toBe(259_200_000)
})

test('a payment shows the address and the tax id of its buyer, or null for each', () => {
  const none = { customer_email: null, customer_tax_id: null }
  expect(renderCustomer({ email: 'ada@example.com', taxId: 'DE1' })).toStrictEqual({
    customer_email: 'ada@example.com',
    customer_tax_id: 'DE1',
  })
  expect(renderCustomer({ email: null, taxId: null })).toStrictEqual(none)
  expect(renderCustomer(undefined)).toStrictEqual(none)
})
