import type { WorkerConfig } from '../config/config.ts'
import type { Db } from '../db/db.ts'
import { limitConverter, limitPartners } from '../partners/decorators/limited.ts'
import { askPartner, reportStanding } from '../partners/decorators/standing.ts'
import { type Watching, watchConverter, watchPartners } from '../partners/decorators/watched.ts'
import { createPartners } from '../partners/index.ts'
import type { Logger } from '../runtime/log.ts'
import type { Wakeup } from '../runtime/wakeup.ts'
import type { Loop } from '../worker/loop.ts'
import { createPartnerWatch } from '../worker/partners/partner-watch.ts'
import { connectConverter, partnerSettings } from './shared.ts'

/** Milliseconds between two rounds while a partner is suspected or down. */
const ASKED_EVERY_MS = 2500

export function composePartners(
  config: WorkerConfig,
  {
    db,
    log,
    wakeup,
    clock,
    ...watching
  }: {
    readonly db: Db
    readonly log: Logger
    readonly wakeup: Wakeup
    readonly clock: () => number
  } & Watching,
) {
  const measured = watchPartners(createPartners(partnerSettings(config), clock), watching)
  const watch = createPartnerWatch({ db, ask: (name) => askPartner(measured[name]), log, wake: wakeup.wake })
  const loop: Loop = {
    name: 'partners',
    everyMs: ASKED_EVERY_MS,
    tick: watch.tick,
    idle: { wakeup },
    log,
  }
  return {
    partners: reportStanding(limitPartners(measured), watch),
    converter: limitConverter(watchConverter(connectConverter(config), watching)),
    loop,
  }
}
