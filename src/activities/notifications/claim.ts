import { createHash, randomBytes } from 'node:crypto'
import { leaveNotice } from '../../db/accounts/account-notices.ts'
import type { Tenant, Tx } from '../../db/db.ts'
import { insertWalletStop } from '../../db/merchants/wallet-stops.ts'
import {
  beginMessage,
  breakChannel,
  findOpenMessage,
  holdMessage,
  holdUntil,
  type LockedChannel,
  lockChannel,
  type OpenMessage,
  readFacts,
  readQueue,
  restChannel,
  resumeMessage,
} from '../../db/notifications/messages.ts'
import { isChatOfOne } from '../../domain/notification/channel.ts'
import type { ChannelMessage, NotifiedFact, Recipient } from '../../domain/notification/message.ts'
import { DIGEST_SIZE, whatNext } from '../../domain/notification/pace.ts'
import { type QuietHours, quietUntil } from '../../domain/notification/quiet.ts'

export type ClaimDeps = {
  /** Decrypts the address of a channel. Throws if it was altered or its key is gone. */
  readonly open: (sealed: string, channelId: string) => string
  readonly newMessageId: () => string
  readonly publicUrl: string
}

export type Claim =
  | {
      readonly kind: 'send'
      readonly channel: LockedChannel
      readonly to: Recipient
      readonly message: ChannelMessage
      readonly begunAt: string
      readonly tries: number
    }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'done' }

/** Milliseconds for which a message belongs to its sender: more than one send can take. */
const MINE_MS = 60_000

const iso = (ms: number): string => new Date(ms).toISOString()

/** Takes the next message of a channel, in a transaction that must be committed before the message is sent. */
export async function claimNext(
  deps: ClaimDeps,
  tx: Tx,
  { channelId, now }: { channelId: string; now: number },
): Promise<Claim> {
  const channel = await lockChannel(tx, channelId)
  if (channel === null) return { kind: 'done' }
  const pause = channel.paused_until === null ? 0 : Date.parse(channel.paused_until) - now
  if (channel.broken_at !== null) return rest(tx, channelId)
  if (pause > 0) return { kind: 'wait', ms: pause }
  const address = readAddress(deps, channel)
  if (address === null) {
    await giveUp(tx, channel, { reason: UNREADABLE, now: iso(now) })
    return rest(tx, channelId)
  }
  const open = await openMessage(tx, channel, now)
  const claimed = open === null || open.next_at > now ? null : await resume(tx, open, now)
  if (open !== null && claimed === null && open.state === 'sending') return { kind: 'wait', ms: open.next_at - now }
  const message = claimed ?? (await begin(deps, tx, { channel, now, onlyUrgent: open !== null }))
  if (message === 'nothing') return open === null ? rest(tx, channelId) : { kind: 'wait', ms: open.next_at - now }
  if ('until' in message) {
    await holdUntil(tx, channelId, iso(message.until))
    return rest(tx, channelId)
  }
  if ('ms' in message) return { kind: 'wait', ms: message.ms }
  const facts = message.kind === 'test' ? [] : await readFacts(tx, message.id)
  return {
    kind: 'send',
    channel,
    to: { channelId, kind: channel.kind, address, language: channel.language },
    message: {
      id: message.id,
      account: channel.merchant_name,
      facts,
      repeated: message.unanswered > 0,
      stopUrl: await stopLink(deps, tx, { channel, facts, now }),
    },
    begunAt: message.created_at,
    tries: message.tries,
  }
}

const UNREADABLE = 'its address cannot be read, or its person has left the account'

function readAddress({ open }: ClaimDeps, channel: LockedChannel): string | null {
  const { id, kind, sealed, email } = channel
  if (kind === 'email') return email
  try {
    const address = open(sealed, id)
    return kind === 'telegram' && isOfDeletedPerson(channel, address) ? null : address
  } catch {
    return null
  }
}

/** Marks the channel as broken. People are notified by mail and through the other channels. */
export async function giveUp(
  tx: Tx,
  channel: LockedChannel,
  { reason, now }: { reason: string; now: string },
): Promise<void> {
  await breakChannel(tx, channel.id, { reason, now })
  const { id, kind, name } = channel
  await leaveNotice(tx, getTenant(tx, channel), { kind: 'channel.broken', data: { channel: id, kind, name, reason } })
}

