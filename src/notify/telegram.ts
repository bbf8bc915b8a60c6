import type { Outcome } from '../domain/notification/channel.ts'
import { commonOutcome, describeRefusal, type Post, readJson } from './outcome.ts'
import { type Composed, plainText } from './text.ts'

/** The token is a part of every URL of the Bot API. */
export type Bot = { readonly apiUrl: string; readonly token: string }

type Line = { readonly channelId: string; readonly chat: string; readonly signal: AbortSignal }

/**
 * Sends by the Bot API (https://core.telegram.org/bots/api#sendmessage). Without a parse mode, nothing in the text is
 * markup; what others typed is sent as code, in which Telegram makes no links and no mentions.
 */
export async function sendToTelegram(
  { post, bot }: { post: Post; bot: Bot },
  { channelId, chat, signal }: Line,
  composed: Composed,
): Promise<Outcome> {
  const { text, codes } = plainText(composed)
  const posted = await post({
    channelId,
    url: `${bot.apiUrl}/bot${bot.token}/sendMessage`,
    signal,
    body: {
      chat_id: chat,
      text,
      entities: codes.map(({ offset, length }) => ({ type: 'code', offset, length })),
      link_preview_options: { is_disabled: true },
    },
  })
  const answer = readJson(posted.body)
  const parameters = (typeof answer['parameters'] === 'object' ? answer['parameters'] : {}) as Record<string, unknown>
  const retryAfter = Number(parameters['retry_after'])
  if (posted.status === 429 && retryAfter > 0) return { kind: 'limited', seconds: retryAfter }
  const chatNow = parameters['migrate_to_chat_id']
  if (posted.status === 400 && /^-?\d{1,20}$/.test(String(chatNow))) return { kind: 'moved', chat: String(chatNow) }
  return commonOutcome(posted) ?? refusal(posted.status ?? 0, answer['description'])
}

function refusal(status: number, answered: unknown): Outcome {
  const description = typeof answered === 'string' ? answered : ''
  // The token belongs to the platform: the merchant cannot correct it.
  if (status === 401 || status === 404)
    return { kind: 'not_taken', reason: `Telegram refuses the bot (HTTP ${status})` }
  const isGone =
    status === 403 || /chat not found|chat_id|not enough rights|have no rights|deactivated/i.test(description)
  return {
    kind: 'refused',
    what: isGone ? 'channel' : 'message',
    reason: describeRefusal('Telegram', description, status),
  }
}
