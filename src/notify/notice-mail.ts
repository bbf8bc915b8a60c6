import type { NotificationLanguage } from '../domain/notification/channel.ts'
import { plainLine } from '../domain/text.ts'
import { createSpeech, type Speech } from './words/languages.ts'

export type NoticeFacts = {
  readonly account: string
  readonly kind: string
  readonly data: Readonly<Record<string, unknown>>
  readonly testMode: boolean
  readonly publicUrl: string
  /** URL at which one press stops the change; null: there is nothing to stop. */
  readonly stopUrl: string | null
}

export function noticeMail(told: NoticeFacts, language: NotificationLanguage): { subject: string; text: string } {
  const words = createSpeech(language)
  const { account, kind, testMode } = told
  const isPlanned = kind === 'wallet.changed' && told.data['at'] !== null
  const subject = words.translateName(isPlanned ? 'wallet.planned' : kind)
  const parts = isPlanned ? plannedWallet(told, words) : (PARTS[kind]?.(told, words) ?? other(told, words))
  return { subject: `${plainLine(account)}${testMode ? ' (test)' : ''}: ${subject}`, text: `${parts.join('\n\n')}\n` }
}

/** Paragraphs: what happened, what follows, and the page to go to. */
type Parts = (told: NoticeFacts, words: Speech) => string[]

const PARTS: Readonly<Record<string, Parts>> = {
  'wallet.changed': (told, { mail }) => [
    mail('walletSet', readValues(told)),
    mail('unexpected'),
    composeUrl(told, '/dashboard/wallet'),
  ],
  'wallet.kept': (told, { mail }) => [mail('walletKept', readValues(told)), composeUrl(told, '/dashboard/wallet')],
  'payment_link.claimed': (told, { mail }) => [
    mail('linkClaimed', readValues(told)),
    mail('linkNotYours'),
    composeUrl(told, `/dashboard/links/${readValue(told, 'link')}`),
  ],
  'channel.added': (told, words) => channel(told, words, words.mail('channelAdded', readValues(told))),
  'channel.removed': (told, words) => channel(told, words, words.mail('channelRemoved', readValues(told))),
  'channel.broken': (told, { mail, says }) => [
    mail('channelBroken', readValues(told)),
    `${says}: ${readValue(told, 'reason')}`,
    composeUrl(told, '/dashboard/notifications'),
  ],
  'api_key.created': (told, { mail }) => [
    mail('keyCreated', readValues(told)),
    mail('unexpected'),
    composeUrl(told, '/dashboard/keys'),
  ],
  'api_key.revoked': (told, { mail }) => [
    mail('keyRevoked', readValues(told)),
    mail('unexpected'),
    composeUrl(told, '/dashboard/keys'),
  ],
  'sign_in.new': (told, { mail }) => [
    mail('signIn', readValues(told)),
    mail('signInNot'),
    composeUrl(told, '/dashboard/account'),
  ],
  'payout.held': (told, { mail }) => [
    mail('payoutHeld', readValues(told)),
    mail(HELD[readValue(told, 'reason')] ?? 'heldOperator'),
    composeUrl(told, `/dashboard/payments/${readValue(told, 'id')}`),
  ],
  'webhook_endpoint.changed': (told, { mail }) => [
    mail('endpointChanged', readValues(told)),
    mail('unexpected'),
    composeUrl(told, '/dashboard/webhooks'),
  ],
  'webhook_endpoint.disabled': (told, { mail }) => [
    mail(readValue(told, 'reason') === 'gone' ? 'endpointGone' : 'endpointFailing', readValues(told)),
    mail('endpointThen'),
    composeUrl(told, `/dashboard/webhooks/${readValue(told, 'endpoint')}`),
  ],
}

const HELD = { blacklisted: 'heldBlacklisted', refused: 'heldRefused', policy: 'heldPolicy' } as Readonly<
  Record<string, 'heldBlacklisted' | 'heldRefused' | 'heldPolicy'>
>

function plannedWallet(told: NoticeFacts, { mail, newWallet, takesEffect, stop }: Speech): string[] {
  return [
    mail('walletAsked', readValues(told)),
    `${newWallet}: ${readValue(told, 'address')}\n${takesEffect}: ${readValue(told, 'at')}`,
    `${stop}:`,
    told.stopUrl ?? composeUrl(told, '/dashboard/wallet'),
    mail('walletAnybody'),
  ]
}

const channel = (told: NoticeFacts, { mail }: Speech, what: string): string[] => [
  what,
  mail('unexpected'),
  composeUrl(told, '/dashboard/notifications'),
]

/** The mail for a link that was stopped or works again, and for each kind without an entry. */
function other(told: NoticeFacts, { translateName: nameOf }: Speech): string[] {
  const title = readValue(told, 'title')
  const link = readValue(told, 'link')
  const what = title === '' ? nameOf(told.kind) : `${nameOf(told.kind)}: ${title}`
  return [what, composeUrl(told, link === '' ? '/dashboard' : `/dashboard/links/${link}`)]
}

const composeUrl = ({ publicUrl }: NoticeFacts, path: string): string => `${publicUrl}${path}`

const CHANNELS: Readonly<Record<string, string>> = {
  email: 'E-mail',
  telegram: 'Telegram',
  discord: 'Discord',
  slack: 'Slack',
}

function readValue({ data }: NoticeFacts, name: string): string {
  const value = data[name]
  const text = typeof value === 'string' ? plainLine(value) : ''
  return name === 'kind' ? (CHANNELS[text] ?? text) : text
}

function readValues(told: NoticeFacts): Record<string, string> {
  const values = Object.keys(told.data).map((name) => [name, readValue(told, name)])
  return { ...Object.fromEntries(values), account: plainLine(told.account) }
}
