import { listMembers } from '../../../../db/accounts/people.ts'
import type { Db, Session, Tenant } from '../../../../db/db.ts'
import {
  type Channel,
  countWaiting,
  findChannel,
  listChannels,
  listMessages,
  mendChannel,
  updateChannel,
} from '../../../../db/notifications/channels.ts'
import { findBotName } from '../../../../db/notifications/telegram.ts'
import { readEmail } from '../../../../domain/account/email.ts'
import { isId } from '../../../../domain/ids.ts'
import { type ChatKind, readChannelUrl } from '../../../../webhooks/channel-url.ts'
import {
  addChannel,
  CHANNEL_LIMIT,
  type ChannelActor,
  type ChannelDeps,
  dropChannel,
  noteChannel,
  testChannel,
  type WantedChannel,
} from '../../../accounts/channels.ts'
import { answerOnce } from '../../../http/idempotency.ts'
import { Problem, refuseField } from '../../../http/problems.ts'
import { type Call, defineOperation } from '../../../operation.ts'
import { idPath } from '../fields.ts'
import { listAnswer, listSchema } from '../lists.ts'
import { requireTestKey, type StepUp, TEST_KEYS_ONLY } from '../step-up.ts'
import {
  channelObject,
  createChannelBody,
  deletedChannel,
  messageObject,
  shownChannel,
  shownMessage,
  updateChannelBody,
} from './channel-schemas.ts'

export type ChannelOperationDeps = ChannelDeps & StepUp & { readonly db: Db }

const SHOWN_MESSAGES = 50

export const createNotificationChannel = defineOperation({
  name: 'createNotificationChannel',
  method: 'post',
  path: '/v1/notification_channels',
  tag: 'Notifications',
  summary: 'Create a notification channel for e-mail, Discord or Slack',
  description: `${TEST_KEYS_ONLY} People of the account are notified.`,
  scope: 'notifications:write',
  idempotency: 'itself',
  body: createChannelBody,
  answers: { 201: channelObject },
  problems: ['step_up_required', 'limit_reached'],
  example: {
    body: { kind: 'slack', name: '#payments', webhook_url: 'https://hooks.slack.com/services/T0001/B0001/x' },
  },
  handle: async (call, deps: ChannelOperationDeps) => {
    const { caller, db, body, claim } = call
    requireTestKey(deps, caller, 'notifications')
    const { kind, events, language, quiet_hours: quiet } = body
    const place = kind === 'email' ? await readMailbox(deps, caller, body) : readChat(deps, kind, body)
    const wanted: WantedChannel = { kind, events, language, quiet, ...place }
    return answerOnce(db, { tenant: caller, claim }, async (tx) => {
      const channel = await addChannel(deps, tx, { by: toActor(call), wanted })
      if (channel === null) throw new Problem('limit_reached', CHANNEL_LIMIT)
      const headers = { location: `/v1/notification_channels/${channel.id}` }
      return { status: 201, body: shownChannel(channel, { waiting: 0, bot: null }), headers }
    })
  },
})

type Given = {
  readonly name?: string | undefined
  readonly webhook_url?: string | undefined
  readonly email?: string | undefined
}
type Placed = Pick<WantedChannel, 'name' | 'address' | 'person_id'>

async function readMailbox({ db }: ChannelOperationDeps, { merchantId }: Tenant, given: Given): Promise<Placed> {
  if (given.webhook_url !== undefined) throw refuseField('webhook_url', 'is for Discord and Slack. Omit it')
  if (given.email === undefined)
    throw refuseField('email', 'is required: the e-mail address of somebody in the account')
  const email = readEmail(given.email)
  const member = (await listMembers(db, merchantId)).find((one) => one.email === email)
  if (member === undefined) throw refuseField('email', 'must be the e-mail address of somebody in the account')
  return { name: member.email, address: '', person_id: member.personId }
}

