import { OPERATOR_DECISIONS } from '../../../src/domain/payment/requests.ts'
import { createRandom, type Random } from '../../support/random.ts'
import type { PartnerAct, Step, Story, Told } from './steps.ts'

/** Random stories: a seed and a number always tell the same one. */
export function tellStory(seed: number, number: number): Story {
  const random = createRandom(Math.imul(seed, 7919) + number * 104_729)
  const steps: Told[] = []
  const add = (step: Step): void => void steps.push(random.chance(0.12) ? { ...step, together: true } : step)
  const first = click(random)
  add(first)
  if (random.chance(0.15)) add(click(random))
  // Before the money, of it, and after it: most of what can go wrong is about money that has come.
  for (let count = random.pick([0, 0, 1, 2]); count > 0; count--) add(tellStep(random, first))
  if (random.chance(0.9)) add(money(random, first))
  for (let count = 1 + random.below(7); count > 0; count--)
    add(random.chance(0.1) ? money(random, first) : tellStep(random, first))
  return { minor: random.pick(['4999', '10000', '25000']), pinned: random.chance(0.3), steps }
}

const PERCENTS = [100, 100, 100, 100, 50, 60, 99, 150, 1]
const NEWS = ['told', 'told', 'told', 'told', 'stored', 'later', 'twice'] as const

function money(random: Random, first: Step): Step {
  if (first.do === 'click' && first.provider === 'crypto' && random.chance(0.8)) return deposit(random)
  const act = random.pick([
    'pay',
    'pay',
    'pay',
    'pay',
    'pay slowly',
    'hold',
    'ask for a check',
    'top up',
    'pay late',
  ] as const)
  return { do: 'partner', act, of: of(random), percent: random.pick(PERCENTS), news: random.pick(NEWS) }
}

const deposit = (random: Random): Step => ({
  do: 'deposit',
  percent: random.pick([100, 100, 40, 60, 50, 1, 120]),
  token: random.chance(0.9) ? 'usdc' : 'other',
})

const click = (random: Random): Step => ({
  do: 'click',
  provider: random.pick(['wallet_app', 'wallet_app', 'card_partner', 'local_partner', 'crypto']),
})

const of = (random: Random): number => (random.chance(0.85) ? 0 : 1 + random.below(2))

const ACTS: readonly PartnerAct[] = [
  'pay',
  'pay',
  'pay',
  'pay',
  'pay slowly',
  'ask for a check',
  'pass the check',
  'fail the check',
  'top up',
  'top up',
  'take some back',
  'take all back',
  'take all back',
  'send all back',
  'hold',
  'release',
  'confirm',
  'decline',
  'expire',
  'pay late',
  'pay late',
]

function tellStep(random: Random, first: Step): Step {
  const isCrypto = first.do === 'click' && first.provider === 'crypto'
  const drawn = weighted(random)
  const kind = drawn === 'deposit' && !isCrypto ? 'partner' : drawn === 'partner' && isCrypto ? 'deposit' : drawn
  switch (kind) {
    case 'click':
      return click(random)
    case 'partner': {
      const [percent, news] = [random.pick(PERCENTS), random.pick(NEWS)]
      return { do: 'partner', act: random.pick(ACTS), of: of(random), percent, news }
    }
    case 'news':
      return { do: 'news', of: of(random) }
    case 'deposit':
      return deposit(random)
    case 'fault':
      return {
        do: 'fault',
        at: random.pick(['read', 'read', 'open', 'cancel', 'refund', 'convert', 'rates'] as const),
        trouble: random.pick(['down', 'answer lost', 'slow', 'slow', 'slow to hear', 'refuses us'] as const),
        times: random.pick([1, 1, 2, 5, 40]),
      }
    case 'simulator':
      return {
        do: 'simulator',
        fault: random.pick([
          'refund_refused',
          'refund_pending',
          'conversion_refused',
          'fill_off_rate',
          'delay',
          'old_rates',
        ] as const),
        seconds: random.pick([60, 1200, 7200]),
      }
    case 'engine':
      return {
        do: 'engine',
        act: random.pick(['send', 'settle', 'settle', 'hold', 'void', 'void', 'ask void'] as const),
      }
    case 'decide':
      return {
        do: 'decide',
        decision: random.pick(OPERATOR_DECISIONS),
        of: random.chance(0.4) ? of(random) : null,
        late: random.chance(0.1),
      }
    case 'wait':
      return { do: 'wait', minutes: random.pick([1, 2, 20, 31, 70, 400, 1439, 1440, 1500, 2880, 4500]) }
    case 'cut':
      return { do: 'cut the next activity', at: random.below(6) }
    case 'lose':
      return random.chance(0.8) ? { do: 'lose the run' } : { do: 'continue as new' }
    case 'cancel':
      return { do: 'cancel' }
  }
}

const WEIGHTS = {
  partner: 24,
  decide: 18,
  engine: 14,
  wait: 10,
  fault: 8,
  simulator: 5,
  deposit: 5,
  click: 4,
  news: 4,
  cut: 5,
  lose: 3,
  cancel: 2,
} as const
type Kind = keyof typeof WEIGHTS

function weighted(random: Random): Kind {
  const entries = Object.entries(WEIGHTS) as [Kind, number][]
  let at = random.below(entries.reduce((total, [, weight]) => total + weight, 0))
  for (const [kind, weight] of entries) {
    at -= weight
    if (at < 0) return kind
  }
  return 'partner'
}
