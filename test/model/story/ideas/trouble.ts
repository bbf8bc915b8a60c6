import type { StoryStep } from '../steps.ts'
import { decide, type Idea, isOpen, one, partner, payable, together, wait, where } from './idea.ts'

/** Events at any time: processes that die, parties that do not answer, time. */

export const TROUBLE: readonly Idea[] = [
  {
    weight: ({ runs }) => (runs ? 1.5 : 0),
    draw: (random) => [random.chance(0.75) ? { do: 'lose the run' } : { do: 'continue as new' }],
  },
  // A run that is to be continued while the merchant is notified, and an operator who decides at that time.
  {
    weight: ({ runs, status }) => (runs && status === 'under_review' ? 1 : 0),
    draw: (random) => [
      { do: 'fault', at: 'announce', trouble: 'slow', times: 1 },
      together({ do: 'continue as new' }),
      decide(random.pick(['settle', 'hold', 'release', 'give_back'])),
      decide(random.pick(['hold', 'release', 'settle'])),
    ],
  },
  // A partner's response that arrives after its money was reversed, when another run has read on.
  {
    weight: (view) => (view.runs ? where(view, payable, 1) : 0),
    draw: (random, view) => {
      const of = one(random, view, payable)
      const isCanceled = random.chance(0.7)
      return [
        { do: 'fault', at: isCanceled ? 'cancel' : 'read', trouble: 'slow', times: 1 },
        ...(isCanceled ? [together({ do: 'cancel' }), partner('pay', of)] : [together(partner('pay', of))]),
        { do: 'lose the run' },
        together(partner(random.pick(['take all back', 'take all back', 'send all back']), of)),
      ]
    },
  },
  {
    weight: () => 1,
    draw: (random) => [{ do: 'clock', seconds: random.pick([-20, -20, -1, 20]) }],
  },
  // A time that has passed by one clock, and not yet by the other.
  {
    weight: (view) => (isOpen(view) && view.minutesLeft > 5 ? where(view, payable, 1.5) : 0),
    draw: (random, view) => [
      { do: 'clock', seconds: random.pick([-20, 20]) },
      ...random.pick<readonly StoryStep[]>([
        [partner('confirm without end', one(random, view, payable)), wait(1500)],
        [wait(view.minutesLeft - 3), { do: 'extend', signaled: random.chance(0.7) }, wait(30)],
      ]),
    ],
  },
  {
    weight: () => 2.5,
    draw: (random) => [{ do: 'cut the next activity', at: random.below(7) }],
  },
  {
    weight: () => 3,
    draw: (random) => [
      {
        do: 'fault',
        at: random.pick(['read', 'read', 'open', 'cancel', 'refund', 'refund', 'convert', 'rates']),
        trouble: random.pick(['down', 'answer lost', 'slow', 'slow', 'slow to report', 'refuses us']),
        times: random.pick([1, 1, 2, 5, 40]),
      },
    ],
  },
  {
    weight: () => 2.5,
    draw: (random) => [wait(random.pick([1, 2, 20, 31, 70, 400, 1440, 1500, 2880, 4500]))],
  },
  {
    weight: ({ attempts }) => (attempts.length > 0 ? 1 : 0),
    draw: (random, { attempts }) => [{ do: 'callback', of: random.below(attempts.length) }],
  },
]
