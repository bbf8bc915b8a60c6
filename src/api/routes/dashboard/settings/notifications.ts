import { z } from 'zod'
import {
  type Channel,
  countWaiting,
  findChannel,
  listChannels,
  listMessages,
  mendChannel,
  type Quiet,
  updateChannel,
} from '../../../../db/notifications/channels.ts'
import { findBotName } from '../../../../db/notifications/telegram.ts'
import { hasAbility } from '../../../../domain/account/roles.ts'
import { isId } from '../../../../domain/ids.ts'
import {
  DEFAULT_NOTIFICATION_EVENTS,
  NOTIFICATION_EVENTS,
  NOTIFICATION_LANGUAGES,
} from '../../../../domain/notification/channel.ts'
import { isTimeZone, parseClock } from '../../../../domain/notification/quiet.ts'
import { renderChannel } from '../../../../web/dashboard/settings/channel.tsx'
import { renderNewChannel } from '../../../../web/dashboard/settings/channel-form.tsx'
import { renderNotifications } from '../../../../web/dashboard/settings/notifications.tsx'
import { type ChatKind, readChannelUrl } from '../../../../webhooks/channel-url.ts'
import {
  addChannel,
  CHANNEL_LIMIT,
  type ChannelActor,
  type ChannelDeps,
  dropChannel,
  noteChannel,
  readChannelName,
  testChannel,
  type WantedChannel,
} from '../../../accounts/channels.ts'
import { SiteProblem } from '../../site-problem.ts'
import { severalField } from '../fields.ts'
import { definePage, type Page, type PageAnswer, type PageCall } from '../page.ts'
import { type TelegramPageDeps, telegramPages } from './telegram.ts'

export type NotificationPageDeps = ChannelDeps & TelegramPageDeps

const SHOWN = 20
const back = '/dashboard/notifications'
const kinds = z.enum(['email', 'discord', 'slack'])

const text = z.string().max(2000).default('')
const newForm = z.object({ kind: kinds, name: text, url: text })
const changeForm = z.object({
  name: text,
  event: severalField,
  language: z.enum(NOTIFICATION_LANGUAGES).default('en'),
  quiet_from: text,
  quiet_to: text,
  quiet_zone: text,
})

export function notificationPages(deps: NotificationPageDeps): Page[] {
  return [...newPages(deps), ...telegramPages(deps), ...onePages(deps), ...changePages(deps)]
}

function newPages(deps: NotificationPageDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: back,
      needs: 'look',
      handle: async ({ db, tenant, frame, role }) => {
        const [channels, waiting] = [await listChannels(db, tenant), await countWaiting(db, tenant)]
        const bot = await findBotName(deps.db, iso(deps))
        return { html: renderNotifications({ frame, channels, waiting, mayChange: hasAbility(role, 'develop'), bot }) }
      },
    }),
    definePage({
      method: 'get',
      path: `${back}/new/:kind`,
      needs: 'develop',
      handle: async ({ frame, params }) => {
        const kind = kinds.safeParse(params['kind'])
        if (!kind.success) throw new SiteProblem('not_found')
        return { html: renderNewChannel({ frame, kind: kind.data, draft: { name: '' }, errors: {} }) }
      },
    }),
    definePage({
      method: 'post',
      path: back,
      needs: 'develop',
      fresh: { what: 'a new notification channel', back },
      form: newForm,
      handle: (call) => add(deps, call),
    }),
  ]
}

async function add(deps: NotificationPageDeps, call: PageCall<z.output<typeof newForm>>): Promise<PageAnswer> {
  const { db, person, form, frame } = call
  const { kind } = form
  const address =
    kind === 'email' ? { url: '' } : readChannelUrl(kind as ChatKind, form.url.trim(), deps.webhookTargets)
  const name = kind === 'email' ? { name: person.email } : readChannelName(form.name)
  const errors = {
    ...('must' in name && { name: `The name ${name.must}.` }),
    ...('must' in address && { url: `The URL ${address.must}.` }),
  }
  const refuse = (wrong: Record<string, string>): PageAnswer => {
    const html = renderNewChannel({ frame, kind, draft: { name: form.name.slice(0, 80) }, errors: wrong })
    return { status: 400, html }
  }
  if ('must' in name || 'must' in address) return refuse(errors)
  const wanted: WantedChannel = {
    kind,
    name: name.name,
    address: address.url,
    person_id: person.id,
    events: [...DEFAULT_NOTIFICATION_EVENTS],
    language: 'en',
    quiet: null,
  }
  const added = await db.transaction((tx) => addChannel(deps, tx, { by: toActor(call), wanted }))
  if (added === null) return refuse({ name: CHANNEL_LIMIT })
  return { to: `${back}/${added.id}`, done: 'channel_added' }
}

