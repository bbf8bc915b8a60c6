import { CURRENCIES, type Currency } from '../domain/currencies.ts'
import { add, formatAmount } from '../domain/money.ts'
import type { ChannelMessage, NotifiedFact, Recipient } from '../domain/notification/message.ts'
import { plainLine } from '../domain/text.ts'
import { type Composed, link, type Part, typed, words } from './text.ts'
import { createSpeech, type Speech } from './words/languages.ts'

export type Place = { readonly publicUrl: string; readonly testMode: boolean }

/** Lines of a digest that name events, the newest ones, and currencies of one sum. */
const LINES_OF_DIGEST = 8
const CURRENCIES_OF_SUM = 4
/**
 * Maximum characters of both together. Discord refuses more than 2000 in all, and title, link and escapes need room
 * too: a digest that is refused notifies nobody.
 */
const LONGEST_DIGEST = 1400

/** Composes what people read: no personal data of a buyer, and no secret but the link that stops a change. */
export function composeMessage(
  message: ChannelMessage,
  { language }: Pick<Recipient, 'language'>,
  place: Place,
): Composed {
  const text = createSpeech(language)
  const account = `${plainLine(message.account)}${place.testMode ? ' (test)' : ''}`
  const again = message.repeated ? [[words(text.repeated)]] : []
  const [first, ...others] = message.facts
  if (first === undefined) return { title: account, lines: [...again, [words(text.test)]] }
  if (others.length > 0) {
    const title = `${account}: ${text.many(message.facts.length)}`
    return { title, lines: [...again, ...digest(message.facts, text), [], [link(`${place.publicUrl}/dashboard`)]] }
  }
  const title = `${account}: ${getName(first, text)}`
  return { title, lines: [...again, ...single(first, message, { text, place })] }
}

function getName({ kind, data }: NotifiedFact, text: Speech): string {
  const planned = kind === 'wallet.changed' && typeof data['at'] === 'string'
  return text.translateName(planned ? 'wallet.planned' : kind)
}

function single(
  fact: NotifiedFact,
  { stopUrl }: ChannelMessage,
  { text, place: { publicUrl } }: { text: Speech; place: Place },
): Part[][] {
  const { kind, data } = fact
  const field = (label: string, name: string): Part[][] =>
    typeof data[name] === 'string' && data[name] !== '' ? [[words(`${label}: `), typed(data[name])]] : []
  const open = (path: string): Part[][] => [[link(`${publicUrl}/dashboard${path}`)]]

  if (kind.startsWith('payment.')) {
    const amount = amountLine(fact, text)
    return [...amount, ...field(text.reference, 'reference'), ...open(`/payments/${pathPart(data['id'])}`)]
  }
  if (kind.startsWith('refund.')) return [...refundLine(fact), ...open(`/refunds/${pathPart(data['id'])}`)]
  if (kind.startsWith('dispute.')) return [...disputeLine(fact), ...open(`/disputes/${pathPart(data['id'])}`)]
  if (kind === 'reserve.released') return [[words(`${String(data['amount_usdc'])} USDC`)], ...open('/balance')]
  if (kind === 'wallet.changed')
    return [
      ...field(text.newWallet, 'address'),
      ...field(text.takesEffect, 'at'),
      ...(stopUrl === null ? open('/wallet') : [[words(`${text.stop}:`)], [link(stopUrl)]]),
    ]
  if (kind === 'payout.stopped') return open(`/payments/${pathPart(data['id'])}`)
  if (kind.startsWith('wallet.')) return open('/wallet')
  if (kind === 'webhook_endpoint.disabled')
    return [...field(text.says, 'url'), ...open(`/webhooks/${pathPart(data['endpoint'])}`)]
  if (kind.startsWith('channel.'))
    return [...field('', 'name').map((line) => line.slice(1)), ...field(text.says, 'reason'), ...open('/notifications')]
  if (kind.startsWith('api_key.')) return [...field('', 'name').map((line) => line.slice(1)), ...open('/keys')]
  if (kind === 'sign_in.new') return [...field('', 'email').map((line) => line.slice(1)), ...open('/account')]
  return [...field('', 'title').map((line) => line.slice(1)), ...open('')]
}

/** Only ids of the platform become parts of a path. */
const pathPart = (value: unknown): string => (/^[a-z]+_[0-9a-z]{26}$/.test(String(value)) ? String(value) : '')

