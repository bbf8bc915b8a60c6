import { z } from 'zod'
import type { Channel, ChannelHistory } from '../../../../db/notifications/channels.ts'
import {
  ALWAYS_SENT,
  CHANNEL_KINDS,
  DEFAULT_NOTIFICATION_EVENTS,
  NOTIFICATION_EVENTS,
  NOTIFICATION_LANGUAGES,
} from '../../../../domain/notification/channel.ts'
import { formatClock, isTimeZone, parseClock } from '../../../../domain/notification/quiet.ts'
import { readChannelName } from '../../../accounts/channels.ts'
import { CHANNEL, CHANNEL_MESSAGE } from '../../../document/account-examples.ts'
import { moment } from '../fields.ts'
import { textPattern } from '../patterns.ts'

const name = z
  .string()
  .max(80)
  .meta({ minLength: 1, pattern: textPattern('visible line') })
  .transform((text, context) => {
    const read = readChannelName(text)
    if ('name' in read) return read.name
    context.addIssue({ code: 'custom', message: read.must })
    return z.NEVER
  })

const events = z
  .array(z.enum(NOTIFICATION_EVENTS))
  .max(50)
  .transform((wanted) => NOTIFICATION_EVENTS.filter((event) => wanted.includes(event)))
  .meta({
    description: ALWAYS_SENT,
  })

const language = z.enum(NOTIFICATION_LANGUAGES)
const CLOCK = /^(?:[01]\d|2[0-3]):[0-5]\d$/
const clock = z.string().regex(CLOCK, 'must be a time such as 22:00')

const quietHours = z
  .strictObject({
    from: clock,
    to: clock.meta({ description: 'Before `from`: on the next day. It must be another time.' }),
    time_zone: z
      .string()
      .max(64)
      .refine(isTimeZone, 'must be a time zone named by a city, such as Europe/Oslo')
      .meta({ description: 'An IANA name, such as Europe/Oslo.', examples: ['Europe/Oslo'] }),
  })
  .transform((hours, context) => {
    const [from, to] = [parseClock(hours.from), parseClock(hours.to)]
    if (from !== null && to !== null && from !== to) return { from, to, zone: hours.time_zone }
    context.addIssue({ code: 'custom', message: 'must begin and end at two different times' })
    return z.NEVER
  })

const webhookUrl = z
  .string()
  .max(2000)
  .meta({ description: 'The URL of the incoming webhook. It is stored encrypted and never shown.' })

const settings = {
  events,
  language,
  quiet_hours: quietHours
    .nullable()
    .meta({ description: 'Hours in which only urgent notifications are sent. Null: none.' }),
}

export const createChannelBody = z.strictObject({
  kind: z.enum(['email', 'discord', 'slack']).meta({ description: 'A Telegram chat is connected in the dashboard.' }),
  name: name
    .optional()
    .meta({ description: 'Required for Discord and Slack. An e-mail channel is named after the e-mail address.' }),
  webhook_url: webhookUrl.optional(),
  email: z
    .string()
    .max(254)
    .optional()
    .meta({ description: 'The e-mail address of a person in the account.', format: 'email' }),
  events: settings.events.default([...DEFAULT_NOTIFICATION_EVENTS]),
  language: settings.language.default('en'),
  quiet_hours: settings.quiet_hours.default(null),
})

export const updateChannelBody = z.strictObject({
  name: name.optional(),
  webhook_url: webhookUrl.optional(),
  events: settings.events.optional(),
  language: settings.language.optional(),
  quiet_hours: settings.quiet_hours.optional(),
})

export const channelObject = z
  .strictObject({
    id: z.string(),
    object: z.literal('notification_channel'),
    livemode: z.boolean(),
    kind: z.enum(CHANNEL_KINDS),
    name: z.string(),
    events: z.array(z.string()),
    language: z.string(),
    quiet_hours: z.strictObject({ from: z.string(), to: z.string(), time_zone: z.string() }).nullable(),
    status: z.enum(['on', 'off', 'unavailable']).meta({
      description:
        '`off`: it refused a message, and gets nothing until it is resumed. `unavailable`: this system currently has no Telegram bot; notifications wait.',
    }),
    off_since: moment.nullable(),
    off_reason: z.string().nullable(),
    waiting: z.int().meta({ description: 'Notifications that wait to be sent.' }),
    created_at: moment,
    updated_at: moment,
  })
  .meta({ id: 'NotificationChannel', examples: [CHANNEL] })

export const deletedChannel = z
  .strictObject({ id: z.string(), object: z.literal('notification_channel'), deleted: z.literal(true) })
  .meta({ id: 'DeletedChannel', examples: [{ id: CHANNEL.id, object: 'notification_channel', deleted: true }] })

export const messageObject = z
  .strictObject({
    id: z.string(),
    object: z.literal('notification_message'),
    kind: z.enum(['single', 'digest', 'test']),
    state: z.enum(['sending', 'sent', 'waiting', 'unknown', 'refused']).meta({
      description: '`unknown`: no response arrived, so it may have been received. It is sent again, and says so.',
    }),
    count: z.int().meta({ description: 'Notifications in it.' }),
    kinds: z.array(z.string()),
    failure: z.string().nullable(),
    created_at: moment,
    sent_at: moment.nullable(),
  })
  .meta({ id: 'NotificationMessage', examples: [CHANNEL_MESSAGE] })

/** `bot`: the name of the Telegram bot. Null if there is none. */
export function shownChannel(
  channel: Channel,
  { waiting, bot }: { waiting: number; bot: string | null },
): z.output<typeof channelObject> {
  const { quiet_from: from, quiet_to: to, quiet_zone: zone } = channel
  const isQuiet = from !== null && to !== null && zone !== null
  return {
    id: channel.id,
    object: 'notification_channel',
    livemode: channel.livemode,
    kind: channel.kind,
    name: channel.name,
    events: channel.events,
    language: channel.language,
    quiet_hours: isQuiet ? { from: formatClock(from), to: formatClock(to), time_zone: zone } : null,
    status: channel.broken_at !== null ? 'off' : channel.kind === 'telegram' && bot === null ? 'unavailable' : 'on',
    off_since: channel.broken_at,
    off_reason: channel.broken_reason,
    waiting,
    created_at: channel.created_at,
    updated_at: channel.updated_at,
  }
}

export function shownMessage(message: ChannelHistory): z.output<typeof messageObject> {
  const { id, kind, state, count, kinds, failure, created_at, sent_at } = message
  return { id, object: 'notification_message', kind, state, count, kinds, failure, created_at, sent_at }
}
