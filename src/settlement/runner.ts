import { setTimeout as delay } from 'node:timers/promises'
import { type Bell, createBell } from '../bell.ts'
import { isRecent, NOTHING, type Progress, type SettlementDeps } from '../chain/context.ts'
import { createSettlementEngine, type SettlementEngine } from '../chain/engine.ts'
import { createPartReporter } from '../chain/part-report.ts'
import { assertReady, SettlementRefusal } from '../chain/startup.ts'
import type { Db } from '../db/db.ts'
import type { SettlementHooks } from '../db/settlement/context.ts'
import { createSettlementJournal } from '../db/settlement/journal.ts'
import { createSettlementFigures, type SettlementFigures } from './figures.ts'

/** While nothing happens, so many rounds are left out: a notice or another part ends the waiting. */
const IDLE_ROUNDS = 10

/** The lanes and their gas money are looked at that often though there is nothing to send: five minutes. */
const LANES_MS = 300_000

export type SettlementRunnerOptions = SettlementHooks & {
  readonly db: Db
  /** Everything that the engine needs except its journal, which is made here from `db` and the hooks. */
  readonly chain: Omit<SettlementDeps, 'journal' | 'clock' | 'log'>
  readonly clock: () => Date
  readonly log: SettlementDeps['log']
  readonly everyMs: number
  /** Told when payouts have ended, after the commit. */
  readonly onEnded?: () => void
}

export type SettlementRunner = {
  /** What operators are told about it. */
  readonly figures: SettlementFigures
  /** Throws SettlementRefusal for a configuration with which nothing must be paid. */
  assertReady(): Promise<void>
  /** One round of each part, one after the other. A failure of one is thrown when all had their turn. */
  tick(): Promise<void>
  /** Tells that there may be something to do: what waits because nothing happens, looks at once. */
  wake(): void
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
  const bells = { observing: createBell(), deposits: createBell(), signing: createBell(), sending: createBell() }
  const ready = (): Promise<void> => assertReady(deps, livemode)
  const reporter = createPartReporter(deps, 'observing')
  const begin = (): Promise<unknown> =>
    reporter.report(async () => {
      await ready()
      await engine.begin()
      return NOTHING
    })
  return {
    figures: createSettlementFigures({ db, chain, clock }),
    assertReady: ready,
    wake() {
      for (const bell of Object.values(bells)) bell.ring()
    },
    async tick() {
      const failures: unknown[] = []
      const parts = [
        () => engine.observe(),
        () => engine.observeDeposits(),
        () => engine.authorize(),
        () => engine.send(),
      ]
      for (const part of parts) await part().catch((error: unknown) => failures.push(error))
      if (failures.length > 0) throw failures[0]
    },
    async run(signal) {
      await untilReady(options, begin, signal)
      const parts = createParts({ engine, journal, bells, clock, ended: options.onEnded })
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
  ready: () => Promise<unknown>,
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

type Parts = {
  readonly engine: SettlementEngine
  readonly journal: Pick<SettlementDeps['journal'], 'readWork'>
  readonly bells: Readonly<Record<'observing' | 'deposits' | 'signing' | 'sending', Bell>>
  readonly clock: () => Date
  readonly ended: (() => void) | undefined
}

/** What goes round. Each asks in one statement whether there is anything to do before it does more. */
function createParts({ engine, journal, bells, clock, ended }: Parts): Part[] {
  let isAhead = false
  let lookedAt = Number.NEGATIVE_INFINITY
  return [
    {
      name: 'observing',
      bell: bells.observing,
      async work() {
        const progress = await engine.observe()
        if (progress.done > 0) ended?.()
        bells.deposits.ring()
        return { ...progress, idle: !(await journal.readWork()).underWay }
      },
    },
    // Apart from payouts, which a question about addresses must not hold up.
    {
      name: 'deposits',
      bell: bells.deposits,
      work: async () => ({ ...(await engine.observeDeposits()), idle: true }),
    },
    // What is signed can be sent at once, also when a later signature of the round failed.
    {
      name: 'signing',
      bell: bells.signing,
      async work() {
        if (!(await journal.readWork()).sign) return IDLE
        const progress = await engine.authorize().catch((error: unknown) => {
          bells.sending.ring()
          throw error
        })
        isAhead = progress.ahead
        if (progress.done > 0) bells.sending.ring()
        return progress
      },
    },
    // Signing that waited for room goes on; else it waits for its time, so that payouts travel together.
    {
      name: 'sending',
      bell: bells.sending,
      async work() {
        const now = clock().getTime()
        if (isRecent(lookedAt, now, LANES_MS) && !(await journal.readWork()).send) return IDLE
        const progress = await engine.send().finally(() => isAhead && bells.signing.ring())
        if (progress === null) return NOTHING
        lookedAt = now
        if (progress.done > 0) bells.observing.ring()
        return progress
      },
    },
  ]
}

const IDLE = { ...NOTHING, idle: true }

type Part = { readonly name: string; readonly bell: Bell; readonly work: () => Promise<Progress> }

async function goRound(
  { log, everyMs }: SettlementRunnerOptions,
  { name, bell, work }: Part,
  signal: AbortSignal,
): Promise<void> {
  signal.addEventListener('abort', () => bell.ring(), { once: true })
  let failing = false
  while (!signal.aborted) {
    let progress = NOTHING
    try {
      progress = await work()
      if (failing) log.info({ round: name }, 'settlement works again')
      failing = false
    } catch (error) {
      if (!failing) log.error({ err: error, round: name }, 'a round of settlement failed; the next one tries again')
      failing = true
    }
    // With a queue to work off, the rounds follow each other at once.
    if (!progress.more) await bell.wait(progress.idle ? everyMs * IDLE_ROUNDS : everyMs)
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<unknown> =>
  delay(ms, undefined, { signal }).catch(() => undefined)
