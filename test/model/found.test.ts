import { test } from '@jest/globals'
import { holds, useModel } from './story/holds.ts'

/** Stories that the model has found, each at its shortest, with what went wrong. */

useModel()

// the workflow turned without end
test('a clock that rings for a state which the payment has left does not stop the workflow', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'local_partner' },
      { do: 'decide', decision: 'hold', of: null, late: false },
      { do: 'partner', act: 'pay slowly', of: 0, percent: 100, news: 'told' },
    ],
  }))

// suspense had USDC without an owner, and no operator saw it
test('a part of the price in USDC is surplus when another order is paid', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'crypto' },
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'pay', of: 1, percent: 100, news: 'stored' },
      { do: 'deposit', percent: 40, token: 'usdc' },
    ],
  }))

// expired, with money that was counted
test('a part in USDC after the expiry stands before an operator, beside another token', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'crypto' },
      { do: 'wait', minutes: 1440 },
      { do: 'deposit', percent: 60, token: 'usdc' },
      { do: 'deposit', percent: 100, token: 'other' },
    ],
  }))

// suspense kept what had been given back
test('surplus USDC that an operator gave back after the payout leaves the books', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'crypto' },
      { do: 'deposit', percent: 120, token: 'usdc' },
      { do: 'click', provider: 'wallet_app' },
      { do: 'deposit', percent: 40, token: 'usdc' },
    ],
  }))

// pending for ever, and payable
test('a confirmation that is withdrawn after the expiry lets the payment expire', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'wait', minutes: 1439 },
      { do: 'partner', act: 'pay slowly', of: 0, percent: 100, news: 'told' },
      { do: 'wait', minutes: 1 },
      { do: 'partner', act: 'decline', of: 0, percent: 100, news: 'told' },
    ],
  }))

// the partner had the money, and nobody knew of it
test('a refused order of which the partner says that it has money stands before an operator', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'local_partner' },
      { do: 'partner', act: 'cancel with money', of: 0, percent: 100, news: 'told' },
    ],
  }))

test('… also in a run that has taken over', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'pay slowly', of: 0, percent: 100, news: 'told' },
      { do: 'lose the run' },
      { do: 'partner', act: 'decline', of: 0, percent: 100, news: 'told' },
    ],
  }))

// refunded, with money that was counted
test('a part of the money that goes after the payout was voided leaves the rest to an operator', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'engine', act: 'ask void' },
      { do: 'engine', act: 'void' },
      { do: 'partner', act: 'take some back', of: 0, percent: 60, news: 'told' },
    ],
  }))

// the news was asked about again for ever
test('news of a misfit that an operator has before them is read', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'change the amount', of: 0, percent: 100, news: 'told' },
      { do: 'news', of: 0 },
    ],
  }))

// no decision ended it: approving asked the partner for money that could not go anywhere
test('the misfit of a payment that is over can be closed', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'twice' },
      { do: 'partner', act: 'change the amount', of: 0, percent: 50, news: 'told' },
    ],
  }))

// pending for ever
test('a confirmation that the expiry finds, and that is withdrawn, lets the payment expire', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'wait', minutes: 1439 },
      { do: 'partner', act: 'pay slowly', of: 0, percent: 100, news: 'later' },
      { do: 'wait', minutes: 1 },
      { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' },
    ],
  }))

test('a payout that was voided and is settled after all stands before an operator', () =>
  holds({
    minor: '10000',
    pinned: true,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'take all back', of: 0, percent: 60, news: 'told' },
      { do: 'engine', act: 'void' },
      { do: 'engine', act: 'settle after all' },
    ],
  }))

// the converter had sold the money of a refunded payment, and the books did not know
test('a conversion that is filled after the refund is in the books', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'simulator', fault: 'delay', seconds: 60 },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'decide', decision: 'hold', of: null, late: false },
      { do: 'decide', decision: 'refund', of: null, late: false },
    ],
  }))

test('… also when its answer was lost', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'fault', at: 'convert', trouble: 'answer lost', times: 1 },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'decide', decision: 'hold', of: null, late: false },
      { do: 'wait', minutes: 1 },
      { do: 'decide', decision: 'recordExternalRefund', of: null, late: false },
    ],
  }))

// the decision was tried for ever: there is no way from failed to failed
test('a rejection that was carried out, and whose answer was lost, is answered when it is tried again', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'hold', of: 0, percent: 100, news: 'told' },
      { do: 'decide', decision: 'reject', of: null, late: false, together: true },
      { do: 'cut the next activity', at: 1 },
    ],
  }))

// after a chargeback the same money came again, of another amount
test('money of a changed order after a chargeback is in the books once it is acknowledged', () =>
  holds({
    minor: '4999',
    pinned: true,
    steps: [
      { do: 'click', provider: 'local_partner' },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'stored' },
      { do: 'engine', act: 'settle' },
      { do: 'wait', minutes: 4500 },
      { do: 'partner', act: 'change the amount', of: 0, percent: 100, news: 'told' },
    ],
  }))

// refunded with the misfit, while the USDC was counted
test('money that does not fit goes back, and other money of the payment is settled', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'local_partner' },
      { do: 'click', provider: 'crypto' },
      { do: 'partner', act: 'cancel with money', of: 0, percent: 100, news: 'told' },
      { do: 'deposit', percent: 100, token: 'usdc' },
    ],
  }))

// news of it was repeated for ever
test('an order that was changed and holds nothing any more is read once', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'card_partner' },
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'pay', of: 1, percent: 100, news: 'told' },
      { do: 'partner', act: 'change the amount', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' },
    ],
  }))

// what the converter bought was in no account
test('the conversion of money that went is ended before USDC that came in its place is settled', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'local_partner' },
      { do: 'click', provider: 'crypto' },
      { do: 'simulator', fault: 'delay', seconds: 600 },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' },
      { do: 'deposit', percent: 100, token: 'usdc' },
    ],
  }))

// the check, and not the payment, was wrong: it took what had gone again for the rest of the price
test('what came beside the whole price, and was taken back with some of that, leaves too little', () =>
  holds({
    minor: '4999',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'simulator', fault: 'conversion_refused', seconds: 7200 },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'top up', of: 0, percent: 40, news: 'told' },
      { do: 'partner', act: 'take some back', of: 0, percent: 50, news: 'told' },
    ],
  }))

// the rupees were never sold, and the euros that were had gone
test('what was bought for money that went is not taken for other money of another currency', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'simulator', fault: 'delay', seconds: 600 },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' },
      { do: 'click', provider: 'local_partner' },
      { do: 'partner', act: 'pay', of: 1, percent: 100, news: 'told' },
    ],
  }))
