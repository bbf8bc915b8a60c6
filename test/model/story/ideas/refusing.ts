import type { Random } from '../../../support/random.ts'
import type { StoryStep } from '../steps.ts'
import {
  decide,
  drawArrival,
  engine,
  givesBack,
  type Idea,
  isParked,
  one,
  outside,
  paid,
  partner,
  payable,
  simulator,
  wait,
  where,
} from './idea.ts'

/** Refunds that a partner refuses in the end, and changes of its order during them. */

const mayGoBack: Parameters<typeof where>[1] = ({ order }) => order === 'paid' || order === 'on_hold'
const refused = (of: number): StoryStep[] => [simulator('refund_refused'), decide('give_back', of)]

/** Events that can cross a refund of this order while it is carried out. */
const crossing = (random: Random, of: number): StoryStep =>
  random.pick([
    partner('fit again', of, { percent: random.pick([60, 100, 120]), arrival: drawArrival(random) }),
    partner('change the amount', of, { percent: random.pick([20, 60, 100]), arrival: drawArrival(random) }),
    partner('take some back', of, { percent: 60 }),
    partner(random.pick(['hold what was paid', 'release', 'send all back', 'take all back']), of),
    decide(random.pick(['hold', 'release', 'settle', 'settle', 'write_off'])),
    outside(),
    engine('settle'),
    simulator('refund_refused'),
    wait(random.pick([1, 130])),
  ])
const CUTS: readonly StoryStep[] = [
  { do: 'lose the run' },
  ...[0, 1].map((at) => ({ do: 'cut the next activity', at }) as const),
]
const cut = (random: Random): readonly StoryStep[] => (random.chance(0.4) ? [random.pick(CUTS)] : [])

export const REFUSING: readonly Idea[] = [
  // Every stopped payment is given back, and other things happen before it is, or before it is requested once more.
  {
    weight: (view) => (isParked(view) ? where(view, mayGoBack, 5) : 0),
    draw: (random, view) => {
      const of = one(random, view, mayGoBack)
      return [
        ...random.pick<readonly StoryStep[]>([[], [simulator('refund_pending')], [simulator('refund_pending')]]),
        givesBack(random, random.pick([of, null])),
        ...cut(random),
        crossing(random, of),
        ...cut(random),
        crossing(random, of),
        wait(random.pick([1, 130])),
        ...random.pick<readonly StoryStep[]>([
          [],
          [decide('give_back', random.pick([of, null]))],
          [crossing(random, of)],
        ]),
      ]
    },
  },
  // Another amount, which is returned or reported as returned, and then it is the right one after all.
  {
    weight: (view) => (view.status === 'pending' ? where(view, payable, 3) : 0),
    draw: (random, view) => {
      const of = one(random, view, payable)
      return [
        ...random.pick<readonly StoryStep[]>([
          [],
          [],
          [partner('hold', of)],
          [partner('confirm without end', of), wait(1500)],
          [wait(700)],
        ]),
        partner('change the amount', of, { percent: random.pick([60, 100, 100]), arrival: drawArrival(random) }),
        ...random.pick<readonly StoryStep[]>([[], [simulator('refund_pending')]]),
        random.pick([givesBack(random, random.pick([of, null])), outside(of), decide('settle')]),
        ...cut(random),
        ...random.pick<readonly StoryStep[]>([[], [], [decide('write_off'), wait(130)]]),
        partner('fit again', of, { percent: random.pick([60, 100, 120]), arrival: drawArrival(random) }),
        wait(random.pick([1, 130])),
        crossing(random, of),
      ]
    },
  },
  // … while another order is paid, and the refund is refused.
  {
    weight: (view) => (view.status === 'pending' && view.attempts.length < 3 ? where(view, payable, 2) : 0),
    draw: (random, view) => {
      const of = one(random, view, payable)
      return [
        { do: 'click', provider: random.pick(['card_partner', 'wallet_app', 'local_partner']) },
        partner('change the amount', of),
        simulator('refund_pending'),
        decide('give_back', of),
        partner('fit again', of, { percent: random.pick([60, 100]) }),
        partner('pay', view.attempts.length, { percent: random.pick([60, 100]) }),
        simulator('refund_refused'),
        wait(130),
        ...random.pick<readonly StoryStep[]>([[], [decide('settle')], [crossing(random, of)]]),
      ]
    },
  },
  // It has less, and all of it again; the rest of too little arrives; or it withholds what it has left.
  {
    weight: (view) => (isParked(view) && view.paidBy !== null ? where(view, paid, 4) : 0),
    draw: (random, view) => {
      const of = view.paidBy ?? 0
      return [
        simulator('refund_pending'),
        decide('give_back', of),
        ...random.pick<readonly StoryStep[]>([
          [partner('take some back', of, { percent: 60 }), partner('top up', of, { percent: 60 })],
          [partner('top up', of, { percent: 40 })],
          [partner('hold what was paid', of)],
        ]),
        simulator('refund_refused'),
        wait(130),
      ]
    },
  },
  // Held between its conversion and its payout, and again when a first refund was refused: the partner has less by
  // then.
  {
    weight: (view) => (view.status === 'pending' ? where(view, payable, 2) : 0),
    draw: (random, view) => {
      const of = view.attempts.findIndex(payable)
      return [
        { do: 'fault', at: 'convert', trouble: 'slow', times: 1 },
        partner('pay', of),
        decide('hold'),
        simulator('refund_pending'),
        decide('give_back', of),
        decide('release'),
        partner('take some back', of, { percent: 60, arrival: 'later' }),
        partner('hold what was paid', of),
        simulator('refund_refused'),
        wait(130),
        decide('hold'),
        ...refused(of),
        ...random.pick<readonly StoryStep[]>([[], [wait(1)]]),
        decide('release'),
        wait(1),
        engine('settle'),
      ]
    },
  },
]