function readChat({ webhookTargets }: ChannelOperationDeps, kind: ChatKind, given: Given): Placed {
  if (given.email !== undefined) throw refuseField('email', 'is for an e-mail channel. Omit it')
  if (given.name === undefined) throw refuseField('name', 'is required, such as #payments')
  if (given.webhook_url === undefined) throw refuseField('webhook_url', 'is required: the chat’s incoming webhook')
  const read = readChannelUrl(kind, given.webhook_url.trim(), webhookTargets)
  if ('must' in read) throw refuseField('webhook_url', read.must)
  return { name: given.name, address: read.url, person_id: null }
}

export const listNotificationChannels = defineOperation({
  name: 'listNotificationChannels',
  method: 'get',
  path: '/v1/notification_channels',
  tag: 'Notifications',
  summary: 'List the channels, oldest first',
  scope: 'notifications:read',
  answers: { 200: listSchema(channelObject) },
  handle: async ({ caller, db }, deps: ChannelOperationDeps) => {
    const waiting = await countWaiting(db, caller)
    const channels = await listChannels(db, caller)
    const bot = await readBotName(deps)
    return listAnswer(
      channels.map((channel) => shownChannel(channel, { waiting: waiting.get(channel.id) ?? 0, bot })),
      false,
    )
  },
})
export const readNotificationChannel = defineOperation({
  name: 'readNotificationChannel',
  method: 'get',
  path: '/v1/notification_channels/{id}',
  tag: 'Notifications',
  summary: 'Read a channel',
  scope: 'notifications:read',
  params: idPath,
  answers: { 200: channelObject },
  handle: async ({ caller, db, params }, deps: ChannelOperationDeps) =>
    show(deps, { caller, db }, await find(db, caller, params.id)),
})
export const listChannelMessages = defineOperation({
  name: 'listChannelMessages',
  method: 'get',
  path: '/v1/notification_channels/{id}/messages',
  tag: 'Notifications',
  summary: `List the latest ${SHOWN_MESSAGES} messages of a channel, and whether they arrived`,
  scope: 'notifications:read',
  params: idPath,
  answers: { 200: listSchema(messageObject) },
  handle: async ({ caller, db, params }) => {
    const { id } = await find(db, caller, params.id)
    const latest = await listMessages(db, caller, { channelId: id, limit: SHOWN_MESSAGES + 1 })
    return listAnswer(latest.slice(0, SHOWN_MESSAGES).map(shownMessage), latest.length > SHOWN_MESSAGES)
  },
})

export const updateNotificationChannel = defineOperation({
  name: 'updateNotificationChannel',
  method: 'patch',
  path: '/v1/notification_channels/{id}',
  tag: 'Notifications',
  summary: 'Change which notifications a channel gets, when and in which language',
  description: 'A new `webhook_url` is accepted only in test mode. It turns on a channel that was off.',
  scope: 'notifications:write',
  params: idPath,
  body: updateChannelBody,
  answers: { 200: channelObject },
  problems: ['step_up_required'],
  example: {
    body: { events: ['payment.succeeded'], quiet_hours: { from: '22:00', to: '07:00', time_zone: 'Europe/Oslo' } },
  },
  handle: async (call, deps: ChannelOperationDeps) => {
    const { caller, db, params, body } = call
    if (body.webhook_url !== undefined) requireTestKey(deps, caller, 'notifications')
    const channel = await find(db, caller, params.id)
    const { name, events, language, quiet_hours: quiet } = body
    if (name !== undefined && channel.kind === 'email') throw refuseField('name', 'is fixed for an e-mail channel')
    const sealed = body.webhook_url === undefined ? undefined : sealedUrl(deps, channel, body.webhook_url)
    await db.transaction(async (tx) => {
      const changes = {
        ...(name !== undefined && { name }),
        ...(events !== undefined && { events }),
        ...(language !== undefined && { language }),
        ...(quiet !== undefined && { quiet }),
        ...(sealed !== undefined && { sealed }),
      }
      await updateChannel(tx, caller, { id: channel.id, changes, at: new Date(deps.clock()).toISOString() })
      const data = { channel: channel.id, fields: Object.keys(body).join(', ') }
      await noteChannel(tx, toActor(call), { action: 'channel.changed', data })
    })
    return show(deps, call, await find(db, caller, channel.id))
  },
})

