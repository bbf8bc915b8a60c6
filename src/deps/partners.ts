import type { WorkerConfig } from '../config/config.ts'
import { readCalls } from '../config/partners.ts'
import type { Db } from '../db/db.ts'
import { limitConverter, limitPartners } from '../partners/decorators/limited.ts'
import { askPartner, reportStanding } from '../partners/decorators/standing.ts'
import { type Watching, watchConverter, watchPartners } from '../partners/decorators/watched.ts'
import { createPartners } from '../partners/index.ts'
import type { Logger } from '../runtime/log.ts'
import type { Loop } from '../worker/loop.ts'
import { createDisputeSweep } from '../worker/partners/dispute-sweep.ts'
import { createPartnerWatch } from '../worker/partners/partner-watch.ts'
import type { WorkWakeups } from '../worker/work-look.ts'
import { connectConverter } from './shared.ts'

/** Milliseconds between two rounds while a partner is suspected or down. */
const ASKED_EVERY_MS = 2500

/** Milliseconds between two rounds while disputes are new: the next round finds nothing. */
const DISPUTES_EVERY_MS = 60_000

/** Milliseconds for all pages of a list of disputes; less than another worker waits for the sweep to end. */
const LIST_MS = 240_000

export const readPartners = (config: WorkerConfig) => ({
  wallet_app: readCalls(config, 'wallet_app'),
  card_partner: readCalls(config, 'card_partner'),
  local_partner: readCalls(config, 'local_partner'),
})

export function composePartners(
  config: WorkerConfig,
  {
    db,
    log,
    wakeups,
    clock,
    ...watching
  }: {
    readonly db: Db
    readonly log: Logger
    readonly wakeups: Pick<WorkWakeups, 'partners' | 'disputes'>
    readonly clock: () => number
  } & Watching,
) {
  const measured = watchPartners(createPartners(readPartners(config), clock), watching)
  const watch = createPartnerWatch({ db, ask: (name) => askPartner(measured[name]), log, wake: wakeups.partners.wake })
  const sweep = createDisputeSweep({
    db,
    list: async (name, since) => (await measured[name].listDisputes?.(since, AbortSignal.timeout(LIST_MS))) ?? [],
    clock,
    log,
  })
  const loops: Loop[] = [
    { name: 'partners', everyMs: ASKED_EVERY_MS, tick: watch.tick, idle: { wakeup: wakeups.partners }, log },
    { name: 'disputes', everyMs: DISPUTES_EVERY_MS, tick: sweep, idle: { wakeup: wakeups.disputes }, log },
  ]
  return {
    partners: reportStanding(limitPartners(measured), watch),
    converter: limitConverter(watchConverter(connectConverter(config), watching)),
    loops,
  }
}
