/** Where a merchant is told of what happened: kinds of channels, what they may ask for, and their languages. */

export const CHANNEL_KINDS = ['email', 'telegram', 'discord', 'slack'] as const
export type ChannelKind = (typeof CHANNEL_KINDS)[number]

/** Whether a chat of Telegram, by its id, is that of one person. That of a group, whose id is below zero, is the account's. */
export const isChatOfOne = (chat: string): boolean => !chat.startsWith('-')

/** The notifications that every channel gets, whatever it asks for. */
export const ALWAYS_SENT = 'Notifications about the wallet, keys, channels and sign-in are always sent.'

/** What a channel may ask for, beyond what is always sent. */
export const NOTIFICATION_EVENTS = [
  'payment.succeeded',
  'payment.failed',
  'payment.expired',
  'payment.canceled',
  'payment.under_review',
  'payment.chargeback',
  'payment.refunded',
  'payment_link.completed',
  'payment_link.stopped',
  'payment_link.resumed',
  'webhook_endpoint.disabled',
] as const

export type NotificationEvent = (typeof NOTIFICATION_EVENTS)[number]

export const DEFAULT_NOTIFICATION_EVENTS = [
  'payment.succeeded',
  'payment.under_review',
  'payment.chargeback',
  'webhook_endpoint.disabled',
] as const satisfies readonly NotificationEvent[]

export const NOTIFICATION_LANGUAGES = [
  'en',
  'de',
  'fr',
  'es',
  'it',
  'nl',
  'pl',
  'pt',
  'ro',
  'hu',
  'sv',
  'el',
  'hi',
  'ar',
] as const
export type NotificationLanguage = (typeof NOTIFICATION_LANGUAGES)[number]

/** Of an account and mode; more are refused. */
export const MOST_CHANNELS = 20

/** What became of one message at its channel. */
export type Outcome =
  /** It wants a pause of so many seconds before the next message. */
  | { readonly kind: 'accepted'; readonly pauseSeconds: number }
  /** The channel takes nothing for so long. It has not taken this message. */
  | { readonly kind: 'limited'; readonly seconds: number }
  /** It has not taken the message, and may take it later. */
  | { readonly kind: 'not_taken'; readonly reason: string }
  /** `channel`: it will take none until a person mends it. `message`: it takes this one never. */
  | { readonly kind: 'refused'; readonly what: 'channel' | 'message'; readonly reason: string }
  /** The group is another one now: the message goes there. */
  | { readonly kind: 'moved'; readonly chat: string }
  /** The request went out, and no answer came. It may have been taken. */
  | { readonly kind: 'unknown'; readonly reason: string }

/**
 * Seconds before a message is tried again that was not taken or whose fate is unknown. A channel that takes nothing for
 * longer than all of them together, three days, is switched off until a person mends it.
 */
const RETRY_SECONDS = [5, 30, 120, 600, 1800] as const
const LATER_RETRIES_SECONDS = 3600
export const GIVEN_UP_AFTER_SECONDS = 3 * 86_400

/** `tries` were made. */
export function retrySeconds(tries: number): number {
  return RETRY_SECONDS[tries - 1] ?? LATER_RETRIES_SECONDS
}

/** A longer pause is asked for by nobody who means it (seconds). */
const LONGEST_PAUSE_SECONDS = 86_400

/** What a channel asked for, as seconds that can be waited: never less than one, never more than a day. */
export function pauseSeconds(asked: number | null): number {
  if (asked === null || !Number.isFinite(asked)) return 30
  return Math.min(Math.max(Math.ceil(asked), 1), LONGEST_PAUSE_SECONDS)
}
