import type { MethodName, ProviderUsed } from '../../../src/domain/methods.ts'
import { newId } from '../../../src/ids.ts'
import { hasOrder, listAttempts } from '../world/books.ts'
import { openShop, type Shop, type Theater } from '../world/shop.ts'
import { checkStory } from './check.ts'
import { checkBetween } from './checks/between.ts'
import { decide, see } from './operator.ts'
import { atPartner, deposit, type Playing, spread } from './outside.ts'
import type { Step, Story, StoryStep } from './steps.ts'
import { DAYS_TO_FILL, tidyUp } from './tidy.ts'
import { lookAt, type View } from './view.ts'

const METHODS: Readonly<Record<ProviderUsed, MethodName>> = {
  wallet_app: 'banking_app',
  card_partner: 'card',
  local_partner: 'upi',
  crypto: 'usdc',
}
const HOUR_MS = 3_600_000
/** Longer than any partner's time for late money, including a postponed expiry. */
const DAYS_TO_END = 9

/** Returns the next step; null: the story has no more steps. */
export type Teller = (look: () => Promise<View>) => Promise<StoryStep | null> | StoryStep | null

/** Plays the story to its end. Returns its failures; empty: none. */
export function playStory(theater: Theater, story: Story): Promise<string[]> {
  const steps = story.steps.values()
  return playDrawn(theater, story, () => steps.next().value ?? null)
}

/** … as a function draws its steps. */
export async function playDrawn(theater: Theater, story: Omit<Story, 'steps'>, tell: Teller): Promise<string[]> {
  const { minor, currency = 'EUR', pinned, only = false } = story
  const shop = await openShop(theater, { minor, currency, pinned, only })
  const playing: Playing = { shop, seen: null, sold: null }
  const next = async () => tell(() => lookAt(shop))
  try {
    for (let step = await next(); step !== null; step = await next()) await playStep(playing, step)
    await finish(playing, 'slowly')
    const { payment } = await shop.system.loadPayment(shop.db, shop.paymentId)
    theater.note(`${payment.status} ${payment.statusReason} ${JSON.stringify(shop.asks)}`)
    const wrong = await findWrong(shop)
    if (wrong.length > 0) return wrong
    const stuck = await tidyUp(shop)
    return [...stuck, ...(await findWrong(shop)), ...(await theater.neighbor.check())]
  } catch (error) {
    return [`the story stopped: ${error instanceof Error ? error.message : String(error)}`]
  } finally {
    await clean(shop)
  }
}

/** Plays it in this shop, to the end, and leaves the rows. At once: payouts end before any time passes. */
export async function playAtOnce(shop: Shop, tell: Teller): Promise<void> {
  const playing: Playing = { shop, seen: null, sold: null }
  const next = async () => tell(() => lookAt(shop))
  for (let step = await next(); step !== null; step = await next()) await playStep(playing, step)
  await finish(playing, 'at once')
}

async function findWrong(shop: Shop): Promise<string[]> {
  const crashes = shop.server.crashes.map(({ message }) => `crash: ${message}`)
  return [...shop.wrong, ...crashes, ...(await checkStory(shop))]
}

async function playStep(playing: Playing, step: StoryStep): Promise<void> {
  const { shop } = playing
  await act(playing, step)
  if (step.together === true) return
  await shop.timeline.settle()
  const { wrong, sold } = await checkBetween(shop, playing.sold)
  playing.sold = sold
  shop.wrong.push(...wrong)
}

