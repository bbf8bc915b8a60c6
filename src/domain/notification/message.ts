import type { ChannelKind, NotificationLanguage } from './channel.ts'

/** One thing that happened, as a channel is told of it. */
export type Told = {
  /** Of the event or notice. */
  readonly kind: string
  /** ISO 8601. */
  readonly at: string
  /** The event's object as the API shows it, or what the notice says. */
  readonly data: Readonly<Record<string, unknown>>
}

/** What one message is made of. */
export type ChannelMessage = {
  readonly id: string
  /** The account's name. */
  readonly account: string
  /** Oldest first; none: it is a test of the channel. */
  readonly told: readonly Told[]
  /** An earlier try got no answer: people must know that they may have it already. */
  readonly repeated: boolean
  /** Where one press stops the change of the wallet that it tells of; null: there is nothing to stop. */
  readonly stopUrl: string | null
}

export type Recipient = {
  readonly channelId: string
  readonly kind: ChannelKind
  /** The mail address, the id of the chat, or the URL of the incoming webhook. */
  readonly address: string
  readonly language: NotificationLanguage
}
