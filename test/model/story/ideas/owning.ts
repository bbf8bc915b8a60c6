import type { Random } from '../../../support/random.ts'
import type { Step, StoryStep } from '../steps.ts'
import type { View } from '../view.ts'
import {
  decide,
  deposit,
  drawArrival,
  engine,
  givesBack,
  type Idea,
  isAsked,
  isClosed,
  isCrypto,
  isParked,
  one,
  paid,
  partner,
  payable,
  simulator,
  together,
  unread,
  wait,
  where,
} from './idea.ts'

/** Ideas after money has arrived: the converter, the engine, operators, and partners that reverse it. */

const goes = (random: Random): Step => decide(random.pick(['settle', 'settle', 'release']))
const named = (random: Random, view: View): number | null =>
  view.attempts.length > 1 && random.chance(0.7) ? random.below(view.attempts.length) : null
/** A give-back of a named attempt, or of none. */
const back = (random: Random, view: View): Step => givesBack(random, named(random, view))
/** The partner's responses to a refund. */
const answers = (random: Random): Step[] =>
  random.pick([[], [simulator('refund_pending')], [simulator('refund_pending', 1200)], [simulator('refund_refused')]])
const takesBack = (random: Random, of: number): Step =>
  partner(random.pick(['take all back', 'take all back', 'send all back', 'take some back']), of, {
    percent: random.pick([50, 60]),
    arrival: drawArrival(random),
  })

/** One of the decisions that the operator is offered. */
function offered(random: Random, { offered: answers }: View): Step {
  const asked = answers.filter(({ say }) => say !== 'hold')
  if (asked.length === 0) return goes(random)
  return { do: 'decide', ...random.pick(asked) }
}

