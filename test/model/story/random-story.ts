import { createRandom, type Random } from '../../support/random.ts'
import type { TestSystem } from '../fixture/payment.ts'
import { FITTING } from './ideas/fitting.ts'
import type { Idea } from './ideas/idea.ts'
import { OWNING } from './ideas/owning.ts'
import { PAYING } from './ideas/paying.ts'
import { REFUNDING } from './ideas/refunding.ts'
import { REFUSING } from './ideas/refusing.ts'
import { RETURNING } from './ideas/returning.ts'
import { TROUBLE } from './ideas/trouble.ts'
import { playDrawn } from './play.ts'
import type { Story, StoryStep } from './steps.ts'
import type { View } from './view.ts'

/**
 * Random stories. The next event is drawn by the current state: an idea is one to four steps that belong together. A
 * drawn story is a plain list of steps, and can be played again without drawing.
 */

const IDEAS: readonly Idea[] = [...PAYING, ...OWNING, ...FITTING, ...REFUSING, ...RETURNING, ...REFUNDING, ...TROUBLE]
const MOST_STEPS = 16
/** Currencies with and without decimals, of high and low value. */
const CURRENCIES = ['EUR', 'EUR', 'EUR', 'USD', 'GBP', 'HUF', 'ISK', 'SEK'] as const

/** The same seed and number always draw the same story for the same system. */
export async function playRandom(
  testSystem: TestSystem,
  { seed, number }: { readonly seed: number; readonly number: number },
): Promise<{ readonly story: Story; readonly wrong: string[] }> {
  const random = createRandom(Math.imul(seed, 7919) + number * 104_729)
  const currency = random.pick(CURRENCIES)
  const pinned = random.chance(0.3)
  const only = pinned && random.chance(0.3)
  const price = { minor: random.pick(['4999', '10000', '25000']), currency, pinned, only }
  const steps: StoryStep[] = []
  const draw = createStepDrawer(random)
  const wrong = await playDrawn(testSystem, price, async (look) => {
    const step = await draw(look)
    if (step !== null) steps.push(step)
    return step
  })
  return { story: { ...price, steps }, wrong }
}

/** Draws step after step, as long as the story has ideas. */
export function createStepDrawer(random: Random): (look: () => Promise<View>) => Promise<StoryStep | null> {
  const coming: StoryStep[] = []
  let ideas = 2 + random.below(6)
  let drawn = 0
  return async (look) => {
    while (coming.length === 0 && ideas > 0 && drawn < MOST_STEPS) {
      ideas--
      coming.push(...think(random, await look()))
    }
    const step = coming.shift()
    if (step === undefined) return null
    drawn++
    // Some steps happen before the effects of the last one.
    return random.chance(0.08) ? { ...step, together: true as const } : step
  }
}

function think(random: Random, view: View): readonly StoryStep[] {
  const weights = IDEAS.map((idea) => idea.weight(view))
  let at = random.next() * weights.reduce((total, weight) => total + weight, 0)
  for (const [index, idea] of IDEAS.entries()) {
    at -= weights[index] ?? 0
    if (at < 0) return idea.draw(random, view)
  }
  return []
}
