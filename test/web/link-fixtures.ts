import { aLink } from '../../scripts/test/new-link.ts'
import { findBounds, type LinkStatus } from '../../src/domain/link/link.ts'
import { offersFor } from '../../src/domain/offers.ts'
import type { LinkView } from '../../src/web/links/link-page.tsx'
import { createTestOffering } from '../support/offering.ts'
import { PLAIN_PLATFORM } from '../support/platforms.ts'
import { RATES } from './fixtures.ts'

export const FIVE = { minor: '500', currency: 'EUR' } as const
const FIFTY = { minor: '5000', currency: 'EUR' } as const
const ADDRESS = 'https://pay.example/l/k7Qm2vXa9B'

export type LinkChanges = Partial<Pick<LinkView, 'status' | 'wrong'>> & {
  readonly price?: 'open'
  readonly anonymous?: boolean
}

/** The page of a link for 64.00 EUR, of which 12 of 50 places are left. */
export function aLinkView({ status = 'active', wrong = null, price, anonymous = false }: LinkChanges = {}): LinkView {
  const made = aLink({ id: 'plink_01hzy3v7t8e4a9v2b6q5r0c1d2', createdAt: '2026-11-20T12:00:00.000Z' })
  const open = { currency: 'EUR', amount: null, min: FIVE, max: FIFTY } as const
  const known = price === 'open' ? open : made.price
  const link = {
    ...made,
    price: known,
    merchantId: 'mer_01hzy3v7t8e4a9v2b6q5r0c1d2',
    livemode: true,
    active: true,
    description: 'Three coffees from three farms',
    maxPayments: 50,
    paymentsCount: 38,
    wallet: anonymous ? '0x0eAFF64d244B3BbCF7282C1a648aFB09BE2e3fE2' : null,
    anonymous,
    completedAt: null,
    stoppedAt: null,
    stoppedReason: null,
    updatedAt: made.createdAt,
  }
  const { offers } = offersFor({
    amount: known.amount ?? FIVE,
    provider: null,
    fallback: 'picker',
    country: 'DE',
    rates: known.amount === null ? null : RATES,
    deviceWallet: null,
    offering: createTestOffering({}, { crypto: true }),
  })
  return {
    platform: PLAIN_PLATFORM,
    link,
    status: status satisfies LinkStatus,
    shop: { name: 'Nightline Rail', brand: null, supportEmail: null, logo: null },
    offers,
    url: ADDRESS,
    path: '/l/k7Qm2vXa9B',
    press: 'press-of-the-tests-123',
    amount: '',
    reference: null,
    wrong,
    bounds: known.amount === null ? findBounds(link, RATES) : null,
  }
}
