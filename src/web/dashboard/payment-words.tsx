import { METHOD_LABELS, PROVIDERS } from '../../domain/methods.ts'
import { formatUsdc, grouped, groupedAmount, type MicroUsdc, type Money } from '../../domain/money.ts'
import { isClosed, isOpen, type PaymentStatus } from '../../domain/payment/payment.ts'
import type { Payment } from '../../domain/payment/payment-object.ts'
import { merchantText } from '../../domain/payment/reviews.ts'
import type { Amounts, OtherMoney } from '../checkout/amounts.ts'
import type { IconName } from '../kit/icon.tsx'
import { State } from '../kit/state.tsx'
import { timeText } from '../kit/time.tsx'
import type { Tone } from '../kit/tone.ts'

type Look = { readonly word: string; readonly tone: Tone; readonly icon: IconName }

const STATUS_LOOKS: Readonly<Record<PaymentStatus, Look>> = {
  created: { word: 'Created', tone: 'quiet', icon: 'clock' },
  pending: { word: 'Waiting for buyer', tone: 'quiet', icon: 'clock' },
  processing: { word: 'Processing', tone: 'brand', icon: 'circle_next' },
  settling: { word: 'Sending USDC', tone: 'brand', icon: 'circle_next' },
  under_review: { word: 'Under review', tone: 'wait', icon: 'warning' },
  succeeded: { word: 'Succeeded', tone: 'success', icon: 'circle_check' },
  failed: { word: 'Failed', tone: 'problem', icon: 'circle_close' },
  expired: { word: 'Expired', tone: 'quiet', icon: 'clock' },
  canceled: { word: 'Canceled', tone: 'quiet', icon: 'circle_minus' },
  refunded: { word: 'Refunded', tone: 'quiet', icon: 'back' },
}

const PAID_IN_PART: Look = { word: 'Paid in part', tone: 'wait', icon: 'circle_next' }

type Stated = Pick<Payment, 'status'> & Partial<Pick<Payment, 'statusReason' | 'exception'>>

export function statusLook(stated: Stated): Look {
  return isOpenInPart(stated) || stated.statusReason === 'too_little' ? PAID_IN_PART : STATUS_LOOKS[stated.status]
}

/** True if a part of the price has arrived, and the rest can still arrive. */
function isOpenInPart({ status, exception }: Stated): boolean {
  return isOpen(status) && exception === 'underpaid'
}

export function Status(stated: Stated) {
  const { word, tone, icon } = statusLook(stated)
  return (
    <State tone={tone} icon={icon}>
      {word}
    </State>
  )
}

/** True if the payment can no longer be paid out. */
export const isOver = ({ status, payout }: Payment): boolean => isClosed(status) || payout === 'void'

/** Describes what the merchant receives of a payment without an amount in USDC. */
export const receivesNothing = (payment: Payment): string => (isOver(payment) ? 'Nothing' : 'Nothing yet')

/** Formats an amount without its currency: `1,249.00`. */
export function fiatText(money: Money): string {
  return groupedAmount(money)
}

/** Formats micro-USDC with six decimals, or for lists with two, which are not rounded. */
export function usdcText(micro: MicroUsdc, decimals: 2 | 6): string {
  const text = grouped(formatUsdc(micro))
  return decimals === 6 ? text : text.slice(0, -4)
}

/** Formats an amount: `1,249.00 EUR`. */
const moneyText = (money: Money): string => `${fiatText(money)} ${money.currency}`

/** An amount with its currency, which has a separate column in a table. */
export function CodedAmount({ number, code }: { number: string; code: string }) {
  return (
    <span class="amt">
      {number} <span class="cur">{code}</span>
    </span>
  )
}

export function Fiat({ money }: { money: Money }) {
  return <CodedAmount number={fiatText(money)} code={money.currency} />
}

export function Usdc({ micro, decimals = 6 }: { micro: MicroUsdc; decimals?: 2 | 6 }) {
  return <CodedAmount number={usdcText(micro, decimals)} code="USDC" />
}

