import type { Rest } from '../domain/settlement/part.ts'
import type { ChainCursor } from '../domain/settlement/payout.ts'
import { createAuthorizer } from './authorizer.ts'
import { createCancellations } from './cancellations.ts'
import { assertNotBehind, createMinutely, NOTHING, type Progress, type SettlementDeps } from './context.ts'
import { createSweeping } from './deposits/sweep.ts'
import { createBlockMemo } from './lanes/block-memo.ts'
import { GWEI, leastPrice, mostItems } from './lanes/fees.ts'
import { fillLanes } from './lanes/fill.ts'
import { createKeylessEnding } from './lanes/keyless.ts'
import { advanceLane, createLaneWallet } from './lanes/lane.ts'
import type { LaneRound } from './lanes/round.ts'
import type { ChainView } from './lanes/sender.ts'
import { createRescue } from './lanes/stranded.ts'
import { createTopUp } from './lanes/top-up.ts'
import { createObserver } from './observer/observer.ts'
import { createPartReporter, describeError } from './part-report.ts'
import { createRests, type Rests } from './rests.ts'
import type { Block, FeeHistory } from './rpc/node.ts'
import { createStint } from './stint.ts'

/**
 * Each part is safe to repeat, to interrupt anywhere, and to run at the same time as the others, in this process and in
 * others. They share what they know through the journal.
 */
export type SettlementEngine = {
  /** Stamps its list of treasuries, also while everything is paused. Throws SettlementRefusal if it must not start. */
  begin(): Promise<void>
  /** Reads final blocks, ends payouts by them, and watches the treasury. */
  observe(): Promise<Progress>
  /** Reads what came to the addresses of payments in the blocks that were read for payouts. */
  observeDeposits(): Promise<Progress>
  /** Signs the payouts that may be paid now. */
  authorize(): Promise<Progress>
  /** Resumes envelopes that were sent, then sends what is signed. Null: no block is read yet, and no lane was looked at. */
  send(): Promise<Progress | null>
  /** Releases the leases. */
  close(): Promise<void>
}

/** How many of the last blocks fees are estimated from. */
const FEE_BLOCKS = 20

const SHORTEST_RENEWAL_MS = 250

/**
 * The settlement engine: reads final blocks, ends payouts by them, signs more, resumes what was sent and sends more.
 * It has no other recovery: after a crash the first round is the recovery.
 */
export function createSettlementEngine(deps: SettlementDeps): SettlementEngine {
  const { journal, options, log } = deps
  const rests = createRests(deps)
  const reporter = createPartReporter(deps, 'sending')
  const readView = createViewReader(deps)
  const topUp = createTopUp(deps)
  const freeStranded = createRescue(deps)
  const endKeyless = createKeylessEnding(deps)
  const sweep = createSweeping(deps)

  const oneMore = (maxFee: bigint): bigint => deps.codec.gasLimit(mostItems(deps.codec, maxFee)) * maxFee
  const wallets = deps.relayers.map((account) => createLaneWallet(deps, { account, oneMore }))

  async function advance(view: ChainView): Promise<LaneRound[]> {
    const rounds = await Promise.allSettled(wallets.map((wallet) => advanceLane(deps, wallet, view)))
    return rounds.flatMap((round, index) => {
      if (round.status === 'fulfilled') return round.value === null ? [] : [round.value]
      log.warn(
        { wallet: deps.relayers[index]?.address, err: round.reason },
        'a lane could not advance; tried again next round',
      )
      return []
    })
  }

  /** A failed top-up is logged and stops nothing: top-ups are for later rounds. */
  async function fund(view: ChainView): Promise<void> {
    if (view.cursor.pausedReason !== null || view.isTooDear) return
    await topUp(view).catch((error: unknown) =>
      log.warn({ err: error }, 'gas money could not be sent; tried again next round'),
    )
  }

  const holding = createHolding(deps)

  /** Puts failures of sweeps into `failures`: payouts are sent anyway. */
  async function send(cursor: ChainCursor, failures: unknown[]): Promise<Progress> {
    const { view, rest } = await readView(cursor)
    return holding('lanes', async () => {
      const [rounds] = await Promise.all([advance(view), fund(view), endKeyless(view)])
      if (cursor.pausedReason !== null) return NOTHING
      await freeStranded(
        rounds.flatMap((round) => round.stuck),
        view,
      )
      const done = await fillLanes(deps, { rounds, view, rests })
      await sweep(rounds, view).catch((error: unknown) => failures.push(error))
      // Everything signed is sent, or every lane is full.
      return { ...NOTHING, done, rest: rest ?? rests.first() }
    })
  }

  return {
    ...createObserving(deps, holding),
    ...createSigning(deps, rests),
    async send() {
      const failures: unknown[] = []
      const progress = await reporter.report(async () => {
        const cursor = await journal.readCursor()
        return cursor === null ? null : send(cursor, failures)
      })
      if (failures.length > 0) throw failures[0]
      return progress
    },
    close: () => journal.releaseLeases(options.owner),
  }
}

