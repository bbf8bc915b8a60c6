import { click, decide, engine, once, partner, simulator, wait } from '../story/ideas/idea.ts'
import type { Found } from './story.ts'

/**
 * Doubts about paid money that only the partner's report resolves, and refunds that are refused or meant for another
 * order.
 */
export const REFUSED: readonly Found[] = [
  {
    title: 'a payout is not paid when it is tried again while the partner withholds a fifth of its money',
    was: 'was paid out, with a fifth of the money',
    steps: [
      click('wallet_app'),
      partner('pay'),
      partner('change the amount', 0, { percent: 2 }),
      partner('fit again', 0, { percent: 20, arrival: 'later' }),
      partner('hold what was paid'),
      wait(1),
      decide('settle'),
      engine('settle'),
    ],
    ends: { status: 'under_review', payout: 'voiding' },
  },
  {
    title: 'a payout of which a fifth is withheld is not paid when a hold is lifted',
    was: 'was paid out, with a fifth of the money',
    steps: [
      click('wallet_app'),
      partner('pay'),
      decide('hold'),
      partner('change the amount', 0, { percent: 2 }),
      partner('fit again', 0, { percent: 20, arrival: 'later' }),
      partner('hold what was paid'),
      wait(1),
      decide('release'),
      engine('settle'),
    ],
    ends: { status: 'under_review', payout: 'voiding' },
  },
  {
    title: 'money that was short after its sale is not paid out by the release of a hold after a refund was refused',
    steps: [
      click('wallet_app'),
      once('convert', 'slow'),
      partner('pay'),
      partner('change the amount', 0, { percent: 2 }),
      wait(1),
      decide('hold'),
      partner('fit again', 0, { percent: 20, arrival: 'later' }),
      partner('hold what was paid'),
      simulator('refund_refused'),
      decide('give_back'),
      wait(1),
      decide('release'),
      engine('settle'),
    ],
    ends: { status: 'under_review', asks: ['withheld'], converted: false, payout: 'none' },
  },
  {
    title: 'money that its partner withheld continues by the reading that came with the refusal of its refund',
    was: 'waited for the next poll, up to six hours',
    steps: [
      click('wallet_app'),
      partner('hold'),
      simulator('refund_pending', 72000),
      decide('give_back'),
      partner('release'),
      wait(120),
      simulator('refund_refused'),
      wait(300),
    ],
    ends: { status: 'settling' },
  },
  {
    title: 'the rest of the price, which comes while a refund is carried out, is counted when that is refused',
    was: 'was too little, with a surplus',
    steps: [
      click('wallet_app'),
      partner('pay', 0, { percent: 60 }),
      simulator('refund_pending'),
      decide('give_back'),
      partner('top up', 0, { percent: 40 }),
      simulator('refund_refused'),
      wait(70),
    ],
    ends: { status: 'settling' },
  },
  {
    title: 'money that is added while a give-back is pending is seen after it',
    was: 'was recorded as given back with the rest, and nobody looked for it',
    steps: [
      click('wallet_app'),
      partner('change the amount'),
      simulator('refund_pending', 7200),
      decide('give_back'),
      partner('top up'),
      wait(200),
    ],
  },
  {
    title: 'a refund that names no attempt means the one that has money, if another was given back',
    was: 'was called done, and nobody was asked',
    steps: [
      click('wallet_app'),
      click('card_partner'),
      partner('change the amount'),
      partner('change the amount', 1),
      decide('give_back', 0),
      decide('give_back'),
    ],
  },
  {
    title: 'a second payment that a refused refund leaves is in suspense',
    was: 'owed to the merchant still, when the payment had been sold and refunded',
    steps: [
      click('wallet_app'),
      click('card_partner'),
      partner('change the amount'),
      simulator('refund_pending'),
      decide('give_back', 0),
      partner('fit again', 0, { percent: 60 }),
      partner('pay', 1),
      simulator('refund_refused'),
      wait(130),
      decide('settle'),
      partner('send all back', 1),
    ],
  },
]