export const OWNING: readonly Idea[] = [
  // The awaited decision, with any report of the partner after it.
  {
    weight: (view) => (isParked(view) ? 14 : 0),
    draw: (random, view) => {
      const answer = offered(random, view)
      return [...(answer.do === 'decide' && answer.say === 'give_back' ? answers(random) : []), answer]
    },
  },
  {
    weight: (view) => (view.asks.length > 0 && !isParked(view) ? 8 : 0),
    draw: (random, view) => [offered(random, view)],
  },
  // A refund that takes its time, and an operator who decides otherwise.
  {
    weight: (view) => (isParked(view) ? 8 : 0),
    draw: (random, view) => [simulator('refund_pending'), decide('give_back', named(random, view)), goes(random)],
  },
  {
    weight: (view) => where(view, ({ givingBack }) => givingBack, 25),
    draw: (random) => [random.pick([goes(random), goes(random), decide('hold'), wait(130), engine('settle')])],
  },
  // A refund that is cut off in the middle.
  {
    weight: (view) => (isParked(view) ? 5 : 0),
    draw: (random, view) => [
      { do: 'cut the next activity', at: random.below(7) },
      together(back(random, view)),
      ...random.pick<readonly StoryStep[]>([[], [{ do: 'lose the run' }, wait(62)]]),
      goes(random),
    ],
  },
  {
    weight: (view) => (isParked(view) ? 4 : 0),
    draw: (random, view) => [...answers(random), back(random, view)],
  },
  {
    weight: (view) => (isParked(view) || view.status === 'processing' ? 2 : 0),
    draw: (random) => [decide('hold'), goes(random)],
  },
  {
    weight: (view) => (view.held ? 8 : 0),
    draw: (random, view) => [
      random.pick([decide('release'), decide('release'), decide('settle'), decide('settle'), back(random, view)]),
    ],
  },
  {
    weight: (view) => (view.held && isParked(view) ? 5 : 0),
    draw: () => [simulator('refund_pending'), decide('give_back'), decide('release')],
  },
  // The partner changes its order while the payment is held, and an operator accepts it, or does not.
  {
    weight: (view) => (view.held && isParked(view) ? where(view, paid, 5) : 0),
    draw: (random, view) => [
      partner('change the amount', one(random, view, paid), {
        percent: random.pick([100, 60, 150]),
        arrival: drawArrival(random),
      }),
      ...random.pick([
        [],
        [goes(random)],
        [decide('settle')],
        [decide('write_off')],
        [decide('settle'), decide('release')],
      ]),
    ],
  },
  {
    weight: (view) => (isAsked(view) ? 8 : 0),
    draw: (random, view) => [
      random.pick([decide('settle'), decide('write_off'), { do: 'callback', of: random.below(view.attempts.length) }]),
    ],
  },
  // The converter is slow, the partner reverses the money, and the buyer pays again, or does not.
  {
    weight: (view) => where(view, payable, view.attempts.length < 3 ? 3 : 0),
    draw: (random, view) => {
      const of = one(random, view, payable)
      const click = {
        do: 'click',
        provider: random.pick(['wallet_app', 'card_partner', 'local_partner'] as const),
      } as const
      const again = partner('pay', view.attempts.length, {
        percent: random.pick([100, 99, 150, 60]),
        arrival: drawArrival(random),
      })
      return [
        random.pick<Step>([
          simulator('delay', random.pick([600, 7200, 90_000])),
          { do: 'fault', at: 'convert', trouble: 'answer lost', times: 1 },
          { do: 'fault', at: 'convert', trouble: 'down', times: 2 },
        ]),
        partner('pay', of),
        partner('take all back', of, { arrival: drawArrival(random) }),
        ...random.pick<readonly StoryStep[]>([[click, again], [click, again], [{ do: 'cancel' }], [wait(1500)], []]),
      ]
    },
  },
  // The money is reversed while it waits.
  {
    weight: (view) => (isParked(view) ? where(view, paid, 7) : 0),
    draw: (random, view) => [
      ...(random.chance(0.3) ? [unread] : []),
      takesBack(random, one(random, view, paid)),
      ...(random.chance(0.6) ? [goes(random)] : []),
    ],
  },
  // The partner withholds it while it waits for an operator, who decides; then the partner releases it, or does not.
  {
    weight: (view) => (isParked(view) && view.paidBy !== null && !view.converted ? where(view, paid, 5) : 0),
    draw: (random, view) => {
      const of = one(random, view, paid)
      return [
        partner('hold what was paid', of, { arrival: drawArrival(random) }),
        goes(random),
        ...random.pick<readonly StoryStep[]>([
          [],
          [partner('release', of, { arrival: drawArrival(random) }), goes(random)],
          [partner('take all back', of, { arrival: drawArrival(random) })],
        ]),
      ]
    },
  },
  {
    weight: (view) => (view.status === 'processing' ? where(view, paid, 10) : 0),
    draw: (random, view) => [
      random.pick([
        takesBack(random, one(random, view, paid)),
        partner('top up', one(random, view, paid), { percent: random.pick([50, 100]) }),
        partner('hold what was paid', one(random, view, paid)),
        decide('hold'),
        decide('hold'),
        wait(31),
        { do: 'cancel' },
      ]),
    ],
  },
  {
    weight: (view) => where(view, paid, view.asks.includes('too_little') ? 8 : 1.5),
    draw: (random, view) => [
      partner('top up', one(random, view, paid), {
        percent: random.pick([10, 40, 50, 50]),
        arrival: drawArrival(random),
      }),
    ],
  },
  // More USDC while the requested amount waits.
  {
    weight: (view) => (isCrypto(view) && view.held && view.paidBy !== null && !view.converted ? 8 : 0),
    draw: (random) => [deposit(random.pick([20, 50])), decide('release')],
  },
  // A part of it is reversed while it is held.
  {
    weight: (view) => (view.held && !view.converted ? where(view, paid, 8) : 0),
    draw: (random, view) => [takesBack(random, one(random, view, paid)), decide('release')],
  },
  // The payout.
  {
    weight: (view) => (view.status === 'settling' ? 12 : 0),
    draw: (random) => [engine(random.pick(['send', 'send', 'settle', 'settle', 'hold', 'hold', 'ask void']))],
  },
  {
    weight: (view) => (view.status === 'settling' ? where(view, paid, 9) : 0),
    draw: (random, view) => {
      const of = one(random, view, paid)
      return [
        ...random.pick([[], [engine('send')], [engine('hold')]]),
        takesBack(random, of),
        ...random.pick([[], [], [partner('pay late', of)]]),
        ...random.pick([[], [engine('settle')], [decide('settle')], [engine('void')]]),
      ]
    },
  },
  {
    weight: (view) => (view.status === 'settling' ? 4 : 0),
    draw: (random) => [decide('hold'), random.pick([engine('settle'), goes(random), decide('release')])],
  },
  {
    weight: (view) => (view.payout === 'voiding' ? 16 : 0),
    draw: (random) => [random.pick([engine('void'), engine('void'), engine('settle'), goes(random)])],
  },
  {
    weight: (view) => (view.payout === 'held' ? 8 : 0),
    draw: (random) => [random.pick([engine('ask void'), decide('settle'), decide('hold')])],
  },
  {
    weight: (view) => (view.payout === 'voided' && view.status === 'refunded' ? 4 : 0),
    draw: () => [engine('settle after all')],
  },
  // After the end.
  {
    weight: (view) => (view.status === 'succeeded' ? where(view, paid, 8) : 0),
    draw: (random, view) => {
      const of = one(random, view, paid)
      return [
        ...(random.chance(0.3) ? [unread] : []),
        takesBack(random, of),
        ...(random.chance(0.4) ? [decide('write_off')] : []),
        // It arrives again: all of it, some of it, or more than was reversed.
        ...random.pick([
          [],
          [partner('pay late', of)],
          [partner('top up', of, { percent: random.pick([40, 50, 60]) })],
        ]),
      ]
    },
  },
  {
    weight: (view) => where(view, ({ excess }) => excess, 10),
    draw: (random, view) => {
      const of = one(random, view, ({ excess }) => excess)
      return [...answers(random), givesBack(random, random.chance(0.6) ? of : null)]
    },
  },
  {
    weight: (view) => (isClosed(view) ? where(view, ({ excess }) => excess, 8) : 0),
    draw: (random, view) => {
      const of = one(random, view, ({ excess }) => excess)
      return random.pick<readonly StoryStep[]>([
        [...answers(random), givesBack(random, of)],
        [{ do: 'lose the run' }],
        [takesBack(random, of)],
      ])
    },
  },
  {
    weight: (view) => (isClosed(view) && view.attempts.length > 0 ? 1 : 0),
    draw: (random) => [partner('ask for a check', random.below(2))],
  },
]
