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

export function noticeMail(notice: NoticeFacts, language: NotificationLanguage): { subject: string; text: string } {
  const words = createSpeech(language)
  const { account, kind, testMode } = notice
  const isPlanned = kind === 'wallet.changed' && notice.data['at'] !== null
  const subject = words.translateName(isPlanned ? 'wallet.planned' : kind)
  const parts = isPlanned ? plannedWallet(notice, words) : (PARTS[kind]?.(notice, words) ?? other(notice, words))
  return { subject: `${plainLine(account)}${testMode ? ' (test)' : ''}: ${subject}`, text: `${parts.join('\n\n')}\n` }
}

type Parts = (notice: NoticeFacts, words: Speech) => string[]

const PARTS: Readonly<Record<string, Parts>> = {
  'wallet.changed': (notice, { mail }) => [
    mail('walletSet', readValues(notice)),
    mail('unexpected'),
    composeUrl(notice, '/dashboard/wallet'),
  ],
  'wallet.kept': (notice, { mail }) => [
    mail('walletKept', readValues(notice)),
    composeUrl(notice, '/dashboard/wallet'),
  ],
  'payment_link.claimed': (notice, { mail }) => [
    mail('linkClaimed', readValues(notice)),
    mail('linkNotYours'),
    composeUrl(notice, `/dashboard/links/${readValue(notice, 'link')}`),
  ],
  'channel.added': (notice, words) => channel(notice, words, words.mail('channelAdded', readValues(notice))),
  'channel.removed': (notice, words) => channel(notice, words, words.mail('channelRemoved', readValues(notice))),
  'channel.broken': (notice, { mail, says }) => [
    mail('channelBroken', readValues(notice)),
    `${says}: ${readValue(notice, 'reason')}`,
    composeUrl(notice, '/dashboard/notifications'),
  ],
  'api_key.created': (notice, { mail }) => [
    mail('keyCreated', readValues(notice)),
    mail('unexpected'),
    composeUrl(notice, '/dashboard/keys'),
  ],
  'api_key.revoked': (notice, { mail }) => [
    mail('keyRevoked', readValues(notice)),
    mail('unexpected'),
    composeUrl(notice, '/dashboard/keys'),
  ],
  'account.approved': (notice, words) => [
    words.mail('accountApproved', readValues(notice)),
    ...operatorMessage(notice, words),
    composeUrl(notice, '/dashboard'),
  ],
  'account.rejected': (notice, words) => [
    words.mail('accountRejected', readValues(notice)),
    ...operatorMessage(notice, words),
    composeUrl(notice, '/dashboard/agreement'),
  ],
  'account.suspended': (notice, words) => [
    words.mail('accountSuspended', readValues(notice)),
    words.mail(notice.data['holds_payouts'] === true ? 'payoutsWait' : 'payoutsContinue'),
    ...operatorMessage(notice, words),
    composeUrl(notice, '/dashboard/agreement'),
  ],
  'account.resumed': (notice, words) => [
    words.mail('accountResumed', readValues(notice)),
    ...operatorMessage(notice, words),
    composeUrl(notice, '/dashboard'),
  ],
  'sign_in.new': (notice, { mail }) => [
    mail('signIn', readValues(notice)),
    mail('signInNot'),
    composeUrl(notice, '/dashboard/account'),
  ],
  'payout.stopped': (notice, { mail }) => [
    mail('payoutHeld', readValues(notice)),
    mail(HELD[readValue(notice, 'reason')] ?? 'heldOperator'),
    composeUrl(notice, `/dashboard/payments/${readValue(notice, 'id')}`),
  ],
  'dispute.evidence_due': (notice, { mail }) => [
    mail('evidenceDue', readValues(notice)),
    composeUrl(notice, `/dashboard/disputes/${readValue(notice, 'id')}`),
  ],
  'webhook_endpoint.changed': (notice, { mail }) => [
    mail('endpointChanged', readValues(notice)),
    mail('unexpected'),
    composeUrl(notice, '/dashboard/webhooks'),
  ],
  'webhook_endpoint.disabled': (notice, { mail }) => [
    mail(readValue(notice, 'reason') === 'gone' ? 'endpointGone' : 'endpointFailing', readValues(notice)),
    mail('endpointThen'),
    composeUrl(notice, `/dashboard/webhooks/${readValue(notice, 'endpoint')}`),
  ],
}

const HELD = { blacklisted: 'heldBlacklisted', refused: 'heldRefused', policy: 'heldPolicy' } as Readonly<
  Record<string, 'heldBlacklisted' | 'heldRefused' | 'heldPolicy'>
>

function plannedWallet(notice: NoticeFacts, { mail, newWallet, takesEffect, stop }: Speech): string[] {
  return [
    mail('walletAsked', readValues(notice)),
    `${newWallet}: ${readValue(notice, 'address')}\n${takesEffect}: ${readValue(notice, 'at')}`,
    `${stop}:`,
    notice.stopUrl ?? composeUrl(notice, '/dashboard/wallet'),
    mail('walletAnybody'),
  ]
}

const channel = (notice: NoticeFacts, { mail }: Speech, what: string): string[] => [
  what,
  mail('unexpected'),
  composeUrl(notice, '/dashboard/notifications'),
]

function operatorMessage(notice: NoticeFacts, { says }: Speech): string[] {
  const message = readValue(notice, 'message')
  return message === '' ? [] : [`${says}: ${message}`]
}

/** The mail for a link that was stopped or works again, and for each kind without an entry. */
function other(notice: NoticeFacts, { translateName }: Speech): string[] {
  const title = readValue(notice, 'title')
  const link = readValue(notice, 'link')
  const what = title === '' ? translateName(notice.kind) : `${translateName(notice.kind)}: ${title}`
  return [what, composeUrl(notice, link === '' ? '/dashboard' : `/dashboard/links/${link}`)]
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

function readValues(notice: NoticeFacts): Record<string, string> {
  const values = Object.keys(notice.data).map((name) => [name, readValue(notice, name)])
  return { ...Object.fromEntries(values), account: plainLine(notice.account) }
}
