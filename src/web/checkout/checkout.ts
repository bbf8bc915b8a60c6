import type { MethodName, ProviderUsed } from '../../domain/methods.ts'
import type { MicroUsdc, Money } from '../../domain/money.ts'
import type { Offer, OfferAnswer } from '../../domain/offers.ts'
import { isOpen } from '../../domain/payment/payment.ts'
import type { Attempt, Payment } from '../../domain/payment/payment-object.ts'
import { isOpened, type OpenedAttempt } from '../../domain/payment/requests.ts'
import type { Platform } from '../../domain/platform.ts'
import type { Hex } from '../kit/color.ts'
import { getAttemptUnits, type PaymentMoney } from './amounts.ts'

export type Checkout = {
  readonly platform: Platform
  readonly payment: Payment
  /** Oldest first. */
  readonly attempts: readonly Attempt[]
  /** Only `getAmounts` and `paidAttempt` read `sales` and `givenBack`. */
  readonly sales: PaymentMoney['sales']
  readonly givenBack: PaymentMoney['givenBack']
  /** The refunds that the merchant has paid for, oldest first. */
  readonly refunds: readonly BuyerRefund[]
  /** The buyer's tax id, from the merchant; null: unknown. */
  readonly customerTaxId: string | null
  readonly receiptMail: ReceiptMail
  /**
   * The USDC that has arrived at the deposit address of a payment that is open or underpaid; null without USDC or without
   * an address.
   */
  readonly received: MicroUsdc | null
  readonly shop: Shop
  readonly partners: PartnerNames
  readonly offered: OfferAnswer
  readonly country: BuyerCountry
  readonly device: Device
  readonly asked: Asked
  /** The bar of a test payment whose partners are simulated; null for any other payment. */
  readonly sandbox: Sandbox | null
  /** The merchant's frame that contains the page; null if the page is in no frame. */
  readonly frame: MerchantFrame | null
  /** When the buyer came back from the partner of the open order, ISO 8601; null if the buyer did not. */
  readonly cameBackAt: string | null
  /** True if the URL of the request does not record yet that the buyer came back. */
  readonly isAddressOld: boolean
  /** When this page is rendered, ISO 8601. */
  readonly now: string
  /** The absolute URL of this checkout, for other devices. */
  readonly url: string
  /** The path of this checkout, for links and forms, so that they work under any host name. */
  readonly path: string
}

/** A refund as the buyer understands it. One that the merchant has not paid for is not shown: it may never be made. */
export type BuyerRefund = {
  readonly amount: Money
  readonly state: 'coming' | 'done' | 'failed'
  /** Since when it is in this state, ISO 8601. */
  readonly at: string
}

/** The address to which the receipt goes by e-mail. */
export type ReceiptMail = {
  /** The address, masked: whoever has the link sees the page. Null: none is known. */
  readonly to: string | null
  /** True if the buyer cannot change it: the merchant gave it, or a mail was written. */
  readonly isFixed: boolean
  /** The text that the buyer typed and that is no address; null: nothing is wrong. */
  readonly wrong: string | null
}

export type MerchantFrame = {
  /** The path of the page in the frame. The other pages of this payment open outside the frame. */
  readonly path: string
  /** The merchant's list of origins whose pages can contain the frame and receive the payment's status. */
  readonly origins: readonly string[]
}

export type Shop = {
  readonly name: string
  /** The color from which the page derives its other colors; null for the platform's color. */
  readonly brand: Hex | null
  /** The e-mail address for buyers' questions; null if the merchant gave none. */
  readonly supportEmail: string | null
  /** The name under which the logo is served; null without a logo. */
  readonly logo: string | null
}

/** Each partner's name on its own page, and its name on the buyer's statement. */
export type PartnerNames = Readonly<Record<ProviderUsed, PartnerName>>
export type PartnerName = { readonly name: string; readonly statement: string }

export type Device = 'desktop' | 'android' | 'ios'

export type Sandbox = {
  readonly open: boolean
  /** Why the last action of the bar failed; null if it did not fail. */
  readonly note: string | null
  /** The simulated device; null for the device that the browser reports. */
  readonly device: Device | null
  /** True if the pages of this payment show the partner as down. */
  readonly isDown: boolean
  /** The simulated wallet, which pays in USDC; null if the system has none. */
  readonly walletUrl: string | null
}

/** The buyer's country (ISO 3166 alpha-2; null if unknown) and its source. */
export type BuyerCountry = { readonly code: string | null; readonly source: 'buyer' | 'header' | 'address' | 'unknown' }

export type Choice = { readonly provider: ProviderUsed; readonly method: MethodName }

/** The parsed query of the request. */
export type Asked = {
  /** The page that the buyer requested; null for the page that the payment's state requires. */
  readonly step: 'pick' | 'country' | null
  readonly choice: Choice | null
}

/** Returns the newest attempt whose order is open at a partner; null if there is none. */
export function findOpenedAttempt(attempts: readonly Attempt[]): OpenedAttempt | null {
  return attempts.findLast(isOpened) ?? null
}

/**
 * Returns the attempt through which money of an open payment has arrived; null if there is none. The buyer completes
 * that attempt: the page shows no other offer, and the API opens no other order.
 */
export function findPaidAttempt(checkout: Checkout): Attempt | null {
  const { payment, attempts, received } = checkout
  const isPaid = ({ id, provider }: Attempt) =>
    getAttemptUnits(checkout, id) > 0n || (provider === 'crypto' && received !== null)
  return isOpen(payment.status) ? (attempts.find(isPaid) ?? null) : null
}

export function findOffer(offered: OfferAnswer, choice: Choice): Offer | null {
  return offered.offers.find((offer) => isSameWay(offer, choice)) ?? null
}

export function isSameWay(a: Choice, b: Choice): boolean {
  return a.provider === b.provider && a.method === b.method
}

/** True for methods that are paid from the checkout by a code or an app link; others are paid at the partner's page. */
export const isPaidHere = ({ method }: Pick<Choice, 'method'>): boolean => method === 'upi' || method === 'usdc'

export function getChoicePath(path: string, { provider, method }: Choice): string {
  return `${path}?method=${provider}.${method}`
}

/** Returns the path of the current page. The URLs of its other views and of its status begin with it. */
export function getPagePath({ frame, path }: Pick<Checkout, 'frame' | 'path'>): string {
  return frame?.path ?? path
}

/** A link to another view of the page. In a frame, it opens in the frame; every other link opens outside. */
export type ViewLink = { readonly href: string; readonly target: '_self' | undefined }

export function pickLink(checkout: Checkout): ViewLink {
  return { href: `${getPagePath(checkout)}?step=pick`, target: viewTarget(checkout) }
}

export function wayLink(checkout: Checkout, choice: Choice): ViewLink {
  return { href: getChoicePath(getPagePath(checkout), choice), target: viewTarget(checkout) }
}

const viewTarget = ({ frame }: Checkout): ViewLink['target'] => (frame === null ? undefined : '_self')

/** True if the timeline records that this page was opened: the provider that the merchant pinned is not offered. */
export function recordsOpening({ payment, offered }: Checkout): boolean {
  return isOpen(payment.status) && offered.pinnedRefused !== null
}
