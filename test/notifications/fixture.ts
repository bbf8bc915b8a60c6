import { MockActivityEnvironment } from '@temporalio/testing'
import {
  type ChannelRound,
  createNotificationActivities,
  type NotificationActivities,
} from '../../src/activities/notifications/notify-channel.ts'
import type { Tenant } from '../../src/db/db.ts'
import { type Channel, insertChannel, type NewChannel } from '../../src/db/notifications/channels.ts'
import { postBy } from '../../src/deps/notify/notifications.ts'
import type { ChannelKind } from '../../src/domain/notification/channel.ts'
import { newId } from '../../src/ids.ts'
import { deliverMessage } from '../../src/notify/deliver.ts'
import { createMailSender } from '../../src/notify/mail.ts'
import { createSender } from '../../src/webhooks/send.ts'
import { PLAIN_PLATFORM } from '../support/platforms.ts'
import { addEvent, addMerchant, rows, type Seeded, secretBox, seedDatabase } from '../webhooks/seed.ts'
import {
  type MailService,
  type Service,
  startDiscord,
  startMailService,
  startSlack,
  startTelegram,
} from './chat-services.ts'

const BOT_TOKEN = '123456789:AAbot-token_of-the-tests'

/** A database, the four services, and the activity that sends to them, all by one clock that the test moves. */
export type Fixture = Seeded & {
  readonly services: Readonly<Record<'telegram' | 'discord' | 'slack', Service>>
  readonly mail: MailService
  readonly clock: { now: number }
  /** True if the sender ends after this request, before it has recorded the outcome. */
  readonly killer: { isDue: (request: number) => boolean; killed: number }
  readonly activities: NotificationActivities
  round(channelId: string): Promise<ChannelRound>
  /** Rounds with the pauses that they ask for, as the workflow and the sweep make them, for this number of seconds. */
  run(channelId: string, seconds: number): Promise<void>
  addChannel(tenant: Tenant, kind: ChannelKind, more?: Partial<NewChannel>): Promise<Channel>
  pay(
    tenant: Tenant,
    payment?: { amount?: number; currency?: string; reference?: string; type?: string },
  ): Promise<void>
}

export async function createFixture(): Promise<Fixture> {
  // Later than every timestamp of the database's own clock.
  const clock = { now: Date.now() + 86_400_000 }
  const read = (): number => clock.now
  const seeded = await seedDatabase()
  const [telegram, discord, slack, mail] = await Promise.all([
    startTelegram(BOT_TOKEN, read),
    startDiscord(read),
    startSlack(read),
    startMailService(),
  ])
  const services = { telegram, discord, slack }
  const testTargets = Object.values(services).map(({ target }) => target)
  const sender = createSender({ mode: 'test', testTargets, now: Date.now })
  const mailSender = createMailSender({
    url: mail.url,
    from: 'Pinrail <pinrail@pinrail.example>',
    platform: PLAIN_PLATFORM,
  })
  const delivering = {
    publicUrl: 'https://pay.pinrail.example',
    testMode: true,
    post: postBy(sender),
    mail: mailSender,
    bot: { apiUrl: telegram.url, token: BOT_TOKEN },
    botTurn: () => Promise.resolve(),
  }
  const killer = { isDue: (_request: number): boolean => false, killed: 0 }
  let requests = 0
  const activities = createNotificationActivities({
    db: seeded.db,
    open: (sealed, id) => secretBox.open(sealed, id),
    seal: (text, id) => secretBox.seal(text, id),
    newMessageId: () => newId('channelMessage'),
    publicUrl: delivering.publicUrl,
    deliver: async (to, message, signal) => {
      const outcome = await deliverMessage(delivering, { to, message }, signal)
      requests += 1
      if (!killer.isDue(requests)) return outcome
      killer.killed += 1
      throw new Error('killed')
    },
    now: read,
  })
  const round = (channelId: string): Promise<ChannelRound> =>
    new MockActivityEnvironment().run((id: string) => activities.notifyChannel(id), channelId)

  return {
    ...seeded,
    services,
    mail,
    clock,
    killer,
    activities,
    round,
    async run(channelId, seconds) {
      const end = clock.now + seconds * 1000
      while (clock.now < end) {
        const { againAfterMs } = await round(channelId)
        clock.now += againAfterMs ?? (seconds > 7200 ? 1_800_000 : 5000)
      }
    },
    async addChannel(tenant, kind, more = {}) {
      const id = newId('channel')
      const person = kind === 'email' || kind === 'telegram' ? await addMember(seeded, tenant) : null
      const addresses = {
        email: '',
        telegram: '4711',
        discord: `${discord.url}/api/webhooks/42/secret-of-discord`,
        slack: `${slack.url}/services/T0001/B0001/secretOfSlack`,
      }
      return insertChannel(seeded.db, tenant, {
        id,
        kind,
        name: `Our ${kind}`,
        sealed: secretBox.seal(addresses[kind], id),
        person_id: person,
        events: ['payment.succeeded', 'payment.failed'],
        language: 'en',
        quiet: null,
        at: new Date(clock.now).toISOString(),
        ...more,
      })
    },
    async pay(tenant, { amount = 4990, currency = 'EUR', reference = 'order-1', type = 'payment.succeeded' } = {}) {
      const object = {
        id: newId('payment'),
        amount_minor: amount,
        currency,
        reference,
        settlement: { net_usdc: '51.23' },
      }
      await addEvent(seeded.db, tenant, { type, at: new Date(clock.now).toISOString(), object })
    },
    async close() {
      sender.close()
      mailSender.close()
      await Promise.all([telegram.close(), discord.close(), slack.close(), mail.close()])
      await seeded.close()
    },
  }
}

async function addMember({ db }: Seeded, { merchantId }: Tenant): Promise<string> {
  const id = newId('person')
  await db.query('insert into person (id, email) values ($1, $2)', [id, `${id}@shop.example`])
  await db.query('insert into membership (merchant_id, person_id, role) values ($1, $2, $3)', [merchantId, id, 'owner'])
  return id
}

export const newTenant = ({ db }: Fixture): Promise<Tenant> => addMerchant(db)

export type MessageState = { state: string; kind: string; count: number; failure: string | null; unanswered: number }

export const listMessages = ({ db }: Fixture, { id }: Channel): Promise<MessageState[]> =>
  rows(db, 'select state, kind, count, failure, unanswered from channel_message where channel_id = $1 order by id', [
    id,
  ])

/** The number of notifications that are in no message yet. */
export async function countWaiting({ db }: Fixture, { id }: Channel): Promise<number> {
  const found = await rows<{ count: string }>(
    db,
    'select count(*) from notification where channel_id = $1 and message_id is null',
    [id],
  )
  return Number(found[0]?.count)
}
