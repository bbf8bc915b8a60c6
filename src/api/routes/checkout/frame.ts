import type { Request, RequestHandler, Response } from 'express'
import { EMBED_SCRIPT } from '../../../web/assets.ts'
import { liveStatus } from '../../../web/checkout/live.ts'
import { renderCheckout } from '../../../web/checkout/page.tsx'
import { wordsIn } from '../../../web/messages/words.ts'
import { merchantFrameHeaders, SHOP_SCRIPT_HEADERS } from '../../../web/page-headers.ts'
import { buyerLocale } from '../buyer.ts'
import { type LoadDeps, loadFramed } from './load.ts'

/**
 * The frame on the merchant's page shows the state of the payment and the ways to pay. Every action leaves the frame:
 * only a top-level page of the platform takes the buyer to a partner, with its URL visible.
 */

/** Browsers let only pages that the merchant listed embed the frame. */
export async function showFrame(deps: LoadDeps, request: Request, response: Response): Promise<void> {
  // In a tab there is no page of the merchant around it, and the normal page can do more.
  if (request.get('sec-fetch-dest') === 'document') {
    response.redirect(303, request.baseUrl + request.path.replace(/\/frame$/, ''))
    return
  }
  const checkout = await loadFramed(deps, request)
  const words = wordsIn(buyerLocale(request), checkout.country.code)
  response.set(merchantFrameHeaders(checkout.frame?.origins ?? []))
  response.set('content-language', words.locale).type('html').send(renderCheckout(checkout, words))
}

export async function sendFrameStatus(deps: LoadDeps, request: Request, response: Response): Promise<void> {
  response.json(liveStatus(await loadFramed(deps, request)))
}

/** The script at its permanent URL. The URL with a hash is for `integrity`. */
export const sendEmbedScript: RequestHandler = (_request, response) => {
  response.set({ ...SHOP_SCRIPT_HEADERS, etag: `"${EMBED_SCRIPT.integrity}"` })
  response.send(EMBED_SCRIPT.body)
}
