import { test } from '@jest/globals'
import { holds, isThen, useModel } from './story/holds.ts'

/** Stories at whose end something waited for ever, each at its shortest, with what went wrong. */

useModel()

// held for ever: neither released, because the order was not understood, nor given back, because it had a payout
test('a held payment of which the partner changes the amount goes on when that is acknowledged', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'decide', decision: 'hold', of: null, late: false },
      { do: 'partner', act: 'change the amount', of: 0, percent: 150, news: 'told' },
      { do: 'decide', decision: 'release', of: null, late: false },
    ],
  }))

// settled without anybody's approval
test('money that becomes too little while it is held is not settled by lifting the hold', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'fault', at: 'convert', trouble: 'down', times: 1 },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'decide', decision: 'hold', of: null, late: false },
      { do: 'partner', act: 'take some back', of: 0, percent: 50, news: 'told' },
      { do: 'decide', decision: 'release', of: null, late: false },
    ],
  }))

// one operator after another closed the same
test('a misfit that was closed stays closed when the partner says the same again', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'click', provider: 'card_partner' },
      { do: 'partner', act: 'pay', of: 1, percent: 100, news: 'told' },
      { do: 'engine', act: 'settle' },
      { do: 'partner', act: 'change the amount', of: 0, percent: 100, news: 'told' },
      { do: 'decide', decision: 'approve', of: null, late: false },
      { do: 'news', of: 0 },
    ],
  }))

// the converter answered 409 for ever, and the payment could only be refunded
test('a payment that was withdrawn and is paid with another amount is converted by another order', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'simulator', fault: 'delay', seconds: 600 },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' },
      { do: 'click', provider: 'card_partner' },
      { do: 'partner', act: 'pay', of: 1, percent: 150, news: 'told' },
    ],
  }))

// suspense had USDC, and no decision ended it
test('USDC that was bought for a payment which is canceled then is booked by an operator', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'simulator', fault: 'delay', seconds: 600 },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' },
      { do: 'cancel' },
    ],
  }))

// the run was continued, and the operator never heard what became of the decision
test('a decision that comes while a long run waits to be continued is answered by it', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'fault', at: 'announce', trouble: 'slow', times: 5 },
      { do: 'continue as new' },
      { do: 'partner', act: 'pay', of: 0, percent: 60, news: 'told' },
      { do: 'decide', decision: 'approve', of: null, late: false },
    ],
  }))

// refunded, with half of the money still counted
test('a part of the money that goes before the payout was handed in leaves the rest to an operator', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'fault', at: 'convert', trouble: 'slow', times: 1 },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'take some back', of: 0, percent: 50, news: 'told' },
    ],
  }))

// the news was asked about for ever, and the loss seen by nobody
test('money that is taken back after its order was changed stands before an operator', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'change the amount', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' },
    ],
  }))

// no decision ended it: there was nothing to give back
test('an order that fits nothing, and of which the partner holds nothing any more, can be rejected', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'pay without an amount', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' },
    ],
  }))

// another try converted what was left, and nobody had approved it
test('money that goes in part while the conversion waits is too little, and no try makes it enough', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'simulator', fault: 'conversion_refused', seconds: 2_000_000 },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'take some back', of: 0, percent: 60, news: 'told' },
    ],
  }))

// the refund was asked about for ever
test('a refund of a changed order ends when its money goes by itself', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'change the amount', of: 0, percent: 100, news: 'told' },
      { do: 'simulator', fault: 'refund_pending', seconds: 1200 },
      { do: 'decide', decision: 'refund', of: null, late: false },
      { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' },
    ],
  }))

// nobody could lift the hold of a payment that was over
test('late money of a payment that was held goes back', () =>
  holds({
    minor: '4999',
    pinned: false,
    steps: [
      { do: 'click', provider: 'crypto' },
      { do: 'decide', decision: 'hold', of: null, late: false },
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'pay', of: 1, percent: 100, news: 'told' },
      { do: 'partner', act: 'take all back', of: 1, percent: 100, news: 'told' },
      { do: 'wait', minutes: 4500 },
      { do: 'partner', act: 'pay late', of: 1, percent: 100, news: 'told' },
    ],
  }))

// failed, and the partner held the money of the other order
test('a part of the price goes by itself while another partner holds its order back', () =>
  holds({
    minor: '25000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'local_partner' },
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'hold', of: 1, percent: 100, news: 'told' },
      { do: 'partner', act: 'pay late', of: 0, percent: 50, news: 'told' },
      { do: 'partner', act: 'take all back', of: 0, percent: 60, news: 'stored' },
    ],
  }))

// The payment had failed before anybody heard of the hold: the model took it for money that it had forgotten.
test('a part of the price goes by itself, and then it is heard that another partner holds its order back', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'click', provider: 'card_partner' },
      { do: 'partner', act: 'hold', of: 1, percent: 100, news: 'later' },
      { do: 'partner', act: 'pay late', of: 0, percent: 50, news: 'told' },
      { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' },
    ],
  }))

test.each([true, false])('a buyer asks for more time, and pays when the old end is over (told: %s)', (told) =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'wait', minutes: 1437 },
      { do: 'extend', told },
      { do: 'wait', minutes: 6 },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
    ],
  }),
)

// pending for ever
test('a buyer is given more time, and opens an order before the workflow has heard of it', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'wait', minutes: 1436 },
      { do: 'extend', told: false },
      { do: 'click', provider: 'wallet_app' },
    ],
  }))

// pending for ever
test('late money that could not be converted at once is taken back', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'fault', at: 'convert', trouble: 'down', times: 1 },
      { do: 'wait', minutes: 4500 },
      { do: 'partner', act: 'pay late', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' },
    ],
  }))

// processing for ever: the clock of who looks was behind the one that had rung, and rang once
test('a partner is silent for too long by the clock of the server, and not yet by that of the worker', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'clock', seconds: -20 },
      { do: 'partner', act: 'confirm without end', of: 0, percent: 100, news: 'told' },
      { do: 'wait', minutes: 1500 },
    ],
  }))

// closed again and again, until the worker's clock was there
test('an end that the buyer has moved passes by the clock of the server, and not yet by that of the worker', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'clock', seconds: -20 },
      { do: 'wait', minutes: 1437 },
      { do: 'extend', told: true },
      { do: 'wait', minutes: 30 },
    ],
  }))

// paid out when the engine had funds again, though the partner had taken the money back hours before
test('that money goes without a word while its payout waits, for funds or behind a pause, is found by asking', () =>
  isThen(
    {
      minor: '10000',
      pinned: false,
      steps: [
        { do: 'click', provider: 'wallet_app' },
        { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
        { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'later' },
        { do: 'wait', minutes: 2 },
      ],
    },
    { status: 'under_review', parkReason: 'funds_reversed', payout: 'voiding' },
  ))
