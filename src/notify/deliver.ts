import type { Outcome } from '../domain/notification/channel.ts'
import type { ChannelMessage, Recipient } from '../domain/notification/message.ts'
import { composeMessage, type Place } from './compose.ts'
import { sendToDiscord } from './discord.ts'
import type { MailSender } from './mail.ts'
import { mailOutcome } from './mail-outcome.ts'
import type { Post } from './outcome.ts'
import { sendToSlack } from './slack.ts'
import { type Bot, sendToTelegram } from './telegram.ts'
import { plainText } from './text.ts'

export type DeliverDeps = Place & {
  readonly post: Post
  /** Null without a mail server. */
  readonly mail: Pick<MailSender, 'send'> | null
  /** Null without a bot. */
  readonly bot: Bot | null
  /** Resolves when the bot may send again: all its chats share one limit. */
  readonly botTurn: () => Promise<unknown>
}

/** Makes one try at one channel. Every result is a value; it throws only because of `signal`. */
export async function deliverMessage(
  deps: DeliverDeps,
  { to, message }: { to: Recipient; message: ChannelMessage },
  signal: AbortSignal,
): Promise<Outcome> {
  const composed = composeMessage(message, to, deps)
  const { channelId, address } = to
  switch (to.kind) {
    case 'discord':
      return sendToDiscord(deps.post, { channelId, url: address, signal }, composed)
    case 'slack':
      return sendToSlack(deps.post, { channelId, url: address, signal }, composed)
    case 'telegram':
      if (deps.bot === null) return { kind: 'not_taken', reason: 'this system currently has no bot' }
      await deps.botTurn()
      return sendToTelegram({ post: deps.post, bot: deps.bot }, { channelId, chat: address, signal }, composed)
    case 'email': {
      const { mail: sender } = deps
      if (sender === null) return { kind: 'not_taken', reason: 'this system currently has no mail server' }
      const { text } = plainText({ title: '', lines: composed.lines })
      const mail = { id: message.id, to: address, subject: composed.title, text: `${text.trimStart()}\n` }
      return mailOutcome(() => sender.send(mail))
    }
  }
}
