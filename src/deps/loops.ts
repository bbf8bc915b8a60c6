import type { WorkerConfig } from '../config/config.ts'
import type { Db } from '../db/db.ts'
import { getTreasury, type Treasury } from '../domain/settlement/treasuries.ts'
import type { ChangeContext } from '../payments/change-payment.ts'
import type { Logger } from '../runtime/log.ts'
import { createWakeup } from '../runtime/wakeup.ts'
import { createReleaseRound, RELEASES_PER_ROUND } from '../settlement/release-round.ts'
import { PER_ROUND as DELIVERIES_PER_ROUND, type DeliverySweep } from '../worker/delivery-sweep.ts'
import type { Loop } from '../worker/loop.ts'
import { createReconciliation } from '../worker/reconcile.ts'
import { CANCELED_PER_ROUND, PER_ROUND, type Relay, STARTS_PER_ROUND } from '../worker/relay.ts'
import { createRetention, MORE } from '../worker/retention.ts'
import { createWorkLook, type WorkWakeups } from '../worker/work-look.ts'
import { getToken } from './keys.ts'

/** Rounds of one sweep between two looks that all sweeps share: ten seconds by default. */
const LOOK_ROUNDS = 10

/** Milliseconds between two searches for payments without a workflow, each among a thousand payments. */
const ORPHANS_EVERY_MS = 20_000

/** Milliseconds between two deletions of expired rows. A deletion continues until nothing is left. */
const RETENTION_EVERY_MS = 60 * 60 * 1000

/** Milliseconds. Reserves are due from midnight (UTC) on. */
const RELEASES_EVERY_MS = 10 * 60_000

/** Milliseconds. One of the workers reconciles each hour: the others only see that it is not due. */
const RECONCILIATION_EVERY_MS = 60_000

function composeReconciliation({ db, log }: { db: Db; log: Logger }): Loop {
  const tick = createReconciliation({ db, log, now: Date.now })
  return { name: 'reconciliation', everyMs: RECONCILIATION_EVERY_MS, tick, log }
}

function composeRetention(config: WorkerConfig, { db, log }: { db: Db; log: Logger }): Loop {
  const tick = createRetention({
    db,
    now: Date.now,
    scope: { chainId: config.CHAIN_ID, token: getToken(config).address },
    bytesDays: config.SETTLEMENT_BYTES_DAYS,
  })
  const everyMs = RETENTION_EVERY_MS
  return { name: 'retention', everyMs, tick, idle: { everyMs, wakeup: createWakeup(), pageSize: MORE }, log }
}

type Timed = { db: Db; log: Logger; context: ChangeContext; treasuries: readonly Treasury[] }

export const timerLoops = (config: WorkerConfig, timed: Timed): Loop[] => [
  composeRetention(config, timed),
  composeReconciliation(timed),
  composeReleases(config, timed),
]

function composeReleases(config: WorkerConfig, { db, log, context, treasuries }: Timed): Loop {
  const tick = createReleaseRound({
    db,
    log,
    context,
    scope: { livemode: db.livemode, chainId: config.CHAIN_ID, token: getToken(config).address },
    getTreasury: (ownerId) => getTreasury(ownerId, treasuries),
  })
  const everyMs = RELEASES_EVERY_MS
  return {
    name: 'reserves',
    everyMs,
    tick,
    idle: { everyMs, wakeup: createWakeup(), pageSize: RELEASES_PER_ROUND },
    log,
  }
}

export function relayLoops(
  { RELAY_TICK_MS: everyMs, SETTLEMENT_TICK_MS: changesEveryMs }: WorkerConfig,
  { relay, sweep, wakeups, log }: { relay: Relay; sweep: DeliverySweep; wakeups: WorkWakeups; log: Logger },
): Loop[] {
  const onWakeup = (name: keyof WorkWakeups, pageSize = PER_ROUND) => ({
    name,
    log,
    idle: { wakeup: wakeups[name], pageSize },
  })
  return [
    {
      ...onWakeup('changes'),
      // A payment waits for its settled payout.
      everyMs: changesEveryMs,
      tick: async () => {
        const { sent, isLastPage } = await relay.relayChanges()
        if (isLastPage) return 0
        // Messages that cannot be sent must not keep the page full without a pause.
        return sent === 0 ? 1 : PER_ROUND
      },
    },
    { ...onWakeup('starts', STARTS_PER_ROUND), everyMs, tick: relay.startPayments },
    { ...onWakeup('callbacks'), everyMs, tick: relay.relayCallbacks },
    { ...onWakeup('suspended', CANCELED_PER_ROUND), everyMs, tick: relay.cancelSuspended },
    { ...onWakeup('refunds'), everyMs, tick: relay.wakeRefunds },
    { ...onWakeup('deliveries', DELIVERIES_PER_ROUND), everyMs, tick: sweep.tick },
    { name: 'orphans', everyMs: ORPHANS_EVERY_MS, tick: relay.adoptOrphans, log },
  ]
}

export function composeLook(
  { RELAY_TICK_MS }: WorkerConfig,
  { db, wakeups, clock, log }: { db: Db; wakeups: WorkWakeups; clock: () => number; log: Logger },
): Loop {
  const everyMs = RELAY_TICK_MS * LOOK_ROUNDS
  const tick = createWorkLook({ db, wakeups, clock })
  return { name: 'look', everyMs, tick, idle: { everyMs, wakeup: wakeups.look }, log }
}