/** Returns the used or pinned method; null if the buyer picks. A payment in parts is in USDC. */
export function methodText(payment: Payment): string | null {
  const { methodUsed, providerUsed, provider } = payment
  if (methodUsed !== null) return METHOD_LABELS[methodUsed]
  if (isOpenInPart(payment)) return METHOD_LABELS.usdc
  const pinned = providerUsed ?? provider
  return pinned === null ? null : PROVIDERS[pinned].label
}

type Sums = Pick<Amounts, 'short' | 'surplus' | 'returned' | 'extra'>

/** Describes the state of a payment and the next step, in one or two sentences. */
export function describeStepToMerchant(payment: Payment, { short, surplus, returned, extra }: Sums): string {
  const text = ({ amount, micro }: OtherMoney): string =>
    micro === null ? moneyText(amount) : `${usdcText(micro, 6)} USDC`
  if (short !== null) return describePart(payment, short)
  const now = [describeStatus(payment), ...describeEnd(payment)].join(' ')
  const [held, back] = [surplus[0], returned[0]]
  const one = payment.confirmed === null ? 'A payment' : 'Another payment'
  if (held !== undefined)
    return `${now} ${one} of ${text(held)} arrived for it. It is not yours: we return it to the buyer.`
  if (back !== undefined) return `${now} ${one} of ${text(back)} went back to the buyer.`
  if (payment.status === 'succeeded' && extra !== null)
    return `${now} The buyer paid ${moneyText(extra)} more than was asked. It reached your wallet with the rest. Return it to the buyer, or count it toward another order.`
  return payment.status === 'succeeded' ? `${now} Nothing is left to do.` : now
}

function describePart({ status, expiresAt }: Payment, { received, missing }: NonNullable<Sums['short']>): string {
  const rest = moneyText(missing)
  const of = `The buyer paid ${moneyText(received)}, and ${rest} is missing. Do not ship yet.`
  return isOpen(status)
    ? `${of} The buyer can pay the missing ${rest} at the checkout until ${timeText(expiresAt, 'long')} UTC.`
    : `${of} We accept it or return it to the buyer, who should not pay again. If the missing ${rest} arrives with the same order, the payment continues automatically.`
}

function describeStatus(payment: Payment): string {
  const { status, usdc } = payment
  switch (status) {
    case 'created':
      return 'Send the buyer to the checkout. Nothing is paid yet.'
    case 'pending':
      return 'The buyer is with the payment partner. Nothing is paid yet.'
    case 'processing':
      return 'The partner has the money or is confirming it. Do not ship yet: it is not in your wallet.'
    case 'settling':
      return 'The USDC is on its way to your wallet. It is final within about a minute.'
    case 'under_review':
      return describeReview(payment)
    case 'succeeded':
      return `${usdc === null ? 'The USDC' : `${usdcText(usdc.net, 6)} USDC`} is final in your wallet.`
    case 'failed':
      return 'It can no longer be paid, and you receive nothing for it. Create a new payment if the buyer still wants to pay.'
    case 'expired':
      return 'Nobody paid in time. Create a new payment if the buyer still wants to pay.'
    case 'canceled':
      return 'It was canceled before any money arrived. Nothing is left to do.'
    case 'refunded':
      return 'The money went back to the buyer. Nothing is left to do.'
  }
}

function describeReview(payment: Payment): string {
  const text = merchantText(payment, payment.statusReason)
  const asked = text === null || payment.reviews.length > 0 ? 'We are reviewing it.' : null
  return [text, asked].filter((sentence) => sentence !== null).join(' ')
}

/** Describes the money of a closed payment. `describeStepToMerchant` describes excess, with its amount. */
function describeEnd(payment: Payment): string[] {
  const reasons = isClosed(payment.status) ? payment.reviews.map(({ reason }) => reason) : []
  return [...new Set(reasons)]
    .filter((reason) => reason !== 'excess')
    .flatMap((reason) => merchantText(payment, reason) ?? [])
}
