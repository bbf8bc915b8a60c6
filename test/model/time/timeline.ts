import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Virtual time. It stops while anything works, and then jumps to the next due moment. Only one activity works at a
 * time, until it ends or waits for the virtual time, so that a story plays the same way twice.
 */
export type Timeline = {
  readonly now: () => number
  after(ms: number, work: () => void): void
  /** Does everything that can be done now. */
  settle(): Promise<void>
  /** … and lets the time run. */
  pass(ms: number): Promise<void>
  /** Work that `settle` waits for, one after the other. */
  enqueue(work: Work): void
  /** Called after each event; true: it continued something. */
  watch(check: () => boolean): void
  /** Forgets everything and starts at this moment. */
  reset(start: number): void
}

export class Work {
  readonly name: string
  readonly run: () => Promise<void>
  /** True if its result is not awaited any more. */
  isDead = false
  isDone = false
  #calls = 0
  #suspended = 0
  points = 0
  /** The point at which it is cut off; null: never. */
  cutAt: number | null = null
  onCut: () => void = () => undefined
  /** Called when it ends, waits for the virtual time, or continues. */
  onChange: () => void = () => undefined
  constructor(name: string, run: () => Promise<void>) {
    this.name = name
    this.run = run
  }
  /** True if it waits only for the virtual time. */
  get isIdle(): boolean {
    return this.isDone || this.isDead || (this.#suspended > 0 && this.#calls === this.#suspended)
  }
  /** A call of an outside party begins or ends: several may run at once. */
  called(by: 1 | -1): void {
    this.#calls += by
    this.onChange()
  }
  suspend(by: 1 | -1): void {
    this.#suspended += by
    this.onChange()
  }
}

const current = new AsyncLocalStorage<Work>()
export const currentWork = (): Work | undefined => current.getStore()

type Due = { readonly at: number; readonly order: number; readonly work: () => void }

/** Milliseconds of real time. */
const STUCK_MS = 30_000
/** Rounds of work in a story: the longest that ends has about a tenth. */
const MOST_ROUNDS = 20_000

const immediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export function createTimeline(start: number): Timeline {
  let now = start
  let order = 0
  let rounds = 0
  const due: Due[] = []
  const queue: Work[] = []
  const running = new Set<Work>()
  const checks: (() => boolean)[] = []
  let changed = (): void => undefined

  function begin(work: Work): void {
    running.add(work)
    work.onChange = () => changed()
    void current.run(work, async () => {
      await work.run()
      work.isDone = true
      running.delete(work)
      work.onChange()
    })
  }

  /** A run without end is a mistake of the model, or a deadlock of the system. */
  function untilChanged(): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const names = [...running].map(({ name }) => name)
      const stuck = setTimeout(() => reject(new Error(`does not end: ${names.join(', ')}`)), STUCK_MS)
      changed = () => {
        clearTimeout(stuck)
        resolve()
      }
    })
  }

  async function settle(): Promise<void> {
    for (;;) {
      if (++rounds > MOST_ROUNDS) throw new Error('the system never comes to rest')
      await immediate()
      for (const work of running) if (work.isDead) running.delete(work)
      if ([...running].some((work) => !work.isIdle)) {
        await untilChanged()
        continue
      }
      if (checks.some((check) => check())) continue
      const next = queue.shift()
      if (next === undefined) return
      if (!next.isDead) begin(next)
    }
  }

  function insert(item: Due): void {
    let index = due.length
    while (index > 0 && (due[index - 1]?.at ?? 0) > item.at) index--
    due.splice(index, 0, item)
  }

  return {
    now: () => now,
    after: (ms, work) => insert({ at: now + Math.max(ms, 0), order: order++, work }),
    settle,
    enqueue: (work) => void queue.push(work),
    watch: (check) => void checks.push(check),
    reset(start) {
      now = start
      rounds = 0
      for (const work of [...running, ...queue]) work.isDead = true
      for (const list of [due, queue]) list.splice(0)
      running.clear()
    },
    async pass(ms) {
      const end = now + ms
      await settle()
      for (let next = due[0]; next !== undefined && next.at <= end; next = due[0]) {
        due.shift()
        now = Math.max(now, next.at)
        next.work()
        await settle()
      }
      now = end
    },
  }
}

/** Waits for the virtual time, inside an activity or outside. */
export function virtualSleep(timeline: Timeline, ms: number): Promise<void> {
  const work = currentWork()
  if (work !== undefined) work.suspend(1)
  return new Promise((resolve) => {
    timeline.after(ms, () => {
      if (work !== undefined) work.suspend(-1)
      if (work?.isDead !== true) resolve()
    })
  })
}

/** A place at which a process may be killed: between two effects. */
export function point(): Promise<void> {
  const work = currentWork()
  if (work === undefined) return Promise.resolve()
  if (work.isDead) return new Promise(() => undefined)
  if (work.cutAt === work.points++) {
    work.isDead = true
    work.onCut()
    work.onChange()
    return new Promise(() => undefined)
  }
  return Promise.resolve()
}

/** The clock of code that asks `Date`. */
export function createDate(timeline: { now(): number }): DateConstructor {
  return class extends Date {
    constructor(...args: unknown[]) {
      if (args.length === 0) super(timeline.now())
      else super(...(args as [number]))
    }
    static override now(): number {
      return timeline.now()
    }
  } as DateConstructor
}
