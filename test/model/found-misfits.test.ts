import { test } from '@jest/globals'
import { holds, isThen, useModel } from './story/holds.ts'

/** Stories about money that fits no order, and about money that was returned from elsewhere: see found.test.ts. */

useModel()

// the receivable was too high, and nobody was told
test('what the partner takes back in part of money that was returned from elsewhere is booked, and seen', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'pay', of: 0, percent: 60, news: 'told' },
      { do: 'decide', decision: 'recordExternalRefund', of: null, late: false },
      { do: 'partner', act: 'take some back', of: 0, percent: 20, news: 'told' },
    ],
  }))

// the second one was seen by nobody
test('a second order that does not fit stands before an operator too', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'click', provider: 'card_partner' },
      { do: 'partner', act: 'change the amount', of: 1, percent: 100, news: 'told' },
      { do: 'partner', act: 'change the amount', of: 0, percent: 150, news: 'told' },
    ],
  }))

test('an order that does not fit, and then does not fit in another way, is seen both times', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'change the amount', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'change the amount', of: 0, percent: 60, news: 'told' },
    ],
  }))

// refunded, with the other money still there
test('a payment whose own money went stays open for money of another order that does not fit', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'click', provider: 'card_partner' },
      { do: 'partner', act: 'change the amount', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'pay', of: 1, percent: 100, news: 'told' },
      { do: 'partner', act: 'send all back', of: 1, percent: 100, news: 'told' },
    ],
  }))

// settled, with the other money still there
test('too little money beside an order that does not fit leaves that to an operator', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'click', provider: 'card_partner' },
      { do: 'partner', act: 'change the amount', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'pay', of: 1, percent: 60, news: 'told' },
      { do: 'decide', decision: 'approve', of: null, late: false },
    ],
  }))

// nobody was told
test('another token is seen although the right one came after it', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'crypto' },
      { do: 'deposit', percent: 100, token: 'other' },
      { do: 'wait', minutes: 10 },
      { do: 'deposit', percent: 100, token: 'usdc' },
    ],
  }))

test('another token is seen although another order was paid', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'crypto' },
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'pay', of: 1, percent: 100, news: 'told' },
      { do: 'deposit', percent: 100, token: 'other' },
    ],
  }))

test('another token is seen although the payment has expired', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'crypto' },
      { do: 'wait', minutes: 1500 },
      { do: 'deposit', percent: 100, token: 'other' },
    ],
  }))

// its refund opened the incident again, and an operator had to close it for nothing
test('an order that does not fit and was given back is dealt with, however often the partner tells of it', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'change the amount', of: 0, percent: 100, news: 'told' },
      { do: 'simulator', fault: 'refund_pending', seconds: 1200 },
      { do: 'decide', decision: 'refund', of: null, late: false },
      { do: 'wait', minutes: 60 },
      { do: 'news', of: 0 },
    ],
  }))

test('an order whose amount changes while it is canceled, by a run that is lost, stands before an operator once', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'fault', at: 'cancel', trouble: 'slow', times: 1 },
      { do: 'click', provider: 'wallet_app' },
      { do: 'click', provider: 'local_partner' },
      { do: 'partner', act: 'change the amount', of: 0, percent: 100, news: 'told' },
      { do: 'lose the run' },
    ],
  }))

test('an order that does not fit is given back while another one is not answered for, by a partner that takes its time', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'click', provider: 'local_partner', together: true },
      { do: 'partner', act: 'change the amount', of: 0, percent: 100, news: 'later' },
      { do: 'simulator', fault: 'refund_pending', seconds: 7200 },
      { do: 'decide', decision: 'refund', of: null, late: false },
      { do: 'wait', minutes: 4500 },
    ],
  }))

// the model's own: what was acknowledged in one currency does not make the money in another one fit
test('an order that does not fit, and one whose amount is acknowledged', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'click', provider: 'local_partner' },
      { do: 'partner', act: 'change the amount', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'pay', of: 1, percent: 100, news: 'told' },
      { do: 'partner', act: 'change the amount', of: 1, percent: 100, news: 'told' },
    ],
  }))

