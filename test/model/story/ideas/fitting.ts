import type { StoryStep } from '../steps.ts'
import {
  accept,
  decide,
  deposit,
  drawArrival,
  engine,
  givesBack,
  type Idea,
  isAsked,
  isCrypto,
  isOdd,
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

/** Money that fits no order, repeatedly, together with money that does; and money that was returned from elsewhere. */

export const FITTING: readonly Idea[] = [
  // One more, or the same one in another way.
  {
    weight: (view) => (isOdd(view) ? 9 : 0),
    draw: (random, view) => [
      partner('change the amount', random.below(view.attempts.length), {
        percent: random.pick([100, 60, 150]),
        arrival: drawArrival(random),
      }),
    ],
  },
  // It is given back, at once or after a while, and the partner reports it again.
  {
    weight: (view) => (isAsked(view) ? 12 : 0),
    draw: (random, view) => {
      const of = random.below(view.attempts.length)
      return [
        ...random.pick<readonly StoryStep[]>([
          [],
          [simulator('refund_pending', 1200)],
          [simulator('refund_pending', 1200)],
        ]),
        decide('give_back', random.pick([null, of])),
        wait(60),
        { do: 'callback', of },
      ]
    },
  },
  // An operator reads it, something changes, and the version that was read is accepted; or it is accepted twice.
  {
    weight: (view) => (isAsked(view) ? 8 : isParked(view) && !view.converted ? 2 : 0),
    draw: (random, view) => [
      { do: 'look' },
      ...random.pick<readonly StoryStep[]>([
        [decide('settle')],
        [partner('change the amount', random.below(view.attempts.length), { percent: random.pick([60, 150]) })],
        [partner(random.pick(['take some back', 'top up']), random.below(view.attempts.length), { percent: 50 })],
        [{ do: 'deposit', percent: 50, token: 'other' }],
      ]),
      accept(random),
    ],
  },
  // Money that fits also arrives, and is reversed, or somebody decides about it.
  {
    weight: (view) => (isOdd(view) && view.attempts.length > 1 ? 9 : 0),
    draw: (random, view) => {
      const of = random.below(view.attempts.length)
      return [
        partner(random.pick(['pay', 'pay late']), of, {
          percent: random.pick([100, 100, 60, 150]),
          arrival: drawArrival(random),
        }),
        ...random.pick<readonly StoryStep[]>([
          [],
          [decide('settle')],
          [partner(random.pick(['send all back', 'take all back', 'take some back']), of, { percent: 50 })],
          [decide('give_back', of), partner('change the amount', random.below(view.attempts.length))],
        ]),
      ]
    },
  },
  // Neither of two orders fits, and one after the other must be given back.
  {
    weight: (view) => where(view, payable, view.attempts.length < 3 ? 1.5 : 0),
    draw: (random, view) => [
      { do: 'click', provider: random.pick(['card_partner', 'wallet_app', 'local_partner']) },
      partner('change the amount', one(random, view, payable)),
      partner('change the amount', view.attempts.length),
      decide('give_back', random.pick([one(random, view, payable), view.attempts.length])),
      givesBack(random, null),
    ],
  },
  // Two orders, and the first one does not fit.
  {
    weight: (view) => where(view, payable, view.attempts.length < 3 ? 2 : 0),
    draw: (random, view) => [
      { do: 'click', provider: random.pick(['card_partner', 'wallet_app', 'local_partner', 'crypto']) },
      partner('change the amount', random.below(view.attempts.length), { arrival: drawArrival(random) }),
      ...random.pick<readonly StoryStep[]>([[], [deposit(100)], [deposit(60)], [partner('pay', view.attempts.length)]]),
    ],
  },
  // The first does not fit, the second is paid, and its partner reverses the money.
  {
    weight: (view) => where(view, payable, view.attempts.length < 3 ? 2.5 : 0),
    draw: (random, view) => [
      { do: 'click', provider: random.pick(['card_partner', 'wallet_app', 'local_partner']) },
      partner('change the amount', one(random, view, payable), {
        percent: random.pick([100, 60]),
        arrival: drawArrival(random),
      }),
      partner('pay', view.attempts.length, { percent: random.pick([100, 60]) }),
      partner(random.pick(['send all back', 'take all back']), view.attempts.length, { arrival: drawArrival(random) }),
    ],
  },
  // A partner withholds one order, and the money of the other one arrives and is reversed, or never arrives.
  {
    weight: (view) => where(view, payable, view.attempts.length < 3 ? 4 : 0),
    draw: (random, view) => {
      const of = one(random, view, payable)
      const next = view.attempts.length
      return [
        { do: 'click', provider: random.pick(['card_partner', 'wallet_app', 'local_partner']) },
        partner('hold', next, { arrival: drawArrival(random) }),
        partner(random.pick(['pay late', 'pay late', 'hold', 'hold what was paid']), of, {
          percent: random.pick([50, 100]),
          arrival: drawArrival(random),
        }),
        partner(
          random.pick(['take all back', 'take all back', 'send all back', 'decline']),
          random.pick([of, of, of, next]),
          {
            arrival: drawArrival(random),
          },
        ),
        ...random.pick<readonly StoryStep[]>([[], [], [partner('release', next)], [partner('decline', next)]]),
      ]
    },
  },
  // Returned from elsewhere, and the partner changes what it still has of it.
  {
    weight: (view) => where(view, ({ order, status }) => order === 'paid' && status === 'refunded', 10),
    draw: (random, view) => {
      const of = one(random, view, ({ order, status }) => order === 'paid' && status === 'refunded')
      const act = random.pick(['take some back', 'take some back', 'take all back', 'send all back', 'top up'] as const)
      return [
        partner(act, of, { percent: random.pick([20, 50]), arrival: drawArrival(random) }),
        ...random.pick<readonly StoryStep[]>([
          [],
          [decide('settle')],
          [partner('top up', of, { percent: 30 })],
          [wait(1500)],
        ]),
      ]
    },
  },
  {
    weight: (view) => where(view, ({ excess, order }) => excess && order === 'paid', 4),
    draw: (random, view) => {
      const of = one(random, view, ({ excess, order }) => excess && order === 'paid')
      return [
        outside(of),
        partner('take some back', of, { percent: random.pick([10, 50, 60]), arrival: drawArrival(random) }),
      ]
    },
  },
  // The partner reports less than the price that was paid, and somebody decides; or it has all of it after all.
  {
    weight: (view) => (view.status === 'processing' || view.status === 'settling' ? where(view, paid, 3) : 0),
    draw: (random, view) => {
      const of = one(random, view, paid)
      return [
        partner('change the amount', of, { percent: random.pick([0, 20, 60, 100]), arrival: drawArrival(random) }),
        ...random.pick<readonly StoryStep[]>([
          [],
          [engine('settle')],
          [decide('release'), engine('settle')],
          [decide('settle'), wait(20)],
          [partner('change the amount', of), wait(400)],
          [partner('fit again', of, { percent: random.pick([40, 100, 100]) }), wait(20)],
          [partner('take all back', of)],
          // It withholds what it has, and reports nothing more.
          [
            partner('fit again', of, { percent: 40, arrival: 'later' }),
            partner('hold what was paid', of),
            decide(random.pick(['settle', 'release'])),
            engine('settle'),
          ],
          [partner('hold what was paid', of), decide('settle'), wait(1), decide('settle'), engine('settle')],
        ]),
      ]
    },
  },
  // It fits after an operator has closed the misfit, and then the partner reports the same once more.
  {
    weight: (view) => (view.status === 'pending' ? where(view, payable, 2) : 0),
    draw: (random, view) => {
      const of = one(random, view, payable)
      const changed = partner('change the amount', of, {
        percent: random.pick([20, 60, 100]),
        arrival: drawArrival(random),
      })
      return [
        changed,
        decide('write_off'),
        decide('settle'),
        ...random.pick<readonly StoryStep[]>([[], [simulator('delay', 600)]]),
        partner('fit again', of, { arrival: drawArrival(random) }),
        decide('settle'),
        ...random.pick<readonly StoryStep[]>([[], [wait(1)]]),
        changed,
        ...random.pick<readonly StoryStep[]>([[wait(60)], [wait(1), engine('settle')]]),
      ]
    },
  },
  // The buyer has it twice, and the partner continues.
  {
    weight: (view) => (isAsked(view) ? where(view, paid, 3) : 0),
    draw: (random, view) => [
      partner(random.pick(['take some back', 'top up', 'change the amount']), one(random, view, paid), {
        percent: random.pick([20, 50]),
        arrival: drawArrival(random),
      }),
    ],
  },
  {
    weight: (view) => (isCrypto(view) ? 1.5 : 0),
    draw: (random) => [
      ...random.pick<readonly StoryStep[]>([[], [], [wait(6000)]]),
      { do: 'deposit', percent: 100, token: 'other' },
      ...random.pick<readonly StoryStep[]>([[], [deposit(100)], [deposit(40)], [outside(), deposit(100)]]),
    ],
  },
]
