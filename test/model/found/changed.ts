import { click, decide, engine, once, outside, partner, simulator, wait } from '../story/ideas/idea.ts'
import type { Told } from '../story/steps.ts'
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
    ends: { status: 'under_review', reason: 'odd_order', converted: false },
  },
  {
    title: 'a changed order that has nothing at all is not converted',
    steps: [...delayed, changed(0), ...settled],
    ends: { status: 'under_review', reason: 'odd_order', converted: false },
  },
  {
    title: 'a changed order that has less money is not converted where all goes back afterwards',
    steps: [...delayed, changed(20), partner('take all back'), ...settled],
    ends: { status: 'failed', converted: false },
  },
  {
    title: 'a changed order of the card partner that has less money is not converted',
    steps: [click('card_partner'), slowly, partner('pay'), changed(20), partner('take all back'), ...settled],
    ends: { status: 'failed', converted: false },
  },
  {
    title: 'a changed order that has less money is not paid out',
    steps: [...paid, changed(20), ...settled],
    ends: { status: 'under_review', reason: 'payout_stopped' },
  },
  {
    title: 'the payout of a changed order that has less money is voided where all goes back',
    steps: [...paid, changed(20), partner('take all back'), ...settled],
    ends: { status: 'under_review', reason: 'voiding' },
  },
  {
    title: 'the payout of a changed order is voided where the partner says that it has nothing',
    steps: [...paid, changed(0)],
  },
  {
    title: 'the change of an order that has less money, and was converted meanwhile, can be acknowledged',
    was: 'It went on with a part of the money, and stood before an operator without any way out.',
    steps: [buyer, once('convert', 'slow'), partner('pay'), changed(20), wait(1), decide('settle'), wait(1)],
    ends: { status: 'under_review', reason: 'excess' },
  },
  {
    title: 'a changed order that has less money goes on when it has all of it after all',
    was: 'It stayed before an operator.',
    steps: [...delayed, changed(20), changed(100), wait(400), ...settled],
    ends: { status: 'succeeded' },
  },
  {
    title: 'a changed order that has all of its money after all goes on at once where its partner refuses a refund',
    was: 'It waited for the next poll, which may be six hours away.',
    steps: [
      ...delayed,
      changed(20),
      wait(400),
      partner('fit again', 0, { news: 'later' }),
      simulator('refund_refused'),
      decide('give_back'),
    ],
    ends: { status: 'settling' },
  },
  {
    title: 'a changed order is converted where by its own word it has all of the money',
    steps: [...delayed, changed(100), ...settled],
    ends: { status: 'succeeded' },
  },
]

/** An operator closes the words of the partner, then the order fits. */
const closed = (percent: number, ...meanwhile: Told[]) => [
  buyer,
  changed(percent),
  decide('write_off'),
  decide('settle'),
  partner('fit again'),
  ...meanwhile,
  decide('settle'),
]

const SAME_WORDS: readonly Found[] = [
  {
    title: 'a changed order of which an operator has closed the same words before it fitted is not paid out',
    was: "An operator had closed it once, before the order fitted and was paid: said again it was nothing new, and the payment was paid out. Where the conversion took its time, the partner's word was waited for without end.",
    steps: [...closed(20), wait(1), changed(20), wait(1), engine('settle')],
    ends: { status: 'under_review', reason: 'payout_stopped' },
  },
  {
    title: 'a changed order of which an operator has closed the same words before it fitted is not converted',
    steps: [...closed(20, slowly), changed(20), wait(60)],
    ends: { status: 'under_review', reason: 'odd_order', converted: false },
  },
  {
    title:
      'a changed order of which an operator has closed the same words before it fitted goes on where it has all of the money',
    steps: [...closed(100, slowly), changed(100), wait(60), engine('settle')],
    ends: { status: 'succeeded' },
  },
  {
    title:
      'a changed order with all of its money, closed by an operator before it was paid, can be ended once rejected',
    was: 'Every decision was refused because of what the partner said, and acknowledging it because it was nothing new.',
    steps: [...closed(100), wait(1), decide('hold'), changed(100), wait(1)],
  },
  {
    title: 'a changed order with all of its money, closed by an operator before it was paid, can be ended once expired',
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
  {
    title: 'a doubt that is heard again, of money that then goes back, was heard rightly',
    was: "An operator's look at the end made a doubt of one that had been heard rightly.",
    steps: [slowly, ...closed(20), changed(20), partner('take all back')],
  },
]

const held = [buyer, once('convert', 'slow'), partner('pay'), decide('hold'), wait(1)]

const HELD: readonly Found[] = [
  {
    title: 'a hold that comes during the conversion ends with a refund',
    was: 'Neither a refund nor a void was possible: no payout was there, and it was not void.',
    steps: [...held, decide('give_back')],
    ends: { status: 'refunded', converted: true },
  },
  {
    title: 'a hold that comes during the conversion ends with a refund that was made elsewhere',
    steps: [...held, outside()],
    ends: { status: 'refunded', converted: true },
  },
  {
    title:
      'a payment that is held during the conversion goes on when its partner refuses a refund and the hold is lifted',
    was: 'Its payout counted as void for a refund that never was.',
    steps: [...held, simulator('refund_refused'), decide('give_back'), decide('release'), wait(1)],
    ends: { status: 'settling' },
  },
  {
    title: 'a payment that is held during the conversion goes on when the hold is lifted',
    steps: [...held, decide('release'), engine('settle')],
    ends: { status: 'succeeded' },
  },
]

/** Payments that are stopped with their money, as by a partner that changes its order. */
export const CHANGED: readonly Found[] = [...LESS_MONEY, ...SAME_WORDS, ...HELD].map((found) => ({
  ...found,
  minor: '4999',
}))
