import type { Client } from '@temporalio/client'
import {
  createNotificationActivities,
  type NotificationActivities,
} from '../../activities/notifications/notify-channel.ts'
import type { WorkerConfig } from '../../config/config.ts'
import { splitSecrets } from '../../config/secret.ts'
import type { Db } from '../../db/db.ts'
import { newId } from '../../ids.ts'
import { deliverMessage } from '../../notify/deliver.ts'
import type { Post } from '../../notify/outcome.ts'
import type { Bot } from '../../notify/telegram.ts'
import { createLimiter } from '../../runtime/limiter.ts'
import type { Logger } from '../../runtime/log.ts'
import { createSecretBox } from '../../webhooks/secret-box.ts'
import { createSender, type Sender } from '../../webhooks/send.ts'
import type { Loop } from '../../worker/loop.ts'
import { DUE_PER_ROUND, sweepNotifications } from '../../worker/notify/notification-sweep.ts'
import type { WorkWakeups } from '../../worker/work-look.ts'
import { DELIVERIES_QUEUE } from '../../workflows/queues.ts'
import { composeMail, connectMail } from './mail.ts'
import { composeTelegram } from './telegram.ts'

/** Telegram accepts thirty messages a second from a bot. Two workers at this pace stay below that. */
const BOT_CALLS = { rate: 14 }

export type Notifications = {
  readonly activities: NotificationActivities
  readonly loops: readonly Loop[]
  readonly close: () => void
}

export function composeNotifications(
  config: WorkerConfig,
  deps: { db: Db; log: Logger; clock: () => number; client: Pick<Client, 'workflow'>; wakeups: WorkWakeups },
): Notifications {
  const { db, log, clock, client, wakeups } = deps
  const box = createSecretBox(
    config.WEBHOOK_ENCRYPTION_KEY.reveal(),
    splitSecrets(config.RETIRED_WEBHOOK_ENCRYPTION_KEYS),
  )
  const mail = connectMail(config)
  const mails = composeMail(config, deps)
  const bot = readBot(config)
  const sender = createSender({ mode: config.PINRAIL_MODE, testTargets: readTestTargets(config), now: Date.now })
  const place = { publicUrl: config.PUBLIC_URL, testMode: !db.livemode }
  const botCalls = createLimiter(BOT_CALLS)
  const botTurn = () => botCalls.take()
  const delivering = { ...place, post: postBy(sender), mail, bot, botTurn }
  const channels = {
    secretBox: box,
    webhookTargets: { mode: config.PINRAIL_MODE, testTargets: config.WEBHOOK_TEST_TARGETS },
    newChannelId: () => newId('channel'),
    newChannelMessageId: () => newId('channelMessage'),
    clock,
  }
  const sweep = { db, client, taskQueue: DELIVERIES_QUEUE, now: clock }
  const everyMs = config.RELAY_TICK_MS
  const telegram = bot === null ? null : composeTelegram(bot, { db, clock, log, channels, botTurn, everyMs })
  return {
    activities: createNotificationActivities({
      db,
      open: (sealed, id) => box.open(sealed, id),
      seal: (text, id) => box.seal(text, id),
      newMessageId: () => newId('channelMessage'),
      publicUrl: config.PUBLIC_URL,
      deliver: (to, message, signal) => deliverMessage(delivering, { to, message }, signal),
      now: clock,
    }),
    loops: [
      ...mails.loops,
      ...(telegram === null ? [] : [telegram.loop]),
      {
        name: 'notifications',
        everyMs,
        tick: () => sweepNotifications(sweep),
        // An account can have any number of payments.
        idle: { wakeup: wakeups.notifications, pageSize: DUE_PER_ROUND, apartMs: everyMs },
        log,
      },
    ],
    close: () => {
      telegram?.close()
      mails.close()
      mail?.close()
      sender.close()
    },
  }
}

function readBot({ TELEGRAM_BOT_TOKEN: token, TELEGRAM_API_URL: apiUrl }: WorkerConfig): Bot | null {
  return token === undefined ? null : { apiUrl: apiUrl.replace(/\/$/, ''), token: token.reveal() }
}

/** In test mode a Bot API server on this machine is allowed. */
function readTestTargets({ WEBHOOK_TEST_TARGETS: targets, TELEGRAM_API_URL: apiUrl }: WorkerConfig): string[] {
  const { protocol, host } = new URL(apiUrl)
  return protocol === 'http:' ? [...targets, host] : [...targets]
}

/** Posts through the guarded way out of webhooks, so that no URL of a channel leads into the platform's network. */
export function postBy(sender: Pick<Sender, 'send'>): Post {
  return async ({ channelId, url, body, signal }) => {
    // A kept connection may close just as it is used again, and then it is unknown whether the message was received.
    const headers = { connection: 'close' }
    const sent = await sender.send(
      { endpointId: channelId, url, headers, body: Buffer.from(JSON.stringify(body)) },
      signal,
    )
    const { status, error, bodyExcerpt, retryAfterSeconds, bytesSent } = sent
    return { status, body: bodyExcerpt, headers: sent.headers, retryAfterSeconds, error, wasSent: bytesSent > 0 }
  }
}
