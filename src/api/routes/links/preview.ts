import type { Request } from 'express'
import { type LinkView, renderLinkPage } from '../../../web/links/link-page.tsx'
import { wordsIn } from '../../../web/messages/words.ts'
import { buyerCountry, buyerLocale, type CountryDeps } from '../buyer.ts'
import { boundsNow, findLinkOffers, type LinkViewDeps } from './link-view.ts'

export type PreviewDeps = Pick<LinkViewDeps, 'platform' | 'rates' | 'offering' | 'down'> & CountryDeps

/** Nothing in the preview can be pressed. */
export async function renderPreview(
  deps: PreviewDeps,
  request: Request,
  { link, shop }: Pick<LinkView, 'link' | 'shop'>,
): Promise<string> {
  const country = buyerCountry(request, deps).code
  const offers = await findLinkOffers(deps, link, { country, userAgent: request.get('user-agent') })
  const bounds = await boundsNow(deps, link)
  const words = wordsIn(buyerLocale(request), country)
  const view = {
    platform: deps.platform,
    link,
    status: 'active',
    shop,
    offers,
    bounds,
    url: '',
    path: '',
    press: '',
    amount: '',
    reference: null,
    wrong: null,
  } as const
  return renderLinkPage(view, words, 'preview')
}