/** Only the USDC of a succeeded payment is certain to arrive: other payments may wait, or have lost their money. */
function amountLine({ kind, data }: NotifiedFact, text: Speech): Part[][] {
  const amount = readAmount(data)
  if (amount === null) return []
  const settlement = data['settlement']
  const net =
    typeof settlement === 'object' && settlement !== null && 'net_usdc' in settlement ? settlement.net_usdc : null
  const isCertain = kind === 'payment.succeeded' && typeof net === 'string'
  const arrives = isCertain ? `, ${net} USDC ${text.arrives}` : ''
  return [[words(`${formatAmount(amount)} ${amount.currency}${arrives}`)]]
}

/** A refund that waits for USDC also names how much. */
function refundLine({ kind, data }: NotifiedFact): Part[][] {
  const amount = readAmount(data)
  if (amount === null) return []
  const funding = data['funding']
  const costs =
    typeof funding === 'object' && funding !== null && 'required_usdc' in funding ? funding.required_usdc : null
  const isWaiting = kind === 'refund.created' && typeof costs === 'string'
  return [[words(`${formatAmount(amount)} ${amount.currency}${isWaiting ? ` = ${costs} USDC` : ''}`)]]
}

/** An open dispute also names the day (UTC) until which evidence is taken. */
function disputeLine({ kind, data }: NotifiedFact): Part[][] {
  const amount = readAmount(data)
  if (amount === null) return []
  const due = kind === 'dispute.closed' ? null : data['evidence_due_at']
  const day = typeof due === 'string' ? ` → ${due.slice(0, 10)}` : ''
  return [[words(`${formatAmount(amount)} ${amount.currency}${day}`)]]
}

type Amount = { readonly minor: string; readonly currency: Currency }

function readAmount({ amount_minor: minor, currency }: NotifiedFact['data']): Amount | null {
  const known = CURRENCIES.find((each) => each === currency)
  return known === undefined || !Number.isSafeInteger(minor) ? null : { minor: String(minor), currency: known }
}

function digest(facts: readonly NotifiedFact[], text: Speech): Part[][] {
  const kinds = new Map<string, NotifiedFact[]>()
  for (const each of facts) {
    const name = getName(each, text)
    kinds.set(name, [...(kinds.get(name) ?? []), each])
  }
  const counted = [...kinds].map(([name, each]): Part[] => [words(`${name}: ${each.length}${formatSums(each)}`)])
  const named = facts.filter(({ data }) => readAmount(data) !== null || typeof data['reference'] === 'string')
  const newest = named.slice(-LINES_OF_DIGEST).toReversed()
  const lines = takeLines(
    newest.map((each) => composeLine(each, text)),
    LONGEST_DIGEST - countCharacters(counted),
  )
  const rest = named.length - lines.length
  return [...counted, ...(lines.length > 0 ? [[], ...lines] : []), ...(rest > 0 ? [[words(text.more(rest))]] : [])]
}

function composeLine(fact: NotifiedFact, text: Speech): Part[] {
  const amount = readAmount(fact.data)
  const reference = fact.data['reference']
  return [
    words(`· ${getName(fact, text)}${amount === null ? '' : ` ${formatAmount(amount)} ${amount.currency}`} `),
    ...(typeof reference === 'string' ? [typed(reference)] : []),
  ]
}

function takeLines(lines: readonly Part[][], room: number): Part[][] {
  const most = lines.findIndex((_, index) => countCharacters(lines.slice(0, index + 1)) > room)
  return most === -1 ? [...lines] : lines.slice(0, most)
}

function countCharacters(lines: readonly Part[][]): number {
  return lines.flat().reduce((sum, part) => sum + (part.kind === 'link' ? part.url : part.text).length, lines.length)
}

function formatSums(facts: readonly NotifiedFact[]): string {
  const sums = new Map<Currency, string>()
  for (const { data } of facts) {
    const amount = readAmount(data)
    if (amount !== null) sums.set(amount.currency, add(sums.get(amount.currency) ?? '0', amount.minor))
  }
  const parts = [...sums].map(([currency, minor]) => `${formatAmount({ minor, currency })} ${currency}`)
  const shown = parts.slice(0, CURRENCIES_OF_SUM)
  if (shown.length === 0) return ''
  return ` (${shown.join(', ')}${parts.length > shown.length ? ', …' : ''})`
}
