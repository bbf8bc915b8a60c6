import type { Bell } from '../bell.ts'
import type { WorkerConfig } from '../config.ts'
import type { Db } from '../db/db.ts'
import type { Logger } from '../log.ts'
import { keepRoom, keepRoomBeside } from '../providers/around/crowded.ts'
import { askPartner, reportStanding } from '../providers/around/standing.ts'
import { type Watching, watchConverter, watchPartners } from '../providers/around/watched.ts'
import { createPartners } from '../providers/index.ts'
import type { Loop } from '../worker/loop.ts'
import { createPartnerWatch } from '../worker/partners/partner-watch.ts'
import { connectConverter, partnerSettings } from './shared.ts'

/** Milliseconds between two rounds while a partner is suspected or down. */
const ASKED_EVERY_MS = 2500

export function composePartners(
  config: WorkerConfig,
  { db, log, bell, ...watching }: { readonly db: Db; readonly log: Logger; readonly bell: Bell } & Watching,
) {
  const measured = watchPartners(createPartners(partnerSettings(config)), watching)
  const watch = createPartnerWatch({ db, ask: (name) => askPartner(measured[name]), log, wake: bell.ring })
  const loop: Loop = {
    name: 'partners',
    everyMs: ASKED_EVERY_MS,
    tick: watch.tick,
    idle: { bell },
    log,
  }
  return {
    partners: reportStanding(keepRoom(measured), watch),
    converter: keepRoomBeside(watchConverter(connectConverter(config), watching)),
    loop,
  }
}
