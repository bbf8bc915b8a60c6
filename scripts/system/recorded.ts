import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { processStartedAt } from '../setup/lock.mjs'
import { poll } from './waiting.ts'

/** A child process as stored, so that the next start finds it if this one is killed. */
type Recorded = { name: string; pid: number; startedAt: string; stopSignal: NodeJS.Signals }

const GRACE_MS = 5000

export class ChildRecords {
  readonly #file: string
  readonly #running = new Map<string, Recorded>()

  constructor(dataFolder: string) {
    this.#file = join(dataFolder, 'children.json')
  }

  /** Stores the child's new pid; null: it has ended. */
  set({ name, stopSignal }: { name: string; stopSignal: NodeJS.Signals }, pid: number | null): void {
    const startedAt = pid === null ? null : processStartedAt(pid)
    if (pid === null || startedAt === null) this.#running.delete(name)
    else this.#running.set(name, { name, pid, startedAt, stopSignal })
    writeFileSync(`${this.#file}.draft`, JSON.stringify([...this.#running.values()]))
    renameSync(`${this.#file}.draft`, this.#file)
  }

  /** Ends children that an earlier run left. Leaves a pid alone that another process has by now. */
  async endLeftovers(log: (line: string) => void): Promise<void> {
    await Promise.all(
      this.#read().map(async (child) => {
        if (!isSame(child)) return
        log(`ending ${child.name} (process ${child.pid}), left by a run that was killed`)
        process.kill(child.pid, child.stopSignal)
        const gone = poll(async () => !isSame(child), { withinMs: GRACE_MS, everyMs: 50, what: child.name })
        await gone.catch(() => process.kill(child.pid, 'SIGKILL'))
        await poll(async () => !isSame(child), { withinMs: GRACE_MS, everyMs: 50, what: `the end of ${child.name}` })
      }),
    )
  }

  #read(): Recorded[] {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8')) as Recorded[]
    } catch {
      return []
    }
  }
}

const isSame = ({ pid, startedAt }: Recorded): boolean => processStartedAt(pid) === startedAt
