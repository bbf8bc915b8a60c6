import { test } from '@jest/globals'
import { holds, useModel } from './story/holds.ts'

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
