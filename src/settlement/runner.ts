import { setTimeout as delay } from 'node:timers/promises'
import { isRecent, NOTHING, type Progress, type SettlementDeps } from '../chain/context.ts'
import { createSettlementEngine, type Look, type SettlementEngine } from '../chain/engine.ts'
import { hasToSend, isUnderWay } from '../chain/lead.ts'
import { createPartReporter } from '../chain/part-report.ts'
import { assertReady, SettlementRefusal } from '../chain/startup.ts'
import type { Db } from '../db/db.ts'
import type { SettlementHooks } from '../db/settlement/context.ts'
import { createSettlementJournal } from '../db/settlement/journal.ts'
import type { MicroUsdc } from '../domain/money.ts'
import { createWakeup, type Wakeup } from '../runtime/wakeup.ts'
import { createSettlementFigures, type SettlementFigures } from './figures.ts'
import { createLooks, type Looks } from './looks.ts'

/** Factor of the time of a round while nothing happens: a notification or another part ends the wait. */
const IDLE_ROUNDS = 10

/** The factor while only a sent transaction waits for its block. */
const WAITING_ROUNDS = 2

const SHORTEST_RENEWAL_MS = 250

/** Milliseconds after which lanes and their gas money are examined although there is nothing to send: five minutes. */
const LANES_MS = 300_000

export type SettlementRunnerOptions = SettlementHooks & {
  readonly db: Db
  /** Everything that the engine needs except its journal, which is created here from `db` and the hooks. */
  readonly chain: Omit<SettlementDeps, 'journal' | 'clock' | 'log'>
  readonly clock: () => Date
  readonly log: SettlementDeps['log']
  readonly everyMs: number
  /** Micro-USDC that conversions leave in the float; null: there is no float. */
  readonly reserveMicro?: MicroUsdc | null
}

