import { click, decide, engine, once, outside, partner, simulator, wait } from '../story/ideas/idea.ts'
import type { Found } from './story.ts'

/** Stories at whose end something waited forever, each in its shortest form, with the failure. */
export const WAITING: readonly Found[] = [
  {
    title: 'a held payment of which the partner changes the amount continues when that is acknowledged',
    was: 'held forever: neither released, because the order was not understood, nor given back, because it had a payout',
    steps: [
      click('wallet_app'),
      partner('pay'),
      decide('hold'),
      partner('change the amount', 0, { percent: 150 }),
      decide('release'),
    ],
  },
  {
    title: 'money that becomes too little while it is held is not settled by lifting the hold',
    was: "settled without anybody's approval",
    steps: [
      click('wallet_app'),
      once('convert', 'down'),
      partner('pay'),
      decide('hold'),
      partner('take some back', 0, { percent: 50 }),
      decide('release'),
    ],
  },
  {
    title: 'a misfit that was closed stays closed when the partner says the same again',
    was: 'one operator after another closed the same',
    steps: [
      click('wallet_app'),
      click('card_partner'),
      partner('pay', 1),
      engine('settle'),
      partner('change the amount'),
      decide('settle'),
      { do: 'callback', of: 0 },
    ],
  },
  {
    title: 'a payment that was withdrawn and is paid with another amount is converted by another order',
    was: 'the converter answered 409 forever, and the payment could only be refunded',
    steps: [
      click('wallet_app'),
      simulator('delay', 600),
      partner('pay'),
      partner('take all back'),
      click('card_partner'),
      partner('pay', 1, { percent: 150 }),
    ],
  },
  {
    title: 'a sale for a payment which is canceled then stays in the books',
    was: 'suspense had USDC, and no decision ended it',
    steps: [click('wallet_app'), simulator('delay', 600), partner('pay'), partner('take all back'), { do: 'cancel' }],
  },
  {
    title: 'a decision that comes while a long run waits to be continued is answered by it',
    was: 'the run was continued, and the operator got no answer about the decision',
    steps: [
      click('wallet_app'),
      { do: 'fault', at: 'announce', trouble: 'slow', times: 5 },
      { do: 'continue as new' },
      partner('pay', 0, { percent: 60 }),
      decide('settle'),
    ],
  },
  {
    title: 'a part of the money that is reversed before the payout was handed in leaves the rest to an operator',
    was: 'refunded, with half of the money still counted',
    steps: [
      click('wallet_app'),
      once('convert', 'slow'),
      partner('pay'),
      partner('take some back', 0, { percent: 50 }),
    ],
  },
  {
    title: 'money that is taken back after its order was changed waits for an operator',
    was: 'the order was read again forever, and no operator saw the loss',
    steps: [click('wallet_app'), partner('pay'), partner('change the amount'), partner('take all back')],
  },
  {
    title: 'an order that fits nothing, and of which the partner has nothing any more, can be rejected',
    was: 'no decision ended it: there was nothing to give back',
    steps: [click('wallet_app'), partner('pay without an amount'), partner('take all back')],
  },
  {
    title: 'money that is reversed in part while the conversion waits is too little, and no try makes it enough',
    was: 'another try converted what was left, and nobody had approved it',
    steps: [
      click('wallet_app'),
      simulator('conversion_refused', 2000000),
      partner('pay'),
      partner('take some back', 0, { percent: 60 }),
    ],
  },
  {
    title: 'a refund of a changed order ends when its partner reverses the money',
    was: 'the refund was asked about forever',
    steps: [
      click('wallet_app'),
      partner('change the amount'),
      simulator('refund_pending', 1200),
      decide('give_back'),
      partner('take all back'),
    ],
  },
  {
    title:
      'late money that its partner gives back although the buyer got it from elsewhere is a loss that a person sees',
    was: 'Nobody read the order any more, because the time for late money was over: the buyer had the money twice.',
    steps: [
      click('wallet_app'),
      wait(8000),
      partner('pay late'),
      simulator('refund_pending'),
      decide('give_back', 0),
      outside(0),
    ],
    ends: { status: 'expired', asks: [] },
  },
  {
    title:
      'late money that its partner does not give back, because the buyer got it from elsewhere, is waited for a day',
    steps: [
      click('wallet_app'),
      wait(8000),
      partner('pay late'),
      simulator('refund_pending', 2_000_000),
      decide('give_back', 0),
      outside(0),
      wait(25 * 60),
    ],
    ends: { status: 'expired', asks: [], runs: false },
  },
  {
    title: 'late money of a payment that was held goes back',
    was: 'nobody could lift the hold of a payment that was over',
    minor: '4999',
    steps: [
      click('crypto'),
      decide('hold'),
      click('wallet_app'),
      partner('pay', 1),
      partner('take all back', 1),
      wait(4500),
      partner('pay late', 1),
    ],
  },
  {
    title: 'a part of the price is reversed while another partner withholds its order',
    was: 'failed, and the partner held the money of the other order',
    minor: '25000',
    steps: [
      click('local_partner'),
      click('wallet_app'),
      partner('hold', 1),
      partner('pay late', 0, { percent: 50 }),
      partner('take all back', 0, { percent: 60, arrival: 'stored' }),
    ],
  },
  {
    title: 'a part of the price is reversed, and then another partner reports that it withholds its order',
    was: 'The payment had failed before the hold was known: the model took it for money that it had forgotten.',
    steps: [
      click('wallet_app'),
      click('card_partner'),
      partner('hold', 1, { arrival: 'later' }),
      partner('pay late', 0, { percent: 50 }),
      partner('take all back'),
    ],
  },
  {
    title: 'a buyer asks for more time, and pays when the old end is over (signaled: true)',
    steps: [click('wallet_app'), wait(1437), { do: 'extend', signaled: true }, wait(6), partner('pay')],
  },
  {
    title: 'a buyer asks for more time, and pays when the old end is over (signaled: false)',
    steps: [click('wallet_app'), wait(1437), { do: 'extend', signaled: false }, wait(6), partner('pay')],
  },
  {
    title: 'a buyer is given more time, and opens an order before the workflow receives the signal',
    was: 'pending forever',
    steps: [wait(1436), { do: 'extend', signaled: false }, click('wallet_app')],
  },
  {
    title: 'late money that could not be converted at once is taken back',
    was: 'pending forever',
    steps: [click('wallet_app'), once('convert', 'down'), wait(4500), partner('pay late'), partner('take all back')],
  },
  {
    title: 'a partner is silent for too long by the clock of the server, and not yet by that of the worker',
    was: 'processing forever: the clock of who looks was behind the one that had rung, and rang once',
    steps: [click('wallet_app'), { do: 'clock', seconds: -20 }, partner('confirm without end'), wait(1500)],
  },
  {
    title: 'an end that the buyer has moved passes by the clock of the server, and not yet by that of the worker',
    was: "closed again and again, until the worker's clock was there",
    steps: [click('wallet_app'), { do: 'clock', seconds: -20 }, wait(1437), { do: 'extend', signaled: true }, wait(30)],
  },
  {
    title: 'an order that was opened without an answer is read by the polls, and its refund carried to its end',
    was: 'The run had no polls: nobody asked the partner whether it had given the money back.',
    steps: [
      { do: 'cut the next activity', at: 4 },
      click('card_partner'),
      { do: 'cut the next activity', at: 4 },
      partner('pay', 0, { percent: 50 }),
      wait(1),
      simulator('refund_pending'),
      decide('give_back'),
    ],
  },
  {
    title: 'a silent reversal while the payout waits, for funds or behind a pause, is found by asking',
    was: 'paid out when the engine had funds again, though the partner had taken the money back hours before',
    steps: [click('wallet_app'), partner('pay'), partner('take all back', 0, { arrival: 'later' }), wait(2)],
    ends: { status: 'under_review', reason: 'voiding', payout: 'voiding' },
  },
]
