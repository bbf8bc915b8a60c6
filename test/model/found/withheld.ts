import { click, decide, deposit, engine, partner, silent, simulator, together, wait } from '../story/ideas/idea.ts'
import type { Found } from './story.ts'

/** Money that a partner withholds after it had confirmed it is not sold, whatever is decided. */
export const WITHHELD: readonly Found[] = [
  {
    title: 'money that its partner holds back after it had confirmed it is not sold when an operator lifts a hold',
    minor: '4999',
    steps: [click('wallet_app'), decide('hold'), partner('pay'), partner('hold what was paid'), decide('release')],
    ends: { status: 'under_review', converted: false },
  },
  {
    title: 'money that its partner holds back after it had confirmed it is not sold when a conversion is tried again',
    minor: '4999',
    steps: [
      click('wallet_app'),
      simulator('conversion_refused'),
      partner('pay'),
      partner('hold what was paid'),
      decide('settle'),
    ],
    ends: { status: 'under_review', converted: false },
  },
  {
    title: 'money that its partner holds back after it had confirmed it is not sold when a fill is accepted',
    minor: '4999',
    steps: [
      click('wallet_app'),
      simulator('fill_off_rate'),
      partner('pay'),
      partner('hold what was paid'),
      decide('settle'),
    ],
    ends: { status: 'under_review', converted: false },
  },
  {
    title: 'money that its partner holds back after it had confirmed it is not sold when too little is approved',
    minor: '4999',
    steps: [click('wallet_app'), partner('pay', 0, { percent: 60 }), partner('hold what was paid'), decide('settle')],
    ends: { status: 'under_review', converted: false },
  },
  {
    title:
      'money that its partner holds back after it had confirmed it is not sold when its partner has not reported it',
    minor: '4999',
    steps: [
      click('wallet_app'),
      decide('hold'),
      partner('pay'),
      partner('hold what was paid', 0, { arrival: 'later' }),
      // A confirmation that is older than a minute is read again.
      wait(2),
      decide('release'),
    ],
    ends: { status: 'under_review', converted: false },
  },
  {
    title: 'money that its partner held back is sold when the partner has let it go, and an operator decides again',
    minor: '4999',
    steps: [
      click('wallet_app'),
      decide('hold'),
      partner('pay'),
      partner('hold what was paid'),
      decide('release'),
      partner('release'),
      decide('release'),
    ],
    ends: { status: 'settling' },
  },
  {
    title: 'a partner’s release of confirmed and withheld money is found by asking, though its callback was lost',
    was: 'waited for an operator forever, who could only give it back',
    minor: '4999',
    steps: [
      click('wallet_app'),
      simulator('delay', 600),
      partner('pay'),
      partner('hold what was paid'),
      partner('release', 0, { arrival: 'later' }),
      wait(400),
    ],
    ends: { status: 'settling' },
  },
  {
    title: 'money whose order cannot be read is not sold when its conversion is filled',
    was: 'was paid out',
    minor: '4999',
    steps: [
      click('wallet_app'),
      simulator('delay', 600),
      partner('pay'),
      silent(120),
      partner('take all back'),
      wait(20),
      engine('settle'),
    ],
    ends: { status: 'processing', converted: false },
  },
  {
    title: 'money that goes back during a long conversion, whose callback was lost, is not sold',
    was: 'was paid out',
    minor: '4999',
    steps: [
      click('wallet_app'),
      simulator('delay', 1200),
      partner('pay'),
      partner('take all back', 0, { arrival: 'later' }),
      wait(30),
    ],
    ends: { status: 'pending', converted: false },
  },
  {
    title: 'an order that its partner holds back after the payment was refunded waits for an operator',
    was: 'The check, and not the payment, was wrong: nobody could know of the order when the payment ended.',
    steps: [
      click('wallet_app'),
      click('local_partner'),
      partner('change the amount'),
      decide('give_back'),
      partner('hold', 1),
    ],
    ends: { status: 'refunded', asks: ['withheld'] },
  },
  {
    title: 'an order that its partner withholds, as it reports after the payment was refunded, waits for an operator',
    was: 'The check, and not the payment, was wrong.',
    steps: [
      click('local_partner'),
      click('wallet_app'),
      partner('hold', 1, { arrival: 'stored' }),
      partner('pay late', 0, { percent: 50 }),
      partner('send all back'),
    ],
    ends: { status: 'refunded' },
  },
  {
    title:
      'money that is held back, with an operator’s hold, next to a surplus of another order: each can be named, and goes back',
    pinned: true,
    steps: [
      click('crypto'),
      deposit(60),
      click('wallet_app'),
      partner('pay', 1),
      partner('change the amount', 1, { percent: 20, arrival: 'stored' }),
      partner('hold what was paid', 1),
      together(decide('settle')),
      decide('hold'),
    ],
  },
  {
    title: 'a payment expires although more money came while all of it was going back: an operator gives that back',
    was: 'closed, and a partner had been paid before · payment.expired, and a part of the price had come. The check, and not the payment, was wrong.',
    minor: '10000',
    currency: 'GBP',
    steps: [
      decide('hold'),
      click('wallet_app'),
      partner('pay'),
      simulator('refund_pending'),
      together(decide('give_back')),
      decide('settle'),
      partner('top up', 0, { percent: 40 }),
    ],
  },
]
