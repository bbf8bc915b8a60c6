import type { NotificationLanguage } from '../domain/notification/channel.ts'
import { plainLine } from '../domain/text.ts'
import { type Speech, wordsOf } from './words/languages.ts'

export type NoticeTold = {
  readonly account: string
  readonly kind: string
  readonly data: Readonly<Record<string, unknown>>
  readonly testMode: boolean
  readonly publicUrl: string
  /** Where one press stops the change; null: there is nothing to stop. */
  readonly stopUrl: string | null
}

/** What a person of an account is told by mail. */
export function noticeMail(told: NoticeTold, language: NotificationLanguage): { subject: string; text: string } {
  const words = wordsOf(language)
  const { account, kind, testMode } = told
  const isPlanned = kind === 'wallet.changed' && told.data['at'] !== null
  const subject = words.nameOf(isPlanned ? 'wallet.planned' : kind)
  const parts = isPlanned ? plannedWallet(told, words) : (PARTS[kind]?.(told, words) ?? other(told, words))
  return { subject: `${plainLine(account)}${testMode ? ' (test)' : ''}: ${subject}`, text: `${parts.join('\n\n')}\n` }
}

/** Paragraphs: what happened, what follows, and the page to go to. */
type Parts = (told: NoticeTold, words: Speech) => string[]

const PARTS: Readonly<Record<string, Parts>> = {
  'wallet.changed': (told, { mail }) => [
    mail('walletSet', valuesOf(told)),
    mail('unexpected'),
    pageOf(told, '/dashboard/wallet'),
  ],
  'wallet.kept': (told, { mail }) => [mail('walletKept', valuesOf(told)), pageOf(told, '/dashboard/wallet')],
  'payment_link.claimed': (told, { mail }) => [
    mail('linkClaimed', valuesOf(told)),
    mail('linkNotYours'),
    pageOf(told, `/dashboard/links/${valueOf(told, 'link')}`),
  ],
  'channel.added': (told, words) => channel(told, words, words.mail('channelAdded', valuesOf(told))),
  'channel.removed': (told, words) => channel(told, words, words.mail('channelRemoved', valuesOf(told))),
  'channel.broken': (told, { mail, says }) => [
    mail('channelBroken', valuesOf(told)),
    `${says}: ${valueOf(told, 'reason')}`,
    pageOf(told, '/dashboard/notifications'),
  ],
  'api_key.created': (told, { mail }) => [
    mail('keyCreated', valuesOf(told)),
    mail('unexpected'),
    pageOf(told, '/dashboard/keys'),
  ],
  'api_key.revoked': (told, { mail }) => [
    mail('keyRevoked', valuesOf(told)),
    mail('unexpected'),
    pageOf(told, '/dashboard/keys'),
  ],
  'sign_in.new': (told, { mail }) => [
    mail('signIn', valuesOf(told)),
    mail('signInNot'),
    pageOf(told, '/dashboard/account'),
  ],
  'payout.held': (told, { mail }) => [
    mail('payoutHeld', valuesOf(told)),
    mail(HELD[valueOf(told, 'reason')] ?? 'heldOperator'),
    pageOf(told, `/dashboard/payments/${valueOf(told, 'id')}`),
  ],
  'webhook_endpoint.changed': (told, { mail }) => [
    mail('endpointChanged', valuesOf(told)),
    mail('unexpected'),
    pageOf(told, '/dashboard/webhooks'),
  ],
  'webhook_endpoint.disabled': (told, { mail }) => [
    mail(valueOf(told, 'reason') === 'gone' ? 'endpointGone' : 'endpointFailing', valuesOf(told)),
    mail('endpointThen'),
    pageOf(told, `/dashboard/webhooks/${valueOf(told, 'endpoint')}`),
  ],
}

const HELD = { blacklisted: 'heldBlacklisted', refused: 'heldRefused', policy: 'heldPolicy' } as Readonly<
  Record<string, 'heldBlacklisted' | 'heldRefused' | 'heldPolicy'>
>

function plannedWallet(told: NoticeTold, { mail, newWallet, takesEffect, stop }: Speech): string[] {
  return [
    mail('walletAsked', valuesOf(told)),
    `${newWallet}: ${valueOf(told, 'address')}\n${takesEffect}: ${valueOf(told, 'at')}`,
    `${stop}:`,
    told.stopUrl ?? pageOf(told, '/dashboard/wallet'),
    mail('walletAnybody'),
  ]
}

const channel = (told: NoticeTold, { mail }: Speech, what: string): string[] => [
  what,
  mail('unexpected'),
  pageOf(told, '/dashboard/notifications'),
]

/** A link that was stopped, or that works again, and whatever comes later. */
function other(told: NoticeTold, { nameOf }: Speech): string[] {
  const title = valueOf(told, 'title')
  const link = valueOf(told, 'link')
  const what = title === '' ? nameOf(told.kind) : `${nameOf(told.kind)}: ${title}`
  return [what, pageOf(told, link === '' ? '/dashboard' : `/dashboard/links/${link}`)]
}

const pageOf = ({ publicUrl }: NoticeTold, path: string): string => `${publicUrl}${path}`

/** How channels are called everywhere. */
const CHANNELS: Readonly<Record<string, string>> = {
  email: 'E-mail',
  telegram: 'Telegram',
  discord: 'Discord',
  slack: 'Slack',
}

function valueOf({ data }: NoticeTold, name: string): string {
  const value = data[name]
  const text = typeof value === 'string' ? plainLine(value) : ''
  return name === 'kind' ? (CHANNELS[text] ?? text) : text
}

function valuesOf(told: NoticeTold): Record<string, string> {
  const values = Object.keys(told.data).map((name) => [name, valueOf(told, name)])
  return { ...Object.fromEntries(values), account: plainLine(told.account) }
}
