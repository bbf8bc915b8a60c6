import {
  click,
  decide,
  deposit,
  engine,
  once,
  outside,
  partner,
  simulator,
  together,
  wait,
} from '../story/ideas/idea.ts'
import type { Found } from './story.ts'

export const HAND_WRITTEN: readonly Found[] = [
  {
    title: 'a callback that comes again after a refund outside brings no new money',
    was: 'The partner still reports the whole sum, and what was returned outside is taken for new money.',
    steps: [click('wallet_app'), partner('pay', 0, { percent: 50 }), outside(), { do: 'callback', of: 0 }],
  },
  {
    title: 'money that was returned from elsewhere does not go back through its partner as well',
    steps: [
      click('local_partner'),
      click('card_partner'),
      partner('pay', 1),
      partner('pay late', 0, { percent: 50 }),
      outside(0),
      decide('give_back', 0),
    ],
  },
  {
    title: 'too little money waits for an operator',
    steps: [click('wallet_app'), partner('pay', 0, { percent: 60 })],
    ends: { status: 'under_review', asks: ['too_little'], converted: false },
  },
  {
    title: 'a part of the price in USDC is too little at the expiry, and waits for an operator',
    steps: [click('crypto'), deposit(60), wait(1500)],
    ends: { status: 'under_review', asks: ['too_little'], converted: false },
  },
  {
    title: 'money that comes during a hold waits for its release',
    steps: [click('wallet_app'), decide('hold'), partner('pay')],
    ends: { status: 'under_review', asks: ['held'], payout: 'none' },
  },
  {
    title: 'money whose payout is on its way is not given back when the transfer is faster than the void',
    steps: [click('wallet_app'), partner('pay'), engine('send'), decide('give_back'), engine('settle')],
    ends: { status: 'succeeded', asks: [] },
  },
  {
    title: 'money that comes after the check was not passed waits for an operator',
    pinned: true,
    only: true,
    steps: [click('wallet_app'), partner('ask for a check'), partner('fail the check'), partner('pay late')],
    ends: { status: 'under_review', asks: ['after_failure'] },
  },
  {
    title: 'unreported money is found at the expiry',
    steps: [click('wallet_app'), wait(1430), partner('pay', 0, { arrival: 'later' }), wait(11)],
    ends: { status: 'settling' },
  },
  {
    title: 'a part of the price in USDC that comes with a cancellation keeps the payment open',
    steps: [click('crypto'), together(deposit(40)), { do: 'cancel' }],
    ends: { status: 'pending' },
  },
  {
    title: 'an answer from before a chargeback, which comes after it, does not win it back',
    steps: [
      click('wallet_app'),
      partner('pay'),
      engine('settle'),
      once('read', 'slow'),
      { do: 'callback', of: 0 },
      { do: 'lose the run' },
      partner('take all back'),
    ],
    ends: { status: 'succeeded', asks: ['loss'] },
  },
  {
    title: 'a hold that comes after the payout was signed is refused',
    steps: [click('wallet_app'), partner('pay'), engine('send'), decide('hold')],
    ends: { status: 'settling', held: false },
  },
  {
    title: 'a fill far off the locked rate waits for an operator',
    steps: [click('wallet_app'), simulator('fill_off_rate'), partner('pay')],
    ends: { status: 'under_review', asks: ['far_fill'], converted: false },
  },
  {
    title: 'a conversion that is not filled in time waits for an operator',
    steps: [click('wallet_app'), simulator('delay', 10_800), partner('pay'), wait(40)],
    ends: { status: 'under_review', asks: ['sale_stuck'] },
  },
  {
    title: 'an operator approves a payment during a slow refund',
    steps: [
      click('wallet_app'),
      partner('pay', 0, { percent: 50 }),
      simulator('refund_pending'),
      decide('give_back'),
      decide('settle'),
    ],
  },
  {
    title: 'the partner takes the money back while the payout is on its way',
    steps: [click('wallet_app'), partner('pay'), engine('send'), partner('take all back')],
  },
  {
    title: 'the partner takes the money back after the payout',
    steps: [click('wallet_app'), partner('pay'), engine('settle'), partner('take all back')],
  },
  {
    title: 'the partner takes the money back after the payout, and has it again: all of it',
    steps: [click('wallet_app'), partner('pay'), engine('settle'), partner('take all back'), partner('pay late')],
  },
  {
    title: 'the partner takes the money back after the payout, and has it again: all of it, and more',
    steps: [
      click('wallet_app'),
      partner('pay'),
      engine('settle'),
      partner('take some back', 0, { percent: 60 }),
      partner('top up'),
    ],
  },
  {
    title: 'the partner takes the money back after the payout, and has it again: a part of it',
    steps: [
      click('wallet_app'),
      partner('pay'),
      engine('settle'),
      partner('take some back', 0, { percent: 60 }),
      partner('top up', 0, { percent: 50 }),
    ],
  },
  {
    title: 'money arrives after the time for late money, and goes back',
    steps: [click('wallet_app'), wait(4500), partner('pay late')],
  },
  {
    title: 'money of a partner whose time is over is not settled because money of another partner is in time',
    was: 'Half the price was settled though it came two days after its time, because there was a little USDC.',
    steps: [
      click('wallet_app'),
      click('crypto'),
      wait(4500),
      deposit(1),
      wait(1),
      partner('pay late', 0, { percent: 50 }),
      decide('settle'),
    ],
    ends: { paidBy: 1 },
  },
  {
    title: 'USDC that comes in time is settled although money of another partner came too late',
    was: 'The listening ended with the first money that was too late, and the USDC had to go back.',
    steps: [
      click('wallet_app'),
      click('crypto'),
      wait(4500),
      partner('pay late'),
      deposit(100),
      wait(1),
      engine('settle'),
    ],
    ends: { status: 'succeeded', asks: ['excess'] },
  },
  {
    title: 'money of an order that its partner had canceled, and that was not reported, is found after the expiry',
    was: 'The check, and not the payment, was wrong: an order that is over is not asked about.',
    steps: [click('wallet_app'), click('local_partner'), partner('pay late', 0, { arrival: 'later' }), wait(1500)],
    ends: { status: 'expired' },
  },
  {
    title: 'money of an order that its partner had canceled is too late when it is read after days',
    was: 'The check, and not the payment, was wrong.',
    steps: [
      click('wallet_app'),
      click('local_partner'),
      partner('pay', 1, { percent: 50 }),
      partner('pay late', 0, { arrival: 'later' }),
      wait(4500),
      partner('take all back', 1),
    ],
    ends: { status: 'expired' },
  },
  {
    title: 'money arrives after the cancellation, and leaves again: take all back',
    steps: [
      click('wallet_app'),
      { do: 'cancel' },
      simulator('delay'),
      partner('pay late'),
      partner('take all back'),
      wait(60),
    ],
  },
  {
    title: 'money arrives after the cancellation, and leaves again: send all back',
    steps: [
      click('wallet_app'),
      { do: 'cancel' },
      simulator('delay'),
      partner('pay late'),
      partner('send all back'),
      wait(60),
    ],
  },
  {
    title: 'of two payments that are both too little the operator names the one that goes back',
    steps: [
      click('local_partner'),
      click('card_partner'),
      partner('pay', 0, { percent: 40 }),
      partner('pay', 1, { percent: 40 }),
      outside(),
    ],
  },
  {
    title: 'a settlement of UPI money is marked as delayed after an hour, also if other money is settled later',
    was: 'The check, and not the payment, was wrong: it asked for the time of the money that was settled in the end.',
    steps: [
      click('wallet_app'),
      click('local_partner'),
      together(partner('change the amount', 0, { arrival: 'twice' })),
      partner('change the amount', 1),
      partner('fit again', 1, { percent: 60 }),
    ],
    ends: { status: 'under_review', asks: ['too_little', 'odd_order'] },
  },
  {
    title:
      'a settlement of USDC is marked as delayed when that is not waited for any more, also if other money is settled',
    was: 'The check, and not the payment, was wrong: the money that was settled in the end had come a day before.',
    steps: [click('wallet_app'), click('crypto'), partner('change the amount'), deposit(60)],
    ends: { status: 'under_review', asks: ['odd_order'] },
  },
  {
    title: 'a delayed settlement is given back',
    steps: [click('wallet_app'), simulator('delay'), partner('pay'), wait(20), decide('hold'), decide('give_back')],
  },
]