type Holding = ReturnType<typeof createHolding>

const gwei = (wei: bigint): string => String(wei / GWEI)

/** Reads what a round of sending needs from the chain, and why nothing is sent at the price of now. */
function createViewReader({ rpc, options, log, clock }: SettlementDeps) {
  const mayLog = createMinutely(clock)
  const readFees = createBlockMemo<FeeHistory>()
  const restAt = (fees: FeeHistory): Rest | null => {
    const price = leastPrice(fees)
    if (price <= options.maxFeeWei) return null
    const why = `gas costs at least ${gwei(price)} gwei now, and MAX_FEE_GWEI allows ${gwei(options.maxFeeWei)}`
    if (mayLog()) log.warn({ price, cap: options.maxFeeWei }, `${why}: nothing is sent until it is cheaper`)
    return { cause: 'gas_above_cap', why }
  }
  return async function readView(cursor: ChainCursor): Promise<{ view: ChainView; rest: Rest | null }> {
    const { block: head } = await rpc.newest(cursor.number)
    assertNotBehind(head, cursor.number)
    const fees = await readFees(head.hash, () => rpc.fees(FEE_BLOCKS))
    const rest = restAt(fees)
    return { view: { head, cursor, fees, isTooDear: rest !== null }, rest }
  }
}

const NO_NEW_BLOCK = 'a quorum of nodes shows no new block'

/** The parts that read. One engine at a time does, by lease. */
function createObserving(
  deps: SettlementDeps,
  holding: Holding,
): Pick<SettlementEngine, 'observe' | 'observeDeposits'> {
  const { journal, options } = deps
  const observer = createObserver(deps)
  const stint = createStint(deps, 'observer')
  const reporters = {
    observing: createPartReporter(deps, 'observing'),
    deposits: createPartReporter(deps, 'deposits'),
  }
  return {
    async observe() {
      if (stint.rests()) return NOTHING
      const start = (await journal.readCursor()) ?? (await firstCursor(deps))
      if (start === null) return NOTHING
      const lease = await journal.leaseObserver({ ...options, start })
      if (lease === null) return NOTHING
      try {
        return await reporters.observing.report(async () => {
          const done = await holding('observer', () => observer.observe(lease, lease.cursor))
          return { ...NOTHING, done, failure: observer.isAnswered() ? null : NO_NEW_BLOCK }
        })
      } finally {
        await stint.ended(!observer.isAnswered())
      }
    },
    async observeDeposits() {
      const cursor = deps.deposits === null || stint.rests() ? null : await journal.readCursor()
      if (cursor === null || cursor.depositsNumber >= cursor.number) return NOTHING
      const lease = await journal.leaseObserver({ ...options, start: cursor })
      if (lease === null) return NOTHING
      return reporters.deposits.report(async () => {
        await holding('observer', () => observer.observeDeposits(lease, cursor))
        return NOTHING
      })
    },
  }
}

/** The part that signs. One engine at a time does, by lease. */
function createSigning(deps: SettlementDeps, rests: Rests): Pick<SettlementEngine, 'begin' | 'authorize'> {
  const { journal, log } = deps
  const reporter = createPartReporter(deps, 'signing')
  const authorizer = createAuthorizer(deps, rests)
  const cancel = createCancellations(deps)
  const stint = createStint(deps, 'signing')
  return {
    begin: () => authorizer.record(),
    async authorize() {
      const cursor = await journal.readCursor()
      if (cursor === null || cursor.pausedReason !== null || stint.rests()) return NOTHING
      let refusal: string | null = null
      const cancelled = await cancel().catch((error: unknown) => {
        log.error({ err: error }, 'cancellations could not be signed; tried again next round')
        refusal = describeError(error)
        return 0
      })
      let isFruitless = true
      try {
        return await reporter.report(async () => {
          const signed = await authorizer.authorize(cursor.number)
          isFruitless = refusal !== null && signed.done === 0
          return { ...signed, done: signed.done + cancelled, failure: refusal }
        })
      } finally {
        await stint.ended(isFruitless)
      }
    },
  }
}

/** Renews the leases of one part while it works: a slow node must not cost them. */
function createHolding({ journal, options, log }: SettlementDeps) {
  return async function holding<T>(part: 'observer' | 'lanes', work: () => Promise<T>): Promise<T> {
    const renew = (): void =>
      void journal
        .renewLeases({ ...options, part })
        .catch((error: unknown) => log.warn({ err: error, part }, 'a lease could not be renewed; tried again'))
    const timer = setInterval(renew, Math.max(SHORTEST_RENEWAL_MS, options.leaseMs / 3))
    try {
      return await work()
    } finally {
      clearInterval(timer)
    }
  }
}

/** The first cursor, when nothing was read yet. */
async function firstCursor(deps: SettlementDeps): Promise<Block | null> {
  const { startBlock } = deps.options
  if (startBlock === undefined) return deps.rpc.finalized()
  const block = await deps.rpc.agreed((node) => node.block(Math.max(0, startBlock - 1)))
  return block?.value ?? null
}
