import { setTimeout as delay } from 'node:timers/promises'
import type { SettlementDeps } from '../chain/context.ts'
import { createSettlementEngine } from '../chain/engine.ts'
import { assertReady, SettlementRefusal } from '../chain/startup.ts'
import type { Db } from '../db/db.ts'
import type { SettlementHooks } from '../db/settlement/context.ts'
import { createSettlementJournal } from '../db/settlement/journal.ts'

export type SettlementRunnerOptions = SettlementHooks & {
  readonly db: Db
  readonly livemode: boolean
  /** Everything that the engine needs except its journal, which is made here from `db` and the hooks. */
  readonly chain: Omit<SettlementDeps, 'journal' | 'clock' | 'log'>
  readonly clock: () => Date
  readonly log: SettlementDeps['log']
  readonly everyMs: number
}

export type SettlementRunner = {
  /** Throws SettlementRefusal for a configuration with which nothing must be paid. */
  assertReady(): Promise<void>
  /** One round: observes, then sends. */
  tick(): Promise<void>
  /** Checks the start, then goes round until the signal; gives its leases back at the end. */
  run(signal: AbortSignal): Promise<void>
}

/** Composes engine, journal and hooks: the one place where settlement meets payments. */
export function createSettlementRunner(options: SettlementRunnerOptions): SettlementRunner {
  const { db, livemode, chain, clock, log } = options
  const scope = { livemode, chainId: chain.token.chainId, token: chain.token.address }
  const journal = createSettlementJournal({ db, scope, hooks: options })
  const deps: SettlementDeps = { ...chain, journal, clock, log }
  const engine = createSettlementEngine(deps)
  const ready = (): Promise<void> => assertReady(deps, livemode)
  return {
    assertReady: ready,
    async tick() {
      await engine.observe()
      await engine.send()
    },
    async run(signal) {
      await untilReady(options, ready, signal)
      const observe = async () => ({ busy: await engine.observe().then(() => false) })
      await Promise.all([
        goRound(options, { name: 'observing', work: observe }, signal),
        goRound(options, { name: 'sending', work: () => engine.send() }, signal),
      ])
      await engine
        .close()
        .catch((error: unknown) => log.warn({ err: error }, 'leases run out instead of being given back'))
    },
  }
}

/** A refusal ends the start; anything else (a provider that does not answer) is tried again. */
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

type Half = { readonly name: string; readonly work: () => Promise<{ busy: boolean }> }

async function goRound(
  { log, everyMs }: SettlementRunnerOptions,
  { name, work }: Half,
  signal: AbortSignal,
): Promise<void> {
  let failing = false
  while (!signal.aborted) {
    let busy = false
    try {
      busy = (await work()).busy
      if (failing) log.info({ round: name }, 'settlement works again')
      failing = false
    } catch (error) {
      if (!failing) log.error({ err: error, round: name }, 'a round of settlement failed; the next one tries again')
      failing = true
    }
    // With a queue to work off, the rounds follow each other at once.
    await pause(busy ? 0 : everyMs, signal)
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<unknown> =>
  delay(ms, undefined, { signal }).catch(() => undefined)