/** Runs the step at once: its effects are processed afterwards. */
async function act(playing: Playing, step: StoryStep): Promise<void> {
  const { shop } = playing
  switch (step.do) {
    case 'click': {
      const argument = { attemptId: newId('attempt'), provider: step.provider, method: METHODS[step.provider] }
      return shop.ask(`click ${step.provider}`, 'openAttempt', { argument, who: 'outside' })
    }
    case 'partner':
      return atPartner(playing, step)
    case 'news': {
      const attempt = (await listAttempts(shop))[step.of]
      // A partner reports nothing about an order that it does not have: such money would be read forever, on the
      // attention list.
      const isTold = attempt !== undefined && (await hasOrder(shop, attempt))
      if (isTold) await spread(shop, attempt, 'told')
      return
    }
    case 'deposit':
      return deposit(shop, step)
    case 'fault':
      return shop.troubles.set({ at: step.at, trouble: step.trouble, times: step.times })
    case 'simulator': {
      const { converter, partners } = shop.stage.sandbox
      const isConverters = ['conversion_refused', 'fill_off_rate', 'delay', 'old_rates'].includes(step.fault)
      const parties = isConverters ? [converter] : Object.values(partners)
      for (const { faults } of parties) await faults.set({ fault: step.fault, times: 1, seconds: step.seconds })
      return
    }
    case 'engine': {
      const wrong = await shop.engine.act(shop.paymentId, step.act)
      if (wrong !== null) shop.wrong.push(wrong)
      return shop.relayTransfers()
    }
    case 'look':
      playing.seen = await see(shop)
      return
    case 'decide':
      return decide(shop, step, playing.seen)
    case 'cancel':
      return shop.ask('cancel', 'cancel', { who: 'outside' })
    case 'extend':
      return extend(shop, step)
    case 'lose the run':
      return shop.lose()
    case 'cut the next activity':
      return shop.server.cutNext(step.at)
    case 'continue as new': {
      const run = shop.server.running(shop.paymentId)
      if (run !== null) run.suggestsNew = true
      return
    }
    case 'clock':
      return shop.troubles.setClock(step.seconds)
    case 'wait':
      return shop.timeline.pass(step.minutes * 60_000)
  }
}

async function extend({ db, system, timeline, server, paymentId }: Shop, { told }: Extract<Step, { do: 'extend' }>) {
  const context = { publicUrl: 'http://127.0.0.1:9', now: timeline.now }
  const isExtended = await system.extendPayment(db, context, paymentId)
  if (isExtended && told && server.running(paymentId) !== null) server.signal(paymentId, 'rowChanged')
}

/** Ends all trouble: every party answers, and everything has time to end. */
async function finish(playing: Playing, payouts: 'slowly' | 'at once'): Promise<void> {
  const { shop } = playing
  const { stage, timeline, engine, troubles } = shop
  troubles.clear()
  for (const { faults } of [...Object.values(stage.sandbox.partners), stage.sandbox.converter]) await faults.clear()
  for (const attempt of await listAttempts(shop)) if (shop.untold.has(attempt.id)) await spread(shop, attempt, 'told')
  await timeline.settle()
  const settle = async (): Promise<void> => {
    const wrong = await engine.finish(shop.paymentId)
    if (wrong !== null) shop.wrong.push(wrong)
    shop.relayTransfers()
  }
  if (payouts === 'at once') await settle()
  await timeline.pass(HOUR_MS)
  await settle()
  const isConverting = async () => {
    const { sales } = await shop.system.loadPayment(shop.db, shop.paymentId)
    return sales.some(({ state }) => state === 'asked')
  }
  for (let day = 0; day < DAYS_TO_FILL && !shop.server.isIdle(); day++) {
    if (day >= DAYS_TO_END && !(await isConverting())) break
    await timeline.pass(24 * HOUR_MS)
    await settle()
  }
  // Here the relay searches for payments without a workflow once a day.
  await timeline.pass(25 * HOUR_MS)
}

/** Removes everything, so that the next story starts clean. */
export async function clean({ db, paymentId, server }: Shop): Promise<void> {
  server.reset()
  await db.query('delete from outbox')
  await db.query('update payment set closed_at = now() where id = $1 and closed_at is null', [paymentId])
  await db.query('update partner_event set applied_at = now() where applied_at is null')
}
