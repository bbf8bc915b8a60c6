import { type Bell, createBell } from '../bell.ts'
import type { WorkerConfig } from '../config.ts'
import type { Db } from '../db/db.ts'
import type { Logger } from '../log.ts'
import type { Loop } from '../worker/loop.ts'
import { createReconciliation } from '../worker/reconcile.ts'
import { PER_ROUND, type Relay } from '../worker/relay.ts'
import { createRetention, MORE } from '../worker/retention.ts'
import { tokenOf } from './keys.ts'

/** While nothing ends, messages about payouts are looked for that much less: the engine of this process tells of its own. */
const IDLE_ROUNDS = 10

/** Payments without a workflow are looked for this often, each time among a thousand payments. */
const ORPHANS_EVERY_MS = 20_000

/** What is kept no longer is deleted this often, and then until nothing is left. */
const RETENTION_EVERY_MS = 60 * 60 * 1000

/** One of the workers compares each hour: the others only see that it is not due. */
const RECONCILIATION_EVERY_MS = 60_000

export function composeReconciliation({ db, log }: { db: Db; log: Logger }): Loop {
  const tick = createReconciliation({ db, log, now: Date.now })
  return { name: 'reconciliation', everyMs: RECONCILIATION_EVERY_MS, tick, log }
}

export function composeRetention(config: WorkerConfig, { db, log }: { db: Db; log: Logger }): Loop {
  const tick = createRetention({
    db,
    now: Date.now,
    scope: { chainId: config.CHAIN_ID, token: tokenOf(config).address },
    bytesDays: config.SETTLEMENT_BYTES_DAYS,
  })
  const everyMs = RETENTION_EVERY_MS
  return { name: 'retention', everyMs, tick, idle: { everyMs, bell: createBell(), pageSize: MORE }, log }
}

export function relayLoops(
  { RELAY_TICK_MS: everyMs, SETTLEMENT_TICK_MS: transfersEveryMs }: WorkerConfig,
  {
    relay,
    sweep,
    transfers,
    log,
  }: { relay: Relay; sweep: { readonly tick: () => Promise<unknown> }; transfers: Bell; log: Logger },
): Loop[] {
  return [
    // A settled payout is waited for by its payment: as often as the engine looks.
    {
      name: 'transfers',
      everyMs: transfersEveryMs,
      tick: relay.completeTransfers,
      idle: { everyMs: transfersEveryMs * IDLE_ROUNDS, bell: transfers, pageSize: PER_ROUND },
      log,
    },
    { name: 'starts', everyMs, tick: relay.startPayments, log },
    { name: 'partner news', everyMs, tick: relay.tellPartnerNews, log },
    { name: 'deliveries', everyMs, tick: sweep.tick, log },
    { name: 'orphans', everyMs: ORPHANS_EVERY_MS, tick: relay.adoptOrphans, log },
  ]
}
