import { test } from '@jest/globals'
import { isThen, useModel } from './story/holds.ts'
import { decide, engine, partner, simulator, wait } from './story/ideas/idea.ts'
import type { Told } from './story/steps.ts'
import type { View } from './story/view.ts'

/** Money that its partner takes back while the payout is on its way, and has again before anybody knows who was faster. */

useModel()

const voiding: readonly Told[] = [
  { do: 'click', provider: 'wallet_app' },
  partner('pay'),
  engine('send'),
  partner('take all back'),
]
const some = [...voiding.slice(0, -1), partner('take some back', 0, { percent: 60 })]
const again = partner('pay late')
const none = { paidBy: 0, incident: false } as const

// it lay there as a second payment to be refunded, beside a chargeback of money of which nothing was missing
const CASES: readonly (readonly [string, readonly Told[], Partial<View>])[] = [
  ['no chargeback where the transfer was faster', [...voiding, again, engine('settle')], none],
  ['… of a part of it', [...some, partner('top up', 0, { percent: 60 }), engine('settle')], none],
  [
    'a chargeback when it goes once more',
    [...voiding, again, partner('take all back'), engine('settle')],
    { status: 'succeeded', incident: true },
  ],
  [
    'to be given back where the void was faster',
    [...voiding, again, engine('void')],
    { status: 'under_review', parkReason: 'payout_voided' },
  ],
]
test.each(CASES)('is %s', (_, steps, then) => isThen({ minor: '5000', pinned: false, steps }, then))

// nobody asked whether it was still there: its refund was refused for ever, and what was recorded by hand was in no account
test('a second payment that goes without a word is found by the polls', () => {
  const second = [
    { do: 'click', provider: 'local_partner' },
    { do: 'click', provider: 'card_partner' },
  ] as const
  const steps = [
    ...second,
    partner('pay', 1),
    engine('settle'),
    partner('pay late', 0),
    partner('take all back', 0, { news: 'later' }),
    wait(120),
  ]
  const none = { surplus: false, late: false, refunding: false }
  const gone = { provider: 'local_partner', status: 'declined', order: 'declined', ...none } as const
  const paid = { provider: 'card_partner', status: 'confirmed', order: 'paid', ...none } as const
  return isThen({ minor: '5000', pinned: false, steps }, { status: 'succeeded', attempts: [gone, paid] })
})

const silently: Partial<Parameters<typeof partner>[2]> = { news: 'later' }
const underReview: readonly (readonly [string, readonly Told[], Partial<View>])[] = [
  ['too little', [partner('pay', 0, { percent: 60 }), partner('take all back', 0, silently)], { status: 'failed' }],
  [
    'what an operator holds',
    [decide('hold'), partner('pay'), partner('take all back', 0, silently)],
    { status: 'failed' },
  ],
  [
    'what the converter does not sell',
    [simulator('conversion_refused'), partner('pay'), partner('send all back', 0, silently)],
    { status: 'refunded' },
  ],
  [
    'a payout that is held',
    [partner('pay'), engine('hold'), partner('take all back', 0, silently)],
    { status: 'under_review', parkReason: 'funds_reversed', payout: 'voiding' },
  ],
]
// it waited for an operator for ever, and what one recorded by hand was in no account
test.each(underReview)(
  'that it goes without a word while it waits for an operator is found by the polls: %s',
  (_, steps, then) =>
    isThen(
      { minor: '5000', pinned: false, steps: [{ do: 'click', provider: 'wallet_app' }, ...steps, wait(120)] },
      then,
    ),
)
