import { click, decide, engine, once, outside, partner, simulator, wait } from '../story/ideas/idea.ts'
import type { Found } from './story.ts'

const buyer = click('wallet_app')
const changed = (percent: number) => partner('change the amount', 0, { percent })
const slowly = simulator('delay', 600)
const delayed = [buyer, slowly, partner('pay')]
const paid = [buyer, partner('pay')]
const settled = [wait(20), engine('settle')]

const LESS_MONEY: readonly Found[] = [
  {
    title: 'a changed order that has less money is not converted',
    was: 'The partner had a fifth of the money, or none, and said so. It was converted and paid out, because the order was of another amount than was asked for.',
    steps: [...delayed, changed(20), ...settled],
    ends: { status: 'under_review', asks: ['odd_order'], converted: false },
  },
  {
    title: 'a changed order that says nothing of its money is not converted',
    steps: [...delayed, changed(0), ...settled],
    ends: { status: 'under_review', asks: ['odd_order'], converted: false },
  },
  {
    title: 'a payment waits for its buyer again when all of the money of a changed order goes back',
    steps: [...delayed, changed(20), partner('take all back'), ...settled],
    ends: { status: 'pending', converted: false },
  },
  {
    title: 'a payment waits for its buyer again when all of the money of a changed card order goes back',
    steps: [click('card_partner'), slowly, partner('pay'), changed(20), partner('take all back'), ...settled],
    ends: { status: 'pending', converted: false },
  },
  {
    title: 'a changed order that has less money is not paid out',
    steps: [...paid, changed(20), ...settled],
    ends: { status: 'under_review', asks: ['odd_order'], payout: 'voiding' },
  },
  {
    title: 'the payout of a changed order that has less money is voided when all goes back',
    steps: [...paid, changed(20), partner('take all back'), ...settled],
    ends: { status: 'under_review', reason: 'voiding', payout: 'voiding' },
  },
  {
    title: 'the money of an order that has less of it, and was converted in between, is given back',
    was: 'It continued with a part of the money, and then waited for an operator who could not end it.',
    steps: [buyer, once('convert', 'slow'), partner('pay'), changed(20), wait(1), decide('give_back'), wait(1)],
    ends: { status: 'refunded', converted: false },
  },
  {
    title: 'a changed order that has all of its money after all is settled as an operator says',
    was: 'It stayed before an operator.',
    steps: [...delayed, changed(20), changed(100), wait(400), decide('settle'), wait(11), engine('settle')],
    ends: { status: 'succeeded' },
  },
  {
    title: 'an order that fits again continues automatically when its partner refuses to give it back',
    was: 'It waited for the next poll, which may be six hours away.',
    steps: [
      ...delayed,
      changed(20),
      wait(400),
      partner('fit again', 0, { arrival: 'later' }),
      simulator('refund_refused'),
      decide('give_back'),
      wait(2),
    ],
    ends: { status: 'settling' },
  },
]

const SAME_WORDS: readonly Found[] = [
  {
    title: 'an order that was written off as empty is settled when its money comes after all',
    steps: [buyer, changed(0), decide('write_off'), partner('fit again'), wait(1), engine('settle')],
    ends: { status: 'succeeded' },
  },
  {
    title: 'a changed order that an operator accepted before it fitted is not converted when it is changed again',
    was: 'An operator had closed it once, before the order fitted and was paid: said again it was nothing new, and the payment was paid out.',
    steps: [buyer, slowly, changed(100), decide('settle'), partner('fit again'), changed(100), wait(60)],
    ends: { status: 'under_review', asks: ['odd_order'], converted: false },
  },
  {
    title: 'a changed order that an operator accepted before it fitted is not paid out when it has less money',
    steps: [buyer, changed(100), decide('settle'), partner('fit again'), changed(20), wait(1), engine('settle')],
    ends: { status: 'under_review', asks: ['odd_order'], payout: 'voiding' },
  },
  {
    title: 'a changed order with all of its money, accepted by an operator before it was paid, can be ended',
    was: 'Every decision was refused because of what the partner said, and acknowledging it because it was nothing new.',
    steps: [
      buyer,
      wait(1500),
      changed(100),
      decide('settle'),
      partner('fit again'),
      wait(1),
      decide('hold'),
      changed(100),
    ],
  },
]

const held = [buyer, once('convert', 'slow'), partner('pay'), decide('hold'), wait(1)]

const HELD: readonly Found[] = [
  {
    title: 'a hold that comes during the conversion ends with a refund',
    was: 'Neither a refund nor a void was possible: no payout was there, and it was not void.',
    steps: [...held, decide('give_back')],
    ends: { status: 'refunded', converted: false },
  },
  {
    title: 'a hold that comes during the conversion ends with a refund that was made elsewhere',
    steps: [...held, outside()],
    ends: { status: 'refunded', converted: false },
  },
  {
    title:
      'a payment that is held during the conversion continues when its partner refuses a refund and the hold is lifted',
    was: 'Its payout counted as void for a refund that never was.',
    steps: [...held, simulator('refund_refused'), decide('give_back'), decide('release'), wait(1)],
    ends: { status: 'settling' },
  },
  {
    title: 'a payment that is held during the conversion continues when the hold is lifted',
    steps: [...held, decide('release'), engine('settle')],
    ends: { status: 'succeeded' },
  },
]

/** Payments that are stopped with their money, for example because a partner changes its order. */
export const CHANGED: readonly Found[] = [...LESS_MONEY, ...SAME_WORDS, ...HELD].map((found) => ({
  ...found,
  minor: '4999',
}))
