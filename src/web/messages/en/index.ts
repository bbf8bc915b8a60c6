import { enAfter } from './after.ts'
import { enBefore } from './before.ts'
import { enLink } from './link.ts'

/**
 * The texts of the checkout in English. Every other language has the same keys and placeholders. Whole sentences only,
 * because languages put parts together in different ways. True now, short, no exclamation marks: who acts, what is
 * charged, what to do. ICU messages; `{name}` stands for a name, an amount or a moment as it is, so no sentence may need
 * another form of it.
 */
export const en = {
  'page.skip': 'Skip to the payment',
  'page.test_mode': 'Test mode',
  'page.test': 'Test',
  'page.test.text': 'No real money moves.',
  'page.footer': 'Payment page by Pinrail',
  'page.whole': 'Open as a full page',
  'page.language': 'Language',

  'title.pay': 'Pay {amount} to {merchant}',
  'title.state': '{state}: {amount} to {merchant}',
  'title.unpaid': 'Not paid yet',
  'title.not_offered': 'Not possible from here',
  'title.tries': 'Started too many times',
  'title.declined': 'Declined',
  'title.checking_with': 'Checking with {partner}',
  'title.verification': 'Identity check',
  'title.progress': 'On its way',
  'title.checking': 'Being checked',
  'title.done': 'Paid',
  'title.twice': 'Paid twice',
  'title.expired': 'Expired',
  'title.canceled': 'Canceled',
  'title.failed': 'Did not go through',
  'title.refunded': 'Returned',
  'title.receipt': 'Receipt from {merchant}',
  'title.receipt_test': 'Test receipt from {merchant}',

  'sum.pay': 'You pay',
  'sum.paid': 'You paid',
  'sum.price': 'Price',
  'sum.not_charged': 'Not charged',
  'sum.returned': 'Returned',

  'panel.details': 'Details of this payment',
  'panel.order': 'Order',
  'panel.open_until': 'Open until',
  'panel.from': 'Paying from',
  'panel.question': 'A question about your order?',

  'stop.past': 'done',
  'stop.now': 'now',
  'stop.since': 'since {time}',
  'stop.until': 'until {time}',
  'rail.where': 'Where your payment is',
  'rail.how': 'How it works',

  'shop.back': 'Back to {merchant}',
  'copy.button': 'Copy',
  'copy.done': 'Copied',

  'phone.title': 'Continue on your phone',
  'phone.text': 'Scan this code, or open the link there. Both devices show the same payment.',
  'phone.code': 'QR code with the link to this payment of {amount} to {merchant}',
  'phone.link': 'Link to this page',

  'offline.heading': 'You are offline.',
  'offline.goes_on': 'Your payment continues.',
  'offline.waits': 'This page may be out of date.',
  'offline.last': 'Last update: {time}',

  'about.seconds': 'about {count, plural, one {# second} other {# seconds}}',
  'about.minutes': 'about {count, plural, one {# minute} other {# minutes}}',

  ...enBefore,
  ...enAfter,
  ...enLink,

  'problem.back': 'Back to the payment',
  'problem.retry': 'Try again',
  'problem.not_found.heading': 'Payment not found',
  'problem.not_found.text': 'Check that you have the whole link, or ask the shop for a new one.',
  'problem.bad_request.heading': 'That did not work',
  'problem.bad_request.text': 'This request could not be read. Go back to the payment and try again.',
  'problem.forbidden.heading': 'Please start from the payment page',
  'problem.forbidden.text': 'This step can only be started from the payment page. Open it and press the button there.',
  'problem.method_not_allowed.heading': 'That did not work',
  'problem.method_not_allowed.text':
    'This address cannot be opened directly. Go back to the payment and use the buttons there.',
  'problem.unavailable.heading': 'The payment cannot be opened right now',
  'problem.unavailable.text': 'Nothing is lost and you have not been charged. Wait a moment and try again.',
  'problem.busy.heading': 'One moment, please',
  'problem.busy.text': 'This page cannot be shown right now. Your payment is not affected. Try again in a moment.',
  'problem.internal.heading': 'Something went wrong on our side',
  'problem.internal.text': 'Your payment is not affected. Reload this page in a moment.',
} as const
