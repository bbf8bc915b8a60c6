import { click, decide, engine, partner, simulator, wait } from '../story/ideas/idea.ts'
import type { Found } from './story.ts'

const buyer = click('wallet_app')
const sent = [buyer, partner('pay'), engine('send')]
const goneAndBack = [...sent, partner('take all back'), partner('pay late')]
const COMES_AGAIN = 'money that goes while its payout is on its way, and comes again,'

const ON_ITS_WAY: readonly Found[] = [
  {
    title: `${COMES_AGAIN} is no chargeback where the transfer was faster`,
    was: 'lay there as a second payment to be refunded, next to a chargeback of money that was all there',
    steps: [...goneAndBack, engine('settle')],
    ends: { paidBy: 0, asks: [] },
  },
  {
    title: `${COMES_AGAIN} is no chargeback of a part of it`,
    steps: [
      ...sent,
      partner('take some back', 0, { percent: 60 }),
      partner('top up', 0, { percent: 60 }),
      engine('settle'),
    ],
    ends: { paidBy: 0, asks: [] },
  },
  {
    title: `${COMES_AGAIN} is a chargeback when it goes once more`,
    steps: [...goneAndBack, partner('take all back'), engine('settle')],
    ends: { status: 'succeeded', asks: ['loss'] },
  },
  {
    title: `${COMES_AGAIN} is to be given back where the void was faster`,
    steps: [...goneAndBack, engine('void')],
    ends: { status: 'under_review', reason: 'excess' },
  },
]

const AFTER_THE_PAYOUT: readonly Found[] = [
  {
    title: 'money that was confirmed without a callback, and taken back after the payout, is won back once',
    was: 'The check, and not the payment, was wrong: it did not count the money that had come first.',
    steps: [
      buyer,
      partner('pay slowly'),
      wait(1500),
      partner('take all back', 0, { arrival: 'stored' }),
      engine('settle'),
      wait(60),
      partner('pay late'),
    ],
    ends: { status: 'succeeded', asks: [] },
  },
  {
    title: 'money that comes again after the time for late money leaves the payment paid when it was paid',
    was: 'the payment counted as paid on the day on which the partner gave the money again',
    currency: 'HUF',
    steps: [
      click('local_partner'),
      { do: 'cancel' },
      partner('pay'),
      engine('send'),
      partner('take all back', 0, { percent: 60 }),
      engine('settle'),
      wait(4500),
      partner('pay late', 0, { arrival: 'stored' }),
    ],
    ends: { status: 'succeeded' },
  },
]

const silentlyGone = [partner('take all back', 0, { arrival: 'later' }), wait(120)]
const FOUND_BY_POLLS = 'money that goes without a word while its payment waits for an operator is found by the polls:'
const unchanged = { excess: false, givingBack: false }

const WITHOUT_A_WORD: readonly Found[] = [
  {
    title: 'a second payment that is reversed without a callback is found by the polls',
    was: 'nobody asked whether it was still there: its refund was refused forever, and what was recorded by hand was in no account',
    steps: [
      click('local_partner'),
      click('card_partner'),
      partner('pay', 1),
      engine('settle'),
      partner('pay late'),
      ...silentlyGone,
    ],
    ends: {
      status: 'succeeded',
      attempts: [
        { provider: 'local_partner', status: 'declined', order: 'declined', ...unchanged },
        { provider: 'card_partner', status: 'paid', order: 'paid', ...unchanged },
      ],
    },
  },
  {
    title: `${FOUND_BY_POLLS} too little`,
    was: 'waited for an operator forever, and what one recorded by hand was in no account',
    steps: [buyer, partner('pay', 0, { percent: 60 }), ...silentlyGone],
    ends: { status: 'pending' },
  },
  {
    title: `${FOUND_BY_POLLS} what an operator holds`,
    steps: [buyer, decide('hold'), partner('pay'), ...silentlyGone],
    ends: { status: 'pending' },
  },
  {
    title: `${FOUND_BY_POLLS} what the converter does not sell`,
    steps: [
      buyer,
      simulator('conversion_refused'),
      partner('pay'),
      partner('send all back', 0, { arrival: 'later' }),
      wait(120),
    ],
    ends: { status: 'refunded' },
  },
  {
    title: `${FOUND_BY_POLLS} a payout that is held`,
    steps: [buyer, partner('pay'), engine('hold'), ...silentlyGone],
    ends: { status: 'under_review', reason: 'voiding', payout: 'voiding' },
  },
]

/** Money that its partner reverses, and may have again before anybody knows if the payout or the void was faster. */
export const WON_BACK: readonly Found[] = [...ON_ITS_WAY, ...AFTER_THE_PAYOUT, ...WITHOUT_A_WORD].map((found) => ({
  ...found,
  minor: '5000',
}))
