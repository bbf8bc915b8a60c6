import { setTimeout as delay } from 'node:timers/promises'
import type { Hex } from '../../../src/domain/hex.ts'
import { createRandom, type Random } from '../../../test/support/random.ts'
import type { Owed } from '../../settlement/payouts.ts'
import type { Stage } from '../../settlement/stage.ts'
import { type LossyNode, startLossyNode } from './lossy-proxy.ts'
import { createPayerProcess, type PayerProcess } from './payer-process.ts'
import { type Side, withDb } from './sides.ts'
import { createStrangers } from './strangers.ts'
import { TROUBLES, type Trouble } from './trouble.ts'
import { createWeather } from './weather.ts'

const STEP_MS = 120
const WAVE = 25
/** Of the processes together, each step. */
const KILL_CHANCE = 0.06
/** Parts of the payments that are paid when the dump is taken, and when the database is set back to it. */
const DUMP_AT = 0.25
const RESTORE_AT = 0.6
/** Of one node being in trouble from now on, and of it being well again, each step: some seconds each. */
const TROUBLE_CHANCE = 0.05
const WELL_CHANCE = 0.04
const POISON_CHANCE = 0.1
const DEADLINE_MS = 10 * 60_000

export type StormOptions = {
  readonly seed: number
  readonly owed: readonly Owed[]
  readonly logFile: string
  readonly say: (text: string) => void
}

export type Storm = Record<'kills' | 'restores' | 'lostRequests' | 'lostResponses', number> &
  Record<Trouble | 'zeroTransfers' | 'zeroTransfersFrom' | 'dust', number> &
  Record<'blocks' | 'reorganizations' | 'drops' | 'feeSpikes' | 'seconds', number> & { readonly finished: boolean }

/** The payers of one side with everything that happens to them. */
class Scene {
  readonly database = 'storm'
  readonly #stage: Stage
  readonly #side: Side
  readonly #nodes: readonly LossyNode[]
  readonly #processes: readonly PayerProcess[]

  constructor(parts: { stage: Stage; side: Side; nodes: readonly LossyNode[]; logFile: string }) {
    this.#stage = parts.stage
    this.#side = parts.side
    this.#nodes = parts.nodes
    this.#processes = [0, 1].map(() => createPayerProcess(parts.side.script, parts.logFile))
  }

  get url(): string {
    return this.#stage.databaseUrl(this.database)
  }

  async begin(): Promise<void> {
    await this.#stage.createDatabase(this.database)
    await withDb(this.url, (db) => this.#side.prepare(db))
    for (const index of this.#processes.keys()) this.#start(index)
  }

  #start(index: number): void {
    const { treasuryKey, relayerKeys, fundingKey, token } = this.#stage
    this.#processes[index]?.start({
      databaseUrl: this.url,
      rpcUrls: this.#nodes.map(({ url }) => url),
      token,
      treasuryKey,
      fundingKey,
      relayerKeys: this.#side.walletsOf(index).map((wallet) => relayerKeys[wallet] as Hex),
    })
  }

  async killOne(index: number): Promise<void> {
    await this.#processes[index]?.kill()
    this.#start(index)
  }

  async dump(): Promise<void> {
    await this.#stage.copyDatabase(this.database, 'dump')
  }

  /** Restores the dump, so everything since then is lost; then the payments are requested again. */
  async restore(owed: readonly Owed[]): Promise<void> {
    await this.end()
    await this.#stage.dropDatabase(this.database)
    await this.#stage.copyDatabase('dump', this.database)
    await withDb(this.url, (db) => this.#side.queue(db, owed))
    for (const index of this.#processes.keys()) this.#start(index)
  }

  async end(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.kill()))
  }
}

export async function runStorm(stage: Stage, side: Side, options: StormOptions): Promise<Storm> {
  const random = createRandom(options.seed)
  const losses = { random: createRandom(options.seed + 1), request: 0.1, response: 0.2 }
  const nodes = await Promise.all([1, 2, 3].map(() => startLossyNode(stage.rpcUrl, losses)))
  const scene = new Scene({ stage, side, nodes, logFile: options.logFile })
  try {
    await scene.begin()
    const passed = await passThrough(scene, { stage, side, random, nodes, ...options })
    const sum = (kind: 'requests' | 'responses'): number => nodes.reduce((total, { lost }) => total + lost[kind], 0)
    const troubles = Object.fromEntries(
      TROUBLES.map((trouble) => [trouble, nodes.reduce((total, node) => total + node.troubles[trouble], 0)]),
    ) as Record<Trouble, number>
    return { ...passed, ...troubles, lostRequests: sum('requests'), lostResponses: sum('responses') }
  } finally {
    await scene.end()
    await Promise.all(nodes.map((node) => node.close()))
  }
}

type Passage = StormOptions & {
  readonly stage: Stage
  readonly side: Side
  readonly random: Random
  readonly nodes: readonly LossyNode[]
}

/** One node at a time, so that the others can outvote it; the troubles take turns, so that a short run has them all. */
function createTroubles(nodes: readonly LossyNode[], random: Random): () => void {
  let turn = 0
  return () => {
    const [starts, ends, which] = [
      random.chance(TROUBLE_CHANCE),
      random.chance(WELL_CHANCE),
      random.below(nodes.length),
    ]
    const ill = nodes.find(({ trouble }) => trouble !== null)
    if (ill !== undefined && ends) ill.trouble = null
    const next = nodes[which]
    if (ill !== undefined || !starts || next === undefined) return
    next.trouble = TROUBLES[turn % TROUBLES.length] ?? null
    turn += 1
  }
}

async function passThrough(
  scene: Scene,
  { stage, side, random, nodes, owed, say }: Passage,
): Promise<Omit<Storm, Trouble | 'lostRequests' | 'lostResponses'>> {
  const weather = createWeather(stage, random)
  const strangers = await createStrangers(stage, random)
  const changeTrouble = createTroubles(nodes, random)
  const begun = Date.now()
  const happened = { kills: 0, restores: 0, finished: false }
  let [queued, paid, dumped, said] = [0, 0, false, 0]
  const look = () =>
    withDb(scene.url, async (db) => {
      const wave = owed.slice(queued, queued + WAVE)
      if (wave.length > 0) await side.queue(db, wave)
      queued += wave.length
      paid = await side.countPaid(db)
      return paid === owed.length && (await side.isDrained(db))
    })
  while (!happened.finished && Date.now() - begun < DEADLINE_MS) {
    if (random.chance(POISON_CHANCE)) await strangers.poison()
    await weather.step()
    changeTrouble()
    const [kills, whom] = [random.chance(KILL_CHANCE), random.below(2)]
    if (kills) {
      await scene.killOne(whom)
      happened.kills += 1
    }
    happened.finished = await look()
    if (!dumped && paid >= DUMP_AT * owed.length) {
      dumped = true
      await scene.dump()
    }
    if (dumped && happened.restores === 0 && paid >= RESTORE_AT * owed.length) {
      happened.restores = 1
      say(`${side.name}: ${paid} paid; the database is set back to a dump from when ${DUMP_AT * 100} % were`)
      await scene.restore(owed.slice(0, queued))
      happened.finished = false
    }
    if (Date.now() - said > 15_000) {
      said = Date.now()
      say(`${side.name}: ${paid} of ${owed.length} paid after ${Math.round((said - begun) / 1000)} s`)
    }
    await delay(STEP_MS)
  }
  return { ...weather.counts, ...strangers.counts, ...happened, seconds: Math.round((Date.now() - begun) / 1000) }
}
