import { setTimeout as delay } from 'node:timers/promises'
import { NOTHING, type Progress, type SettlementDeps } from '../chain/context.ts'
import { createSettlementEngine } from '../chain/engine.ts'
import { assertReady, SettlementRefusal } from '../chain/startup.ts'
import type { Db } from '../db/db.ts'
import type { SettlementHooks } from '../db/settlement/context.ts'
import { createSettlementJournal } from '../db/settlement/journal.ts'

export type SettlementRunnerOptions = SettlementHooks & {
  readonly db: Db
  /** Everything that the engine needs except its journal, which is made here from `db` and the hooks. */
  readonly chain: Omit<SettlementDeps, 'journal' | 'clock' | 'log'>
  readonly clock: () => Date
  readonly log: SettlementDeps['log']
  readonly everyMs: number
}

export type SettlementRunner = {
  /** Throws SettlementRefusal for a configuration with which nothing must be paid. */
  assertReady(): Promise<void>
  /** One round of each part, one after the other. A failure of one is thrown when all had their turn. */
  tick(): Promise<void>
  /** Checks the start, then goes round until the signal; gives its leases back at the end. */
  run(signal: AbortSignal): Promise<void>
}

/** Composes engine, journal and hooks: the one place where settlement meets payments. */
export function createSettlementRunner(options: SettlementRunnerOptions): SettlementRunner {
  const { db, chain, clock, log } = options
  const { livemode } = db
  const scope = { livemode, chainId: chain.token.chainId, token: chain.token.address }
  const journal = createSettlementJournal({ db, scope, hooks: options })
  const deps: SettlementDeps = { ...chain, journal, clock, log }
  const engine = createSettlementEngine(deps)
  const ready = (): Promise<void> => assertReady(deps, livemode)
  return {
    assertReady: ready,
    async tick() {
      const failures: unknown[] = []
      for (const part of [() => engine.observe(), () => engine.authorize(), () => engine.send()])
        await part().catch((error: unknown) => failures.push(error))
      if (failures.length > 0) throw failures[0]
    },
    async run(signal) {
      await untilReady(options, ready, signal)
      const signing = createBell()
      const sending = createBell()
      let isAhead = false
      const parts: Part[] = [
        { name: 'observing', bell: createBell(), work: () => engine.observe().then(() => NOTHING) },
        // What is signed can be sent at once, also when a later signature of the round failed.
        {
          name: 'signing',
          bell: signing,
          async work() {
            const progress = await engine.authorize().catch((error: unknown) => {
              sending.ring()
              throw error
            })
            isAhead = progress.ahead
            if (progress.done > 0) sending.ring()
            return progress
          },
        },
        // Signing that waited for room goes on; else it waits for its time, so that payouts travel together.
        { name: 'sending', bell: sending, work: () => engine.send().finally(() => isAhead && signing.ring()) },
      ]
      await Promise.all(parts.map((part) => goRound(options, part, signal)))
      await engine
        .close()
        .catch((error: unknown) => log.warn({ err: error }, 'leases run out instead of being given back'))
    },
  }
}

/** A refusal ends the start; anything else (a node that does not answer) is tried again. */
async function untilReady(
  { log, everyMs }: SettlementRunnerOptions,
  ready: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await ready()
      return
    } catch (error) {
      if (error instanceof SettlementRefusal) throw error
      log.warn({ err: error }, 'settlement cannot start yet; tried again')
      await pause(everyMs, signal)
    }
  }
}

type Part = { readonly name: string; readonly bell: Bell; readonly work: () => Promise<Progress> }

async function goRound(
  { log, everyMs }: SettlementRunnerOptions,
  { name, bell, work }: Part,
  signal: AbortSignal,
): Promise<void> {
  signal.addEventListener('abort', () => bell.ring(), { once: true })
  let failing = false
  while (!signal.aborted) {
    let more = false
    try {
      more = (await work()).more
      if (failing) log.info({ round: name }, 'settlement works again')
      failing = false
    } catch (error) {
      if (!failing) log.error({ err: error, round: name }, 'a round of settlement failed; the next one tries again')
      failing = true
    }
    // With a queue to work off, the rounds follow each other at once.
    if (!more) await bell.wait(everyMs)
  }
}

/** Ends another part's waiting early; rung while nobody waits, it ends the next waiting. */
type Bell = { ring(): void; wait(ms: number): Promise<void> }

function createBell(): Bell {
  let rung = false
  let wake = (): void => undefined
  return {
    ring() {
      rung = true
      wake()
    },
    async wait(ms) {
      if (!rung)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      rung = false
    },
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<unknown> =>
  delay(ms, undefined, { signal }).catch(() => undefined)
