import type { MethodName, ProviderUsed } from '../../../src/domain/methods.ts'
import { newId } from '../../../src/ids.ts'
import { hasOrder, listAttempts } from '../fixture/books.ts'
import { openTestPayment, type TestPayment, type TestSystem } from '../fixture/payment.ts'
import { checkStory } from './check.ts'
import { checkBetween } from './checks/between.ts'
import { claimPayout, dropClaim, endClaims } from './claims.ts'
import { decide, see } from './operator.ts'
import { atPartner, deposit, type Playing, spread } from './outside.ts'
import {
  cancelRefund,
  carrySigned,
  createRefund,
  finishChain,
  loseRefund,
  refuseOrphans,
  sendUsdc,
  signRefund,
} from './refunds.ts'
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
export type DrawStep = (look: () => Promise<View>) => Promise<StoryStep | null> | StoryStep | null

/** Plays the story to its end. Returns its failures; empty: none. */
export function playStory(testSystem: TestSystem, story: Story): Promise<string[]> {
  const steps = story.steps.values()
  return playDrawn(testSystem, story, () => steps.next().value ?? null)
}

/** … as a function draws its steps. */
export async function playDrawn(
  testSystem: TestSystem,
  story: Omit<Story, 'steps'>,
  draw: DrawStep,
): Promise<string[]> {
  const { minor, currency = 'EUR', pinned, only = false } = story
  const testPayment = await openTestPayment(testSystem, { minor, currency, pinned, only })
  const playing: Playing = { testPayment, seen: null, sold: null }
  const next = async () => draw(() => lookAt(testPayment))
  try {
    for (let step = await next(); step !== null; step = await next()) await playStep(playing, step)
    await finish(playing, 'slowly')
    const { payment } = await testPayment.system.loadPayment(testPayment.db, testPayment.paymentId)
    testSystem.note(`${payment.status} ${payment.statusReason} ${JSON.stringify(testPayment.asks)}`)
    const wrong = await findWrong(testPayment)
    if (wrong.length > 0) return wrong
    const stuck = await tidyUp(testPayment)
    return [...stuck, ...(await findWrong(testPayment)), ...(await testSystem.neighbor.check())]
  } catch (error) {
    return [`the story stopped: ${error instanceof Error ? error.message : String(error)}`]
  } finally {
    await clean(testPayment)
  }
}

/** Plays the story to its end and leaves the rows. Payouts end before any time passes. */
export async function playAtOnce(testPayment: TestPayment, draw: DrawStep): Promise<void> {
  const playing: Playing = { testPayment, seen: null, sold: null }
  const next = async () => draw(() => lookAt(testPayment))
  for (let step = await next(); step !== null; step = await next()) await playStep(playing, step)
  await finish(playing, 'at once')
}

async function findWrong(testPayment: TestPayment): Promise<string[]> {
  const crashes = testPayment.server.crashes.map(({ message }) => `crash: ${message}`)
  return [...testPayment.wrong, ...crashes, ...(await checkStory(testPayment))]
}

async function playStep(playing: Playing, step: StoryStep): Promise<void> {
  const { testPayment } = playing
  await act(playing, step)
  // What a step has changed of a refund wakes its workflow.
  testPayment.relayRefunds()
  if (step.together === true) return
  await testPayment.timeline.settle()
  const { wrong, sold } = await checkBetween(testPayment, playing.sold)
  playing.sold = sold
  testPayment.wrong.push(...wrong)
}