async function rest(tx: Tx, channelId: string): Promise<Claim> {
  await restChannel(tx, channelId)
  return { kind: 'done' }
}

/** In quiet hours a message that is not urgent waits until their end, even if its service recovers earlier. */
async function openMessage(tx: Tx, channel: LockedChannel, now: number): Promise<OpenMessage | null> {
  const open = await findOpenMessage(tx, channel.id)
  const quiet = quietUntil(readQuietHours(channel), now)
  // A message that its sender has left might have been delivered, and is sent again soon or not at all.
  if (open === null || quiet === null || open.urgent || open.state === 'sending' || open.next_at > now) return open
  await holdMessage(tx, open.id, iso(quiet))
  return { ...open, next_at: quiet }
}

type Taken = Pick<OpenMessage, 'id' | 'kind' | 'tries' | 'unanswered' | 'created_at'>

async function resume(tx: Tx, open: OpenMessage, now: number): Promise<Taken> {
  await resumeMessage(tx, open.id, iso(now + MINE_MS))
  return { ...open, unanswered: open.unanswered + (open.state === 'sending' ? 1 : 0) }
}

async function begin(
  { newMessageId }: ClaimDeps,
  tx: Tx,
  { channel, now, onlyUrgent }: { channel: LockedChannel; now: number; onlyUrgent: boolean },
): Promise<Taken | 'nothing' | { readonly until: number } | { readonly ms: number }> {
  const { waiting: due, recent } = await readQueue(tx, channel.id, { now: iso(now), limit: DIGEST_SIZE })
  const waiting = onlyUrgent ? due.filter(({ urgent }) => urgent) : due
  const quiet = quietUntil(readQuietHours(channel), now)
  const next = whatNext({ now, waiting, recent, quietUntil: quiet })
  if (next.kind === 'nothing') return 'nothing'
  if (next.kind === 'wait') return quiet === null ? { ms: next.until - now } : { until: next.until }
  const id = newMessageId()
  const rows = waiting.filter((row) => next.ids.includes(row.id))
  const at = iso(now)
  await beginMessage(tx, {
    id,
    channelId: channel.id,
    tenant: getTenant(tx, channel),
    kind: next.digest ? 'digest' : 'single',
    urgent: rows.every(({ urgent }) => urgent),
    ids: next.ids,
    kinds: [...new Set(rows.map(({ kind }) => kind))],
    now: at,
    mineUntil: iso(now + MINE_MS),
  })
  return { id, kind: next.digest ? 'digest' : 'single', tries: 0, unanswered: 0, created_at: at }
}

export const getTenant = (tx: Tx, { merchant_id: merchantId }: LockedChannel): Tenant => ({
  merchantId,
  livemode: tx.livemode,
})

function readQuietHours({ quiet_from: from, quiet_to: to, quiet_zone: zone }: LockedChannel): QuietHours | null {
  return from === null || to === null || zone === null ? null : { from, to, zone }
}

/** Stops a change of the wallet in the name of the channel's creator. Null leads to the dashboard instead. */
async function stopLink(
  { publicUrl }: ClaimDeps,
  tx: Tx,
  { channel, facts, now }: { channel: LockedChannel; facts: readonly NotifiedFact[]; now: number },
): Promise<string | null> {
  const nextAt = facts[0]?.kind === 'wallet.changed' ? facts[0].data['at'] : null
  if (channel.member_id === null || typeof nextAt !== 'string' || Date.parse(nextAt) <= now) return null
  const token = randomBytes(32).toString('base64url')
  const digest = createHash('sha256').update(token).digest()
  await insertWalletStop(tx, { ...getTenant(tx, channel), personId: channel.member_id, nextAt, digest })
  return `${publicUrl}/wallet/stop/${token}`
}

/** A deleted person has no id any more: every personal Telegram chat is linked by a person. */
function isOfDeletedPerson({ member_id: member }: LockedChannel, chat: string): boolean {
  return member === null && isChatOfOne(chat)
}