function sealedUrl({ webhookTargets, secretBox }: ChannelOperationDeps, { id, kind }: Channel, url: string): string {
  if (kind !== 'discord' && kind !== 'slack') throw refuseField('webhook_url', 'is for Discord and Slack. Omit it')
  const read = readChannelUrl(kind, url.trim(), webhookTargets)
  if ('must' in read) throw refuseField('webhook_url', read.must)
  return secretBox.seal(read.url, id)
}

export const deleteNotificationChannel = defineOperation({
  name: 'deleteNotificationChannel',
  method: 'delete',
  path: '/v1/notification_channels/{id}',
  tag: 'Notifications',
  summary: 'Remove a channel and the notifications that wait for it',
  description: TEST_KEYS_ONLY,
  scope: 'notifications:write',
  params: idPath,
  answers: { 200: deletedChannel },
  problems: ['step_up_required'],
  handle: async (call, deps: ChannelOperationDeps) => {
    const { caller, db, params } = call
    requireTestKey(deps, caller, 'notifications')
    const channel = await find(db, caller, params.id)
    await db.transaction((tx) => dropChannel(deps, tx, { by: toActor(call), channel }))
    return { status: 200, body: { id: channel.id, object: 'notification_channel', deleted: true } as const }
  },
})

export const testNotificationChannel = defineOperation({
  name: 'testNotificationChannel',
  method: 'post',
  path: '/v1/notification_channels/{id}/test',
  tag: 'Notifications',
  summary: 'Send a test message to a channel',
  description: 'The response is the message. A message that is already being sent is not sent twice.',
  scope: 'notifications:write',
  params: idPath,
  answers: { 202: messageObject },
  handle: async ({ caller, db, params }, deps: ChannelOperationDeps) => {
    const { id } = await find(db, caller, params.id)
    await testChannel(deps, db, { tenant: caller, id })
    const [message] = await listMessages(db, caller, { channelId: id, limit: 1 })
    if (message === undefined) throw new Error('the test message was not written')
    return { status: 202, body: shownMessage(message) }
  },
})
export const resumeNotificationChannel = defineOperation({
  name: 'resumeNotificationChannel',
  method: 'post',
  path: '/v1/notification_channels/{id}/resume',
  tag: 'Notifications',
  summary: 'Turn on a channel that was off, and send what waits',
  scope: 'notifications:write',
  params: idPath,
  answers: { 200: channelObject },
  handle: async (call, deps: ChannelOperationDeps) => {
    const { caller, db, params } = call
    const { id } = await find(db, caller, params.id)
    await db.transaction(async (tx) => {
      await mendChannel(tx, caller, { id, at: new Date(deps.clock()).toISOString() })
      await noteChannel(tx, toActor(call), { action: 'channel.mended', data: { channel: id } })
    })
    return show(deps, call, await find(db, caller, id))
  },
})

const toActor = ({ caller, ip }: Pick<Call, 'caller' | 'ip'>): ChannelActor => ({
  tenant: caller,
  actor: `key_${caller.keyId}`,
  ip,
})

async function find(db: Session, tenant: Tenant, id: string): Promise<Channel> {
  const channel = isId('channel', id) ? await findChannel(db, tenant, id) : null
  if (channel === null) throw new Problem('resource_missing', 'There is no such notification channel.')
  return channel
}

async function show(deps: ChannelOperationDeps, { db, caller }: Pick<Call, 'db' | 'caller'>, channel: Channel) {
  const waiting = (await countWaiting(db, caller)).get(channel.id) ?? 0
  return { status: 200, body: shownChannel(channel, { waiting, bot: await readBotName(deps) }) }
}

const readBotName = ({ db, clock }: ChannelOperationDeps): Promise<string | null> =>
  findBotName(db, new Date(clock()).toISOString())
