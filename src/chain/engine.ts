import type { Lead } from '../domain/settlement/lead.ts'
import type { Rest } from '../domain/settlement/part.ts'
import { createAuthorizer } from './authorizer.ts'
import { createCancellations } from './cancellations.ts'
import { assertNotBehind, createMinutely, NOTHING, type Progress, type SettlementDeps } from './context.ts'
import { createSweeping } from './deposits/sweep.ts'
import { createBlockMemo } from './lanes/block-memo.ts'
import type { Doubts } from './lanes/doubts.ts'
import { GWEI, leastPrice, mostItems } from './lanes/fees.ts'
import { fillLanes } from './lanes/fill.ts'
import { advanceLane, createLaneWallet } from './lanes/lane.ts'
import { createRescue } from './lanes/rescue.ts'
import type { LaneRound } from './lanes/round.ts'
import type { ChainView } from './lanes/sender.ts'
import { createTopUp } from './lanes/top-up.ts'
import { createLeadership, type Leadership } from './lead.ts'
import { createObserver, type Observed } from './observer/observer.ts'
import { createPartReporter, describeError } from './part-report.ts'
import { createRests, type Rests } from './rests.ts'
import type { Block, FeeHistory } from './rpc/node.ts'

/** The facts at the start of a round. `head`: the newest block; null if no quorum agrees on it. */
export type Look = { readonly lead: Lead; readonly head: Block | null }

/**
 * Each part is safe to repeat, to interrupt anywhere, and to run at the same time as the others. They share state
 * through the journal.
 */
export type SettlementEngine = {
  /**
   * Stamps the list of treasuries, also while everything is paused. Throws SettlementRefusal if the engine must not
   * start.
   */
  begin(): Promise<void>
  lead(): Promise<Lead | null>
  look(): Promise<Look | null>
  observe(look: Look): Promise<Progress & { readonly hasDeposits: boolean }>
  /** Reads the transfers to deposit addresses that have more than before. */
  readDeposits(lead: Lead): Promise<void>
  authorize(lead: Lead): Promise<Progress>
  /** Resumes sent envelopes, then sends signed payouts. `isDue`: lanes with nothing to do are advanced too. */
  send(look: Look, isDue: boolean): Promise<Progress>
  renew(): Promise<void>
  close(): Promise<void>
}

/** Number of recent blocks from which fees are estimated. */
const FEE_BLOCKS = 20

/**
 * The settlement engine: reads final blocks, ends payouts by them, signs more, resumes what was sent and sends more.
 * One engine at a time leads; the others send no requests. After a crash, the first round is the whole recovery.
 */
export function createSettlementEngine(deps: SettlementDeps): SettlementEngine {
  const { journal, rpc } = deps
  const rests = createRests(deps)
  const doubts: Doubts = new Map()
  const leadership = createLeadership(deps, async () => {
    const start = await firstBlock(deps)
    if (start !== null) await journal.openCursor(start)
  })
  const observer = createObserver(deps, doubts)
  const reporters = {
    observing: createPartReporter(deps, 'observing'),
    deposits: createPartReporter(deps, 'deposits'),
  }
  return {
    ...createSigning(deps, rests, leadership),
    send: createSending(deps, { rests, doubts, leadership }),
    lead: leadership.take,
    async look() {
      const lead = await leadership.take()
      // The parts that need the block report its failure.
      return (
        lead && {
          lead,
          head: await rpc.newest(lead.cursor.number).then(
            ({ block }) => block,
            () => null,
          ),
        }
      )
    },
    async observe({ lead, head }) {
      let observed: Observed = { ended: 0, hasDeposits: false }
      try {
        const progress = await reporters.observing.report(async () => {
          observed = await observer.observe(lead, head)
          return { ...NOTHING, done: observed.ended, failure: observer.isAnswered() ? null : NO_NEW_BLOCK }
        })
        return { ...progress, hasDeposits: observed.hasDeposits }
      } finally {
        await leadership.noteRound('observing', !observer.isAnswered())
      }
    },
    async readDeposits(lead) {
      await reporters.deposits.report(async () => {
        await observer.readDeposits(lead)
        return NOTHING
      })
    },
    renew: leadership.renew,
    close: leadership.release,
  }
}

const NO_NEW_BLOCK = 'a quorum of nodes shows no new block'

/** Returns the block after which reading begins; null if no block is final now. */
async function firstBlock({ rpc, options }: SettlementDeps): Promise<Block | null> {
  const { startBlock } = options
  if (startBlock === undefined) return rpc.finalized()
  const block = await rpc.agreed((node) => node.block(Math.max(0, startBlock - 1)))
  return block?.value ?? null
}

