import { click, decide, deposit, engine, once, partner, simulator, wait } from '../story/ideas/idea.ts'
import type { Found } from './story.ts'

const SOLD = 'what was sold stays sold:'
const paid = [click('wallet_app'), partner('pay')]
const slowly = simulator('delay', 600)

/**
 * The converter's statement and the books agree, whatever becomes of the payment. The checks compare them after each
 * step.
 */
export const WHAT_WAS_SOLD: readonly Found[] = [
  {
    title: `${SOLD} a payment that is given back after its payout was voided`,
    was: 'The converter had sold 100.00 EUR, `conversion` said 0, and `exchange` showed a profit of the whole price.',
    steps: [...paid, decide('give_back'), engine('void'), wait(5)],
    ends: { status: 'refunded', converted: true, payout: 'voided' },
  },
  {
    title: `${SOLD} a payment whose money is reversed before its payout is signed`,
    steps: [...paid, partner('take all back'), engine('void'), wait(5)],
    ends: { status: 'refunded', converted: true, payout: 'voided' },
  },
  {
    title: `${SOLD} a part of the money that is reversed before the payout is signed`,
    steps: [...paid, partner('take some back', 0, { percent: 60 }), engine('void'), wait(5)],
    ends: { status: 'under_review', asks: ['excess'], payout: 'voided' },
  },
  {
    title: `${SOLD} a payment that is charged back after its payout`,
    steps: [...paid, engine('settle'), partner('take all back')],
    ends: { status: 'succeeded', asks: ['loss'] },
  },
  {
    title: `${SOLD} a fill far off the locked rate that is given back`,
    steps: [click('wallet_app'), simulator('fill_off_rate'), partner('pay'), decide('give_back'), wait(5)],
    ends: { status: 'refunded', converted: false },
  },
  {
    title: `${SOLD} a fill far off the locked rate that is settled`,
    steps: [
      click('wallet_app'),
      simulator('fill_off_rate'),
      partner('pay'),
      decide('settle'),
      wait(5),
      engine('settle'),
    ],
    ends: { status: 'succeeded' },
  },
  {
    title: `${SOLD} a fill that is kept for money that goes and comes again`,
    steps: [
      click('wallet_app'),
      once('convert', 'answer lost'),
      partner('pay'),
      partner('take all back'),
      wait(5),
      click('wallet_app'),
      partner('pay', 1),
      wait(5),
      engine('settle'),
    ],
    ends: { status: 'succeeded', paidBy: 1 },
  },
  {
    title: `${SOLD} a fill that is not needed any more, because other money is settled`,
    steps: [
      click('card_partner'),
      click('crypto'),
      once('convert', 'answer lost'),
      partner('pay late'),
      partner('take all back'),
      deposit(100),
      wait(5),
      engine('settle'),
    ],
    ends: { status: 'succeeded', paidBy: 1 },
  },
  {
    title: `${SOLD} an order at the converter that is ended, because its money is gone`,
    steps: [click('wallet_app'), slowly, partner('pay'), partner('send all back'), wait(60)],
    ends: { status: 'refunded', converted: false },
  },
]
