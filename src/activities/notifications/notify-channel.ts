import { cancellationSignal } from '@temporalio/activity'
import type { Db, Tx } from '../../db/db.ts'
import { type Ending, endTry, moveChat, pauseChannel } from '../../db/notifications/messages.ts'
import { GIVEN_UP_AFTER_SECONDS, type Outcome, pauseSeconds, retrySeconds } from '../../domain/notification/channel.ts'
import type { ChannelMessage, Recipient } from '../../domain/notification/message.ts'
import { createLimiter } from '../../runtime/limiter.ts'
import { type Claim, type ClaimDeps, claimNext, giveUp } from './claim.ts'

export type NotificationDeps = ClaimDeps & {
  readonly db: Db
  readonly seal: (address: string, channelId: string) => string
  /** Any reaction of the channel is a value; it throws only because of `signal`. */
  readonly deliver: (to: Recipient, message: ChannelMessage, signal: AbortSignal) => Promise<Outcome>
  /** Unix milliseconds. */
  readonly now: () => number
}

/** Milliseconds until the next message can be due; null: none is left, or not for a long time. */
export type ChannelRound = { readonly againAfterMs: number | null }

export type NotificationActivities = {
  notifyChannel(channelId: string): Promise<ChannelRound>
}

/** Concurrent sends of one process, so that channels that hang do not occupy all slots of the queue. */
const SENDS = { running: 20, queued: 0 }
const BUSY_PAUSE_MS = 1000

/** Milliseconds between two messages to one chat or address: Telegram and Slack accept one a second, Discord more. */
const GAP_MS = 1000
/** Milliseconds for a group: Telegram accepts twenty messages a minute. */
const GROUP_GAP_MS = 3000

/** The longest wait of a workflow; the sweep starts another one when the message is due. */
const LONGEST_WAIT_MS = 60_000

const iso = (ms: number): string => new Date(ms).toISOString()

export function createNotificationActivities(deps: NotificationDeps): NotificationActivities {
  const sends = createLimiter(SENDS)
  return {
    async notifyChannel(channelId) {
      const free = await sends.take()
      if (free === null) return { againAfterMs: BUSY_PAUSE_MS }
      try {
        const claim = await deps.db.transaction((tx) => claimNext(deps, tx, { channelId, now: deps.now() }))
        if (claim.kind === 'done') return { againAfterMs: null }
        const wait = claim.kind === 'wait' ? claim.ms : await send(deps, claim)
        return { againAfterMs: wait > LONGEST_WAIT_MS ? null : Math.max(wait, 0) }
      } finally {
        free()
      }
    },
  }
}

async function send(deps: NotificationDeps, claim: Claim & { kind: 'send' }): Promise<number> {
  const outcome = await deps.deliver(claim.to, claim.message, cancellationSignal())
  return deps.db.transaction((tx) => record(deps, tx, { claim, outcome }))
}

type Sent = { readonly claim: Claim & { kind: 'send' }; readonly outcome: Outcome }

async function record(deps: NotificationDeps, tx: Tx, { claim, outcome }: Sent): Promise<number> {
  const now = deps.now()
  const { channel, message, to } = claim
  const end = (ending: Pick<Ending, 'state' | 'failure'> & { readonly after: number | null }): Promise<void> =>
    endTry(tx, {
      id: message.id,
      state: ending.state,
      failure: ending.failure,
      nextAt: ending.after === null ? 'infinity' : iso(now + ending.after),
      now: iso(now),
    })
  const rest = async (ms: number): Promise<number> => {
    await pauseChannel(tx, channel.id, iso(now + ms))
    return ms
  }
  const gap = to.kind === 'telegram' && to.address.startsWith('-') ? GROUP_GAP_MS : GAP_MS

  switch (outcome.kind) {
    case 'accepted':
      await end({ state: 'sent', failure: null, after: 0 })
      return rest(Math.max(gap, outcome.pauseSeconds * 1000))
    case 'limited': {
      const ms = pauseSeconds(outcome.seconds) * 1000
      await end({ state: 'waiting', failure: `asked us to wait ${ms / 1000} s`, after: ms })
      return rest(ms)
    }
    case 'moved':
      await moveChat(tx, channel.id, deps.seal(outcome.chat, channel.id))
      await end({ state: 'waiting', failure: 'the id of the group has changed', after: 0 })
      return 0
    case 'not_taken':
    case 'unknown': {
      const tooLong = now - Date.parse(claim.begunAt) > GIVEN_UP_AFTER_SECONDS * 1000
      const after = retrySeconds(claim.tries + 1) * 1000
      await end({ state: outcome.kind === 'unknown' ? 'unknown' : 'waiting', failure: outcome.reason, after })
      if (tooLong) await giveUp(tx, channel, { reason: outcome.reason, now: iso(now) })
      return after
    }
    case 'refused':
      await end({ state: outcome.what === 'message' ? 'refused' : 'waiting', failure: outcome.reason, after: 0 })
      if (outcome.what === 'channel') await giveUp(tx, channel, { reason: outcome.reason, now: iso(now) })
      return rest(gap)
  }
}
