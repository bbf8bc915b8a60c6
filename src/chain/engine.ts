import { createAuthorizer } from './authorizer.ts'
import { createCancellations } from './cancellations.ts'
import { assertNotBehind, NOTHING, type Progress, type SettlementDeps } from './context.ts'
import { createSweeping } from './deposits/sweep.ts'
import { createBlockMemo } from './lanes/block-memo.ts'
import { mostItems } from './lanes/fees.ts'
import { fillLanes } from './lanes/fill.ts'
import { createKeylessEnding } from './lanes/keyless.ts'
import { advanceLane, createLaneWallet } from './lanes/lane.ts'
import type { LaneRound } from './lanes/round.ts'
import type { ChainView } from './lanes/sender.ts'
import { createRescue } from './lanes/stranded.ts'
import { createTopUp } from './lanes/top-up.ts'
import { createObserver } from './observer/observer.ts'
import type { Block, FeeHistory } from './rpc/node.ts'
import { createStint } from './stint.ts'

/**
 * Each part is safe to repeat, to interrupt anywhere, and to run at the same time as the others, in this process and in
 * others. They share what they know through the journal.
 */
export type SettlementEngine = {
  /** Makes its treasuries known, also while everything is paused: from then on the time of a rotation runs. */
  begin(): Promise<void>
  /** Reads final blocks, ends payouts by them, and watches the treasury. */
  observe(): Promise<Progress>
  /** Reads what came to the addresses of payments in the blocks that were read for payouts. */
  observeDeposits(): Promise<Progress>
  /** Signs the payouts that may be paid now. */
  authorize(): Promise<Progress>
  /** Resumes envelopes that were sent, then sends what is signed. */
  send(): Promise<Progress>
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
  const { journal, rpc, options, log } = deps
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
    if (view.cursor.pausedReason !== null) return
    await topUp(view).catch((error: unknown) =>
      log.warn({ err: error }, 'gas money could not be sent; tried again next round'),
    )
  }

  const holding = createHolding(deps)
  const readFees = createBlockMemo<FeeHistory>()

  return {
    ...createObserving(deps, holding),
    ...createSigning(deps),
    async send() {
      const cursor = await journal.readCursor()
      if (cursor === null) return NOTHING
      const { block: head } = await rpc.newest(cursor.number)
      assertNotBehind(head, cursor.number)
      const view: ChainView = { head, cursor, fees: await readFees(head.hash, () => rpc.fees(FEE_BLOCKS)) }
      return holding('lanes', async () => {
        const [rounds] = await Promise.all([advance(view), fund(view), endKeyless(view)])
        if (cursor.pausedReason !== null) return NOTHING
        await freeStranded(
          rounds.flatMap((round) => round.stuck),
          view,
        )
        const done = await fillLanes(deps, rounds, view)
        await sweep(rounds, view)
        // Everything signed is sent, or every lane is full.
        return { ...NOTHING, done }
      })
    },
    close: () => journal.releaseLeases(options.owner),
  }
}

type Holding = ReturnType<typeof createHolding>

/** The parts that read. One engine at a time does, by lease. */
function createObserving(
  deps: SettlementDeps,
  holding: Holding,
): Pick<SettlementEngine, 'observe' | 'observeDeposits'> {
  const { journal, options } = deps
  const observer = createObserver(deps)
  const stint = createStint(deps, 'observer')
  return {
    async observe() {
      if (stint.rests()) return NOTHING
      const start = (await journal.readCursor()) ?? (await firstCursor(deps))
      if (start === null) return NOTHING
      const lease = await journal.leaseObserver({ ...options, start })
      if (lease === null) return NOTHING
      try {
        return { ...NOTHING, done: await holding('observer', () => observer.observe(lease, lease.cursor)) }
      } finally {
        await stint.ended(!observer.isAnswered())
      }
    },
    async observeDeposits() {
      const cursor = deps.deposits === null || stint.rests() ? null : await journal.readCursor()
      if (cursor === null || cursor.depositsNumber >= cursor.number) return NOTHING
      const lease = await journal.leaseObserver({ ...options, start: cursor })
      if (lease !== null) await holding('observer', () => observer.observeDeposits(lease, cursor))
      return NOTHING
    },
  }
}

/** The part that signs. One engine at a time does, by lease. */
function createSigning(deps: SettlementDeps): Pick<SettlementEngine, 'begin' | 'authorize'> {
  const { journal, log } = deps
  const authorizer = createAuthorizer(deps)
  const cancel = createCancellations(deps)
  const stint = createStint(deps, 'signing')
  return {
    begin: () => authorizer.record(),
    async authorize() {
      const cursor = await journal.readCursor()
      if (cursor === null || cursor.pausedReason !== null || stint.rests()) return NOTHING
      let isRefused = false
      const cancelled = await cancel().catch((error: unknown) => {
        log.error({ err: error }, 'cancellations could not be signed; tried again next round')
        isRefused = true
        return 0
      })
      let signed: Progress | null = null
      try {
        signed = await authorizer.authorize(cursor.number)
        return { ...signed, done: signed.done + cancelled }
      } finally {
        await stint.ended(signed === null || (isRefused && signed.done === 0))
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
