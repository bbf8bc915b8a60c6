import type { ChannelKind, NotificationLanguage } from './channel.ts'

export type NotifiedFact = {
  readonly kind: string
  /** ISO 8601. */
  readonly at: string
  /** The event's object as the API shows it, or the data of the notice. */
  readonly data: Readonly<Record<string, unknown>>
}

export type ChannelMessage = {
  readonly id: string
  readonly account: string
  /** Oldest first; empty: it is a test of the channel. */
  readonly facts: readonly NotifiedFact[]
  /** True if an earlier try got no response: people must know that they might have received it already. */
  readonly repeated: boolean
  /** The URL at which one press stops the announced change of the wallet; null: there is nothing to stop. */
  readonly stopUrl: string | null
}

export type Recipient = {
  readonly channelId: string
  readonly kind: ChannelKind
  /** The mail address, the id of the chat, or the URL of the incoming webhook. */
  readonly address: string
  readonly language: NotificationLanguage
}
