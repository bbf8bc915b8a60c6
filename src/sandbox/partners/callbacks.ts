import { randomBytes } from 'node:crypto'
import { request } from 'undici'
import type { Logger } from '../../runtime/log.ts'
import type { Faults } from './faults.ts'
import type { SandboxOrder } from './order.ts'
import type { Callback, PartnerEntry, PartnerState } from './state.ts'
import type { Wire } from './wire.ts'

/** Seconds between tries of a callback without a 2xx response; after these, every ten minutes for a day. */
const RETRY_SECONDS = [1, 5, 30, 120]
const LATER_SECONDS = 600
const GIVE_UP_AFTER_MS = 24 * 3600 * 1000

const ANSWER_TIMEOUT_MS = 10_000
const AT_ONCE = 16
const LATE_SECONDS = 60
/** Milliseconds after which an out-of-order callback is sent without its successor. */
const BEHIND_MS = 10_000
/** The factor of the price in an authentic callback with a wrong amount. */
const WRONG_FACTOR = 10n

export type Callbacks = {
  /** Returns the journal entries of callbacks that announce the order's current state. */
  entriesFor: (order: SandboxOrder) => PartnerEntry[]
  /** Sends the due callbacks, and resolves when each has a response or has timed out. */
  tick(): Promise<void>
  /** Repeats `tick` until nothing is due. */
  flush(): Promise<void>
  /** Returns the number of callbacks that are still to be sent, now or later. */
  pending(): number
}

export type CallbackDeps = {
  readonly state: PartnerState
  readonly append: (...entries: PartnerEntry[]) => Promise<void>
  readonly wire: Wire
  readonly secret: string
  readonly url: string
  readonly faults: Faults
  readonly clock: () => number
  readonly log: Logger
  /** Aborts callbacks that are being sent; they count as callbacks without a response. */
  readonly closing: AbortSignal
}

export function createCallbacks(deps: CallbackDeps): Callbacks {
  const { state, clock } = deps
  const inFlight = new Set<string>()
  /** Orders whose later callback has arrived, so that the earlier one, which was delayed, may be sent. */
  const overtaken = new Set<string>()

  const isDue = (each: Callback): boolean =>
    !inFlight.has(each.id) && (each.dueAt <= clock() || (each.isBehind && overtaken.has(each.attemptId)))
  const due = (): Callback[] => [...state.callbacks.values()].filter(isDue)

  async function sendOne({ id }: Callback): Promise<void> {
    // Another tick may have sent it while this one waited.
    const callback = state.callbacks.get(id)
    if (callback === undefined || !isDue(callback)) return
    inFlight.add(id)
    try {
      const status = await post(deps, callback)
      if (isSuccess(status) && !callback.isBehind) overtaken.add(callback.attemptId)
      await deps.append(afterSending(callback, status, clock()))
    } finally {
      inFlight.delete(id)
    }
  }

  async function tick(): Promise<void> {
    const all = due()
    for (let start = 0; start < all.length; start += AT_ONCE)
      await Promise.all(all.slice(start, start + AT_ONCE).map(sendOne))
  }

  return {
    entriesFor: (order) => makeEntries(deps, order),
    tick,
    async flush() {
      while (!deps.closing.aborted && due().length > 0) await tick()
    },
    pending: () => state.callbacks.size,
  }
}

const isSuccess = (status: number | null): boolean => status !== null && status >= 200 && status < 300

function makeEntries(deps: CallbackDeps, order: SandboxOrder): PartnerEntry[] {
  const { faults, clock, wire } = deps
  const take = (name: Parameters<Faults['take']>[0]) => faults.take(name, order.attemptId)
  const now = clock()
  const eventId = `evt_${randomBytes(12).toString('hex')}`
  const announced = take('wrong_amount_callback') === null ? order : withWrongAmount(order)
  const event = wire.event(announced, { eventId, at: now })
  const late = take('callbacks_late')
  const isBehind = take('callbacks_out_of_order') !== null && !isWaiting(deps.state, order.attemptId)
  const delay = (late === null ? 0 : (late.seconds ?? LATE_SECONDS) * 1000) + (isBehind ? BEHIND_MS : 0)
  const callback: Callback = {
    id: eventId,
    eventId,
    attemptId: order.attemptId,
    createdAt: now,
    dueAt: now + delay,
    sendings: 0,
    forged: false,
    isBehind,
    event,
  }
  const entries: PartnerEntry[] = [{ kind: 'callback', callback }]
  if (take('callbacks_twice') !== null)
    entries.push({ kind: 'callback', callback: { ...callback, id: `${eventId}_again` } })
  if (take('forged_callback') !== null)
    entries.push({ kind: 'callback', callback: { ...callback, id: `${eventId}_forged`, forged: true } })
  if (take('foreign_callback') !== null) {
    const foreign = { ...order, attemptId: 'order-1', reference: wire.newReference(), account: 'somebody-else' }
    const foreignEvent = wire.event(foreign, { eventId: `${eventId}_foreign`, at: now })
    const id = `${eventId}_foreign`
    entries.push({ kind: 'callback', callback: { ...callback, id, eventId: id, event: foreignEvent } })
  }
  if (take('callbacks_never') !== null)
    entries.push({ kind: 'callback_over', id: eventId, outcome: 'suppressed', status: null })
  return entries
}

function isWaiting(state: PartnerState, attemptId: string): boolean {
  return [...state.callbacks.values()].some((each) => each.isBehind && each.attemptId === attemptId)
}

function withWrongAmount(order: SandboxOrder): SandboxOrder {
  const wrong = (minor: string) => (BigInt(minor) * WRONG_FACTOR).toString()
  return {
    ...order,
    minor: wrong(order.minor),
    receivedMinor: order.receivedMinor === null ? null : wrong(order.receivedMinor),
  }
}

function afterSending(callback: Callback, status: number | null, now: number): PartnerEntry {
  if (isSuccess(status)) return { kind: 'callback_over', id: callback.id, outcome: 'delivered', status }
  const seconds = RETRY_SECONDS[callback.sendings] ?? LATER_SECONDS
  const dueAt = now + seconds * 1000
  if (callback.forged || dueAt - callback.createdAt > GIVE_UP_AFTER_MS)
    return { kind: 'callback_over', id: callback.id, outcome: 'given_up', status }
  return { kind: 'callback', callback: { ...callback, isBehind: false, sendings: callback.sendings + 1, dueAt } }
}

/** Returns the answer's status; null if there was none. */
async function post(deps: CallbackDeps, callback: Callback): Promise<number | null> {
  const secret = callback.forged ? `not ${deps.secret}` : deps.secret
  const signed = deps.wire.sign(callback.event, { secret, now: Math.floor(Date.now() / 1000) })
  const sending = new AbortController()
  const abort = (): void => sending.abort()
  const timer = setTimeout(abort, ANSWER_TIMEOUT_MS)
  deps.closing.addEventListener('abort', abort)
  try {
    const answer = await request(deps.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signed.headers },
      body: signed.body,
      signal: sending.signal,
    })
    await answer.body.dump()
    return answer.statusCode
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown'
    deps.log.debug({ provider: deps.wire.provider, event: callback.eventId, why }, 'callback got no answer')
    return null
  } finally {
    clearTimeout(timer)
    deps.closing.removeEventListener('abort', abort)
  }
}
