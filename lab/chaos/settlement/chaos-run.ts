import { setTimeout as delay } from 'node:timers/promises'
import { createRandom, type Random } from '../../../test/support/random.ts'
import type { Owed } from '../../settlement/payouts.ts'
import type { Setup } from '../../settlement/setup.ts'
import { createChainFaults } from './chain-faults.ts'
import { type LossyNode, startLossyNode } from './nodes/lossy-proxy.ts'
import { TROUBLES } from './nodes/trouble.ts'
import { PayerGroup } from './payers/payer-group.ts'
import { type Side, withDb } from './sides.ts'
import { createStrangers } from './strangers.ts'
import { createTurns, type Turns } from './turns.ts'

const STEP_MS = 120
const WAVE = 25
/** Part of the payments that may be requested and not paid yet, so that every turn of the run meets new ones. */
const AHEAD = 0.2
/** Chance of a kill in each step, for the processes together. */
const KILL_CHANCE = 0.06
/**
 * Chance that a process is killed while it starts. Most are spared: on a slow machine no other would ever be killed.
 */
const STARTING_CHANCE = 0.2
/** Chances in each step that one node gets into trouble, and that it recovers: some seconds each. */
const TROUBLE_CHANCE = 0.05
const RECOVERY_CHANCE = 0.04
const POISON_CHANCE = 0.2
/** Part of the payments that must be paid while there are faults. The rest is requested when the faults have ended. */
const FAULTS_UNTIL = 0.8
/** Part of these that must be paid before the faults end. Some are still in flight then, which shows how these continue. */
const FAULTS_END_AT = 0.95
const REPORT_MS = 15_000
const DEADLINE_MS = 15 * 60_000

export type ChaosOptions = {
  readonly seed: number
  readonly owed: readonly Owed[]
  readonly logFile: string
  readonly say: (text: string) => void
}

export type ChaosResult = {
  readonly finished: boolean
  /** Number of times that each kind of trouble took effect. */
  readonly tried: Readonly<Record<string, number>>
  readonly seconds: number
  /**
   * After the last fault: seconds until a payout was settled, and the longest time without one while some were open.
   */
  readonly settlesAgainAfter: number
  readonly longestStall: number
}

export async function runChaos(setup: Setup, side: Side, options: ChaosOptions): Promise<ChaosResult> {
  const random = createRandom(options.seed)
  const losses = { random: createRandom(options.seed + 1), request: 0.1, response: 0.2 }
  const nodes = await Promise.all(
    [false, true, true].map((isFree) => startLossyNode(setup.rpcUrl, { ...losses, isFree })),
  )
  const payers = new PayerGroup({ setup, side, nodes, logFile: options.logFile })
  try {
    await payers.begin()
    return await runSteps(payers, { setup, side, random, nodes, ...options })
  } finally {
    await payers.end()
    await Promise.all(nodes.map((node) => node.close()))
  }
}

type RunContext = ChaosOptions & {
  readonly setup: Setup
  readonly side: Side
  readonly random: Random
  readonly nodes: readonly LossyNode[]
}

/**
 * Gets one node at a time into trouble, so that the others outvote it. The kinds take turns, so that a short run has
 * them all.
 */
function createTroubles(nodes: readonly LossyNode[], random: Random): () => void {
  let turn = 0
  return () => {
    const [starts, ends, which] = [
      random.chance(TROUBLE_CHANCE),
      random.chance(RECOVERY_CHANCE),
      random.below(nodes.length),
    ]
    const faulty = nodes.find(({ trouble }) => trouble !== null)
    if (faulty !== undefined && ends) faulty.trouble = null
    const next = nodes[which]
    if (faulty !== undefined || !starts || next === undefined) return
    next.trouble = TROUBLES[turn % TROUBLES.length] ?? null
    turn += 1
  }
}

