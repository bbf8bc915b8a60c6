import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { lastLines, poll } from './waiting.ts'

export type ProcessSpec = {
  name: string
  command: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
  cwd: string
  /** The user that runs it; only for Postgres, which refuses to run as root. */
  user?: { uid: number; gid: number } | undefined
  /** Makes it end, with everything saved. */
  stopSignal: NodeJS.Signals
  logFile: string
  /** Called again and again after a start until it returns true. `logged` returns what it has written since. */
  ready: (logged: () => string) => Promise<boolean>
  /** Runs before each start, the first included. */
  prepare?: () => Promise<void>
  /** Matches its last output if it ended because the previous process has not quite ended: it is started again then. */
  notYet?: RegExp
}

/** A supervised process. If it ends unexpectedly, it is started again, with growing pauses. */
export type Child = {
  readonly name: string
  /** Returns the pid of the running process; null while it is down. */
  pid(): number | null
  start(): Promise<void>
  /** Sends the stop signal, SIGKILL after the grace time, and leaves it down. */
  stop(graceMs: number): Promise<void>
  /** Sends SIGKILL. The process is started again, unless it is to stay down. */
  kill9(options?: { stayDown?: boolean }): Promise<void>
  restart(): Promise<void>
  /** Waits until it runs and is ready, after a kill for example. */
  untilReady(): Promise<void>
}

export type SupervisorHooks = {
  log: (line: string) => void
  /** Called with each new pid, and with null when it has ended, so that children of a killed run can be found. */
  onPid: (spec: ProcessSpec, pid: number | null) => void
}

const READY_WITHIN_MS = 120_000
const READY_POLL_MS = 40
const NOT_YET_MS = 250
/** Pauses before the next start of a process that keeps ending. */
const BACKOFF_MS = [200, 500, 1000, 2000, 5000, 10_000]
/** A process that ran this long has recovered: the pauses begin again. */
const HEALTHY_MS = 30_000
const LOG_LIMIT_BYTES = 10 * 1024 * 1024

export function supervise(spec: ProcessSpec, hooks: SupervisorHooks): Child {
  return new Supervised(spec, hooks)
}

class Supervised implements Child {
  readonly name: string
  readonly #spec: ProcessSpec
  readonly #hooks: SupervisorHooks
  #process: ChildProcess | null = null
  #wanted = false
  #starting: Promise<void> | null = null
  #failures = 0

  constructor(spec: ProcessSpec, hooks: SupervisorHooks) {
    this.name = spec.name
    this.#spec = spec
    this.#hooks = hooks
  }

  pid(): number | null {
    return this.#process?.pid ?? null
  }

  start(): Promise<void> {
    this.#wanted = true
    this.#starting ??= this.#launch().finally(() => {
      this.#starting = null
    })
    return this.#starting
  }

  async stop(graceMs: number): Promise<void> {
    this.#wanted = false
    const running = this.#process
    if (running === null) return
    running.kill(this.#spec.stopSignal)
    if (!(await waitForExit(running, graceMs))) {
      running.kill('SIGKILL')
      await waitForExit(running, graceMs)
    }
  }

  async kill9(options: { stayDown?: boolean } = {}): Promise<void> {
    if (options.stayDown === true) this.#wanted = false
    const running = this.#process
    if (running === null) return
    running.kill('SIGKILL')
    await waitForExit(running, READY_WITHIN_MS)
  }

  async restart(): Promise<void> {
    await this.stop(3000)
    await this.start()
  }

  async untilReady(): Promise<void> {
    await poll(async () => this.#process !== null && this.#starting === null, {
      withinMs: READY_WITHIN_MS,
      everyMs: READY_POLL_MS,
      what: `${this.name} to be ready`,
    })
  }

  async #launch(): Promise<void> {
    if (this.#process !== null) return
    await this.#spec.prepare?.()
    const { notYet } = this.#spec
    for (const deadline = Date.now() + READY_WITHIN_MS; ; await delay(NOT_YET_MS))
      try {
        await this.#launchOnce()
        return
      } catch (error) {
        const isEarly = this.#process === null && notYet?.test((error as Error).message) === true
        if (!isEarly || !this.#wanted || Date.now() > deadline) throw error
      }
  }

  async #launchOnce(): Promise<void> {
    const { logFile } = this.#spec
    rotate(logFile)
    // A process that is ready before this one starts is another one on its port, which would be taken for this one.
    if (await this.#spec.ready(() => '').catch(() => false))
      throw new Error(`${this.name}: address already in use by another process that answers there`)
    if (!this.#wanted) throw new Error(`${this.name} was stopped while starting`)
    const from = readSize(logFile)
    const running = this.#spawn()
    const logged = (): string => readFileSync(logFile).subarray(from).toString()
    try {
      await poll(() => this.#isReady(running, logged), {
        withinMs: READY_WITHIN_MS,
        everyMs: READY_POLL_MS,
        what: `${this.name} to be ready`,
      })
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${lastLines(logged(), 12)}\nAll of it: ${logFile}`, {
        cause: error,
      })
    }
  }

  async #isReady(running: ChildProcess, logged: () => string): Promise<boolean> {
    if (this.#process !== running) throw new Error(`${this.name} ended while starting`)
    return this.#spec.ready(logged)
  }

  #spawn(): ChildProcess {
    const { command, args, env, cwd, user, logFile } = this.#spec
    const log = openSync(logFile, 'a')
    // A dedicated group: Ctrl-C in the terminal reaches only the supervisor, which ends its children in order.
    const running = spawn(command, args, { cwd, env, ...user, detached: true, stdio: ['ignore', log, log] })
    closeSync(log)
    const startedAt = Date.now()
    this.#process = running
    this.#hooks.onPid(this.#spec, running.pid ?? null)
    let gone = false
    const onGone = (how: string): void => {
      if (gone) return
      gone = true
      this.#process = null
      this.#hooks.onPid(this.#spec, null)
      if (Date.now() - startedAt > HEALTHY_MS) this.#failures = 0
      // A process that ends while it is being started is handled by the caller of the start.
      if (this.#wanted && this.#starting === null) void this.#revive(how)
    }
    running.on('error', (error) => onGone(error.message))
    running.on('exit', (code, signal) => onGone(signal ?? `exit code ${code}`))
    return running
  }

  async #revive(how: string): Promise<void> {
    const pause = BACKOFF_MS[Math.min(this.#failures, BACKOFF_MS.length - 1)] ?? 0
    this.#failures += 1
    this.#hooks.log(`${this.name} ended (${how}); it is started again in ${pause / 1000} s`)
    await delay(pause, undefined, { ref: false })
    if (!this.#wanted || this.#process !== null || this.#starting !== null) return
    try {
      await this.start()
      this.#hooks.log(`${this.name} is back`)
    } catch (error) {
      if (this.#wanted) await this.#revive((error as Error).message.split('\n', 1)[0] ?? '')
    }
  }
}

function waitForExit(running: ChildProcess, withinMs: number): Promise<boolean> {
  if (running.exitCode !== null || running.signalCode !== null) return Promise.resolve(true)
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), withinMs)
    running.once('exit', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}

function rotate(logFile: string): void {
  mkdirSync(dirname(logFile), { recursive: true })
  if (readSize(logFile) > LOG_LIMIT_BYTES) renameSync(logFile, `${logFile}.1`)
}

function readSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
