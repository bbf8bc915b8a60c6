import type { ComponentChildren } from 'preact'
import { isCurrency } from '../../../domain/currencies.ts'
import { METHOD_LABELS, type MethodName, PROVIDERS, type ProviderUsed } from '../../../domain/methods.ts'
import { explorerUrl, type Payment } from '../../../domain/payment/payment-object.ts'
import { REFUND_FAILURES, type RefundFailure } from '../../../domain/refund/refund.ts'
import { shorten } from '../../kit/copy.tsx'
import { timeText } from '../../kit/time.tsx'
import { fiatText, usdcText } from '../payment-words.tsx'

/** The payment of the entries, and the hosts of the account's endpoints by id. */
export type About = { readonly payment: Payment; readonly endpoints: ReadonlyMap<string, string> }

export type TimelineItem = {
  readonly at: string
  readonly kind: string
  readonly to_status: string | null
  readonly actor: string
  readonly message: string
  readonly data: Readonly<Record<string, unknown>>
}

type Data = TimelineItem['data']
type Fact = ComponentChildren

/** Fields that a fact or the message already shows, or that merchants must not see. */
const SHOWN = new Set(
  [
    'attempt_id provider method partner_reference failure_code reference filled_micro counted_micro expected_micro',
    'asset units held free lost misfit outside',
    'gross_micro rate tx_hash block_number event type sequence endpoint attempt response_status error expires_at key',
    'country country_source offered chosen fallback limit reason down_since why refund required_micro received_micro',
  ].flatMap((names) => names.split(' ')),
)

/** Returns the facts of an entry, as texts and links, and the fields that no fact shows. */
export function readFacts({ kind, data }: TimelineItem, about: About): { facts: readonly Fact[]; rest: Data } {
  const rest = Object.fromEntries(Object.entries(data).filter(([name]) => !SHOWN.has(name)))
  const facts = [...readKind(kind, data, about), ...readOrder(data, about), ...readChain(data, about)]
  return { facts, rest }
}

function readKind(kind: string, data: Data, { payment, endpoints }: About): Fact[] {
  switch (kind) {
    case 'payment.created':
      return [`${fiatText(payment.amount)} ${payment.amount.currency}`, payment.reference, ...readKey(data)].filter(
        (fact) => fact !== null,
      )
    case 'payment.converted':
      return readConversion(payment)
    case 'event.recorded':
      return [link(`/dashboard/events/${text(data, 'event')}`, 'Event')]
    case 'refund.created':
      return [...readRefund(data), `Costs ${usdcText(text(data, 'required_micro'), 6)} USDC`]
    case 'webhook.attempt':
      return readTry(data, endpoints)
    case 'checkout.route':
      return [data['country'] === null ? 'Country unknown' : text(data, 'country'), ...readChoice(data['chosen'])]
    default:
      return readRefund(data)
  }
}

function readRefund(data: Data): Fact[] {
  const refund = text(data, 'refund')
  return refund === '' ? [] : [link(`/dashboard/refunds/${refund}`, 'Refund')]
}

function readKey(data: Data): Fact[] {
  const key = text(data, 'key')
  return key === '' ? [] : [link(`/dashboard/keys/${key}`, `Key ${shorten(key)}`)]
}

/** The amounts of the merchant. The converter's fill is internal to the platform. */
function readConversion(payment: Payment): Fact[] {
  const { usdc, rate } = payment
  if (usdc === null) return []
  const at = rate === null ? [] : [rateText(payment, rate.rate)]
  return [`${usdcText(usdc.gross, 6)} USDC`, ...at, `Fee ${usdcText(usdc.fee, 6)} USDC`]
}

/** Returns the value of one unit of the currency that the buyer was charged. */
const rateText = ({ confirmed, amount }: Payment, rate: string): string =>
  `1 ${(confirmed ?? amount).currency} = ${rate} USDC`

function readTry(data: Data, endpoints: About['endpoints']): Fact[] {
  const [event, endpoint] = [text(data, 'event'), text(data, 'endpoint')]
  const at = `/dashboard/webhooks/${endpoint}`
  const status = data['response_status']
  return [
    `Attempt ${text(data, 'attempt')}`,
    typeof status === 'number' ? `Responded ${status}` : text(data, 'error').replaceAll('_', ' '),
    link(at, endpoints.get(endpoint) ?? 'Endpoint'),
    link(`${at}/deliveries/${event}`, 'Request and response'),
  ]
}

function readChoice(value: unknown): Fact[] {
  if (typeof value !== 'object' || value === null || !('method' in value)) return []
  return [methodWord(value.method)]
}

function methodWord(method: unknown): string {
  return METHOD_LABELS[method as MethodName] ?? String(method)
}

function readOrder(data: Data, { payment }: About): Fact[] {
  const { method, provider, partner_reference: order, asset, failure_code: failure, rate, expires_at: until } = data
  const label = PROVIDERS[provider as ProviderUsed]?.label
  return [
    ...(typeof asset === 'string' ? [moneyText(asset, text(data, 'units'))] : []),
    ...(method !== undefined ? [methodWord(method)] : label === undefined ? [] : [label]),
    ...(typeof order === 'string' ? [code(order)] : []),
    ...(typeof failure === 'string' ? [failure.replaceAll('_', ' ')] : []),
    ...(typeof rate === 'string' ? [rateText(payment, rate)] : []),
    ...(typeof until === 'string' ? [`Until ${timeText(until, 'long')} UTC`] : []),
    ...(typeof data['why'] === 'string' ? [REFUND_FAILURES[data['why'] as RefundFailure] ?? data['why']] : []),
  ]
}

function moneyText(asset: string, units: string): string {
  if (asset === 'USDC') return `${usdcText(units, 6)} USDC`
  return isCurrency(asset) ? `${fiatText({ minor: units, currency: asset })} ${asset}` : `${units} ${asset}`
}

function readChain(data: Data, { payment }: About): Fact[] {
  const [hash, block] = [text(data, 'tx_hash'), text(data, 'block_number')]
  const explorer = payment.transfer?.txHash === hash ? explorerUrl(payment) : null
  const short = code(shorten(hash))
  return [
    ...(block === '' ? [] : [`Block ${Number(block).toLocaleString('en')}`]),
    ...(hash === '' ? [] : [explorer === null ? short : link(explorer, short)]),
  ]
}

function text(data: Data, name: string): string {
  const value = data[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

const code = (value: string): Fact => <code>{value}</code>

function link(href: string, name: Fact): Fact {
  return (
    <a href={href} rel={href.startsWith('/') ? undefined : 'noreferrer'}>
      {name}
    </a>
  )
}
