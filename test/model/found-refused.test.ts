import { describe, test } from '@jest/globals'
import { holds, isThen, useModel } from './story/holds.ts'
import { decide, engine, partner, simulator, wait } from './story/ideas/idea.ts'
import type { Told } from './story/steps.ts'

/** Doubts about paid money that nothing may lift but the partner's word, and refunds that are refused, or meant for another order. */

useModel()

const click: Told = { do: 'click', provider: 'wallet_app' }
const changed = partner('change the amount', 0, { percent: 2 })
const held = partner('hold what was paid')
const onHold = [partner('fit again', 0, { percent: 20, news: 'later' }), held]
const story = (steps: readonly Told[]) => ({ minor: '10000', pinned: false, steps: [click, ...steps] })
const is = (steps: readonly Told[], then: Parameters<typeof isThen>[1]) => isThen(story(steps), then)

describe('a payout that waits because of a doubt', () => {
  const WAITS = { status: 'under_review', payout: 'held' } as const

  // each was paid out, with a fifth of the money
  test.each<[string, readonly Told[]]>([
    ['tried again while the partner has a fifth of it on hold', [changed, ...onHold, wait(1), decide('retry')]],
    ['tried again once that was acknowledged', [changed, held, decide('acknowledge'), wait(1), decide('retry')]],
    ['released', [decide('hold'), changed, ...onHold, wait(1), decide('release')]],
  ])('is not paid when it is %s', (_, steps) => is([partner('pay'), ...steps, engine('settle')], WAITS))

  test('is not paid by the release of a hold after a refund was refused', () =>
    is(
      [
        { do: 'fault', at: 'convert', trouble: 'slow', times: 1 },
        partner('pay'),
        changed,
        wait(1),
        decide('hold'),
        ...onHold,
        simulator('refund_refused'),
        decide('refund'),
        wait(1),
        decide('release'),
        engine('settle'),
      ],
      { status: 'under_review', parkReason: 'order_changed', converted: true, payout: 'none' },
    ))
})

describe('money that its partner held', () => {
  // waited for the next poll, up to six hours
  test('goes on by the answer that came with the refusal of its refund', () =>
    is(
      [
        simulator('delay', 36_000),
        partner('pay'),
        held,
        simulator('refund_pending', 72_000),
        decide('refund'),
        partner('release'),
        wait(120),
        simulator('refund_refused'),
        wait(300),
      ],
      { status: 'processing', parkReason: null },
    ))

  // waited for an operator
  test('goes on when all of it is let go under another amount', () =>
    is(
      [
        simulator('delay', 600),
        partner('pay'),
        held,
        partner('release', 0, { news: 'later' }),
        partner('change the amount'),
        wait(400),
      ],
      { status: 'settling' },
    ))
})

// was too little, with a surplus
test('the rest of the price, which comes while a refund is carried out, is counted when that is refused', () =>
  is(
    [
      partner('pay', 0, { percent: 60 }),
      simulator('refund_pending', 7200),
      decide('refund'),
      partner('top up', 0, { percent: 40 }),
      simulator('refund_refused'),
      wait(70),
    ],
    { status: 'settling' },
  ))

// was called done, and nobody was asked
test('a refund that names no attempt is of the one that has money, where another was given back', () =>
  holds(
    story([
      { do: 'click', provider: 'card_partner' },
      partner('change the amount'),
      partner('change the amount', 1),
      decide('refund', 0),
      decide('refund'),
    ]),
  ))

// owed to the merchant still, when the payment had been sold and refunded
test('a second payment that a refused refund leaves is in suspense', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'click', provider: 'card_partner' },
      partner('change the amount', 0),
      simulator('refund_pending'),
      decide('refund', 0),
      partner('fit again', 0, { percent: 60 }),
      partner('pay', 1),
      simulator('refund_refused'),
      wait(130),
      decide('approve'),
      partner('send all back', 1),
    ],
  }))
