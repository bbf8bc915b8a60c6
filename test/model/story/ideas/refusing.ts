import type { Told } from '../steps.ts'
import { decide, engine, type Idea, isParked, paid, partner, payable, simulator, wait, where } from './idea.ts'

/** Refunds that a partner refuses in the end, and what its order does meanwhile. */

const refused = (of: number): Told[] => [simulator('refund_refused'), decide('refund', of)]

export const REFUSING: readonly Idea[] = [
  // It has less, and all of it again; the rest of too little comes; or it holds back what it has left.
  {
    weight: (view) => (isParked(view) && view.paidBy !== null ? where(view, paid, 4) : 0),
    tell: (random, view) => {
      const of = view.paidBy ?? 0
      return [
        simulator('refund_pending'),
        decide('refund', of),
        ...random.pick<readonly Told[]>([
          [partner('take some back', of, { percent: 60 }), partner('top up', of, { percent: 60 })],
          [partner('top up', of, { percent: 40 })],
          [partner('hold what was paid', of)],
        ]),
        simulator('refund_refused'),
        wait(130),
      ]
    },
  },
  // Held between its conversion and its payout, and again when a first refund was refused: the partner has less by then.
  {
    weight: (view) => (view.status === 'pending' ? where(view, payable, 2) : 0),
    tell: (random, view) => {
      const of = view.attempts.findIndex(payable)
      return [
        { do: 'fault', at: 'convert', trouble: 'slow', times: 1 },
        partner('pay', of),
        decide('hold'),
        simulator('refund_pending'),
        decide('refund', of),
        decide('release'),
        partner('take some back', of, { percent: 60, news: 'later' }),
        partner('hold what was paid', of),
        simulator('refund_refused'),
        wait(130),
        decide('hold'),
        ...refused(of),
        ...random.pick<readonly Told[]>([[], [wait(1)]]),
        decide('release'),
        wait(1),
        engine('settle'),
      ]
    },
  },
]
