import { AsyncLocalStorage } from 'node:async_hooks'
import { ActivityFailure, ApplicationFailure, WorkflowExecutionAlreadyStartedError } from '@temporalio/common'
import { type Activities, copy, createActivities, type Handler, milliseconds, type Options, Run } from './activity.ts'
import type { Timeline } from './timeline.ts'

/** Replaces `@temporalio/workflow` and its server: the part that the payment's workflows use, in virtual time. */

type Workflow = (input: never) => Promise<unknown>
type Definition = { readonly name: string }
type Waiting = { readonly run: Run; readonly test: () => boolean; readonly resolve: (value: boolean) => void }

const MOST_TURNS = 200
class ContinueAsNew extends Error {
  readonly input: unknown
  constructor(input: unknown) {
    super('continued as new')
    this.input = input
  }
}

/** The run has ended, or there is none: the message must go to another. */
export class NoRun extends Error {}

export type Server = ReturnType<typeof createServer>

export function createServer(timeline: Timeline) {
  const storage = new AsyncLocalStorage<Run>()
  const runs = new Map<string, Run>()
  const waiting = new Set<Waiting>()
  const workflows = new Map<string, Workflow>()
  const crashes: Error[] = []
  const tried = createActivities(timeline, crashes)

  timeline.watch(() => {
    for (const item of waiting) {
      if (item.run.isOver) waiting.delete(item)
      else if (storage.run(item.run, item.test)) {
        waiting.delete(item)
        item.resolve(true)
        return true
      }
    }
    return false
  })

  const here = (): Run => {
    const run = storage.getStore()
    if (run === undefined) throw new Error('only in a workflow')
    return run
  }

  function start(type: string, id: string, input: unknown): Run {
    const known = runs.get(id)
    if (known !== undefined && !known.isOver) throw new WorkflowExecutionAlreadyStartedError('running', id, type)
    const run = new Run(id, type, input)
    runs.set(id, run)
    const workflow = workflows.get(type)
    if (workflow === undefined) throw new Error(`no workflow ${type}`)
    void storage.run(run, async () => {
      try {
        await workflow(input as never)
        end(run)
      } catch (error) {
        if (run.isOver) return
        end(run)
        if (error instanceof ContinueAsNew) start(type, id, error.input)
        else crashes.push(error instanceof Error ? error : new Error(String(error)))
      }
    })
    return run
  }

  /** Ended, or lost. Pending messages are rejected. */
  function end(run: Run): void {
    run.isOver = true
    for (const reject of run.updates) reject(new NoRun('the workflow ended before it answered'))
    run.updates.clear()
  }

  function sleep(ms: number | string): Promise<void> {
    const run = here()
    run.timers++
    return new Promise((resolve) => {
      timeline.after(milliseconds(ms), () => {
        run.timers--
        if (!run.isOver) resolve()
      })
    })
  }

  function condition(test: () => boolean, timeout?: number | string): Promise<boolean> {
    const run = here()
    if (test()) {
      // The real one would loop in one workflow task until it is stopped as a deadlock.
      if (++run.turns > MOST_TURNS) return Promise.reject(new Error('the workflow turns without end'))
      return Promise.resolve(true)
    }
    run.turns = 0
    return new Promise((resolve) => {
      const item: Waiting = { run, test, resolve }
      waiting.add(item)
      if (timeout === undefined) return
      run.timers++
      timeline.after(milliseconds(timeout), () => {
        run.timers--
        if (run.isOver || !waiting.delete(item)) return
        resolve(storage.run(run, test))
      })
    })
  }

  function handle(run: Run, name: string): Handler {
    const handler = run.handlers.get(name)
    if (handler === undefined) throw new Error(`${run.type} has no handler of ${name}`)
    return handler
  }

  const proxy = (options: Options) =>
    new Proxy(
      {},
      { get: (_target, name) => (argument: unknown) => tried.perform(here(), String(name), { argument, options }) },
    )

  /** The package that the workflows import. */
  const module = {
    __esModule: true,
    ActivityFailure,
    ApplicationFailure,
    ParentClosePolicy: { ABANDON: 'ABANDON' },
    CancellationScope: {
      current: () => ({ cancelRequested: new Promise<never>(() => undefined) }),
      nonCancellable: <T>(work: () => T): T => work(),
    },
    allHandlersFinished: () => here().activeHandlers === 0,
    condition,
    sleep,
    continueAsNew: (input: unknown) => Promise.reject(new ContinueAsNew(input)),
    defineQuery: (name: string) => ({ name }),
    defineSignal: (name: string) => ({ name }),
    defineUpdate: (name: string) => ({ name }),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    proxyActivities: proxy,
    proxyLocalActivities: proxy,
    setCurrentDetails: () => undefined,
    setDefaultSignalHandler: () => undefined,
    setHandler: ({ name }: Definition, handler: Handler['handle'], options?: { validator?: Handler['validate'] }) =>
      here().handlers.set(name, {
        handle: handler,
        ...(options?.validator === undefined ? {} : { validate: options.validator }),
      }),
    startChild: (
      workflow: { name: string },
      options: {
        workflowId: string
        args: unknown[]
        typedSearchAttributes?: { key: { name: string }; value: unknown }[]
      },
    ) => {
      const run = start(workflow.name, options.workflowId, copy(options.args[0]))
      for (const { key, value } of options.typedSearchAttributes ?? []) run.attributes.set(key.name, value)
      return Promise.resolve()
    },
    upsertSearchAttributes: (changes: { key: { name: string }; value: unknown }[]) => {
      for (const { key, value } of changes) here().attributes.set(key.name, value)
    },
    workflowInfo: () => ({ continueAsNewSuggested: here().suggestsNew, historyLength: 0 }),
  }

  return {
    module,
    crashes,
    runs,
    start,
    register: (known: Readonly<Record<string, Workflow>>, does: Activities) => {
      for (const [name, workflow] of Object.entries(known)) workflows.set(name, workflow)
      tried.register(does)
    },
    running: (id: string): Run | null => {
      const run = runs.get(id)
      return run === undefined || run.isOver ? null : run
    },
    /** True if no run could do anything. */
    isIdle: (): boolean => [...runs.values()].every(({ isOver }) => isOver),
    /** Removes the run, as a lost store or a termination does. */
    reset: (): void => {
      for (const run of runs.values()) run.isOver = true
      for (const set of [runs, waiting]) set.clear()
      crashes.splice(0)
      tried.cutNext(null)
    },
    lose: (id: string): void => {
      const run = runs.get(id)
      if (run !== undefined && !run.isOver) end(run)
    },
    cutNext: tried.cutNext,
    signal(id: string, name: string, argument?: unknown): void {
      const run = this.running(id)
      if (run === null) throw new NoRun(`no run of ${id}`)
      storage.run(run, () => handle(run, name).handle(argument as never))
    },
    /** Rejects with NoRun if the run is not there, or ends before it has answered. */
    async update(id: string, name: string, argument?: unknown): Promise<unknown> {
      const run = this.running(id)
      if (run === null) throw new NoRun(`no run of ${id}`)
      return storage.run(run, async () => {
        const { handle: work, validate } = handle(run, name)
        validate?.(argument as never)
        run.activeHandlers++
        return new Promise((resolve, reject) => {
          run.updates.add(reject)
          Promise.resolve()
            .then(() => work(argument as never))
            .then(resolve, reject)
            .finally(() => {
              run.activeHandlers--
              run.updates.delete(reject)
            })
        })
      })
    },
  }
}
