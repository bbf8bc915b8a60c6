import { type Outcome, pauseSeconds } from '../domain/notification/channel.ts'
import { commonOutcome, describeRefusal, type Post, readJson } from './outcome.ts'
import { type Composed, markedText } from './text.ts'

/** No preview of links (https://discord.com/developers/docs/resources/message#message-object-message-flags). */
const SUPPRESS_EMBEDS = 4

/** Sends to an incoming webhook (https://discord.com/developers/docs/resources/webhook#execute-webhook). */
export async function sendToDiscord(
  post: Post,
  { channelId, url, signal }: { channelId: string; url: string; signal: AbortSignal },
  composed: Composed,
): Promise<Outcome> {
  const posted = await post({
    channelId,
    // Waits until the message is there: otherwise the response means nothing.
    url: `${url}?wait=true`,
    signal,
    body: { content: markedText(composed, DISCORD), allowed_mentions: { parse: [] }, flags: SUPPRESS_EMBEDS },
  })
  const answer = readJson(posted.body)
  if (posted.status === 429) {
    const seconds = Number(answer['retry_after'])
    return { kind: 'limited', seconds: seconds > 0 ? pauseSeconds(seconds) : pauseSeconds(posted.retryAfterSeconds) }
  }
  const common = commonOutcome(posted)
  // The last request that its bucket takes for now.
  if (common?.kind === 'accepted' && posted.headers['x-ratelimit-remaining'] === '0')
    return { kind: 'accepted', pauseSeconds: pauseSeconds(Number(posted.headers['x-ratelimit-reset-after'])) }
  if (common !== null) return common
  const status = posted.status ?? 0
  const what = status === 400 ? 'message' : 'channel'
  return { kind: 'refused', what, reason: describeRefusal('Discord', answer['message'], status) }
}

const DISCORD = {
  /** Everything that is markup, a mention, or the beginning of one. */
  escape: (text: string): string => text.replace(/[\\*_~`|>#\-[\]()<@]/g, '\\$&'),
  code: (text: string): string => `\`${text}\``,
  link: (url: string): string => `<${url}>`,
  bold: (text: string): string => `**${text}**`,
}
