export const CHANNEL_KINDS = ['email', 'telegram', 'discord', 'slack'] as const
export type ChannelKind = (typeof CHANNEL_KINDS)[number]

/** A group's id is below zero, and its chat belongs to the account. */
export const isChatOfOne = (chat: string): boolean => !chat.startsWith('-')

export const ALWAYS_SENT = 'Notifications about the wallet, keys, channels and sign-in are always sent.'

/** The events that a channel can subscribe to, beyond what is always sent. */
export const NOTIFICATION_EVENTS = [
  'payment.succeeded',
  'payment.failed',
  'payment.expired',
  'payment.canceled',
  'payment.under_review',
  'payment.chargeback',
  'payment.refunded',
  'dispute.created',
  'dispute.closed',
  'dispute.evidence_due',
  'refund.created',
  'refund.succeeded',
  'refund.failed',
  'reserve.released',
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
  'dispute.created',
  'dispute.closed',
  'dispute.evidence_due',
  'refund.created',
  'refund.failed',
  'reserve.released',
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

/** Channels of one account and mode; more are refused. */
export const MOST_CHANNELS = 20

export type Outcome =
  /** The channel asks for a pause of that many seconds before the next message. */
  | { readonly kind: 'accepted'; readonly pauseSeconds: number }
  /** The channel accepts no message for that many seconds. It has not accepted this one. */
  | { readonly kind: 'limited'; readonly seconds: number }
  /** The channel has not accepted the message, and might accept it later. */
  | { readonly kind: 'not_taken'; readonly reason: string }
  /** `channel`: it accepts no message until a person mends it. `message`: it never accepts this one. */
  | { readonly kind: 'refused'; readonly what: 'channel' | 'message'; readonly reason: string }
  /** The group has a new chat: the message goes there. */
  | { readonly kind: 'moved'; readonly chat: string }
  /** No response to the request arrived. The channel might have accepted the message. */
  | { readonly kind: 'unknown'; readonly reason: string }

/**
 * Seconds before a message is tried again that was not accepted or whose result is unknown. A channel that accepts
 * nothing for three days, longer than all of them together, is switched off until a person mends it.
 */
const RETRY_SECONDS = [5, 30, 120, 600, 1800] as const
const LATER_RETRIES_SECONDS = 3600
export const GIVEN_UP_AFTER_SECONDS = 3 * 86_400

export function retrySeconds(tries: number): number {
  return RETRY_SECONDS[tries - 1] ?? LATER_RETRIES_SECONDS
}

/** A channel that asks for a longer pause does not mean it (seconds). */
const LONGEST_PAUSE_SECONDS = 86_400

/** Returns the pause that a channel asked for in whole seconds: at least one, at most a day, 30 if it named none. */
export function pauseSeconds(asked: number | null): number {
  if (asked === null || !Number.isFinite(asked)) return 30
  return Math.min(Math.max(Math.ceil(asked), 1), LONGEST_PAUSE_SECONDS)
}
