import { setTimeout as delay } from 'node:timers/promises'
import type { Event } from '../api-types.ts'
import type { Pinrail } from '../client.ts'
import { signWebhook } from '../webhooks.ts'
import type { Cursor } from './cursor.ts'

const TRY_MS = 10_000
const LONGEST_PAUSE_MS = 30_000
const HEARTBEAT_MS = 300_000

export type Forwarding = {
  readonly events: Pick<Pinrail['events'], 'follow'>
  readonly cursor: Cursor
  readonly target: string
  /** Null: all types. */
  readonly types: readonly string[] | null
  readonly skipFailed: boolean
  readonly isJson: boolean
  readonly print: (line: string) => void
}

/** Never ends. The cursor moves only after the target has accepted an event, so a process that is killed misses none. */
export async function forwardEvents(forwarding: Forwarding): Promise<never> {
  const { events, cursor, target, types, isJson, print } = forwarding
  const say = (text: string): void => {
    if (!isJson) print(text)
  }
  let sent = 0
  say(`Events after ${cursor.sequence()} are sent to ${target}, signed with ${cursor.secret}`)
  setInterval(() => say(`Waiting for events: ${sent} sent so far.`), HEARTBEAT_MS).unref()
  for await (const event of events.follow(cursor.sequence())) {
    const sequence = event.sequence ?? cursor.sequence()
    const next = cursor.sequence() + 1
    if (sequence > next) say(`Events ${next} to ${sequence - 1} are gone: they are older than 90 days.`)
    if (types === null || types.includes(event.type)) {
      await send(event, forwarding)
      sent += 1
    }
    cursor.move(sequence)
  }
  throw new Error('The events ended.')
}

async function send(event: Event, { cursor, target, skipFailed, isJson, print }: Forwarding): Promise<void> {
  for (let pauseMs = 1000; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const { answer, isAccepted } = await trySend(target, await signWebhook(event, cursor))
    const { id, type, sequence } = event
    print(isJson ? JSON.stringify({ id, type, sequence, answer }) : `${sequence}  ${type}  ${id}  ${answer}`)
    if (isAccepted || skipFailed) return
    await delay(pauseMs)
  }
}

async function trySend(
  target: string,
  signed: Awaited<ReturnType<typeof signWebhook>>,
): Promise<{ answer: string; isAccepted: boolean }> {
  try {
    const signal = AbortSignal.timeout(TRY_MS)
    const response = await fetch(target, { method: 'POST', ...signed, redirect: 'manual', signal })
    await response.arrayBuffer()
    return { answer: String(response.status), isAccepted: response.ok }
  } catch (error) {
    const { message, cause } = error as Error
    return { answer: cause instanceof Error ? cause.message : message, isAccepted: false }
  }
}
