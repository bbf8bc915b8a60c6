import type { Outcome } from '../domain/notification/channel.ts'
import { commonOutcome, describeRefusal, type Post } from './outcome.ts'
import { type Composed, markedText } from './text.ts'

/** Sends to an incoming webhook (https://api.slack.com/messaging/webhooks). */
export async function sendToSlack(
  post: Post,
  { channelId, url, signal }: { channelId: string; url: string; signal: AbortSignal },
  composed: Composed,
): Promise<Outcome> {
  const text = markedText(composed, SLACK)
  const posted = await post({
    channelId,
    url,
    signal,
    body: {
      // The text of a notification on a screen.
      text: SLACK.escape(composed.title),
      unfurl_links: false,
      unfurl_media: false,
      // Verbatim: Slack adds no links and no mentions.
      blocks: [{ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } }],
    },
  })
  const common = commonOutcome(posted)
  if (common !== null) return common
  const status = posted.status ?? 0
  return {
    kind: 'refused',
    what: status === 400 ? 'message' : 'channel',
    reason: describeRefusal('Slack', posted.body, status),
  }
}

const SLACK = {
  // https://api.slack.com/reference/surfaces/formatting#escaping: nothing else opens a link or a mention. The other
  // characters only change the look, which a character of no width in front prevents.
  escape: (text: string): string =>
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replace(/[*_~`]/g, '\u200b$&'),
  code: (text: string): string =>
    `\`${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}\``,
  link: (url: string): string => `<${url}>`,
  bold: (text: string): string => `*${text}*`,
}