export type SettlementRunner = {
  readonly figures: SettlementFigures
  /** Throws SettlementRefusal for a configuration with which no payout must be paid. */
  assertReady(): Promise<void>
  /** Runs one round of each part, one after the other. Throws the first failure after all had their turn. */
  tick(): Promise<void>
  /** Checks at once if there is work: a payout to sign, or anything. */
  wake(what?: 'signing'): void
  /** Checks the start, then runs rounds until the signal; releases its leases at the end. */
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
  const looks = createLooks(engine, 2 * IDLE_ROUNDS * options.everyMs)
  const wakeups = {
    observing: createWakeup(),
    deposits: createWakeup(),
    signing: createWakeup(),
    sending: createWakeup(),
  }
  const withLook = async (work: (look: Look) => Promise<unknown>): Promise<void> => {
    const look = await engine.look()
    if (look !== null) await work(look)
  }
  const ready = (): Promise<void> => assertReady(deps, livemode)
  const reporter = createPartReporter(deps, 'observing')
  const begin = (): Promise<unknown> =>
    reporter.report(async () => {
      await ready()
      await engine.begin()
      return NOTHING
    })
  return {
    figures: createSettlementFigures({ db, chain, clock, reserveMicro: options.reserveMicro ?? null }),
    assertReady: ready,
    wake(what) {
      looks.forget()
      if (what === undefined) wakeups.observing.wake()
      wakeups.signing.wake()
    },
    async tick() {
      const failures: unknown[] = []
      const parts = [
        () => withLook((look) => engine.observe(look)),
        () => withLook(({ lead }) => engine.readDeposits(lead)),
        () => withLook(({ lead }) => engine.authorize(lead)),
        () => withLook((look) => engine.send(look, true)),
      ]
      for (const part of parts) await part().catch((error: unknown) => failures.push(error))
      if (failures.length > 0) throw failures[0]
    },
    async run(signal) {
      await untilReady(options, begin, signal)
      const renewal = setInterval(() => void engine.renew(), Math.max(SHORTEST_RENEWAL_MS, chain.options.leaseMs / 3))
      const parts = createParts({ engine, looks, wakeups, clock, waitingMs: WAITING_ROUNDS * options.everyMs })
      await Promise.all(parts.map((part) => runRounds(options, part, signal)))
      clearInterval(renewal)
      await engine
        .close()
        .catch((error: unknown) => log.warn({ err: error }, 'could not release the leases: they expire instead'))
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
  readonly looks: Looks
  readonly wakeups: Readonly<Record<'observing' | 'deposits' | 'signing' | 'sending', Wakeup>>
  readonly clock: () => Date
  /** Milliseconds after which a sent transaction may be in a block. */
  readonly waitingMs: number
}

/**
 * The parts that run in rounds. The first reads what there is to do, in one statement, and wakes the others; if it
 * hangs, each of them reads it.
 */
function createParts({ engine, looks, wakeups, clock, waitingMs }: Parts): Part[] {
  let isAhead = false
  let lookedAt = Number.NEGATIVE_INFINITY
  const observeSoon = createDelayedCall(() => wakeups.observing.wake(), waitingMs)
  return [
    {
      name: 'observing',
      wakeup: wakeups.observing,
      async work() {
        const found = await looks.take()
        if (found === null) return IDLE
        const isBusy = isUnderWay(found.lead)
        if (found.lead.work.sign) wakeups.signing.wake()
        if (hasToSend(found.lead) || !isRecent(lookedAt, clock().getTime(), LANES_MS)) wakeups.sending.wake()
        const progress = await engine.observe(found)
        if (progress.hasDeposits) wakeups.deposits.wake()
        const { sign, send, sweep } = found.lead.work
        return { ...progress, rounds: !isBusy ? IDLE_ROUNDS : sign || send || sweep ? 1 : WAITING_ROUNDS }
      },
    },
    // Separate from payouts, which a read of addresses must not delay.
    {
      name: 'deposits',
      wakeup: wakeups.deposits,
      async work(isWoken) {
        const lead = await looks.lead(isWoken)
        if (lead !== null) await engine.readDeposits(lead)
        return IDLE
      },
    },
    // What is signed can be sent at once, even if a later signature of the round failed.
    {
      name: 'signing',
      wakeup: wakeups.signing,
      async work(isWoken) {
        const lead = await looks.lead(isWoken)
        if (lead?.work.sign !== true) return IDLE
        const progress = await engine.authorize(lead).catch((error: unknown) => {
          wakeups.sending.wake()
          throw error
        })
        isAhead = progress.ahead
        if (progress.done > 0) {
          looks.forget()
          wakeups.sending.wake()
        }
        return { ...progress, rounds: IDLE_ROUNDS }
      },
    },
    // Wakes signing if it waited for room; otherwise signing keeps its own pace, so that payouts share a batch.
    {
      name: 'sending',
      wakeup: wakeups.sending,
      async work(isWoken) {
        const found = await looks.share(isWoken)
        if (found === null) return IDLE
        const now = clock().getTime()
        const isDue = !isRecent(lookedAt, now, LANES_MS)
        if (!isDue && !hasToSend(found.lead)) return IDLE
        const progress = await engine.send(found, isDue).finally(() => isAhead && wakeups.signing.wake())
        lookedAt = now
        if (progress.done > 0) observeSoon()
        return { ...progress, rounds: IDLE_ROUNDS }
      },
    },
  ]
}

/** Returns a function that calls once, `ms` milliseconds later, for all requests until then. */
function createDelayedCall(call: () => void, ms: number): () => void {
  let timer: NodeJS.Timeout | undefined
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined
      call()
    }, ms).unref()
  }
}

type Round = Pick<Progress, 'more'> & { readonly rounds: number }

const IDLE: Round = { more: false, rounds: IDLE_ROUNDS }

type Part = { readonly name: string; readonly wakeup: Wakeup; readonly work: (isWoken: boolean) => Promise<Round> }

async function runRounds(
  { log, everyMs }: SettlementRunnerOptions,
  { name, wakeup, work }: Part,
  signal: AbortSignal,
): Promise<void> {
  signal.addEventListener('abort', () => wakeup.wake(), { once: true })
  let failing = false
  let isWoken = true
  while (!signal.aborted) {
    let round: Round = { more: false, rounds: 1 }
    try {
      round = await work(isWoken)
      if (failing) log.info({ round: name }, 'settlement works again')
      failing = false
    } catch (error) {
      if (!failing) log.error({ err: error, round: name }, 'a round of settlement failed; the next one tries again')
      failing = true
    }
    // While there is a queue, the rounds follow each other without a pause.
    isWoken = round.more || (await wakeup.wait(everyMs * round.rounds)) || failing
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<unknown> =>
  delay(ms, undefined, { signal }).catch(() => undefined)
