import { click, decide, engine, partner, simulator, wait } from '../story/ideas/idea.ts'
import type { Found } from './story.ts'

/** Money that its partner takes back while the payout is on its way, and has again before anybody knows who was faster. */
export const WON_BACK: readonly Found[] = [
  {
    title:
      'money that goes while its payout is on its way, and comes again, is no chargeback where the transfer was faster',
    was: 'lay there as a second payment to be refunded, beside a chargeback of money of which nothing was missing',
    minor: '5000',
    steps: [
      click('wallet_app'),
      partner('pay'),
      engine('send'),
      partner('take all back'),
      partner('pay late'),
      engine('settle'),
    ],
    ends: { paidBy: 0, incident: false },
  },
  {
    title: 'money that goes while its payout is on its way, and comes again, is no chargeback of a part of it',
    was: 'lay there as a second payment to be refunded, beside a chargeback of money of which nothing was missing',
    minor: '5000',
    steps: [
      click('wallet_app'),
      partner('pay'),
      engine('send'),
      partner('take some back', 0, { percent: 60 }),
      partner('top up', 0, { percent: 60 }),
      engine('settle'),
    ],
    ends: { paidBy: 0, incident: false },
  },
  {
    title: 'money that goes while its payout is on its way, and comes again, is a chargeback when it goes once more',
    was: 'lay there as a second payment to be refunded, beside a chargeback of money of which nothing was missing',
    minor: '5000',
    steps: [
      click('wallet_app'),
      partner('pay'),
      engine('send'),
      partner('take all back'),
      partner('pay late'),
      partner('take all back'),
      engine('settle'),
    ],
    ends: { status: 'succeeded', incident: true },
  },
  {
    title:
      'money that goes while its payout is on its way, and comes again, is to be given back where the void was faster',
    was: 'lay there as a second payment to be refunded, beside a chargeback of money of which nothing was missing',
    minor: '5000',
    steps: [
      click('wallet_app'),
      partner('pay'),
      engine('send'),
      partner('take all back'),
      partner('pay late'),
      engine('void'),
    ],
    ends: { status: 'under_review', parkReason: 'payout_voided' },
  },
  {
    title: 'a second payment that goes without a word is found by the polls',
    was: 'nobody asked whether it was still there: its refund was refused for ever, and what was recorded by hand was in no account',
    minor: '5000',
    steps: [
      click('local_partner'),
      click('card_partner'),
      partner('pay', 1),
      engine('settle'),
      partner('pay late'),
      partner('take all back', 0, { news: 'later' }),
      wait(120),
    ],
    ends: {
      status: 'succeeded',
      attempts: [
        {
          provider: 'local_partner',
          status: 'declined',
          order: 'declined',
          surplus: false,
          late: false,
          refunding: false,
        },
        { provider: 'card_partner', status: 'confirmed', order: 'paid', surplus: false, late: false, refunding: false },
      ],
    },
  },
  {
    title: 'money that goes without a word while its payment waits for an operator is found by the polls: too little',
    was: 'waited for an operator for ever, and what one recorded by hand was in no account',
    minor: '5000',
    steps: [
      click('wallet_app'),
      partner('pay', 0, { percent: 60 }),
      partner('take all back', 0, { news: 'later' }),
      wait(120),
    ],
    ends: { status: 'failed' },
  },
  {
    title:
      'money that goes without a word while its payment waits for an operator is found by the polls: what an operator holds',
    was: 'waited for an operator for ever, and what one recorded by hand was in no account',
    minor: '5000',
    steps: [
      click('wallet_app'),
      decide('hold'),
      partner('pay'),
      partner('take all back', 0, { news: 'later' }),
      wait(120),
    ],
    ends: { status: 'failed' },
  },
  {
    title:
      'money that goes without a word while its payment waits for an operator is found by the polls: what the converter does not sell',
    was: 'waited for an operator for ever, and what one recorded by hand was in no account',
    minor: '5000',
    steps: [
      click('wallet_app'),
      simulator('conversion_refused'),
      partner('pay'),
      partner('send all back', 0, { news: 'later' }),
      wait(120),
    ],
    ends: { status: 'refunded' },
  },
  {
    title:
      'money that goes without a word while its payment waits for an operator is found by the polls: a payout that is held',
    was: 'waited for an operator for ever, and what one recorded by hand was in no account',
    minor: '5000',
    steps: [
      click('wallet_app'),
      partner('pay'),
      engine('hold'),
      partner('take all back', 0, { news: 'later' }),
      wait(120),
    ],
    ends: { status: 'under_review', parkReason: 'funds_reversed', payout: 'voiding' },
  },
]
