import { click, engine, partner, simulator, wait } from '../story/ideas/idea.ts'
import type { Found } from './story.ts'

/** A partner has the whole price, and other money came first: the buyer must not be asked for it again. */
export const PAID_IN_FULL: readonly Found[] = [
  {
    title:
      'paid in full together with other money: a payment that was paid twice is settled by the money that is still there',
    was: 'pending, then expired, with the whole price at the partner of the card',
    steps: [
      simulator('delay', 900),
      click('local_partner'),
      click('card_partner'),
      partner('pay'),
      partner('pay', 1),
      partner('take all back'),
      wait(30),
      engine('settle'),
    ],
    ends: { status: 'succeeded', paidBy: 1 },
  },
  {
    title:
      'paid in full together with other money: a payment of half the price by UPI and all of it by card is settled by the card',
    was: 'the half was to be approved, and the whole price was to be given back',
    steps: [
      click('local_partner'),
      click('card_partner'),
      partner('pay', 0, { percent: 50 }),
      partner('pay', 1),
      engine('settle'),
    ],
    ends: { status: 'succeeded', paidBy: 1 },
  },
  {
    title:
      'paid in full together with other money: what a partner withholds does not keep the whole price of another one waiting',
    steps: [
      click('local_partner'),
      simulator('delay', 900),
      partner('pay'),
      partner('hold what was paid'),
      click('card_partner'),
      engine('settle'),
    ],
  },
]
