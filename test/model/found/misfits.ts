import {
  asLooked,
  click,
  decide,
  deposit,
  once,
  outside,
  partner,
  simulator,
  together,
  wait,
} from '../story/ideas/idea.ts'
import type { Found } from './story.ts'

/** Stories about money that fits no order, and about money that was returned from elsewhere: see found.test.ts. */
export const MISFITS: readonly Found[] = [
  {
    title: 'what the partner takes back in part of money that was returned from elsewhere is booked, and seen',
    was: 'the receivable was too high, and nobody was told',
    steps: [
      click('wallet_app'),
      partner('pay', 0, { percent: 60 }),
      outside(),
      partner('take some back', 0, { percent: 20 }),
    ],
  },
  {
    title: 'a second order that does not fit stands before an operator too',
    was: 'the second one was seen by nobody',
    steps: [
      click('wallet_app'),
      click('card_partner'),
      partner('change the amount', 1),
      partner('change the amount', 0, { percent: 150 }),
    ],
  },
  {
    title: 'an order that does not fit, and then does not fit in another way, is seen both times',
    steps: [click('wallet_app'), partner('change the amount'), partner('change the amount', 0, { percent: 60 })],
  },
  {
    title: 'a payment whose own money went stays open for money of another order that does not fit',
    was: 'refunded, with the other money still there',
    steps: [
      click('wallet_app'),
      click('card_partner'),
      partner('change the amount'),
      partner('pay', 1),
      partner('send all back', 1),
    ],
  },
  {
    title: 'too little money beside an order that does not fit leaves that to an operator',
    was: 'settled, with the other money still there',
    steps: [
      click('wallet_app'),
      click('card_partner'),
      partner('change the amount'),
      partner('pay', 1, { percent: 60 }),
      decide('settle'),
    ],
  },
  {
    title: 'another token is seen although the right one came after it',
    was: 'nobody was told',
    steps: [click('crypto'), { do: 'deposit', percent: 100, token: 'other' }, wait(10), deposit(100)],
  },
  {
    title: 'another token is seen although another order was paid',
    steps: [click('crypto'), click('wallet_app'), partner('pay', 1), { do: 'deposit', percent: 100, token: 'other' }],
  },
  {
    title: 'another token is seen although the payment has expired',
    steps: [click('crypto'), wait(1500), { do: 'deposit', percent: 100, token: 'other' }],
  },
  {
    title: 'an order that does not fit and was given back is dealt with, however often the partner tells of it',
    was: 'its refund opened the incident again, and an operator had to close it for nothing',
    steps: [
      click('wallet_app'),
      partner('change the amount'),
      simulator('refund_pending', 1200),
      decide('give_back'),
      wait(60),
      { do: 'news', of: 0 },
    ],
  },
  {
    title: 'an order whose amount changes while it is canceled, by a run that is lost, stands before an operator once',
    steps: [
      once('cancel', 'slow'),
      click('wallet_app'),
      click('local_partner'),
      partner('change the amount'),
      { do: 'lose the run' },
    ],
  },
  {
    title:
      'an order that does not fit is given back while another one is not answered for, by a partner that takes its time',
    steps: [
      click('wallet_app'),
      together(click('local_partner')),
      partner('change the amount', 0, { news: 'later' }),
      simulator('refund_pending'),
      decide('give_back'),
      wait(4500),
    ],
  },
  {
    title: 'an order that does not fit, and one whose amount is acknowledged',
    was: "the model's own: what was acknowledged in one currency does not make the money in another one fit",
    steps: [
      click('wallet_app'),
      click('local_partner'),
      partner('change the amount'),
      partner('pay', 1),
      partner('change the amount', 1),
    ],
  },
  {
    title: 'another token that comes after an operator has looked waits for a look of its own',
    was: 'an approval that was sent again accepted the second one',
    steps: [
      click('crypto'),
      wait(1500),
      { do: 'deposit', percent: 100, token: 'other' },
      wait(10),
      { do: 'look' },
      { do: 'deposit', percent: 50, token: 'other' },
      asLooked(decide('write_off')),
    ],
  },
  {
    title: 'an order that the partner changes once more after an operator has looked is not acknowledged so',
    steps: [
      click('wallet_app'),
      partner('pay'),
      decide('hold'),
      partner('change the amount', 0, { percent: 60 }),
      { do: 'look' },
      partner('change the amount', 0, { percent: 10 }),
      asLooked(decide('settle')),
    ],
  },
  {
    title: 'an order that was to be canceled and is paid with another amount is not canceled any more',
    was: 'the cancellation was asked for without end',
    pinned: true,
    steps: [
      click('crypto'),
      click('wallet_app'),
      deposit(120),
      together(click('card_partner')),
      partner('change the amount', 1),
    ],
  },
  {
    title: 'money that comes while an operator pays the buyer back elsewhere is not booked as returned',
    was: 'what came meanwhile was in no account, and nobody was told of it',
    steps: [
      click('wallet_app'),
      partner('pay', 0, { percent: 60 }),
      { do: 'look' },
      partner('top up', 0, { percent: 20 }),
      asLooked(outside()),
    ],
  },
  {
    title: 'a release that is sent again lifts no hold that was placed meanwhile',
    was: 'the second hold was lifted with the first one',
    steps: [
      click('wallet_app'),
      partner('pay', 0, { percent: 60 }),
      decide('hold'),
      { do: 'look' },
      decide('release'),
      decide('hold'),
      asLooked(decide('release')),
    ],
  },
  {
    title: 'late USDC that is given back leaves another token at its address before an operator',
    was: 'what had come with the other token closed its incident, and the run waited for an operator who had nothing to decide',
    steps: [click('crypto'), wait(6000), { do: 'deposit', percent: 100, token: 'other' }, deposit(40)],
  },
  {
    title: 'the conversion of money that went is ended while a misfit waits for an operator after the end',
    was: 'the converter had sold, and the books did not know it for as long as nobody decided',
    minor: '25000',
    pinned: true,
    steps: [
      click('crypto'),
      click('wallet_app'),
      once('convert', 'answer lost'),
      partner('pay', 1),
      partner('take all back', 1, { news: 'stored' }),
      { do: 'deposit', percent: 100, token: 'other' },
    ],
  },
  {
    title: 'late money of a changed order, given back by the workflow of late money, lets the payment end',
    was: "the payment's own run waited for ever for a person",
    minor: '4999',
    pinned: true,
    steps: [
      click('wallet_app'),
      { do: 'fault', at: 'cancel', trouble: 'down', times: 400 },
      wait(4500),
      partner('pay late'),
      partner('change the amount', 0, { percent: 60, news: 'later' }),
    ],
  },
  {
    title: 'of two orders that do not fit one is refunded, and the other has nothing any more: the payment is refunded',
    was: 'it waited for a person, who could only call it failed',
    steps: [
      click('wallet_app'),
      click('card_partner'),
      partner('change the amount'),
      partner('change the amount', 1),
      decide('give_back', 1),
      partner('take all back'),
    ],
    ends: { status: 'refunded', asks: [] },
  },
]
