import { randomBytes } from 'node:crypto'
import type { Queryable } from '../../../db/db.ts'
import { readStatus } from '../../../db/merchants/agreement.ts'
import { readShop } from '../../../db/merchants/merchants.ts'
import { findBounds, linkUrl, type PaymentLink, shownLinkStatus } from '../../../domain/link/link.ts'
import { type DownPartners, type Offer, offersFor } from '../../../domain/offers.ts'
import type { Offering } from '../../../domain/partner/offering.ts'
import type { Platform } from '../../../domain/platform.ts'
import type { LinkView } from '../../../web/links/link-page.tsx'
import { hasDeviceWallet } from '../buyer.ts'
import { type RateBook, readRates } from '../prices.ts'

export type LinkViewDeps = {
  readonly platform: Platform
  readonly db: Queryable
  readonly rates: RateBook
  readonly offering: Offering
  readonly down: () => DownPartners
  readonly publicUrl: string
  readonly linksWithoutAccount: boolean
  readonly clock: () => number
}

type Buyer = { readonly country: string | null; readonly userAgent: string | undefined }

/** Each view has its own press. */
export async function createLinkView(
  deps: LinkViewDeps,
  shown: Pick<LinkView, 'link' | 'amount' | 'reference' | 'wrong'>,
  buyer: Buyer,
): Promise<LinkView> {
  const { link } = shown
  const url = linkUrl(deps.publicUrl, link.code)
  const [shop, merchant, offers, bounds] = await Promise.all([
    readShop(deps.db, link.merchantId),
    readStatus(deps.db, link),
    findLinkOffers(deps, link, buyer),
    boundsNow(deps, link),
  ])
  return {
    ...shown,
    platform: deps.platform,
    status: shownLinkStatus(link, { ...deps, merchant }, new Date(deps.clock()).toISOString()),
    shop,
    offers,
    bounds,
    url,
    path: new URL(url).pathname,
    press: randomBytes(16).toString('base64url'),
  }
}

/** Null if the amount is fixed, and while there are no rates. */
export async function boundsNow(
  { rates }: Pick<LinkViewDeps, 'rates'>,
  link: PaymentLink,
): Promise<LinkView['bounds']> {
  const now = link.price.amount === null ? await readRates(rates, link.price.currency).catch(() => null) : null
  return now === null ? null : findBounds(link, now.table)
}

/** If the buyer decides the amount, no way to pay is refused because of it. */
export async function findLinkOffers(
  { rates, offering, down }: Pick<LinkViewDeps, 'rates' | 'offering' | 'down'>,
  { price, provider }: Pick<PaymentLink, 'price' | 'provider'>,
  { country, userAgent }: Buyer,
): Promise<readonly Offer[]> {
  const now = price.amount === null ? null : await readRates(rates, price.currency).catch(() => null)
  const { pinned, offers } = offersFor({
    amount: price.amount ?? { minor: '1', currency: price.currency },
    provider,
    fallback: 'picker',
    country,
    rates: now?.table ?? null,
    offering,
    down: down(),
    deviceWallet: hasDeviceWallet(userAgent),
  })
  return pinned === null ? offers : [pinned]
}
