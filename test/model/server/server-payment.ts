import { setTimeout as realTime } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import type { PaymentFixture } from '../../../scripts/histories/payment-fixture.ts'
import { newPayment } from '../../../scripts/test/new-payment.ts'
import { recordCallback } from '../../../src/db/payments/partner-callbacks.ts'
import { readStarts } from '../../../src/db/payments/payment-starts.ts'
import { insertPayment, loadPayment } from '../../../src/db/payments/payments.ts'
import { readPaymentRefunds } from '../../../src/db/refunds/refunds.ts'
import { insertDeposits } from '../../../src/db/settlement/deposits.ts'
import { requestVoid } from '../../../src/db/settlement/payouts.ts'
import type { OpenAttemptRequest } from '../../../src/domain/payment/requests.ts'
import { newId } from '../../../src/ids.ts'
import { createSettlementHooks } from '../../../src/settlement/hooks.ts'
import { hasLessThanSold } from '../fixture/books.ts'
import { createEngine } from '../fixture/engine.ts'
import { createTroubles } from '../fixture/parties.ts'
import type { Ask, TestPayment } from '../fixture/payment.ts'
import type { Story } from '../story/steps.ts'

/** The same system on a real server that skips time, for stories in which no call is cut off or lost. */

/** Milliseconds of real time between two checks for running work. */
const LOOK_MS = 15
const LOOKS_UNTIL_QUIET = 3
const LONGEST_LOOKS = 100
/** Milliseconds of real time. */
const LONGEST_END_MS = 2000
const LONGEST_SKIP_MS = 15_000
const SKIP_LOOK_MS = 1000
const RELAY_MS = 3000

/**
 * Skips rows that an activity is applying: it locks callbacks in the order of their arrival, and this statement in
 * another order, so each would wait for the other.
 */
const MAKE_DUE = `with free as (
    select provider, provider_event_id as id from partner_callback where applied_at is null for update skip locked)
  update partner_callback e set due_at = now() - interval '1 hour'
  from free where (e.provider, e.provider_event_id) = (free.provider, free.id)`

/** Thrown when time stops while a payout is awaited: such a story cannot be played here. */
export class StandsStill extends Error {}

