import type { Request, RequestHandler, Response } from 'express'
import { EMBED_SCRIPT } from '../../../web/assets.ts'
import { liveStatus } from '../../../web/checkout/live.ts'
import { renderCheckout } from '../../../web/checkout/page.tsx'
import { wordsIn } from '../../../web/messages/words.ts'
import { shopFrameHeaders } from '../../../web/page-headers.ts'
import { buyerLocale } from '../buyer.ts'
import { type LoadDeps, loadFramed } from './load.ts'

/**
 * The checkout in a frame of the shop's page. It shows where the payment stands and the ways to pay. Everything that does
 * something leaves the frame: a page of ours alone takes the buyer to a partner, with its address in sight.
 */

/** Only pages that the shop has listed may hold it: the browser sees to that. */
export async function showFrame(deps: LoadDeps, request: Request, response: Response): Promise<void> {
  // In a tab there is no shop around it, and the page of its own can do more.
  if (request.get('sec-fetch-dest') === 'document') {
    response.redirect(303, request.baseUrl + request.path.replace(/\/frame$/, ''))
    return
  }
  const checkout = await loadFramed(deps, request)
  const words = wordsIn(buyerLocale(request), checkout.country.code)
  response.set(shopFrameHeaders(checkout.frame?.origins ?? []))
  response.set('content-language', words.locale).type('html').send(renderCheckout(checkout, words))
}

export async function sendFrameStatus(deps: LoadDeps, request: Request, response: Response): Promise<void> {
  response.json(liveStatus(await loadFramed(deps, request)))
}

const AN_HOUR_IN_SECONDS = 3600

/** The script for shops, under the address that never changes. The one with a hash in it is for `integrity`. */
export const sendEmbedScript: RequestHandler = (_request, response) => {
  response.set({
    'cache-control': `public, max-age=${AN_HOUR_IN_SECONDS}`,
    'content-type': 'text/javascript; charset=utf-8',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    etag: `"${EMBED_SCRIPT.integrity}"`,
  })
  response.send(EMBED_SCRIPT.body)
}
