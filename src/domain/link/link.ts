import type { MerchantStatus } from '../account/agreement.ts'
import type { Currency } from '../currencies.ts'
import type { ProviderName } from '../methods.ts'
import { formatAmount, isMore, type Money } from '../money.ts'
import { limitsIn, type RateTable } from '../offers.ts'
import { type Invoice, renderInvoice } from '../payment/invoice.ts'
import type { PaymentStatus } from '../payment/payment.ts'

export const PREFILLS = ['amount', 'reference'] as const
export type Prefill = (typeof PREFILLS)[number]

/** The maker of the link: a program, a person in the dashboard, or a visitor without an account. */
export type CreatedVia = 'api' | 'dashboard' | 'form'

/** A link as it is stored. Times are ISO 8601 UTC with milliseconds. */
export type PaymentLink = {
  readonly id: string
  readonly merchantId: string
  readonly livemode: boolean
  readonly code: string
  readonly active: boolean
  readonly price: LinkPrice
  readonly provider: ProviderName | null
  readonly title: string
  readonly description: string | null
  /** For the maker; buyers do not see it. */
  readonly reference: string | null
  readonly metadata: Readonly<Record<string, string>> | null
  /** The additions to the receipts of its payments. Only a link with a fixed amount has items. */
  readonly invoice: Invoice | null
  readonly successUrl: string | null
  readonly prefill: readonly Prefill[]
  readonly maxPayments: number | null
  /** Payments that occupy a place: open or paid. */
  readonly paymentsCount: number
  readonly expiresAt: string | null
  readonly inactiveMessage: string | null
  /** Null: the account's wallet when the payment is made. */
  readonly wallet: string | null
  readonly createdVia: CreatedVia
  readonly anonymous: boolean
  readonly completedAt: string | null
  readonly stoppedAt: string | null
  readonly stoppedReason: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

/** `amount` null: the buyer decides, within the link's bounds, if it has any, and those of the method. */
export type LinkPrice = {
  readonly currency: Currency
  readonly amount: Money | null
  readonly min: Money | null
  readonly max: Money | null
}

/** Returns the amounts between which a buyer decides: the link's bounds, within the limits of its method. */
export function findBounds(
  { price: { currency, min, max }, provider }: Pick<PaymentLink, 'price' | 'provider'>,
  rates: RateTable,
): { readonly minimum: Money; readonly maximum: Money } {
  const { minimum, maximum } = limitsIn(currency, provider, rates)
  return {
    minimum: min !== null && isMore(min, minimum) ? min : minimum,
    maximum: max !== null && isMore(maximum, max) ? max : maximum,
  }
}

export const LINK_STATUSES = ['active', 'paused', 'sold_out', 'expired', 'stopped'] as const
export type LinkStatus = (typeof LINK_STATUSES)[number]

type Judged = Pick<PaymentLink, 'active' | 'stoppedAt' | 'expiresAt' | 'maxPayments' | 'paymentsCount'>

/** An operator's stop takes precedence over the owner's pause. `now` is ISO 8601 UTC with milliseconds. */
export function linkStatus(link: Judged, now: string): LinkStatus {
  if (link.stoppedAt !== null) return 'stopped'
  if (!link.active) return 'paused'
  if (link.expiresAt !== null && link.expiresAt <= now) return 'expired'
  if (link.maxPayments !== null && link.paymentsCount >= link.maxPayments) return 'sold_out'
  return 'active'
}

type Seller = {
  readonly merchant: MerchantStatus
  /** False: links without an account are switched off. */
  readonly linksWithoutAccount: boolean
}

/** Returns the status that buyers see. The links of a seller that cannot sell are closed, whatever their own status is. */
export function shownLinkStatus(
  link: Judged & Pick<PaymentLink, 'anonymous'>,
  { merchant, linksWithoutAccount }: Seller,
  now: string,
): LinkStatus {
  if (merchant === 'suspended' || (link.anonymous && !linksWithoutAccount)) return 'stopped'
  return merchant === 'approved' ? linkStatus(link, now) : 'paused'
}

/** An open or paid payment occupies a place of a link with a limit: its buyer is led to it instead of to a new one. */
export function occupiesPlace(status: PaymentStatus): boolean {
  return !['expired', 'failed', 'canceled', 'refunded'].includes(status)
}

export function linkUrl(publicUrl: string, code: string): string {
  return `${publicUrl}/l/${code}`
}

/** Renders the payment link object of the API and of events. `now` is ISO 8601. */
export function renderLink(link: PaymentLink, { publicUrl, now }: { publicUrl: string; now: string }) {
  const { price } = link
  return {
    id: link.id,
    object: 'payment_link' as const,
    livemode: link.livemode,
    code: link.code,
    url: linkUrl(publicUrl, link.code),
    active: link.active && link.stoppedAt === null,
    status: linkStatus(link, now),
    amount: toNumber(price.amount),
    min_amount: toNumber(price.min),
    max_amount: toNumber(price.max),
    currency: price.currency,
    provider: link.provider,
    title: link.title,
    description: link.description,
    reference: link.reference,
    metadata: link.metadata ?? {},
    ...renderInvoice(link.invoice, price.currency),
    success_url: link.successUrl,
    prefill: [...link.prefill],
    max_payments: link.maxPayments,
    payments_count: link.paymentsCount,
    expires_at: link.expiresAt,
    inactive_message: link.inactiveMessage,
    wallet: link.wallet,
    created_via: link.createdVia,
    completed_at: link.completedAt,
    created_at: link.createdAt,
    updated_at: link.updatedAt,
  }
}

/** At most 14 digits, so the number prints as it was sent. */
function toNumber(amount: Money | null): number | null {
  return amount === null ? null : Number(formatAmount(amount))
}
