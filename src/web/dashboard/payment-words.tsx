export { METHOD_LABELS as METHOD_WORDS } from '../../domain/methods.ts'

import { formatUsdc, grouped, groupedAmount, type MicroUsdc, type Money } from '../../domain/money.ts'
import { isClosed, PARK_REASONS, type ParkReason, type PaymentStatus } from '../../domain/payment/payment.ts'
import type { Payment } from '../../domain/payment/payment-object.ts'
import type { Tone } from '../look/parts.tsx'
import { SiteIcon } from '../site/icons.tsx'
import { Amount } from '../site/parts.tsx'

/** How payments are named in the dashboard. */

type Look = { readonly word: string; readonly tone: Tone; readonly icon: SiteIcon }

export const STATUS_LOOKS: Readonly<Record<PaymentStatus, Look>> = {
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

export function Status({ status }: { status: PaymentStatus }) {
  const { word, tone, icon } = STATUS_LOOKS[status]
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

export function Fiat({ money }: { money: Money }) {
  return <Amount number={fiatText(money)} code={money.currency} />
}

export function Usdc({ micro, decimals = 6 }: { micro: MicroUsdc; decimals?: 2 | 6 }) {
  return <Amount number={usdcText(micro, decimals)} code="USDC" />
}

/** What has happened and what comes next, as one sentence. */
export function nextStep(payment: Payment): string {
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
      return `${usdc === null ? 'The USDC' : `${usdcText(usdc.net, 6)} USDC`} is final in your wallet. Nothing left to do.`
    case 'failed':
      return 'It cannot be paid any more, and you receive nothing for it. Make a new payment if the buyer still wants to pay.'
    case 'expired':
      return 'Nobody paid in time. Make a new payment if the buyer still wants to pay.'
    case 'canceled':
      return 'It was canceled before any money came. Nothing left to do.'
    case 'refunded':
      return 'The money went back to the buyer. Nothing left to do.'
  }
}

function underReview(parkReason: ParkReason | null): string {
  const looks = 'An operator of Pinrail looks at it.'
  if (parkReason === null) return looks
  const { text, decisions } = PARK_REASONS[parkReason]
  return decisions.length === 0 ? text : `${text} ${looks}`
}
