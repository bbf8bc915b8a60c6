import { ActivityFailure, ApplicationFailure } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { type Timeline, Work } from './timeline.ts'

export type Handler = { readonly handle: (...args: never[]) => unknown; readonly validate?: (...args: never[]) => void }

export type Activities = Readonly<Record<string, (argument: never) => Promise<unknown>>>

export type Options = {
  readonly activityId?: string
  readonly startToCloseTimeout: string
  readonly scheduleToCloseTimeout?: string
  readonly retry?: {
    readonly initialInterval?: string
    readonly backoffCoefficient?: number
    readonly maximumInterval?: string
    readonly maximumAttempts?: number
  }
}

export class Run {
  readonly id: string
  readonly type: string
  readonly input: unknown
  readonly handlers = new Map<string, Handler>()
  readonly attributes = new Map<string, unknown>()
  /** Activities that the engine completes, by their id. */
  readonly waiting = new Map<string, (result: unknown) => void>()
  readonly updates = new Set<(error: Error) => void>()
  activeHandlers = 0
  isOver = false
  timers = 0
  suggestsNew = false
  /** How often it waited for existing work since it last waited for time. */
  turns = 0
  /** The number of activities that began in this minute. */
  begun = { minute: 0, activities: 0 }
  constructor(id: string, type: string, input: unknown) {
    this.id = id
    this.type = type
    this.input = input
  }
}

/** More in a minute than any story needs: it loops without waiting. */
const MOST_IN_A_MINUTE = 300

/** Logs nothing: errors in activities belong to the story. */
const SILENT = new DefaultLogger('ERROR', () => undefined)

/** Tries activities until they succeed, as their options say, in virtual time. */
export function createActivities(timeline: Timeline, crashes: Error[]) {
  let activities: Activities = {}
  /** Cuts off the next activity at this point. */
  let nextCut: number | null = null

  function countIn(run: Run, name: string): void {
    const minute = Math.floor(timeline.now() / 60_000)
    if (run.begun.minute !== minute) run.begun = { minute, activities: 0 }
    if (++run.begun.activities === MOST_IN_A_MINUTE) crashes.push(new Error(`${name} is begun again and again`))
  }

  function perform(
    run: Run,
    name: string,
    { argument, options }: { argument: unknown; options: Options },
  ): Promise<unknown> {
    countIn(run, name)
    return new Promise((resolve, reject) => {
      tryActivity({ run, name, argument, options, resolve, reject, begun: timeline.now() }, 1)
    })
  }

  type Performing = {
    readonly run: Run
    readonly name: string
    readonly argument: unknown
    readonly options: Options
    readonly resolve: (result: unknown) => void
    readonly reject: (error: Error) => void
    readonly begun: number
  }

  function tryActivity(performing: Performing, attempt: number): void {
    const { run, name, argument, options } = performing
    if (run.isOver) return
    const timeout = milliseconds(options.startToCloseTimeout)
    let isAnswered = false
    const once = (work: () => void) => {
      if (isAnswered) return
      isAnswered = true
      work()
    }
    const work = new Work(name, async () => {
      const fn = activities[name]
      if (fn === undefined) throw new Error(`no activity ${name}`)
      try {
        const env = new MockActivityEnvironment({ attempt }, { logger: SILENT })
        const result = await env.run(fn as (argument: unknown) => Promise<unknown>, copy(argument))
        once(() => !run.isOver && performing.resolve(copy(result)))
      } catch (error) {
        if (error instanceof Error && error.name === 'CompleteAsyncError') {
          const id = options.activityId ?? name
          run.waiting.set(id, (result) =>
            once(() => {
              run.waiting.delete(id)
              performing.resolve(copy(result))
            }),
          )
          return
        }
        once(() => again(performing, attempt, error as Error))
      }
    })
    work.cutAt = nextCut
    nextCut = null
    // A killed process reports nothing: the time-out does.
    const stretched = options.activityId !== undefined && attempt > 3 ? timeout * 20 : timeout
    timeline.after(stretched, () =>
      once(() => {
        if (options.activityId !== undefined) run.waiting.delete(options.activityId)
        again(
          performing,
          attempt,
          ApplicationFailure.create({ type: 'TimeOut', message: `${name}: no answer in time` }),
        )
      }),
    )
    timeline.enqueue(work)
  }

  function again(performing: Performing, attempt: number, error: Error): void {
    const { run, name, options, begun } = performing
    const { initialInterval = '1 s', backoffCoefficient = 2, maximumInterval, maximumAttempts } = options.retry ?? {}
    const grown = milliseconds(initialInterval) * backoffCoefficient ** (attempt - 1)
    const usual = Math.min(grown, milliseconds(maximumInterval ?? '100 s'))
    const failure = error instanceof ApplicationFailure ? error : ApplicationFailure.create({ message: error.message })
    const wait =
      failure.nextRetryDelay === undefined || failure.nextRetryDelay === null
        ? usual
        : milliseconds(failure.nextRetryDelay)
    const limit = options.scheduleToCloseTimeout === undefined ? Infinity : milliseconds(options.scheduleToCloseTimeout)
    const isOver =
      failure.nonRetryable === true || attempt >= (maximumAttempts ?? Infinity) || timeline.now() + wait - begun > limit
    if (error.name === 'TypeError' || /no transition|violates|not balance/.test(error.message))
      crashes.push(new Error(`${name}: ${error.message}`, { cause: error }))
    if (isOver) {
      if (!run.isOver)
        performing.reject(new ActivityFailure(error.message, name, name, 'NON_RETRYABLE_FAILURE', 'model', failure))
      return
    }
    timeline.after(wait, () => tryActivity(performing, attempt + 1))
  }

  return {
    perform,
    register: (does: Activities): void => {
      activities = does
    },
    cutNext: (at: number | null): void => {
      nextCut = at
    },
  }
}

/** Payloads are copies: JSON, as Temporal makes of them. */
export const copy = <T>(value: T): T => (value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T))

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 }

export function milliseconds(time: number | string): number {
  if (typeof time === 'number') return time
  const [count, unit] = time.split(' ')
  const factor = UNITS[unit ?? '']
  if (factor === undefined) throw new Error(`what is ${time}?`)
  return Number(count) * factor
}