// an approval that was sent again accepted the second one
test('another token that comes after an operator has looked waits for a look of its own', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'crypto' },
      { do: 'wait', minutes: 1500 },
      { do: 'deposit', percent: 100, token: 'other' },
      { do: 'wait', minutes: 10 },
      { do: 'look' },
      { do: 'deposit', percent: 50, token: 'other' },
      { do: 'decide', decision: 'approve', of: null, late: false, before: true },
    ],
  }))

test('an order that the partner changes once more after an operator has looked is not acknowledged so', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'decide', decision: 'hold', of: null, late: false },
      { do: 'partner', act: 'change the amount', of: 0, percent: 60, news: 'told' },
      { do: 'look' },
      { do: 'partner', act: 'change the amount', of: 0, percent: 10, news: 'told' },
      { do: 'decide', decision: 'acknowledge', of: null, late: false, before: true },
    ],
  }))

// the cancellation was asked for without end
test('an order that was to be canceled and is paid with another amount is not canceled any more', () =>
  holds({
    minor: '10000',
    pinned: true,
    steps: [
      { do: 'click', provider: 'crypto' },
      { do: 'click', provider: 'wallet_app' },
      { do: 'deposit', percent: 120, token: 'usdc' },
      { do: 'click', provider: 'card_partner', together: true },
      { do: 'partner', act: 'change the amount', of: 1, percent: 100, news: 'told' },
    ],
  }))

// what came meanwhile was in no account, and nobody was told of it
test('money that comes while an operator pays the buyer back elsewhere is not booked as returned', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'pay', of: 0, percent: 60, news: 'told' },
      { do: 'look' },
      { do: 'partner', act: 'top up', of: 0, percent: 20, news: 'told' },
      { do: 'decide', decision: 'recordExternalRefund', of: null, late: false, before: true },
    ],
  }))

// the second hold was lifted with the first one
test('a release that is sent again lifts no hold that was placed meanwhile', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'pay', of: 0, percent: 60, news: 'told' },
      { do: 'decide', decision: 'hold', of: null, late: false },
      { do: 'look' },
      { do: 'decide', decision: 'release', of: null, late: false },
      { do: 'decide', decision: 'hold', of: null, late: false },
      { do: 'decide', decision: 'release', of: null, late: false, before: true },
    ],
  }))

// what had come with the other token closed its incident, and the run waited for an operator who had nothing to decide
test('late USDC that is given back leaves another token at its address before an operator', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'crypto' },
      { do: 'wait', minutes: 6000 },
      { do: 'deposit', percent: 100, token: 'other' },
      { do: 'deposit', percent: 40, token: 'usdc' },
    ],
  }))

// the converter had sold, and the books did not know it for as long as nobody decided
test('the conversion of money that went is ended while a misfit waits for an operator after the end', () =>
  holds({
    minor: '25000',
    pinned: true,
    steps: [
      { do: 'click', provider: 'crypto' },
      { do: 'click', provider: 'wallet_app' },
      { do: 'fault', at: 'convert', trouble: 'answer lost', times: 1 },
      { do: 'partner', act: 'pay', of: 1, percent: 100, news: 'told' },
      { do: 'partner', act: 'take all back', of: 1, percent: 100, news: 'stored' },
      { do: 'deposit', percent: 100, token: 'other' },
    ],
  }))

// the payment's own run waited for ever for a person
test('late money of a changed order, given back by the workflow of late money, lets the payment end', () =>
  holds({
    minor: '4999',
    pinned: true,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'fault', at: 'cancel', trouble: 'down', times: 400 },
      { do: 'wait', minutes: 4500 },
      { do: 'partner', act: 'pay late', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'change the amount', of: 0, percent: 60, news: 'later' },
    ],
  }))

// it waited for a person, who could only call it failed
test('of two orders that do not fit one is refunded, and the other has nothing any more: the payment is refunded', () =>
  isThen(
    {
      minor: '10000',
      pinned: false,
      steps: [
        { do: 'click', provider: 'wallet_app' },
        { do: 'click', provider: 'card_partner' },
        { do: 'partner', act: 'change the amount', of: 0, percent: 100, news: 'told' },
        { do: 'partner', act: 'change the amount', of: 1, percent: 100, news: 'told' },
        { do: 'decide', decision: 'refund', of: 1, late: false },
        { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' },
      ],
    },
    { status: 'refunded', incident: false },
  ))
