import { METHOD_LABELS, PROVIDERS } from '../../domain/methods.ts'
import { formatUsdc, grouped, groupedAmount, type MicroUsdc, type Money } from '../../domain/money.ts'
import { isClosed, isOpen, PARK_REASONS, type ParkReason, type PaymentStatus } from '../../domain/payment/payment.ts'
import type { Payment } from '../../domain/payment/payment-object.ts'
import type { Amounts, Beside } from '../checkout/amounts.ts'
import type { Tone } from '../look/parts.tsx'
import { SiteIcon } from '../site/icons.tsx'
import { momentText } from '../site/moment.tsx'
import { Amount } from '../site/parts.tsx'

/** How payments are named in the dashboard. */

type Look = { readonly word: string; readonly tone: Tone; readonly icon: SiteIcon }

const STATUS_LOOKS: Readonly<Record<PaymentStatus, Look>> = {
  created: { word: 'Created', tone: 'quiet', icon: 'clock' },
  pending: { word: 'Waiting for buyer', tone: 'quiet', icon: 'clock' },
  processing: { word: 'Processing', tone: 'brand', icon: 'half' },
  settling: { word: 'Sending USDC', tone: 'brand', icon: 'half' },
  under_review: { word: 'Under review', tone: 'wait', icon: 'warn' },
  succeeded: { word: 'Succeeded', tone: 'success', icon: 'okring' },
  failed: { word: 'Failed', tone: 'problem', icon: 'xring' },
  expired: { word: 'Expired', tone: 'quiet', icon: 'clock' },
  canceled: { word: 'Canceled', tone: 'quiet', icon: 'minus' },
  refunded: { word: 'Refunded', tone: 'quiet', icon: 'undo' },
}

const PAID_IN_PART: Look = { word: 'Paid in part', tone: 'wait', icon: 'half' }

type Stated = Pick<Payment, 'status'> & Partial<Pick<Payment, 'parkReason' | 'exception'>>

/** The state of a payment in a word. */
export function statusLook(stated: Stated): Look {
  return isOpenInPart(stated) || stated.parkReason === 'underpaid' ? PAID_IN_PART : STATUS_LOOKS[stated.status]
}

/** True if a part of the price has arrived, and the rest can still come. */
function isOpenInPart({ status, exception }: Stated): boolean {
  return isOpen(status) && exception === 'underpaid'
}

export function Status(stated: Stated) {
  const { word, tone, icon } = statusLook(stated)
  return (
    <span class={`status ${tone}`}>
      <SiteIcon name={icon} />
      {word}
    </span>
  )
}

/** Nothing can be paid out for it any more. */
export const isOver = ({ status, parkReason }: Payment): boolean => isClosed(status) || parkReason === 'payout_voided'

/** What the merchant receives of a payment that has no amount in USDC. */
export const receivesNothing = (payment: Payment): string => (isOver(payment) ? 'Nothing' : 'Nothing yet')

/** 1,249.00 */
export function fiatText(money: Money): string {
  return groupedAmount(money)
}

/** All six decimals where money is accounted for, two in lists, the rest cut off. */
export function usdcText(micro: MicroUsdc, decimals: 2 | 6): string {
  const text = grouped(formatUsdc(micro))
  return decimals === 6 ? text : text.slice(0, -4)
}

/** 1,249.00 EUR */
const moneyText = (money: Money): string => `${fiatText(money)} ${money.currency}`

export function Fiat({ money }: { money: Money }) {
  return <Amount number={fiatText(money)} code={money.currency} />
}

export function Usdc({ micro, decimals = 6 }: { micro: MicroUsdc; decimals?: 2 | 6 }) {
  return <Amount number={usdcText(micro, decimals)} code="USDC" />
}

/** The method that was used, else the one that the merchant pinned; null if the buyer picks. Only USDC arrives in parts. */
export function methodText(payment: Payment): string | null {
  const { methodUsed, providerUsed, provider } = payment
  if (methodUsed !== null) return METHOD_LABELS[methodUsed]
  if (isOpenInPart(payment)) return METHOD_LABELS.usdc
  const pinned = providerUsed ?? provider
  return pinned === null ? null : PROVIDERS[pinned].label
}

type Sums = Pick<Amounts, 'short' | 'surplus' | 'returned' | 'extra'>

/** What has happened and what comes next, in a sentence or two. */
export function nextStep(payment: Payment, { short, surplus, returned, extra }: Sums): string {
  const text = ({ amount, micro }: Beside): string =>
    micro === null ? moneyText(amount) : `${usdcText(micro, 6)} USDC`
  if (short !== null) return inPart(payment, short)
  const [held, back] = [surplus[0], returned[0]]
  if (held !== undefined)
    return `${step(payment)} Another payment of ${text(held)} arrived for it. It is not yours: Pinrail returns it to the buyer.`
  if (back !== undefined) return `${step(payment)} Another payment of ${text(back)} went back to the buyer.`
  if (payment.status === 'succeeded' && extra !== null)
    return `${step(payment)} The buyer paid ${moneyText(extra)} more than was asked. It reached your wallet with the rest. Return it to the buyer, or count it toward another order.`
  return payment.status === 'succeeded' ? `${step(payment)} Nothing is left to do.` : step(payment)
}

function inPart({ status, expiresAt }: Payment, { received, missing }: NonNullable<Sums['short']>): string {
  const rest = moneyText(missing)
  const of = `The buyer paid ${moneyText(received)}, and ${rest} is missing. Do not ship yet.`
  return isOpen(status)
    ? `${of} The buyer can pay the missing ${rest} at the checkout until ${momentText(expiresAt, 'long')} UTC.`
    : `${of} Pinrail accepts it or returns it to the buyer, who should not pay again. If the missing ${rest} arrives with the same order, the payment continues automatically.`
}

function step(payment: Payment): string {
  const { status, usdc, parkReason } = payment
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
      return underReview(parkReason)
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

function underReview(parkReason: ParkReason | null): string {
  const looks = 'Pinrail is reviewing it.'
  if (parkReason === null) return looks
  const { merchant, decisions } = PARK_REASONS[parkReason]
  return decisions.length === 0 ? merchant : `${merchant} ${looks}`
}
