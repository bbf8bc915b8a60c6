import type { ProviderUsed } from '../../../../src/domain/methods.ts'
import type { Say } from '../../../../src/domain/payment/requests.ts'
import type { Random } from '../../../support/random.ts'
import type { EngineAct } from '../../fixture/engine.ts'
import type { Operation, Trouble } from '../../fixture/parties.ts'
import type { Arrival, PartnerAct, SimulatorFault, Step, StoryStep } from '../steps.ts'
import type { View } from '../view.ts'

/** A possible next event: its weight in the current state, and its steps. */
export type Idea = {
  readonly weight: (view: View) => number
  readonly draw: (random: Random, view: View) => readonly StoryStep[]
}

export const click = (provider: ProviderUsed): Step => ({ do: 'click', provider })
export const partner = (act: PartnerAct, of = 0, more: { percent?: number; arrival?: Arrival } = {}): Step => ({
  do: 'partner',
  act,
  of,
  percent: more.percent ?? 100,
  arrival: more.arrival ?? 'signaled',
})
export const decide = (say: Say, of: number | null = null): Step => ({ do: 'decide', say, of })
/** The buyer got it from elsewhere. */
export const outside = (of: number | null = null): Step => ({ do: 'decide', say: 'give_back', of, outside: true })
export const givesBack = (random: Random, of: number | null): Step =>
  random.pick([decide('give_back', of), decide('give_back', of), outside(of)])
/** A decision about the version of the last look, whatever has changed since. */
export const asLooked = (step: Step): Step => (step.do === 'decide' ? { ...step, before: true } : step)
export const accept = (random: Random): Step =>
  asLooked(random.pick([decide('settle'), decide('settle'), decide('write_off'), decide('release'), outside()]))
export const engine = (act: EngineAct): Step => ({ do: 'engine', act })
export const wait = (minutes: number): Step => ({ do: 'wait', minutes })
export const simulator = (fault: SimulatorFault, seconds = 7200): Step => ({ do: 'simulator', fault, seconds })
export const deposit = (percent: number): Step => ({ do: 'deposit', percent, token: 'usdc' })
/** The next call of that operation fails in this way. */
export const once = (at: Operation, trouble: Trouble): Step => ({ do: 'fault', at, trouble, times: 1 })
/** Orders cannot be read this number of times; 0: they can again. */
export const silent = (times: number) => ({ do: 'fault', at: 'read', trouble: 'down', times }) as const
export const unread: Step = silent(12)

const ARRIVALS: readonly Arrival[] = [
  'signaled',
  'signaled',
  'signaled',
  'signaled',
  'stored',
  'stored',
  'later',
  'twice',
]
export const drawArrival = (random: Random): Arrival => random.pick(ARRIVALS)

export const together = (step: Step): StoryStep => ({ ...step, together: true })

export const isOpen = ({ status }: View): boolean => status === 'created' || status === 'pending'
export const isParked = ({ status }: View): boolean => status === 'under_review'
export const isClosed = (view: View): boolean =>
  ['succeeded', 'failed', 'expired', 'canceled', 'refunded'].includes(view.status)
/** True if an operator is asked something that does not stop the payment. */
export const isAsked = ({ asks }: View): boolean => asks.some((ask) => ASKED.includes(ask))
const ASKED: readonly string[] = ['odd_order', 'other_token', 'loss', 'unexpected_payout']
export const isOdd = ({ asks }: View): boolean => asks.includes('odd_order')
export const isCrypto = (view: View): boolean => view.attempts.some(({ provider }) => provider === 'crypto')

type Orders = (attempt: View['attempts'][number]) => boolean

/** The attempts that satisfy the condition, by their place. */
export function those(view: View, which: Orders): number[] {
  return view.attempts.flatMap((attempt, of) => (which(attempt) ? [of] : []))
}
export const payable: Orders = ({ order }) => order === 'open'
export const dead: Orders = ({ order }) => order === 'canceled' || order === 'expired' || order === 'declined'
export const paid: Orders = ({ order }) => order === 'paid'
/** One of the attempts that satisfy the condition; the first if there is none. */
export const one = (random: Random, view: View, which: Orders): number => {
  const found = those(view, which)
  return found.length === 0 ? 0 : random.pick(found)
}
/** The weight if such an attempt exists. */
export const where = (view: View, which: Orders, weight: number): number =>
  those(view, which).length === 0 ? 0 : weight
