import { isDeepStrictEqual } from 'node:util'
import { createPaymentFixture, type PaymentFixture } from '../../../scripts/histories/payment-fixture.ts'
import { startTimeSkipping } from '../../../scripts/test/services/temporal.ts'
import { createRandom } from '../../support/random.ts'
import { openTestPayment, type TestSystem } from '../fixture/payment.ts'
import { clean, playAtOnce } from '../story/play.ts'
import { createStepDrawer } from '../story/random-story.ts'
import type { Story, StoryStep } from '../story/steps.ts'
import type { View } from '../story/view.ts'
import { readRows } from './compare.ts'
import { openServerPayment, StandsStill } from './server-payment.ts'

/** Plays a story in virtual time and on a real server, and returns the rows that it leaves in both. */

export type Agreement = { readonly story: Story; readonly here: object; readonly there: object }

/** Steps that a real server can play: no process is killed there, and no call fails. */
const PLAYABLE: readonly StoryStep['do'][] = [
  'click',
  'partner',
  'callback',
  'deposit',
  'simulator',
  'engine',
  'decide',
  'look',
  'cancel',
  'wait',
]

/** After this number in a row the machine is too slow to judge the stories. */
const STANDSTILLS = 5

/**
 * Plays this number of stories of a seed in both. A server whose time has stopped once would delay every later story,
 * so the next one gets a new server.
 */
export async function playOnServers(
  testSystem: TestSystem,
  { seed, from, stories }: { readonly seed: number; readonly from: number; readonly stories: number },
  each: (number: number, both: Agreement) => void,
): Promise<void> {
  let [number, played, standstills] = [from, 0, 0]
  while (played < stories && standstills < STANDSTILLS)
    await withPaymentFixture(async (paymentFixture) => {
      while (played < stories) {
        const both = await playBoth(testSystem, paymentFixture, { seed, number: number++ })
        if (both === null) continue
        each(number - 1, both)
        played++
        standstills = 0
      }
    }).catch((error: unknown) => {
      if (!(error instanceof StandsStill)) throw error
      standstills++
    })
  if (played < stories) throw new Error(`time stood still in ${standstills} stories in a row`)
}

async function withPaymentFixture(play: (paymentFixture: PaymentFixture) => Promise<void>): Promise<void> {
  const env = await startTimeSkipping()
  const paymentFixture = await createPaymentFixture(env)
  try {
    await play(paymentFixture)
  } finally {
    await paymentFixture.close()
    await env.teardown()
  }
}

/** Null: the story has no step that the server can play beyond the first two. Throws `StandsStill`. */
async function playBoth(
  testSystem: TestSystem,
  paymentFixture: PaymentFixture,
  which: { readonly seed: number; readonly number: number },
): Promise<Agreement | null> {
  const random = createRandom(Math.imul(which.seed, 6151) + which.number * 15_485_863)
  const price = { minor: random.pick(['4999', '10000', '25000']), pinned: random.chance(0.3) }
  const steps: StoryStep[] = []
  const draw = createStepDrawer(random)
  const here = await openTestPayment(testSystem, { ...price, currency: 'EUR', only: false })
  let rows: object
  try {
    await playAtOnce(here, async (look) => {
      const { together: _, ...step } = (await draw(look)) ?? { do: 'lose the run' }
      const isPlayable = PLAYABLE.includes(step.do) && !standsStill(step as StoryStep, await look())
      if (isPlayable) steps.push(step as StoryStep)
      return isPlayable ? (step as StoryStep) : null
    })
    rows = await readRows(here)
  } finally {
    await clean(here)
  }
  if (steps.length < 3) return null
  const story = { ...price, steps }
  const first = await playThere(paymentFixture, story)
  // On a machine that is slow at the wrong moment a step overtakes the effects of the one before.
  const there = isDeepStrictEqual(first, rows) ? first : await playThere(paymentFixture, story)
  return { story, here: rows, there }
}

async function playThere(paymentFixture: PaymentFixture, { steps, ...price }: Story): Promise<object> {
  const coming = steps.values()
  const there = await openServerPayment(paymentFixture, price)
  try {
    await playAtOnce(there.testPayment, () => coming.next().value ?? null)
    return await readRows(there.testPayment)
  } finally {
    await there.end()
  }
}

/**
 * On the server time cannot be skipped while a payout is awaited. If the converter is asked again and again, skipping
 * an hour takes longer than its deadline; and a run that ends during a try stops the server's time for good.
 */
function standsStill(step: StoryStep, { status, payout }: View): boolean {
  if (step.do === 'simulator' && (step.fault === 'old_rates' || step.fault === 'delay')) return true
  const isAwaited = status === 'settling' || ['queued', 'authorized', 'mined', 'voiding'].includes(payout)
  return isAwaited && (step.do === 'wait' || (step.do === 'decide' && step.say === 'hold'))
}
