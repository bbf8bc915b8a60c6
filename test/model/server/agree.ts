import type { PaymentWorld } from '../../../scripts/histories/payment-world.ts'
import { createRandom } from '../../support/random.ts'
import { clean, playAtOnce } from '../story/play.ts'
import type { Story, Told } from '../story/steps.ts'
import { createTeller } from '../story/tell.ts'
import type { View } from '../story/view.ts'
import { openShop, type Theater } from '../world/shop.ts'
import { rowsOf } from './compare.ts'
import { openServerShop, StandsStill } from './server-shop.ts'

/** Plays a story in virtual time and on a real server, and answers what is left in both. */

export type Agreement = { readonly story: Story; readonly here: object; readonly there: object }

/** Steps that a real server can play: nobody is killed there, and no call is troubled. */
const PLAYABLE: readonly Told['do'][] = [
  'click',
  'partner',
  'news',
  'deposit',
  'simulator',
  'engine',
  'decide',
  'look',
  'cancel',
  'wait',
]

/** Null: the story has no step that the server can play beyond the first two, or time would stand still in it. */
export async function playBoth(
  theater: Theater,
  world: PaymentWorld,
  which: { readonly seed: number; readonly number: number },
): Promise<Agreement | null> {
  const random = createRandom(Math.imul(which.seed, 6151) + which.number * 15_485_863)
  const price = { minor: random.pick(['4999', '10000', '25000']), pinned: random.chance(0.3) }
  const steps: Told[] = []
  const draw = createTeller(random)
  const here = await openShop(theater, { ...price, currency: 'EUR' })
  let rows: object
  try {
    await playAtOnce(here, async (look) => {
      const { together: _, ...step } = (await draw(look)) ?? { do: 'lose the run' }
      const isPlayable = PLAYABLE.includes(step.do) && !standsStill(step as Told, await look())
      if (isPlayable) steps.push(step as Told)
      return isPlayable ? (step as Told) : null
    })
    rows = await rowsOf(here)
  } finally {
    await clean(here)
  }
  if (steps.length < 3) return null
  const coming = steps.values()
  const there = await openServerShop(world, price)
  try {
    await playAtOnce(there.shop, () => coming.next().value ?? null)
    return { story: { ...price, steps }, here: rows, there: await rowsOf(there.shop) }
  } catch (error) {
    if (error instanceof StandsStill) return null
    throw error
  } finally {
    await there.end()
  }
}

/**
 * On the server no time can be skipped while a payout is awaited. Where the converter is asked again and again, skipping an
 * hour takes longer than it is waited for; and a run that is ended in the middle of a try holds the server's time for good.
 */
function standsStill(step: Told, { status, payout }: View): boolean {
  if (step.do === 'simulator' && (step.fault === 'old_rates' || step.fault === 'delay')) return true
  const isAwaited = status === 'settling' || ['queued', 'authorized', 'mined', 'voiding'].includes(payout)
  return isAwaited && (step.do === 'wait' || (step.do === 'decide' && step.decision === 'hold'))
}
