import { newPayment } from '../../../scripts/test/new-payment.ts'
import type { Db } from '../../../src/db/db.ts'
import type { Currency } from '../../../src/domain/currencies.ts'
import { SETTLE_ACTIVITY_ID } from '../../../src/domain/ids.ts'
import type { ProviderUsed } from '../../../src/domain/methods.ts'
import { formatAmount } from '../../../src/domain/money.ts'
import { newId } from '../../../src/ids.ts'
import type { Seam } from '../time/load.ts'
import { createDate, createTimeline, point, type Timeline, Work } from '../time/timeline.ts'
import { createServer, NoRun, type Server } from '../time/workflow.ts'
import { hasLessThanSold } from './books.ts'
import { createEngine, type Engine } from './engine.ts'
import { openNeighbor } from './neighbor.ts'
import { createTroubles } from './parties.ts'
import { ACCOUNT, CHAIN, DEPOSIT_KEYS, type Stage } from './stage.ts'
import { loadPayments, type System } from './system.ts'

/** The start time of every story. */
const START = Date.UTC(2027, 0, 1)
const HOUR_MS = 3_600_000
const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** The system with its own virtual time and, behind it, the stage. */
export type Theater = Awaited<ReturnType<typeof openTheater>>

export async function openTheater(stage: Stage, seams: readonly Seam[] = []) {
  const timeline = createTimeline(START)
  const server = createServer(timeline)
  const system = await loadPayments({ workflow: server.module, date: createDate(timeline), seams })
  const db = system.createDb({ url: stage.databaseUrl, livemode: false, pool: 4 })
  const neighbor = await openNeighbor(system, db)
  stage.useClock(timeline.now)
  let noted = ''
  return {
    stage,
    timeline,
    server,
    system,
    db,
    neighbor,
    /** A description of how the last story ended. */
    note: (text: string): void => {
      noted = text
    },
    last: (): string => noted,
    close: () => db.close(),
  }
}

/** A request about the payment, and its response. */
export type Ask = { readonly what: string; readonly argument: unknown; answer: string | null }

export type Shop = {
  readonly paymentId: string
  readonly timeline: Timeline
  readonly server: Server
  readonly db: Db
  readonly system: System
  readonly stage: Stage
  readonly engine: Engine
  readonly troubles: ReturnType<typeof createTroubles>
  readonly asks: Ask[]
  /** The events that the merchant received, in the order of sending. */
  readonly told: string[]
  readonly wrong: string[]
  /** Attempts with readings of a partner that have not arrived yet. */
  readonly untold: Set<string>
  /** The time since which the partner has had the whole price of an attempt, and how often money has arrived for it. */
  readonly paidSince: Map<string, number>
  readonly came: Map<string, number>
  /** Runs it while nothing else works. */
  inTurn<T>(name: string, work: () => Promise<T>): Promise<T>
  ask(
    what: string,
    update: string,
    request: { readonly argument?: unknown; readonly who: 'operator' | 'outside' },
  ): void
  storeNews(provider: ProviderUsed, attemptId: string): Promise<void>
  tellNews(attemptId: string): void
  relayTransfers(): void
  repeatNews(): void
  /** Removes the run; the relay notices within the hour. */
  lose(): void
  hasLost(): boolean
}

