import { setTimeout as delay } from 'node:timers/promises'
import { connectRpc } from '../../chain/rpc/rpc.ts'
import { countViolations, readAge } from '../../db/invariants/violations.ts'
import { compareSchema, readWaiting } from '../../db/operator/health.ts'
import { countAttention } from '../../db/payments/attention.ts'
import { plural } from '../../domain/plural.ts'
import { summarizeStanding } from '../../domain/settlement/answer.ts'
import { createTemporalClient } from '../../temporal/connect.ts'
import { listPollers, missingSearchAttributes } from '../../temporal/namespace.ts'
import { DELIVERIES_QUEUE, PAYMENTS_QUEUE } from '../../workflows/queues.ts'
import type { CommandContext } from '../call.ts'
import { readStanding } from '../status.ts'

/** Milliseconds: a slower part fails. */
const PATIENCE_MS = 10_000
/** Seconds of difference between two clocks that are tolerated. */
const CLOCK_SECONDS = 5
/** Seconds after which a message that the relay repeats every second counts as stuck. */
const STUCK_SECONDS = 300
/** Seconds: the books are reconciled hourly. */
const OLD_BOOKS_SECONDS = 3 * 3600

/** Something is wrong, and the message says what to do. */
class Failure extends Error {}

/** The part works, and something waits for an operator. */
class Warning extends Failure {}

type Look = { readonly part: string; readonly look: () => Promise<string> }

type Grade = 'ok' | 'warn' | 'fail'
const MARKS: Readonly<Record<Grade, string>> = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' }

/** Returns 1 if a part fails, or something waits for an operator. */
export async function doctor(context: CommandContext): Promise<number> {
  const temporal = createTemporalClient(context.settings)
  try {
    const looks = [...lookAtDatabase(context), ...lookAtTemporal(context, temporal), ...lookAtChain(context)]
    const found = await Promise.all(looks.map(examine))
    context.give('parts', found)
    for (const { part, grade, found: text } of found) context.say(`${MARKS[grade]}  ${part}: ${text}`)
    return found.every(({ grade }) => grade === 'ok') ? 0 : 1
  } finally {
    await temporal.close()
  }
}

async function examine({ part, look }: Look): Promise<{ part: string; grade: Grade; found: string }> {
  const patience = new AbortController()
  const tooLong = delay(PATIENCE_MS, null, { signal: patience.signal }).then(() => {
    throw new Failure(`no answer within ${PATIENCE_MS / 1000} s`)
  })
  // Aborted below, when nothing awaits it any more.
  tooLong.catch(() => undefined)
  try {
    return { part, grade: 'ok', found: await Promise.race([look(), tooLong]) }
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error)
    return { part, grade: error instanceof Warning ? 'warn' : 'fail', found }
  } finally {
    patience.abort()
  }
}

function lookAtDatabase({ db }: CommandContext): Look[] {
  return [
    { part: 'schema', look: async () => schema(await compareSchema(db)) },
    {
      part: 'clock',
      look: async () => {
        const before = Date.now()
        const { now } = await readWaiting(db)
        const seconds = Math.abs(Date.parse(now) - (before + Date.now()) / 2) / 1000
        if (seconds > CLOCK_SECONDS)
          throw new Failure(`the database's clock is ${seconds.toFixed(1)} s off: set up NTP on both`)
        return `the database's clock is ${seconds.toFixed(1)} s off`
      },
    },
    { part: 'relay', look: async () => relay(await readWaiting(db)) },
    {
      part: 'books',
      look: async () => books(await countViolations(db), await readAge(db)),
    },
    {
      part: 'attention',
      look: async () => {
        const kinds = await countAttention(db)
        if (kinds.length === 0) return 'nothing needs attention'
        const counts = kinds.map(({ kind, count }) => `${count} ${kind}`).join(', ')
        throw new Warning(`${counts}: see \`pinrail attention\``)
      },
    },
  ]
}

