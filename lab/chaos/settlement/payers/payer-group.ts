import type { Owed } from '../../../settlement/payouts.ts'
import type { Setup } from '../../../settlement/setup.ts'
import type { LossyNode } from '../nodes/lossy-proxy.ts'
import { type Side, withDb } from '../sides.ts'
import { createPayerProcess, type PayerProcess } from './payer-process.ts'

/** Chance that one signature is refused: as by a key service on a bad day. */
const REFUSAL_CHANCE = 0.03

export const DATABASE = 'chaos'

/** The payers of one side, and the actions on them. */
export class PayerGroup {
  readonly #setup: Setup
  readonly #side: Side
  readonly #nodes: readonly LossyNode[]
  readonly #processes: readonly PayerProcess[]
  refusals = 0

  constructor(parts: { setup: Setup; side: Side; nodes: readonly LossyNode[]; logFile: string }) {
    const { side, logFile } = parts
    this.#setup = parts.setup
    this.#side = side
    this.#nodes = parts.nodes
    const onRefusal = (): void => {
      this.refusals += 1
    }
    this.#processes = [0, 1].map(() => createPayerProcess({ script: side.script, logFile, onRefusal }))
  }

  get url(): string {
    return this.#setup.databaseUrl(DATABASE)
  }

  async begin(): Promise<void> {
    await this.#setup.createDatabase(DATABASE)
    await withDb(this.url, (db) => this.#side.prepare(db))
    this.#startAll()
  }

  #start(index: number): void {
    this.#processes[index]?.start({
      ...this.#side.getKeys(index),
      databaseUrl: this.url,
      rpcUrls: this.#nodes.map(({ url }) => url),
      token: this.#setup.token,
      refusalChance: REFUSAL_CHANCE,
    })
  }

  #startAll(): void {
    for (const index of this.#processes.keys()) this.#start(index)
  }

  isUp(index: number): boolean {
    return this.#processes[index]?.isUp() === true
  }

  async killOne(index: number): Promise<void> {
    await this.#processes[index]?.kill()
    this.#start(index)
  }

  killPostgres(): Promise<void> {
    return this.#setup.killPostgres()
  }

  dump(): Promise<void> {
    return this.#setup.copyDatabase(DATABASE, 'dump')
  }

  /** Stops all processes, and starts them with the keys of now. */
  async restart(): Promise<void> {
    await this.end()
    this.#startAll()
  }

  /** Restores the dump, so that everything since then is lost; then requests the payments again. */
  async restore(owed: readonly Owed[]): Promise<void> {
    await this.end()
    await this.#setup.dropDatabase(DATABASE)
    await this.#setup.copyDatabase('dump', DATABASE)
    await withDb(this.url, async (db) => {
      await this.#side.operator?.rebuild(db, owed)
      await this.#side.queue(db, owed)
    })
    this.#startAll()
  }

  endFaults(): void {
    for (const process of this.#processes) process.endFaults()
  }

  async end(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.kill()))
  }
}
