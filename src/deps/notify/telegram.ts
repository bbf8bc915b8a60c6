import { Agent, request } from 'undici'
import { z } from 'zod'
import { addChannel, type ChannelDeps, readChannelName } from '../../api/accounts/channels.ts'
import { listMembers } from '../../db/accounts/people.ts'
import type { Tx } from '../../db/db.ts'
import { listChannels, mendChannel } from '../../db/notifications/channels.ts'
import { insertTestMessage } from '../../db/notifications/messages.ts'
import { seeBot } from '../../db/notifications/telegram.ts'
import { hasAbility } from '../../domain/account/roles.ts'
import { DEFAULT_NOTIFICATION_EVENTS } from '../../domain/notification/channel.ts'
import type { Bot } from '../../notify/telegram.ts'
import { createWakeup } from '../../runtime/wakeup.ts'
import type { Loop } from '../../worker/loop.ts'
import {
  type AskBot,
  introduceBot,
  type LinkedChat,
  readTelegram,
  type TelegramRoundDeps,
  UPDATES_AT_ONCE,
} from '../../worker/notify/telegram-round.ts'

/** Bytes. Ten updates with the longest texts and their quotations have less. */
const MOST_BYTES = 2 * 1024 * 1024
const ANSWER_MS = 15_000
/** Milliseconds: a fifth of the time after which the bot counts as gone. */
const SEEN_EVERY_MS = 60_000

const answerShape = z.object({
  ok: z.boolean(),
  result: z.unknown().optional(),
  parameters: z.object({ retry_after: z.number().positive().max(86_400).optional() }).optional(),
})

/** `botTurn` keeps the pace that all calls of the bot share. */
export function composeTelegram(
  bot: Bot,
  deps: Omit<TelegramRoundDeps, 'botId' | 'ask' | 'link'> & {
    readonly channels: ChannelDeps
    readonly botTurn: () => Promise<unknown>
    readonly everyMs: number
  },
): { loop: Loop; close: () => void } {
  const { channels, botTurn, everyMs, log } = deps
  const agent = new Agent({ maxResponseSize: MOST_BYTES, connect: { timeout: ANSWER_MS } })
  const ask = askBy(bot, agent)
  const round: TelegramRoundDeps = {
    ...deps,
    botId: bot.token.split(':')[0] ?? '',
    ask: async (method, parameters) => {
      await botTurn()
      return ask(method, parameters)
    },
    link: (tx, chat) => linkChat(channels, tx, chat),
  }
  let seenAt: number | null = null
  const tick = async (): Promise<number> => {
    const now = deps.clock()
    if (seenAt === null) await introduceBot(round)
    else if (now - seenAt >= SEEN_EVERY_MS) await seeBot(deps.db, { id: round.botId, now: new Date(now).toISOString() })
    if (seenAt === null || now - seenAt >= SEEN_EVERY_MS) seenAt = now
    return readTelegram(round)
  }
  return {
    // Messages of strangers that pile up must not outlast a link.
    loop: {
      name: 'telegram',
      everyMs,
      tick,
      idle: { everyMs, wakeup: createWakeup(), pageSize: UPDATES_AT_ONCE },
      log,
    },
    close: () => void agent.destroy().catch(() => undefined),
  }
}

/** Errors name only the method: the URL contains the token. */
function askBy({ apiUrl, token }: Bot, dispatcher: Agent): AskBot {
  return async (method, parameters) => {
    try {
      const answer = await request(`${apiUrl}/bot${token}/${method}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(parameters),
        signal: AbortSignal.timeout(ANSWER_MS),
        dispatcher,
      })
      const read = answerShape.safeParse(await answer.body.json())
      if (read.data?.ok === true) return { ok: true, result: read.data.result }
      const retryAfterSeconds = read.data?.parameters?.retry_after ?? null
      return { ok: false, status: answer.statusCode, retryAfterSeconds }
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer'
      throw new Error(`Telegram did not answer ${method} (${code})`)
    }
  }
}

/** A chat that is already linked is turned on again instead of receiving everything twice. */
export async function linkChat(deps: ChannelDeps, tx: Tx, linked: LinkedChat): Promise<boolean> {
  const { merchantId, personId, chat, name } = linked
  const member = (await listMembers(tx, merchantId)).find((one) => one.personId === personId)
  if (member === undefined || !hasAbility(member.role, 'develop')) return false
  const tenant = { merchantId, livemode: tx.livemode }
  const at = new Date(deps.clock()).toISOString()
  const same = (await listChannels(tx, tenant)).find(
    ({ id, kind, sealed }) => kind === 'telegram' && addressIn(deps, sealed, id) === chat,
  )
  if (same !== undefined) await mendChannel(tx, tenant, { id: same.id, at })
  const read = readChannelName(name)
  const channel =
    same ??
    (await addChannel(deps, tx, {
      by: { tenant, actor: personId, ip: '' },
      wanted: {
        kind: 'telegram',
        name: 'name' in read ? read.name : 'Telegram',
        address: chat,
        person_id: personId,
        events: [...DEFAULT_NOTIFICATION_EVENTS],
        language: 'en',
        quiet: null,
      },
    }))
  if (channel === null) return false
  // The chat sees at once that it is linked.
  await insertTestMessage(tx, tenant, { id: deps.newChannelMessageId(), channelId: channel.id, now: at })
  return true
}

function addressIn({ secretBox }: ChannelDeps, sealed: string, id: string): string | null {
  try {
    return secretBox.open(sealed, id)
  } catch {
    return null
  }
}