function schema({ missing, newer }: Awaited<ReturnType<typeof compareSchema>>): string {
  if (missing.length > 0)
    throw new Failure(`${plural(missing.length, 'migration is', 'migrations are')} missing: run \`pinrail migrate\``)
  if (newer.length > 0) throw new Failure(`it is newer than this command: ${newer.join(', ')}`)
  return 'up to date'
}

function relay({
  messages,
  messages_seconds,
  callbacks,
  callbacks_seconds,
}: Awaited<ReturnType<typeof readWaiting>>): string {
  const oldest = Math.round(Math.max(messages_seconds, callbacks_seconds))
  const waiting = `${plural(messages, 'message')} and ${plural(callbacks, 'partner callback')} wait, the oldest for ${oldest} s`
  if (oldest > STUCK_SECONDS) throw new Failure(`${waiting}: is a worker running, and does Temporal answer?`)
  return waiting
}

function books(
  invariants: Awaited<ReturnType<typeof countViolations>>,
  { age_seconds: age }: Awaited<ReturnType<typeof readAge>>,
): string {
  const broken = invariants.filter(({ count }) => count > 0)
  const kinds = broken.map(({ invariant, count }) => `${count} ${invariant}`).join(', ')
  if (broken.length > 0) throw new Failure(`they do not agree: ${kinds}. See \`pinrail reconcile\``)
  const compared = `${invariants.length} invariants were last compared ${Math.round(age / 60)} min ago`
  if (age > OLD_BOOKS_SECONDS) throw new Failure(`${compared}: is a worker running? Compare now: \`pinrail reconcile\``)
  return `${compared}, and held`
}

function lookAtTemporal({ settings }: CommandContext, temporal: ReturnType<typeof createTemporalClient>): Look[] {
  const { connection } = temporal.client
  const { namespace } = settings.temporal
  const queue = (name: string): Look => ({
    part: `workers of ${name}`,
    look: async () => {
      const pollers = await listPollers(connection, { namespace, queue: name })
      if (pollers.length === 0) throw new Failure(`no worker polls the queue ${name}: start one`)
      return pollers.join(', ')
    },
  })
  return [
    {
      part: 'temporal',
      look: async () => {
        await temporal.check()
        const missing = await missingSearchAttributes(connection, namespace)
        if (missing.length > 0)
          throw new Failure(`the namespace ${namespace} lacks ${missing.join(', ')}: run \`pinrail temporal prepare\``)
        return `namespace ${namespace}, payloads ${settings.TEMPORAL_CODEC_KEYS === undefined ? 'readable' : 'encrypted'}`
      },
    },
    queue(PAYMENTS_QUEUE),
    queue(DELIVERIES_QUEUE),
  ]
}

function lookAtChain({ db, settings: given }: CommandContext): Look[] {
  const { POLYGON_RPC_URLS: urls, FINALITY_QUORUM: quorum = 1, ...settings } = given
  if (urls === undefined)
    return [{ part: 'nodes', look: () => Promise.reject(new Failure('POLYGON_RPC_URLS is not set')) }]
  const asking = {
    db,
    settings: { ...settings, POLYGON_RPC_URLS: urls, FINALITY_QUORUM: quorum, TREASURIES: [] },
  }
  return [
    {
      part: 'settlement',
      look: async () => {
        const { text, troubles } = summarizeStanding(await readStanding(asking))
        const message = troubles.map(({ what, todo }) => `${what}. ${todo}`).join(' ')
        if (troubles.some(({ stops }) => stops)) throw new Failure(message)
        if (troubles.length > 0) throw new Warning(message)
        return text
      },
    },
    {
      part: 'nodes',
      look: async () => {
        const rpc = connectRpc({ urls: urls.map((url) => url.reveal()), quorum, chainId: settings.CHAIN_ID })
        const final = await rpc.finalized()
        if (final === null) throw new Failure(`fewer than ${quorum} of ${urls.length} nodes agree on a final block`)
        return `${quorum} of ${urls.length} agree that block ${final.number} is final`
      },
    },
  ]
}