/** Makes everything go wrong by chance, once a step, and counts it. */
async function createFaults(payers: PayerGroup, { setup, side, random, nodes }: RunContext) {
  const chainFaults = createChainFaults(setup, random)
  const strangers = await createStrangers(setup, random, side.deposits)
  const changeTrouble = createTroubles(nodes, random)
  let kills = 0
  const sum = (of: (node: LossyNode) => number): number => nodes.reduce((total, node) => total + of(node), 0)
  return {
    async step(): Promise<void> {
      if (random.chance(POISON_CHANCE)) await strangers.poison()
      await chainFaults.step()
      changeTrouble()
      const [strikes, whom, evenStarting] = [
        random.chance(KILL_CHANCE),
        random.below(2),
        random.chance(STARTING_CHANCE),
      ]
      if (!strikes || !(evenStarting || payers.isUp(whom))) return
      await payers.killOne(whom)
      kills += 1
    },
    endFaults(): void {
      chainFaults.endFaults()
      payers.endFaults()
      for (const node of nodes) node.endFaults()
    },
    /** Without faults there are only blocks. */
    stepWithoutFaults: () => chainFaults.step(),
    counts(): Record<string, number> {
      const troubles = TROUBLES.map((trouble) => [trouble, sum((node) => node.troubles[trouble])] as const)
      const lost = {
        lostRequests: sum((node) => node.lost.requests),
        lostResponses: sum((node) => node.lost.responses),
        refusedBatches: sum((node) => node.refusedBatches),
      }
      const refusals = side.operator === null ? {} : { keyRefusals: payers.refusals }
      return {
        kills,
        ...lost,
        ...Object.fromEntries(troubles),
        ...chainFaults.counts,
        ...strangers.counts,
        ...refusals,
      }
    },
  }
}

/** Measures how long it took after the last fault until payouts were settled again. */
function createStallWatch() {
  let begun: number | null = null
  let [last, settledBefore, first, longest] = [0, 0, Number.NaN, 0]
  const now = (): number => performance.now()
  return {
    begin(settled: number): void {
      begun = now()
      last = begun
      settledBefore = settled
    },
    look(settled: number): void {
      if (begun === null) return
      longest = Math.max(longest, now() - last)
      if (settled <= settledBefore) return
      if (Number.isNaN(first)) first = now() - begun
      last = now()
      settledBefore = settled
    },
    seconds: () => ({ settlesAgainAfter: seconds(first), longestStall: seconds(longest) }),
  }
}

const seconds = (ms: number): number => Math.round(ms / 100) / 10

async function runSteps(payers: PayerGroup, context: RunContext): Promise<ChaosResult> {
  const { side, owed, say } = context
  const faults = await createFaults(payers, context)
  const turns: Turns = createTurns(payers, side, say)
  const stall = createStallWatch()
  const begun = performance.now()
  let [queued, paid, said, hasNoFaults, finished] = [0, 0, 0, false, false]
  const look = () =>
    withDb(payers.url, async (db) => {
      const allowed = hasNoFaults ? owed.length : Math.min(FAULTS_UNTIL, paid / owed.length + AHEAD) * owed.length
      const wave = owed.slice(queued, Math.min(queued + WAVE, Math.ceil(allowed)))
      if (wave.length > 0) await side.queue(db, wave)
      queued += wave.length
      const isOpen = paid < owed.length
      paid = await side.countPaid(db)
      if (isOpen) stall.look(paid)
      return paid === owed.length && (await side.isDrained(db))
    })
  while (!finished && performance.now() - begun < DEADLINE_MS) {
    await (hasNoFaults ? faults.stepWithoutFaults() : faults.step())
    finished = await look()
    await turns.step(paid, { owed: owed.slice(0, queued), of: owed.length })
    if (!hasNoFaults && turns.isOver() && paid >= FAULTS_UNTIL * owed.length * FAULTS_END_AT) {
      hasNoFaults = true
      faults.endFaults()
      stall.begin(paid)
      say(`${side.name}: the last fault, after ${Math.round((performance.now() - begun) / 1000)} s; ${paid} paid`)
    }
    if (performance.now() - begun - said > REPORT_MS) {
      said = performance.now() - begun
      say(`${side.name}: ${paid} of ${owed.length} paid after ${Math.round(said / 1000)} s`)
    }
    await delay(STEP_MS)
  }
  return {
    finished,
    tried: { ...faults.counts(), ...turns.counts },
    seconds: Math.round((performance.now() - begun) / 1000),
    ...stall.seconds(),
  }
}
