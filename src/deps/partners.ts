import type { WorkerConfig } from '../config/config.ts'
import { readCalls } from '../config/partners.ts'
import type { Db } from '../db/db.ts'
import { limitConverter, limitPartners } from '../partners/decorators/limited.ts'
import { askPartner, reportStanding } from '../partners/decorators/standing.ts'
import { type Watching, watchConverter, watchPartners } from '../partners/decorators/watched.ts'
import { createPartners } from '../partners/index.ts'
import type { Logger } from '../runtime/log.ts'
import type { Loop } from '../worker/loop.ts'
import { createDisputeAnswers } from '../worker/partners/dispute-answers.ts'
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

/** Milliseconds for all calls about an answer, with its files; less than another worker waits for the answer. */
const ANSWER_MS = 50_000

/** Milliseconds between two rounds while there are answers to disputes. */
const ANSWERS_EVERY_MS = 1000

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
    readonly wakeups: Pick<WorkWakeups, 'partners' | 'disputes' | 'dispute_answers'>
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
  const answers = createDisputeAnswers({
    db,
    ask: (name, request) => measured[name].answerDispute?.(request, AbortSignal.timeout(ANSWER_MS)) ?? null,
    clock,
    log,
  })
  const loops: Loop[] = [
    { name: 'partners', everyMs: ASKED_EVERY_MS, tick: watch.tick, idle: { wakeup: wakeups.partners }, log },
    { name: 'disputes', everyMs: DISPUTES_EVERY_MS, tick: sweep, idle: { wakeup: wakeups.disputes }, log },
    {
      name: 'dispute_answers',
      everyMs: ANSWERS_EVERY_MS,
      tick: answers,
      idle: { wakeup: wakeups.dispute_answers },
      log,
    },
  ]
  return {
    partners: reportStanding(limitPartners(measured), watch),
    converter: limitConverter(watchConverter(connectConverter(config), watching)),
    loops,
  }
}
