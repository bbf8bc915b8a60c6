import type { ProviderUsed } from '../../../../src/domain/methods.ts'
import type { StoryStep } from '../steps.ts'
import {
  dead,
  decide,
  deposit,
  drawArrival,
  type Idea,
  isCrypto,
  isOpen,
  one,
  partner,
  payable,
  silent,
  simulator,
  together,
  unread,
  wait,
  where,
} from './idea.ts'

/** Ideas until the money has arrived: buyers, partners that confirm, checks, expiry and cancellation. */

const PROVIDERS: readonly ProviderUsed[] = [
  'wallet_app',
  'wallet_app',
  'card_partner',
  'local_partner',
  'crypto',
  'crypto',
]

export const PAYING: readonly Idea[] = [
  {
    weight: ({ attempts }) => (attempts.length === 0 ? 60 : 0),
    draw: (random) => [{ do: 'click', provider: random.pick(PROVIDERS) }],
  },
  // Whole, over, nearly enough, or in part.
  {
    weight: (view) => where(view, payable, 14),
    draw: (random, view) => {
      const percent = random.pick([100, 100, 100, 100, 100, 50, 60, 99, 150])
      return [partner('pay', one(random, view, payable), { percent, arrival: drawArrival(random) })]
    },
  },
  // The money arrives, and the converter fails.
  {
    weight: (view) => where(view, payable, 5),
    draw: (random, view) => {
      const seconds = random.pick([600, 7200, 2_000_000])
      const trouble = random.pick(['delay', 'conversion_refused', 'fill_off_rate', 'old_rates'] as const)
      return [simulator(trouble, seconds), partner('pay', one(random, view, payable))]
    },
  },
  {
    weight: (view) => where(view, payable, 2),
    draw: (random, view) => [
      {
        do: 'fault',
        at: 'convert',
        trouble: random.pick(['down', 'answer lost', 'slow']),
        times: random.pick([1, 3, 60]),
      },
      partner('pay', one(random, view, payable)),
    ],
  },
  {
    weight: (view) => where(view, payable, 6),
    draw: (random, view) => {
      const of = one(random, view, payable)
      const act = random.pick([
        'pay slowly',
        'confirm without end',
        'hold',
        'ask for a check',
        'cancel with money',
      ] as const)
      return [partner(act, of, { percent: random.pick([100, 100, 60]), arrival: drawArrival(random) })]
    },
  },
  {
    weight: (view) => where(view, payable, 1.5),
    draw: (random, view) => [
      partner(
        random.pick(['pay without an amount', 'change the amount', 'decline', 'expire']),
        one(random, view, payable),
      ),
    ],
  },
  // A partner that confirms for too long, and the outcome.
  {
    weight: (view) => (isOpen(view) ? where(view, payable, 1.5) : 0),
    draw: (random, view) => {
      const of = one(random, view, payable)
      return [
        partner('confirm without end', of),
        wait(random.pick([1500, 4500])),
        random.pick<StoryStep>([decide('write_off'), decide('hold'), partner('confirm', of), partner('decline', of)]),
        ...random.pick<readonly StoryStep[]>([[], [partner('confirm', of)], [partner('pay late', of)]]),
      ]
    },
  },
  // The check is not passed, and money arrives anyway.
  {
    weight: (view) => (isOpen(view) ? where(view, payable, 1) : 0),
    draw: (random, view) => {
      const of = one(random, view, payable)
      return [
        partner('ask for a check', of),
        partner('fail the check', of),
        ...random.pick<readonly StoryStep[]>([[], [wait(60)], [wait(2000)]]),
        partner('pay late', of, { percent: random.pick([100, 100, 60]) }),
        random.pick<StoryStep>([decide('settle'), decide('give_back'), wait(60)]),
      ]
    },
  },
  // Callbacks that cannot be read.
  {
    weight: (view) => where(view, payable, 2),
    draw: (random, view) => [
      wait(random.pick([1, 61, 130])),
      unread,
      partner('pay', one(random, view, payable), { arrival: random.pick(['signaled', 'stored']) }),
    ],
  },
  {
    weight: (view) => (view.attempts.length > 0 && isOpen(view) ? 3 : 0),
    draw: (random) => [{ do: 'click', provider: random.pick(PROVIDERS) }],
  },
  // More time, shortly before the end, and events when the old end is near or over.
  {
    weight: (view) => (isOpen(view) && view.minutesLeft > 5 ? 3 : 0),
    draw: (random, view) => [
      wait(view.minutesLeft - random.pick([1, 3, 4])),
      { do: 'extend', signaled: random.chance(0.5), ...(random.chance(0.3) && { together: true }) },
      ...(random.chance(0.4) ? [{ do: 'click', provider: random.pick(PROVIDERS) } as const] : []),
      wait(random.pick([1, 4, 6, 30])),
      ...(view.attempts.length > 0 && random.chance(0.5) ? [partner('pay', one(random, view, payable))] : []),
    ],
  },
  // Two orders, both paid.
  {
    weight: (view) => where(view, payable, view.attempts.length < 3 ? 3 : 0),
    draw: (random, view) => {
      const of = one(random, view, payable)
      return [
        { do: 'click', provider: random.pick(['card_partner', 'local_partner', 'wallet_app']) },
        partner('pay', view.attempts.length, { percent: random.pick([100, 100, 50]), arrival: drawArrival(random) }),
        partner('pay late', of, { percent: random.pick([100, 50]), arrival: drawArrival(random) }),
      ]
    },
  },
  // One partner has money or withholds it, the other does not respond, and continues.
  {
    weight: (view) => where(view, payable, view.attempts.length < 3 ? 3 : 0),
    draw: (random, view) => [
      { do: 'fault', at: 'cancel', trouble: 'down', times: random.pick([1, 40]) },
      { do: 'click', provider: random.pick(['card_partner', 'wallet_app', 'local_partner']) },
      partner(random.pick(['hold', 'hold', 'pay']), view.attempts.length),
      partner(random.pick(['hold', 'decline', 'ask for a check']), one(random, view, payable)),
    ],
  },
  // The partner reports that it is confirming.
  {
    weight: (view) => where(view, ({ order }) => order === 'confirming', 12),
    draw: (random, view) => {
      const of = one(random, view, ({ order }) => order === 'confirming')
      const act = random.pick(['confirm', 'decline', 'send all back', 'take all back', 'hold'] as const)
      const before = random.pick([[], [wait(1500)], [{ do: 'cancel' }]] as const)
      return [...before, partner(act, of, { percent: random.pick([100, 100, 60]), arrival: drawArrival(random) })]
    },
  },
  {
    weight: (view) => where(view, ({ order }) => order === 'on_hold' || order === 'verification_required', 10),
    draw: (random, view) => {
      const of = one(random, view, ({ order }) => order === 'on_hold' || order === 'verification_required')
      const acts =
        view.attempts[of]?.order === 'on_hold'
          ? (['release', 'release', 'take all back'] as const)
          : (['pass the check', 'fail the check', 'expire'] as const)
      return [
        partner(random.pick<'release' | 'take all back' | 'pass the check' | 'fail the check' | 'expire'>(acts), of),
      ]
    },
  },
  // USDC in parts, at any time.
  {
    weight: (view) => (isCrypto(view) ? (view.paidBy === null ? 16 : 4) : 0),
    draw: (random) =>
      random.pick([[100], [100], [40], [60], [50, 50], [60, 40], [40, 20, 40], [1], [120]]).map(deposit),
  },
  {
    weight: (view) => (isCrypto(view) ? 1 : 0),
    draw: () => [{ do: 'deposit', percent: 100, token: 'other' }],
  },
  // A part of the price, and its end.
  {
    weight: (view) => (view.part ? 12 : 0),
    draw: (random) =>
      random.pick([
        [{ do: 'cancel' as const }],
        [wait(1500)],
        [wait(1500), deposit(60)],
        [deposit(40)],
        [decide('hold')],
      ]),
  },
  {
    weight: (view) => (isOpen(view) ? 1.5 : 0),
    draw: (random) => [random.pick([{ do: 'cancel' as const }, decide('hold'), wait(1500)])],
  },
  // Held before it arrives.
  {
    weight: (view) => (isCrypto(view) && isOpen(view) ? 1.5 : 0),
    draw: () => [decide('hold'), deposit(100)],
  },
  // Closing and money at the same moment.
  {
    weight: (view) => (isCrypto(view) && isOpen(view) ? 2 : 0),
    draw: (random) => [deposit(random.pick([40, 60, 100])), { do: 'cancel' as const }],
  },
  {
    weight: (view) => where(view, payable, 1.5),
    draw: (random, view) => [
      {
        do: 'fault',
        at: 'cancel',
        trouble: random.pick(['slow', 'slow to report', 'down', 'answer lost']),
        times: random.pick([1, 6]),
      },
      together({ do: 'cancel' }),
      partner('pay', one(random, view, payable), { arrival: drawArrival(random) }),
    ],
  },
  {
    weight: (view) => where(view, payable, 1.5),
    draw: (random, view) => [
      wait(1439),
      partner(random.pick(['pay', 'pay slowly']), one(random, view, payable), {
        arrival: random.pick(['later', 'stored', 'signaled']),
      }),
      wait(2),
    ],
  },
  // A partner that is silent until the wait is over, and money after that.
  {
    weight: (view) => (isOpen(view) ? where(view, payable, 1.5) : 0),
    draw: (random, view) => {
      const of = one(random, view, payable)
      return [
        silent(400),
        { ...silent(400), at: 'cancel' },
        wait(random.pick([4500, 6000])),
        silent(0),
        partner('pay late', of, { percent: random.pick([100, 100, 50]), arrival: drawArrival(random) }),
        ...random.pick<readonly StoryStep[]>([[], [], [{ do: 'lose the run' }]]),
      ]
    },
  },
  // Money after the end of its order.
  {
    weight: (view) => where(view, dead, 5),
    draw: (random, view) => {
      const of = one(random, view, dead)
      const first = random.pick([[], [], [wait(4500)], [wait(4500), unread]] as const)
      const act = random.pick(['pay late', 'pay late', 'pay late', 'change the amount'] as const)
      return [...first, partner(act, of, { percent: random.pick([100, 100, 50]), arrival: drawArrival(random) })]
    },
  },
  // It arrives while nothing can be bought, and is withdrawn before that changes.
  {
    weight: (view) => where(view, payable, 0.7),
    draw: (random, view) => {
      const of = one(random, view, payable)
      return [
        { do: 'fault', at: 'convert', trouble: 'down', times: 1 },
        wait(random.pick([1500, 4500])),
        partner('pay late', of, { arrival: drawArrival(random) }),
        partner(random.pick(['take all back', 'send all back']), of),
      ]
    },
  },
]
