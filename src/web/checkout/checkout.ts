import type { MethodName, ProviderUsed } from '../../domain/methods.ts'
import type { MicroUsdc } from '../../domain/money.ts'
import type { Offer, OfferAnswer } from '../../domain/offers.ts'
import { isOpen } from '../../domain/payment/payment.ts'
import type { Attempt, Payment } from '../../domain/payment/payment-object.ts'
import { isOpened, type OpenedAttempt } from '../../domain/payment/requests.ts'
import type { Hex } from '../look/colour.ts'
import { heldOf, type MoneyOf } from './amounts.ts'

/** The data from which every page of one payment is rendered. */
export type Checkout = {
  readonly payment: Payment
  /** Oldest first. */
  readonly attempts: readonly Attempt[]
  /** Only `amountsOf` and `paidAttempt` read the sales, and what the partners have given back. */
  readonly sales: MoneyOf['sales']
  readonly givenBack: MoneyOf['givenBack']
  /** What has arrived at the address for USDC of an open payment. Null if nothing has, or there is no address. */
  readonly received: MicroUsdc | null
  readonly shop: Shop
  readonly partners: PartnerNames
  readonly offered: OfferAnswer
  readonly country: BuyerCountry
  readonly device: Device
  readonly asked: Asked
  /** The bar of a test payment whose partners are simulated; null elsewhere. */
  readonly sandbox: Sandbox | null
  /** Where the page stands in a frame of the shop's; null where it is a page of its own. */
  readonly frame: ShopFrame | null
  /** When the buyer came back from the partner of the open order, ISO 8601; null when the buyer did not. */
  readonly cameBackAt: string | null
  /** The page is at an address that does not say so yet. */
  readonly isAddressOld: boolean
  /** When this page is made, ISO 8601. */
  readonly now: string
  /** The absolute URL of this checkout, for other devices. */
  readonly url: string
  /** The path of this checkout, for links and forms: it works under any host name. */
  readonly path: string
}

export type ShopFrame = {
  /** The address of the page in the frame. Every other one of this payment is a page of its own. */
  readonly path: string
  /** Whose pages may hold the frame and hear of the payment, as the shop has listed them. */
  readonly origins: readonly string[]
}

export type Shop = {
  readonly name: string
  /** The colour from which the page's others are made; null: Pinrail's own. */
  readonly brand: Hex | null
  /** Where buyers ask the shop; null when it does not say. */
  readonly supportEmail: string | null
  /** The name under which its logo is served; null: it has none. */
  readonly logo: string | null
}

/** How each partner calls itself on its page, and what a statement shows. */
export type PartnerNames = Readonly<Record<ProviderUsed, PartnerName>>
export type PartnerName = { readonly name: string; readonly statement: string }

/** What the buyer pays on. Only how UPI goes on depends on it. */
export type Device = 'desktop' | 'android' | 'ios'

/** The bar as it stands on a page. */
export type Sandbox = {
  readonly open: boolean
  /** Why what was asked for is not possible; null where nothing went wrong. */
  readonly note: string | null
  /** What the page is to take the device for; null: what the browser says. */
  readonly device: Device | null
  /** Whether the partner plays dead on the pages of this payment. */
  readonly isDown: boolean
  /** The simulated wallet, which pays in USDC; null if the system has none. */
  readonly walletUrl: string | null
}

/** The buyer's country (ISO 3166 alpha-2; null when unknown), and who says so. */
export type BuyerCountry = { readonly code: string | null; readonly source: 'buyer' | 'header' | 'address' | 'unknown' }

export type Choice = { readonly provider: ProviderUsed; readonly method: MethodName }

/** What the query of the request asks for. */
export type Asked = {
  /** The picker, or the page on which the country is corrected; null: the page that is due. */
  readonly step: 'pick' | 'country' | null
  readonly choice: Choice | null
}

/** The newest attempt whose order is open at a partner, so that the buyer can go back to it; null without one. */
export function openedAttempt(attempts: readonly Attempt[]): OpenedAttempt | null {
  return attempts.findLast(isOpened) ?? null
}

/**
 * The order by which money of an open payment has arrived; null without one. The buyer completes that order: no other way
 * to pay is shown, and no other order is opened.
 */
export function paidAttempt(checkout: Checkout): Attempt | null {
  const { payment, attempts, received } = checkout
  const isPaid = ({ id, provider }: Attempt) =>
    heldOf(checkout, id) > 0n || (provider === 'crypto' && received !== null)
  return isOpen(payment.status) ? (attempts.find(isPaid) ?? null) : null
}

export function findOffer(offered: OfferAnswer, choice: Choice): Offer | null {
  return offered.offers.find((offer) => isSameWay(offer, choice)) ?? null
}

export function isSameWay(a: Choice, b: Choice): boolean {
  return a.provider === b.provider && a.method === b.method
}

/** True for methods that are paid from the checkout, by a code or a link for an app; every other one at the partner's page. */
export const isPaidHere = ({ method }: Pick<Choice, 'method'>): boolean => method === 'upi' || method === 'usdc'

/** The address on which a way to pay is looked at before it is chosen. */
export function pathOf(path: string, { provider, method }: Choice): string {
  return `${path}?method=${provider}.${method}`
}

/** The address of the page that is shown: its other views and its news are there. */
export function herePath({ frame, path }: Pick<Checkout, 'frame' | 'path'>): string {
  return frame?.path ?? path
}

/** A link to another view of the page. It stays in a frame, which every other link leaves. */
export type ViewLink = { readonly href: string; readonly target: '_self' | undefined }

export function pickLink(checkout: Checkout): ViewLink {
  return { href: `${herePath(checkout)}?step=pick`, target: stays(checkout) }
}

export function wayLink(checkout: Checkout, choice: Choice): ViewLink {
  return { href: pathOf(herePath(checkout), choice), target: stays(checkout) }
}

const stays = ({ frame }: Checkout): ViewLink['target'] => (frame === null ? undefined : '_self')

/** Whether the timeline is to tell that this page was opened: the method that the merchant pinned is not offered. */
export function tellsOpening({ payment, offered }: Checkout): boolean {
  return isOpen(payment.status) && offered.pinnedRefused !== null
}