export async function openServerPayment(paymentFixture: PaymentFixture, story: Pick<Story, 'minor' | 'pinned'>) {
  const { db, client, clock, relay, workflows, sandbox } = paymentFixture
  const paymentId = newId('payment')
  const createdAt = new Date(clock()).toISOString()
  const payment = newPayment({
    id: paymentId,
    createdAt,
    destination: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    token: paymentFixture.token,
    amount: { minor: story.minor, currency: 'EUR' },
    amountText: (Number(story.minor) / 100).toFixed(2),
    provider: story.pinned ? 'wallet_app' : null,
  })
  await insertPayment(db, paymentFixture.tenant, { payment, claim: null, publicUrl: 'http://127.0.0.1:9' })
  const [start] = await readStarts(db, [paymentId])
  if (start === undefined) throw new Error('the payment was not stored')
  // A start that a slow machine does not answer in time may be repeated.
  await workflows.start(start).catch(() => workflows.resume(start))
  const asks: Ask[] = []
  let hasCallbacks = false
  let mustRelay = false

  let running: readonly Standing[] = []
  async function look(): Promise<void> {
    running = [await standing(client, paymentId)].filter((each) => each.runs)
  }
  async function settle(): Promise<void> {
    let before = ''
    for (let looks = 0, quiet = 0; quiet < LOOKS_UNTIL_QUIET && looks < LONGEST_LOOKS; looks++) {
      await realTime(LOOK_MS)
      await look()
      const now = JSON.stringify(running)
      const isBusy = running.some((each) => each.works) || asks.some(({ answer }) => answer === null)
      quiet = isBusy || now !== before ? 0 : quiet + 1
      before = now
    }
  }
  async function pass(ms: number): Promise<void> {
    await settle()
    await settleTransfers()
    while (hasCallbacks) {
      await skip(RELAY_MS)
      await db.query(MAKE_DUE)
      hasCallbacks = (await relay.relayCallbacks()) > 0
      await settle()
      await settleTransfers()
    }
    await skip(ms)
    await settle()
  }
  /** Pays an awaited payout now, before any time passes. */
  async function settleTransfers(): Promise<void> {
    for (let tries = 0; tries < 3 && (mustRelay || running.some((each) => each.pays)); tries++) {
      if (!mustRelay) await testPayment.engine.finish(paymentId)
      mustRelay = false
      await relay.relayChanges()
      await settle()
    }
  }
  /** If money arrives automatically in the skipped time, its payout is awaited in the middle of it. */
  async function skip(ms: number): Promise<void> {
    const skipped = begin(paymentFixture.skip(ms))
    for (let waited = 0; waited < LONGEST_SKIP_MS; waited += SKIP_LOOK_MS) {
      if (await inTime(skipped, SKIP_LOOK_MS)) return
      await look()
      if (running.some(({ pays }) => pays)) break
    }
    throw new StandsStill()
  }
  const begun: Promise<unknown>[] = []
  const begin = <T>(work: Promise<T>): Promise<T> => {
    begun.push(work)
    return work
  }

  const system = {
    loadPayment,
    requestVoid,
    insertDeposits,
    createSettlementHooks,
    readPaymentRefunds,
  } as unknown as TestPayment['system']
  const hooks = createSettlementHooks({ publicUrl: paymentFixture.api, now: clock })
  const timeline = { now: clock, settle, pass, after: () => undefined } as unknown as TestPayment['timeline']
  const testServices = { sandbox, tenant: paymentFixture.tenant } as unknown as TestPayment['testServices']
  const unreported = new Set<string>()
  const troubles = createTroubles(timeline)
  const isShort = () => hasLessThanSold({ db, system, testServices, paymentId, unreported })
  const testPayment: TestPayment = {
    paymentId,
    timeline,
    server: {
      running: (id: string) => running.find((each) => each.id === id) ?? null,
      isIdle: () => running.length === 0,
    } as unknown as TestPayment['server'],
    db,
    system,
    testServices,
    engine: createEngine({ db, hooks, system, now: clock, isShort, lastReportAt: clock }),
    chain: { transfers: [] } as unknown as TestPayment['chain'],
    troubles,
    asks,
    announced: [],
    wrong: [],
    unreported,
    paidSince: new Map(),
    came: new Map(),
    inTurn: (_name, work) => work(),
    ask: (what, update, { argument }) => {
      const ask: Ask = { what, argument, answer: null }
      asks.push(ask)
      const answered = begin(
        update === 'openAttempt'
          ? workflows.openAttempt(paymentId, argument as OpenAttemptRequest)
          : update === 'cancel'
            ? workflows.cancel(paymentId)
            : client.workflow.getHandle(paymentId).executeUpdate(update, { args: [argument] }),
      )
      answered.then(
        (answer) => {
          ask.answer = JSON.stringify(answer)
        },
        (error: Error) => {
          ask.answer = `refused: ${error.message}`
        },
      )
    },
    storeCallback: async (provider, attemptId) => {
      const at = new Date(clock()).toISOString()
      const bodySha256 = new Uint8Array(32)
      await recordCallback(db, { provider, eventId: newId('partnerCallback'), subject: { attemptId }, bodySha256, at })
      hasCallbacks = true
    },
    signalCallback: (attemptId) => {
      // The relay repeats a message that does not arrive.
      begin(workflows.signalOrderChanged(paymentId, attemptId)).catch(() => undefined)
    },
    relayChanges: () => {
      mustRelay = true
    },
    relayRefunds: () => undefined,
    loseRefund: () => {
      throw new Error('no refunds are played on the server')
    },
    repeatCallbacks: () => {
      hasCallbacks = true
    },
    lose: () => {
      throw new Error('nothing is lost on the server')
    },
    hasLost: () => false,
  }
  await settle()
  return {
    testPayment,
    /** Ends what still runs: it would stop the time of the next story. */
    async end(): Promise<void> {
      await look()
      for (const { id } of running) await client.workflow.getHandle(id).terminate('the story is over')
      // Open work would throw without a handler when the connection is closed.
      const over = Promise.allSettled(begun)
      if (await inTime(over, LONGEST_END_MS)) return
      await paymentFixture.unlockTime()
      await inTime(over, LONGEST_SKIP_MS)
    },
  }
}

/** True if the work ended within this number of milliseconds of real time. */
const inTime = (work: Promise<unknown>, ms: number): Promise<boolean> =>
  Promise.race([work.then(() => true), realTime(ms, false, { ref: false })])

type Standing = {
  readonly id: string
  readonly runs: boolean
  readonly works: boolean
  readonly pays: boolean
  readonly length: number
}

async function standing(client: Client, id: string): Promise<Standing> {
  const description = await client.workflow
    .getHandle(id)
    .describe()
    .catch(() => null)
  if (description === null) return { id, runs: false, works: false, pays: false, length: 0 }
  const activities = description.raw.pendingActivities ?? []
  const isPaying = (activity: (typeof activities)[number]) => activity.activityType?.name === 'settle'
  const tries = activities.filter((activity) => !isPaying(activity) && (activity.attempt ?? 1) <= 1)
  const hasTask = description.raw.pendingWorkflowTask !== null && description.raw.pendingWorkflowTask !== undefined
  return {
    id,
    runs: description.status.name === 'RUNNING',
    works: hasTask || tries.length > 0,
    pays: activities.some(isPaying),
    length: Number(description.historyLength),
  }
}
