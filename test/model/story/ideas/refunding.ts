import type { Random } from '../../../support/random.ts'
import type { Known } from '../../fixture/refund-chain.ts'
import type { Step, StoryStep } from '../steps.ts'
import type { View } from '../view.ts'
import { click, drawArrival, engine, type Idea, once, one, paid, partner, simulator, together, wait } from './idea.ts'

/** Refunds of settled payments: how the merchant pays for them, and what crosses them. */

export const refund = (percent: number): Step => ({ do: 'refund', percent })
export const sendUsdc = (of: number, percent = 100, final = true): Step => ({ do: 'send USDC', of, percent, final })
export const sign = (of: number): Step => ({ do: 'sign', of })
export const lanes = (known: Known = 'recorded'): Step => ({ do: 'lanes', known })
export const cancelRefund = (of: number): Step => ({ do: 'cancel a refund', of })
export const claim = (): Step => ({ do: 'claim' })
export const dropClaim = (): Step => ({ do: 'drop a claim' })
export const loseRefund = (of: number): Step => ({ do: 'lose a refund', of })

const PARTS = [100, 100, 60, 60, 50, 30, 110] as const

/** The merchant pays in one of the ways, or not enough, too much, twice, late. */
const pays = (random: Random, of: number): readonly StoryStep[] =>
  random.pick<readonly StoryStep[]>([
    [sendUsdc(of)],
    [sendUsdc(of)],
    [sendUsdc(of, 150)],
    [sendUsdc(of, 60), sendUsdc(of, 40)],
    [sendUsdc(of, 60)],
    [sendUsdc(of, 100, false), wait(random.pick([1, 62, 70]))],
    [sign(of), lanes()],
    [sign(of), lanes()],
    [sign(of), lanes('sent'), lanes('sent'), lanes()],
    [sign(of), sendUsdc(of), lanes()],
    [sign(of), lanes('sent'), cancelRefund(of), lanes()],
    [wait(random.pick([59, 62, 70, 1500])), sendUsdc(of)],
    [],
  ])

/** The partner refuses the refund, takes its time, or does not answer. */
const answers = (random: Random): readonly StoryStep[] =>
  random.pick<readonly StoryStep[]>([
    [],
    [],
    [],
    [simulator('refund_pending', random.pick([1200, 7200, 200_000]))],
    [simulator('refund_refused')],
    [once('refund', random.pick(['answer lost', 'down', 'slow', 'slow to report']))],
    [once('read', random.pick(['answer lost', 'down', 'slow']))],
    [simulator('refund_pending', 7200), simulator('refund_refused')],
  ])

/** Events during a refund: the partner changes its order, or a process dies. */
const crosses = (random: Random, view: View, of: number): readonly StoryStep[] => {
  const order = one(random, view, paid)
  const reverse = partner(random.pick(['take all back', 'send all back', 'take some back', 'top up']), order, {
    percent: random.pick([20, 50, 80]),
    arrival: drawArrival(random),
  })
  return random.pick<readonly StoryStep[]>([
    [],
    [],
    [reverse],
    [reverse],
    [{ do: 'callback', of: order }],
    [loseRefund(of), wait(62)],
    [{ do: 'cut the next activity', at: random.below(9) }],
    [cancelRefund(of)],
    [lanes('sent'), lanes()],
    [lanes('forgotten'), sendUsdc(of, 100, false), lanes('forgotten'), lanes()],
    [wait(random.pick([1, 20, 70, 1500]))],
  ])
}

const isRefundable = ({ refundable, refunds }: View): boolean => refundable && refunds.length < 4
const isOpen = (status: View['refunds'][number]): boolean =>
  status === 'awaiting_funds' || status === 'funded' || status === 'pending'

export const REFUNDING: readonly Idea[] = [
  // The payout pays for a refund of another payment, and anything can cross that.
  {
    weight: ({ payout }) => (payout === 'none' ? 12 : 0),
    draw: (random) => [
      ...random.pick<readonly StoryStep[]>([[claim()], [claim()], [claim(), claim()], [together(claim())]]),
      ...random.pick<readonly StoryStep[]>([
        [],
        [],
        [],
        [dropClaim()],
        [{ do: 'cut the next activity', at: random.below(14) }],
        [wait(random.pick([1, 20, 1500]))],
      ]),
    ],
  },
  {
    weight: ({ payout }) => (payout !== 'none' ? 4 : 0),
    draw: (random) =>
      random.pick<readonly StoryStep[]>([[dropClaim()], [claim()], [together(dropClaim()), engine('settle')]]),
  },
  // A payment that is settled at once.
  {
    weight: ({ attempts }) => (attempts.length === 0 ? 45 : 0),
    draw: (random) => [
      click(random.pick(['card_partner', 'wallet_app', 'local_partner'])),
      partner('pay', 0, { percent: random.pick([100, 100, 100, 150]) }),
      engine('settle'),
    ],
  },
  {
    weight: (view) => (isRefundable(view) ? 40 : 0),
    draw: (random, view) => {
      const of = view.refunds.length
      return [
        refund(random.pick(PARTS)),
        ...crosses(random, view, of),
        ...answers(random),
        ...pays(random, of),
        ...crosses(random, view, of),
      ]
    },
  },
  // Before the settlement the whole payment goes back, and anything can cross that.
  {
    weight: (view) => (view.returnable && view.refunds.length < 4 ? 25 : 0),
    draw: (random, view) => [
      ...random.pick<readonly StoryStep[]>([
        [],
        [],
        [together(engine('settle'))],
        [{ do: 'cut the next activity', at: random.below(12) }],
        [together(refund(100))],
      ]),
      ...answers(random),
      refund(100),
      ...random.pick<readonly StoryStep[]>([[], [], [engine('settle')], [loseRefund(view.refunds.length), wait(62)]]),
      ...crosses(random, view, view.refunds.length),
    ],
  },
  // Two refunds at the same moment.
  {
    weight: (view) => (isRefundable(view) ? 12 : 0),
    draw: (random, view) => {
      const of = view.refunds.length
      return [
        together(refund(random.pick([60, 50, 40]))),
        refund(random.pick([60, 50, 40])),
        ...answers(random),
        together(sendUsdc(of)),
        sendUsdc(of + 1),
        ...crosses(random, view, of),
      ]
    },
  },
  // A process dies between any two effects.
  {
    weight: (view) => (isRefundable(view) ? 12 : 0),
    draw: (random, view) => {
      const of = view.refunds.length
      return [
        refund(random.pick(PARTS)),
        sendUsdc(of, 100, false),
        ...answers(random),
        { do: 'cut the next activity', at: random.below(12) },
        together(lanes()),
        ...random.pick<readonly StoryStep[]>([[], [loseRefund(of), wait(62)]]),
      ]
    },
  },
  // The order changes while a refund of it is not over.
  {
    weight: (view) => (view.refunds.some(isOpen) ? 12 : 0),
    draw: (random, view) => crosses(random, view, Math.max(view.refunds.findIndex(isOpen), 0)),
  },
  {
    weight: (view) => (view.refunds.length > 0 ? 5 : 0),
    draw: (random, view) => {
      const of = random.below(view.refunds.length)
      return random.pick<readonly StoryStep[]>([
        [sendUsdc(of)],
        [sign(of), lanes()],
        [lanes('sent')],
        [cancelRefund(of)],
      ])
    },
  },
]