function onePages(deps: NotificationPageDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: `${back}/:id`,
      needs: 'look',
      handle: async (call) => ({ html: await show(deps, call, { channel: await find(call), errors: {} }) }),
    }),
    definePage({
      method: 'post',
      path: `${back}/:id/change`,
      needs: 'develop',
      form: changeForm,
      handle: async (call) => {
        const channel = await find(call)
        const { event, language } = call.form
        const name = channel.kind === 'email' ? { name: channel.name } : readChannelName(call.form.name)
        const quiet = readQuiet(call.form)
        if ('must' in name || 'must' in quiet) {
          const errors = {
            ...('must' in name && { name: `The name ${name.must}.` }),
            ...('must' in quiet && { quiet_from: quiet.must }),
          }
          return { status: 400, html: await show(deps, call, { channel, errors }) }
        }
        const events = NOTIFICATION_EVENTS.filter((each) => event.includes(each))
        await call.db.transaction(async (tx) => {
          const changes = { name: name.name, events, language, quiet: quiet.quiet }
          await updateChannel(tx, call.tenant, { id: channel.id, changes, at: iso(deps) })
          await noteChannel(tx, toActor(call), {
            action: 'channel.changed',
            data: { channel: channel.id, events, language },
          })
        })
        return { to: `${back}/${channel.id}`, done: 'channel_saved' }
      },
    }),
  ]
}

function changePages(deps: NotificationPageDeps): Page[] {
  return [
    definePage({
      method: 'post',
      path: `${back}/:id/test`,
      needs: 'develop',
      handle: async (call) => {
        const { id } = await find(call)
        await testChannel(deps, call.db, { tenant: call.tenant, id })
        return { to: `${back}/${id}`, done: 'channel_tested' }
      },
    }),
    definePage({
      method: 'post',
      path: `${back}/:id/mend`,
      needs: 'develop',
      handle: async (call) => {
        const { id } = await find(call)
        await call.db.transaction(async (tx) => {
          await mendChannel(tx, call.tenant, { id, at: iso(deps) })
          await noteChannel(tx, toActor(call), { action: 'channel.mended', data: { channel: id } })
        })
        return { to: `${back}/${id}`, done: 'channel_mended' }
      },
    }),
    definePage({
      method: 'post',
      path: `${back}/:id/remove`,
      needs: 'develop',
      fresh: { what: 'the removal of a notification channel', back },
      handle: async (call) => {
        const channel = await find(call)
        await call.db.transaction((tx) => dropChannel(deps, tx, { by: toActor(call), channel }))
        return { to: back, done: 'channel_removed' }
      },
    }),
  ]
}

const toActor = ({ tenant, person, ip }: PageCall): ChannelActor => ({ tenant, actor: person.id, ip })

async function find({ db, tenant, params }: PageCall): Promise<Channel> {
  const id = params['id'] ?? ''
  const channel = isId('channel', id) ? await findChannel(db, tenant, id) : null
  if (channel === null) throw new SiteProblem('not_found')
  return channel
}

async function show(
  deps: NotificationPageDeps,
  { db, tenant, frame, role }: PageCall,
  { channel, errors }: { channel: Channel; errors: Readonly<Record<string, string>> },
): Promise<string> {
  const messages = await listMessages(db, tenant, { channelId: channel.id, limit: SHOWN })
  const waiting = (await countWaiting(db, tenant)).get(channel.id) ?? 0
  const bot = channel.kind === 'telegram' ? await findBotName(deps.db, iso(deps)) : null
  return renderChannel({ frame, channel, messages, waiting, errors, mayChange: hasAbility(role, 'develop'), bot })
}

function readQuiet(form: {
  quiet_from: string
  quiet_to: string
  quiet_zone: string
}): { quiet: Quiet | null } | { must: string } {
  const { quiet_from: begins, quiet_to: ends, quiet_zone: zone } = form
  if (begins === '' && ends === '') return { quiet: null }
  const [from, to] = [parseClock(begins), parseClock(ends)]
  if (from === null || to === null || from === to)
    return { must: 'Enter both times, such as 22:00 and 07:00, or none.' }
  if (!isTimeZone(zone)) return { must: 'Enter the time zone as a city, such as Europe/Oslo.' }
  return { quiet: { from, to, zone } }
}

const iso = ({ clock }: { clock: () => number }): string => new Date(clock()).toISOString()
