import { click, decide, engine, outside, partner, simulator, wait } from '../story/ideas/idea.ts'
import type { Found } from './story.ts'

/** Short stories that a person thought of. */
export const HAND_WRITTEN: readonly Found[] = [
  {
    title: 'a callback that comes again after a refund outside brings no new money',
    was: 'The partner still reports the whole sum, and what was returned outside is taken for new money.',
    steps: [click('wallet_app'), partner('pay', 0, { percent: 50 }), outside(), { do: 'news', of: 0 }],
  },
  {
    title: 'a refund that takes its time, and an approval meanwhile',
    steps: [
      click('wallet_app'),
      partner('pay', 0, { percent: 50 }),
      simulator('refund_pending'),
      decide('give_back'),
      decide('settle'),
    ],
  },
  {
    title: 'money that is taken back while the payout is on its way',
    steps: [click('wallet_app'), partner('pay'), engine('send'), partner('take all back')],
  },
  {
    title: 'money that is taken back after the payout',
    steps: [click('wallet_app'), partner('pay'), engine('settle'), partner('take all back')],
  },
  {
    title: 'money that is taken back after the payout, and comes again: all of it',
    steps: [click('wallet_app'), partner('pay'), engine('settle'), partner('take all back'), partner('pay late')],
  },
  {
    title: 'money that is taken back after the payout, and comes again: all of it, and more has come',
    steps: [
      click('wallet_app'),
      partner('pay'),
      engine('settle'),
      partner('take some back', 0, { percent: 60 }),
      partner('top up'),
    ],
  },
  {
    title: 'money that is taken back after the payout, and comes again: a part of it',
    steps: [
      click('wallet_app'),
      partner('pay'),
      engine('settle'),
      partner('take some back', 0, { percent: 60 }),
      partner('top up', 0, { percent: 50 }),
    ],
  },
  {
    title: 'money that comes after the listening has ended, and goes back',
    steps: [click('wallet_app'), wait(4500), partner('pay late')],
  },
  {
    title: 'money that comes after the cancellation, and goes again: take all back',
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
    title: 'money that comes after the cancellation, and goes again: send all back',
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
    title: 'a settlement that is delayed, and given back',
    steps: [click('wallet_app'), simulator('delay'), partner('pay'), wait(20), decide('hold'), decide('give_back')],
  },
]
