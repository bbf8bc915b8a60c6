import { test } from '@jest/globals'
import { holds, isThen, useModel } from './story/holds.ts'
import { decide, partner, silent, simulator, wait } from './story/ideas/idea.ts'
import type { Told } from './story/steps.ts'

/** Money that a partner holds back after it had confirmed it is not sold, whatever is decided. */

useModel()

const held = partner('hold what was paid')
const click: Told = { do: 'click', provider: 'wallet_app' }
const NOT_SOLD = { status: 'under_review', converted: false } as const

const CASES: readonly (readonly [string, readonly Told[]])[] = [
  ['an operator lifts a hold', [decide('hold'), partner('pay'), held, decide('release')]],
  ['a conversion is tried again', [simulator('conversion_refused'), partner('pay'), held, decide('retry')]],
  ['a fill is accepted', [simulator('fill_off_rate'), partner('pay'), held, decide('approve')]],
  ['too little is approved', [partner('pay', 0, { percent: 60 }), held, decide('approve')]],
  [
    'nobody has told us of it',
    [decide('hold'), partner('pay'), partner('hold what was paid', 0, { news: 'later' }), decide('release')],
  ],
]
test.each(CASES)('when %s', (_, steps) => isThen({ minor: '4999', pinned: false, steps: [click, ...steps] }, NOT_SOLD))

test('and is when the partner has let it go, and an operator decides again', () =>
  isThen(
    {
      minor: '4999',
      pinned: false,
      steps: [click, decide('hold'), partner('pay'), held, decide('release'), partner('release'), decide('release')],
    },
    { status: 'settling' },
  ))

// waited for an operator for ever, who could only give it back
test('that a partner lets go what it had confirmed and held back is found by asking, though its news got lost', () =>
  isThen(
    {
      minor: '4999',
      pinned: false,
      steps: [
        click,
        simulator('delay', 600),
        partner('pay'),
        held,
        partner('release', 0, { news: 'later' }),
        wait(400),
      ],
    },
    { status: 'settling' },
  ))

// was paid out
test('money of which news cannot be read is not sold when its conversion is filled', () =>
  isThen(
    {
      minor: '4999',
      pinned: false,
      steps: [click, simulator('delay', 600), partner('pay'), silent(120), partner('take all back'), wait(20)],
    },
    { status: 'processing', converted: false },
  ))

// was paid out
test('money that goes back during a long conversion, of which the news got lost, is not sold', () =>
  isThen(
    {
      minor: '4999',
      pinned: false,
      steps: [
        click,
        simulator('delay', 1200),
        partner('pay'),
        partner('take all back', 0, { news: 'later' }),
        wait(30),
      ],
    },
    { status: 'pending', converted: false },
  ))

test('money that is held back, with an operator’s hold, beside a surplus of another order: each can be named, and goes back', () =>
  holds({
    minor: '10000',
    pinned: true,
    steps: [
      { do: 'click', provider: 'crypto' },
      { do: 'deposit', percent: 60, token: 'usdc' },
      { do: 'click', provider: 'wallet_app' },
      { do: 'partner', act: 'pay', of: 1, percent: 100, news: 'told' },
      { do: 'partner', act: 'change the amount', of: 1, percent: 20, news: 'stored' },
      { do: 'partner', act: 'hold what was paid', of: 1, percent: 100, news: 'told' },
      { do: 'decide', decision: 'acknowledge', of: null, late: false, together: true },
      { do: 'decide', decision: 'hold', of: null, late: false },
    ],
  }))