function createSending(
  deps: SettlementDeps,
  { rests, doubts, leadership }: { rests: Rests; doubts: Doubts; leadership: Leadership },
): SettlementEngine['send'] {
  const { rpc, log } = deps
  const reporter = createPartReporter(deps, 'sending')
  const readPrices = createPriceReader(deps)
  const topUp = createTopUp(deps)
  const freeStranded = createRescue(deps)
  const sweep = createSweeping(deps)
  const oneMore = (maxFee: bigint): bigint => deps.codec.gasLimit(mostItems(deps.codec, maxFee)) * maxFee
  const wallets = deps.relayers.map((account) => createLaneWallet(deps, { account, oneMore }))

  /** Advances the lanes with envelopes in flight; all lanes if there is something to send. */
  async function advance(view: ChainView, isDue: boolean): Promise<LaneRound[]> {
    const busy = new Set(view.lanes.flatMap(({ lane, envelopes }) => (envelopes.length > 0 ? [lane.wallet] : [])))
    const advanced = wallets.filter(({ wallet }) => isDue || busy.has(wallet))
    const rounds = await Promise.allSettled(advanced.map((wallet) => advanceLane(deps, wallet, view)))
    return rounds.flatMap((round, index) => {
      if (round.status === 'fulfilled') return [round.value]
      const { wallet } = advanced[index] ?? {}
      log.warn({ wallet, err: round.reason }, 'a lane could not advance; tried again next round')
      return []
    })
  }

  /** Tops up relayers. A failure is logged and stops nothing: top-ups are for later rounds. */
  async function fund(view: ChainView): Promise<void> {
    if (view.cursor.pausedReason !== null || view.isTooExpensive) return
    await topUp(view).catch((error: unknown) =>
      log.warn({ err: error }, 'gas money could not be sent; tried again next round'),
    )
  }

  /** Adds failures of sweeps to `failures`: payouts are sent anyway. */
  async function send({ lead, head }: Look, isDue: boolean, failures: unknown[]): Promise<Progress> {
    const { cursor, lanes, lease, work } = lead
    const newest = head ?? (await rpc.newest(cursor.number)).block
    assertNotBehind(newest, cursor.number)
    const { fees, rest } = await readPrices(newest)
    const view = { lease, lanes, cursor, head: newest, fees, isTooExpensive: rest !== null, doubts }
    const isAll = isDue || work.send || work.sweep
    const [rounds] = await Promise.all([advance(view, isAll), isAll ? fund(view) : null])
    if (cursor.pausedReason !== null) return NOTHING
    const stuck = rounds.flatMap((round) => round.stuck)
    const isFreed = await freeStranded(stuck, view)
    const done = work.send || isFreed ? await fillLanes(deps, { rounds, view, rests }) : 0
    if (rounds.length > 0)
      await leadership.noteRound('sending', done === 0 && rounds.every(({ isRefused }) => isRefused))
    if (work.sweep) await sweep(rounds, view).catch((error: unknown) => failures.push(error))
    // Everything signed is sent, or every lane is full.
    return { ...NOTHING, done, rest: rest ?? rests.first() }
  }

  return async (look, isDue) => {
    const failures: unknown[] = []
    const progress = await reporter.report(() => send(look, isDue, failures))
    if (failures.length > 0) throw failures[0]
    return progress
  }
}

const gwei = (wei: bigint): string => String(wei / GWEI)

function createPriceReader({ rpc, options, log, clock }: SettlementDeps) {
  const mayLog = createMinutely(clock)
  const readFees = createBlockMemo<FeeHistory>()
  const restAt = (fees: FeeHistory): Rest | null => {
    const price = leastPrice(fees)
    if (price <= options.maxFeeWei) return null
    const why = `gas costs at least ${gwei(price)} gwei now, and MAX_FEE_GWEI allows ${gwei(options.maxFeeWei)}`
    if (mayLog()) log.warn({ price, cap: options.maxFeeWei }, `${why}: nothing is sent until it is cheaper`)
    return { cause: 'gas_above_cap', why }
  }
  return async function readPrices(head: Block): Promise<{ fees: FeeHistory; rest: Rest | null }> {
    const fees = await readFees(head.hash, () => rpc.fees(FEE_BLOCKS))
    return { fees, rest: restAt(fees) }
  }
}

function createSigning(
  deps: SettlementDeps,
  rests: Rests,
  { stillLeads, noteRound }: Leadership,
): Pick<SettlementEngine, 'begin' | 'authorize'> {
  const { log } = deps
  const reporter = createPartReporter(deps, 'signing')
  const authorizer = createAuthorizer(deps, { rests, stillLeads })
  const cancel = createCancellations(deps, stillLeads)
  const tryCanceling = (): Promise<Progress> =>
    cancel().then(
      (done) => ({ ...NOTHING, done }),
      (error: unknown) => {
        log.error({ err: error }, 'cancellations could not be signed; tried again next round')
        return { ...NOTHING, failure: describeError(error) }
      },
    )
  return {
    begin: () => authorizer.record(),
    async authorize({ cursor, work }) {
      if (cursor.pausedReason !== null) return NOTHING
      const canceled = work.voiding ? await tryCanceling() : NOTHING
      let isFruitless = true
      try {
        return await reporter.report(async () => {
          const signed = await authorizer.authorize(cursor.number, work.send)
          isFruitless = canceled.failure !== null && signed.done === 0
          return { ...signed, done: signed.done + canceled.done, failure: canceled.failure }
        })
      } finally {
        await noteRound('signing', isFruitless)
      }
    },
  }
}
