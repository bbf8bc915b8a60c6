import type { Random } from '../../../support/random.ts'
import type { PartnerAct, Step, StoryStep } from '../steps.ts'
import {
  decide,
  drawArrival,
  engine,
  givesBack,
  type Idea,
  isParked,
  one,
  outside,
  partner,
  payable,
  simulator,
  those,
  wait,
  where,
} from './idea.ts'

/** Money that fits no order and is given back in different ways, while the partner reports something else about it. */

const SOME: readonly number[] = [10, 60, 100, 120]
const says = (random: Random, acts: readonly PartnerAct[], of: number): Step =>
  partner(random.pick(acts), of, { percent: random.pick(SOME), arrival: drawArrival(random) })
const answers = (random: Random, of: number | null): Step =>
  random.pick([decide('give_back', of), outside(of), outside(of), decide('settle')])
const maybe = (random: Random, ...steps: readonly (readonly StoryStep[])[]): readonly StoryStep[] =>
  random.pick([[], ...steps])
const trouble = (random: Random): readonly StoryStep[] =>
  maybe(random, [simulator('refund_pending')], [simulator('refund_refused')])

const FITTING: readonly PartnerAct[] = ['fit again', 'fit again', 'top up', 'take some back', 'change the amount']
const GOING: readonly PartnerAct[] = ['send all back', 'take all back', 'hold what was paid', 'release', 'once more']

export const RETURNING: readonly Idea[] = [
  // The order of a second payment is changed, and given back twice.
  {
    weight: (view) => where(view, ({ excess }) => excess, 8),
    draw: (random, view) => {
      const of = one(random, view, ({ excess }) => excess)
      return [
        says(random, ['change the amount'], of),
        ...trouble(random),
        answers(random, of),
        ...maybe(random, [wait(1)], [wait(130)]),
        answers(random, of),
        ...maybe(random, [says(random, FITTING, of)]),
        answers(random, random.pick([of, null])),
      ]
    },
  },
  // A misfit is reported in one way, resolved, reported in another way, and resolved.
  {
    weight: (view) => where(view, payable, 3),
    draw: (random, view) => {
      const of = one(random, view, payable)
      const odd: readonly PartnerAct[] = ['change the amount', 'change the amount', 'decline with money', 'hold']
      return [
        ...maybe(random, [wait(1500)], [{ do: 'cancel' }]),
        says(random, odd, of),
        ...trouble(random),
        answers(random, random.pick([of, null])),
        random.pick([says(random, FITTING, of), says(random, GOING, of), wait(130)]),
        answers(random, random.pick([of, null])),
        random.pick([says(random, FITTING, of), says(random, GOING, of)]),
        ...maybe(random, [answers(random, random.pick([of, null]))]),
      ]
    },
  },
  // Two refunds at the same time.
  {
    weight: (view) => (isParked(view) && view.attempts.length > 1 ? 8 : 0),
    draw: (random, view) => {
      const [a, b] = [random.below(view.attempts.length), random.below(view.attempts.length)]
      return [
        says(random, ['change the amount', 'pay'], a),
        simulator('refund_pending'),
        decide('give_back', a),
        says(random, ['pay', 'change the amount', 'fit again'], b),
        simulator('refund_pending'),
        decide('give_back', b),
        says(random, FITTING, random.pick([a, b])),
        ...maybe(random, [simulator('refund_refused')]),
        wait(random.pick([1, 130])),
        answers(random, random.pick([a, b, null])),
        engine('settle'),
      ]
    },
  },
  // A misfit is refunded while another order is paid, sold and paid out.
  {
    weight: (view) => (view.status === 'pending' && view.attempts.length < 2 ? where(view, payable, 4) : 0),
    draw: (random, view) => {
      const a = one(random, view, payable)
      const b = view.attempts.length
      return [
        { do: 'click', provider: random.pick(['wallet_app', 'card_partner']) },
        says(random, ['change the amount', 'hold'], a),
        simulator('refund_pending'),
        givesBack(random, a),
        says(random, [...FITTING, ...GOING], a),
        says(random, ['pay', 'pay', 'change the amount'], b),
        ...random.pick<readonly StoryStep[]>([
          [simulator('refund_refused'), wait(1)],
          [simulator('refund_refused'), decide('give_back', a)],
          [wait(130)],
          [{ do: 'lose the run' }, wait(130)],
        ]),
        random.pick([decide('settle'), answers(random, random.pick([a, b, null]))]),
        ...maybe(random, [says(random, FITTING, random.pick([a, b]))]),
        engine('settle'),
        answers(random, random.pick([a, b, null])),
        says(random, [...FITTING, ...GOING], random.pick([a, a, b])),
      ]
    },
  },
  // It arrives late, does not fit, and is given back twice.
  {
    weight: (view) => (those(view, payable).length > 0 ? 1.5 : 0),
    draw: (random, view) => {
      const of = one(random, view, payable)
      const late = (): Step => givesBack(random, random.pick([of, null]))
      const odd = (): Step => says(random, ['pay late', ...FITTING, ...GOING], of)
      return [
        wait(random.pick([1500, 8000])),
        says(random, ['pay late', 'change the amount'], of),
        odd(),
        ...trouble(random),
        { ...late(), ...(random.chance(0.4) && { together: true as const }) },
        ...maybe(random, [{ do: 'lose the run' }], [{ do: 'cut the next activity', at: 0 }], [odd()]),
        late(),
        odd(),
        ...maybe(random, [wait(130)]),
      ]
    },
  },
]
