import { leaveNotice } from '../../db/accounts/account-notices.ts'
import { writeAudit } from '../../db/accounts/audit.ts'
import type { Session, Tenant, Tx } from '../../db/db.ts'
import { lockMerchant } from '../../db/merchants/merchants.ts'
import {
  type Channel,
  insertChannel,
  listChannels,
  listMessages,
  type NewChannel,
  removeChannel,
} from '../../db/notifications/channels.ts'
import { insertTestMessage } from '../../db/notifications/messages.ts'
import { MOST_CHANNELS } from '../../domain/notification/channel.ts'
import { isSafeText, isVisible, storedText } from '../../domain/text.ts'
import type { TargetRules } from '../../webhooks/endpoint-url.ts'
import type { SecretBox } from '../../webhooks/secret-box.ts'

export type ChannelDeps = {
  readonly secretBox: SecretBox
  readonly webhookTargets: TargetRules
  readonly newChannelId: () => string
  readonly newChannelMessageId: () => string
  readonly clock: () => number
}

/** The person or key that makes the change, by id. */
export type ChannelActor = { readonly tenant: Tenant; readonly actor: string; readonly ip: string }

export type WantedChannel = Omit<NewChannel, 'id' | 'sealed' | 'at'> & {
  /** Empty for e-mail, which goes to the person. */
  readonly address: string
}

export const CHANNEL_LIMIT = `An account has at most ${MOST_CHANNELS} channels. Remove one first.`

/** Returns null at the limit of channels. A person has one e-mail channel, so a second request returns it. */
export async function addChannel(
  deps: ChannelDeps,
  tx: Tx,
  { by, wanted }: { by: ChannelActor; wanted: WantedChannel },
): Promise<Channel | null> {
  await lockMerchant(tx, by.tenant.merchantId)
  const channels = await listChannels(tx, by.tenant)
  const { address, ...settings } = wanted
  const isSame = ({ kind, person_id }: Channel): boolean => kind === 'email' && person_id === wanted.person_id
  const same = wanted.kind === 'email' ? channels.find(isSame) : undefined
  if (same !== undefined) return same
  if (channels.length >= MOST_CHANNELS) return null
  const id = deps.newChannelId()
  const sealed = deps.secretBox.seal(address, id)
  const channel = await insertChannel(tx, by.tenant, { ...settings, id, sealed, at: iso(deps) })
  await recordChange(tx, by, { action: 'channel.added', channel })
  return channel
}

export async function dropChannel(
  deps: ChannelDeps,
  tx: Tx,
  { by, channel }: { by: ChannelActor; channel: Channel },
): Promise<void> {
  // Removed first, so that the removed channel receives no notice and the other channels do.
  if (await removeChannel(tx, by.tenant, { id: channel.id, at: iso(deps) }))
    await recordChange(tx, by, { action: 'channel.removed', channel })
}

export async function testChannel(deps: ChannelDeps, db: Session, { tenant, id }: { tenant: Tenant; id: string }) {
  const [latest] = await listMessages(db, tenant, { channelId: id, limit: 1 })
  const isOpen = latest?.kind === 'test' && latest.state !== 'sent' && latest.state !== 'refused'
  if (!isOpen) await insertTestMessage(db, tenant, { id: deps.newChannelMessageId(), channelId: id, now: iso(deps) })
}

export async function noteChannel(
  tx: Tx,
  { tenant, actor, ip }: ChannelActor,
  { action, data }: { action: string; data: object },
): Promise<void> {
  await writeAudit(tx, { merchantId: tenant.merchantId, actor, action, data, ip })
}

/** Also notifies the people of the account. */
async function recordChange(
  tx: Tx,
  by: ChannelActor,
  { action, channel }: { action: string; channel: Channel },
): Promise<void> {
  const { id, kind, name } = channel
  await noteChannel(tx, by, { action, data: { channel: id, kind } })
  await leaveNotice(tx, by.tenant, { kind: action, data: { channel: id, kind, name } })
}

const LONGEST_NAME = 80

/** One line, without characters that change the direction of text. */
export function readChannelName(given: string): { name: string } | { must: string } {
  const name = storedText(given).trim()
  if (name.length > LONGEST_NAME || !isSafeText(name, 'line') || !isVisible(name))
    return { must: `must have 1 to ${LONGEST_NAME} plain characters, such as #payments` }
  return { name }
}

const iso = ({ clock }: ChannelDeps): string => new Date(clock()).toISOString()