/** Runs the step at once: its effects are processed afterwards. */
async function act(playing: Playing, step: StoryStep): Promise<void> {
  const { testPayment } = playing
  switch (step.do) {
    case 'click': {
      const argument = { attemptId: newId('attempt'), provider: step.provider, method: METHODS[step.provider] }
      return testPayment.ask(`click ${step.provider}`, 'openAttempt', { argument, who: 'outside' })
    }
    case 'partner':
      return atPartner(playing, step)
    case 'callback': {
      const attempt = (await listAttempts(testPayment))[step.of]
      // A partner reports nothing about an order that it does not have: such money would be read forever, on the
      // attention list.
      const isKnown = attempt !== undefined && (await hasOrder(testPayment, attempt))
      if (isKnown) await spread(testPayment, attempt, 'signaled')
      return
    }
    case 'deposit':
      return deposit(testPayment, step)
    case 'fault':
      return testPayment.troubles.set({ at: step.at, trouble: step.trouble, times: step.times })
    case 'simulator': {
      const { converter, partners } = testPayment.testServices.sandbox
      const isConverters = ['conversion_refused', 'fill_off_rate', 'delay', 'old_rates'].includes(step.fault)
      const parties = isConverters ? [converter] : Object.values(partners)
      for (const { faults } of parties) await faults.set({ fault: step.fault, times: 1, seconds: step.seconds })
      return
    }
    case 'engine': {
      const wrong = await testPayment.engine.act(testPayment.paymentId, step.act)
      if (wrong !== null) testPayment.wrong.push(wrong)
      return testPayment.relayChanges()
    }
    case 'look':
      playing.seen = await see(testPayment)
      return
    case 'decide':
      return decide(testPayment, step, playing.seen)
    case 'cancel':
      return testPayment.ask('cancel', 'cancel', { who: 'outside' })
    case 'extend':
      return extend(testPayment, step)
    case 'refund':
      return createRefund(testPayment, step)
    case 'send USDC':
      return sendUsdc(testPayment, step)
    case 'sign':
      return signRefund(testPayment, step)
    case 'lanes':
      return carrySigned(testPayment, step)
    case 'cancel a refund':
      return cancelRefund(testPayment, step)
    case 'lose a refund':
      return loseRefund(testPayment, step)
    case 'claim':
      return claimPayout(testPayment)
    case 'drop a claim':
      return dropClaim(testPayment)
    case 'lose the run':
      return testPayment.lose()
    case 'cut the next activity':
      return testPayment.server.cutNext(step.at)
    case 'continue as new': {
      const run = testPayment.server.running(testPayment.paymentId)
      if (run !== null) run.suggestsNew = true
      return
    }
    case 'clock':
      return testPayment.troubles.setClock(step.seconds)
    case 'wait':
      return testPayment.timeline.pass(step.minutes * 60_000)
  }
}

async function extend(
  { db, system, timeline, server, paymentId }: TestPayment,
  { signaled }: Extract<Step, { do: 'extend' }>,
) {
  const context = { publicUrl: 'http://127.0.0.1:9', now: timeline.now }
  const isExtended = await system.extendPayment(db, context, paymentId)
  if (isExtended && signaled && server.running(paymentId) !== null) server.signal(paymentId, 'rowChanged')
}

/** Ends all trouble: every party answers, and everything has time to end. */
async function finish(playing: Playing, payouts: 'slowly' | 'at once'): Promise<void> {
  const { testPayment } = playing
  const { testServices, timeline, engine, troubles } = testPayment
  troubles.clear()
  for (const { faults } of [...Object.values(testServices.sandbox.partners), testServices.sandbox.converter])
    await faults.clear()
  for (const attempt of await listAttempts(testPayment))
    if (testPayment.unreported.has(attempt.id)) await spread(testPayment, attempt, 'signaled')
  await timeline.settle()
  const settle = async (): Promise<void> => {
    const wrong = await engine.finish(testPayment.paymentId)
    if (wrong !== null) testPayment.wrong.push(wrong)
    testPayment.relayChanges()
    await refuseOrphans(testPayment)
    await finishChain(testPayment)
  }
  if (payouts === 'at once') await settle()
  await timeline.pass(HOUR_MS)
  await settle()
  const isConverting = async () => {
    const { sales } = await testPayment.system.loadPayment(testPayment.db, testPayment.paymentId)
    return sales.some(({ state }) => state === 'asked')
  }
  for (let day = 0; day < DAYS_TO_FILL && !testPayment.server.isIdle(); day++) {
    if (day >= DAYS_TO_END && !(await isConverting())) break
    await timeline.pass(24 * HOUR_MS)
    await settle()
  }
  // Here the relay searches for payments without a workflow once a day.
  await timeline.pass(25 * HOUR_MS)
  await finishChain(testPayment)
}

/** Removes everything, so that the next story starts clean. */
export async function clean({ db, paymentId, server }: TestPayment): Promise<void> {
  server.reset()
  await endClaims({ db })
  await db.query('delete from outbox')
  await db.query('update payment set closed_at = now() where id = $1 and closed_at is null', [paymentId])
  await db.query('update partner_callback set applied_at = now() where applied_at is null')
}