/** One payment of one shop, at the beginning of its story. */
export async function openShop(
  theater: Theater,
  price: { minor: string; currency: Currency; pinned: boolean; only: boolean },
): Promise<Shop> {
  const { stage, timeline, server, system, db } = theater
  server.reset()
  timeline.reset(START)
  const troubles = createTroubles(timeline)
  const context = { publicUrl: 'http://127.0.0.1:9', now: timeline.now }
  const hooks = system.createSettlementHooks(context)
  const paymentId = newId('payment')
  const untold = new Set<string>()
  const isShort = () => hasLessThanSold({ db, system, stage, paymentId, untold })
  const { heardAt } = troubles
  const engine = createEngine({ db, hooks, system, now: timeline.now, isShort, heardAt })
  const createdAt = new Date(timeline.now()).toISOString()
  const payment = newPayment({
    id: paymentId,
    createdAt,
    destination: WALLET,
    token: CHAIN.token,
    amount: { minor: price.minor, currency: price.currency },
    amountText: formatAmount(price),
    provider: price.pinned ? 'wallet_app' : null,
    fallback: price.only ? 'none' : 'picker',
  })
  await system.insertPayment(db, stage.tenant, { payment, claim: null, publicUrl: 'http://127.0.0.1:9' })
  const input = {
    id: paymentId,
    expiresAt: Date.parse(payment.expiresAt),
    amount: payment.amountText,
    merchantId: 'one',
  }
  const [asks, told, wrong]: [Ask[], string[], string[]] = [[], [], []]

  const inTurn = <T>(name: string, does: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      timeline.enqueue(new Work(name, () => does().then(resolve, reject)))
    })
  const start = (resume: boolean): boolean => {
    if (server.running(paymentId) !== null) return false
    server.start('payment', paymentId, { ...input, resume })
    return true
  }
  const withRun = (work: () => void): void => {
    start(true)
    work()
  }
  const workflows = {
    start: async () => start(false),
    resume: async () => start(true),
    openAttempt: async () => ({ kind: 'unavailable' as const }),
    cancel: async () => ({ kind: 'unavailable' as const }),
    tellPartnerNews: async (_id: string, attemptId: string) =>
      withRun(() => server.signal(paymentId, 'partnerNews', { attemptId })),
    tellRowChanged: async () => {
      if (server.running(paymentId) === null) start(true)
      else server.signal(paymentId, 'rowChanged')
    },
    completeTransfer: async (_id: string, result: unknown) => {
      const complete = server.running(paymentId)?.waiting.get(SETTLE_ACTIVITY_ID)
      complete?.(result)
      return complete !== undefined
    },
  }
  const relay = system.createRelay({
    db,
    client: {
      workflow: { list: () => list(server), count: async () => ({ count: listRunning(server).length }) },
    } as never,
    workflows,
    clock: timeline.now,
    log: silent as never,
    graceMs: 0,
  })
  server.register(system.workflows, {
    ...createActivities(theater, troubles),
    announce: troubles.merchant(announceTo(db, told)),
  } as never)

  let hasLost = false
  let repeating = false
  let wait = 3000
  const repeatNews = (): void => {
    if (repeating) return
    repeating = true
    timeline.after(wait, () => {
      void inTurn('relay: news', async () => {
        repeating = false
        await db.query("update partner_event set due_at = now() - interval '1 hour' where applied_at is null")
        const passedOn = await relay.relayPartnerNews()
        wait = passedOn === 0 ? 3000 : Math.min(wait * 2, 1_800_000)
        if (passedOn > 0) repeatNews()
      })
    })
  }
  const adopt = (): Promise<unknown> => inTurn('relay: orphans', () => relay.adoptOrphans())
  const adoptEachDay = (): void => timeline.after(24 * HOUR_MS, () => void adopt().then(adoptEachDay))
  adoptEachDay()
  await inTurnNow(
    timeline,
    inTurn('start', async () => start(false)),
  )

  return {
    paymentId,
    timeline,
    server,
    db,
    system,
    stage,
    engine,
    troubles,
    asks,
    told,
    wrong,
    untold,
    paidSince: new Map(),
    came: new Map(),
    inTurn,
    repeatNews,
    ask: (what, update, { argument, who }) => {
      const ask: Ask = { what, argument, answer: null }
      asks.push(ask)
      const again = async (tries: number): Promise<unknown> => {
        try {
          return await server.update(paymentId, update, argument)
        } catch (error) {
          if (!(error instanceof NoRun) || who === 'operator' || tries === 0) throw error
          start(true)
          return again(tries - 1)
        }
      }
      again(3).then(
        (answer) => {
          ask.answer = JSON.stringify(answer)
        },
        (error: Error) => {
          ask.answer = `refused: ${(error.cause as Error | undefined)?.message ?? error.message}`
        },
      )
    },
    storeNews: async (provider, attemptId) => {
      const bodySha256 = new Uint8Array(32)
      const at = new Date(timeline.now()).toISOString()
      await system.recordPartnerEvent(db, { provider, eventId: newId('partnerEvent'), attemptId, bodySha256, at })
      repeatNews()
    },
    hasLost: () => hasLost,
    lose: () => {
      hasLost = true
      server.lose(paymentId)
      timeline.after(HOUR_MS, () => void adopt())
    },
    tellNews: (attemptId) => withRun(() => server.signal(paymentId, 'partnerNews', { attemptId })),
    relayTransfers: () => timeline.after(1000, () => void inTurn('relay: transfers', () => relay.completeTransfers())),
  }
}

/** Runs the queued work while a caller waits for it. */
async function inTurnNow<T>(timeline: Timeline, work: Promise<T>): Promise<T> {
  await timeline.settle()
  return work
}

const listRunning = (server: Server) => [...server.runs.values()].filter((run) => !run.isOver)

async function* list(server: Server) {
  for (const { id } of listRunning(server)) yield { workflowId: id }
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined }

function createActivities({ stage, timeline, system, db }: Theater, troubles: ReturnType<typeof createTroubles>) {
  const converter = troubles.converter(system.createConverter(stage.converter))
  const rates = system.createRates(converter, { refreshSeconds: 10, clock: timeline.now })
  const partners = system.createPartners(stage.partners)
  const crypto = system.createCrypto({
    deposits: system.createDepositBook({ db, ...CHAIN, watchDays: 30, keys: DEPOSIT_KEYS }),
    rates,
    tolerancePercent: 1,
    clock: timeline.now,
  })
  // A process can be killed before and after each of its statements and transactions.
  const between = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await point()
    const result = await work()
    await point()
    return result
  }
  const cut: Db = {
    ...db,
    query: (text, values) => between(() => db.query(text, values)),
    transaction: (work) => between(() => db.transaction(work)),
  }
  return system.createPaymentActivities({
    db: cut,
    partners: {
      wallet_app: troubles.partner(partners.wallet_app),
      card_partner: troubles.partner(partners.card_partner),
      local_partner: troubles.partner(partners.local_partner),
      crypto: troubles.partner(crypto),
    },
    accounts: { wallet_app: ACCOUNT, card_partner: ACCOUNT, local_partner: ACCOUNT, crypto: system.CRYPTO_ACCOUNT },
    converter,
    rates,
    context: { publicUrl: 'http://127.0.0.1:9', now: troubles.now },
    payouts: {
      getTreasury: () => CHAIN.treasury,
      queue: system.payoutInsert,
      hold: system.holdPayout,
      void: system.voidIfQueued,
      open: system.readOpenPayout,
    },
  })
}

/** The merchant accepts everything at once; other tests cover failures. */
function announceTo(db: Db, told: string[]) {
  return async (eventId: string): Promise<{ failed: [] }> => {
    await db.query("update delivery set status = 'delivered', attempts = 1 where event_id = $1", [eventId])
    told.push(eventId)
    return { failed: [] }
  }
}
