import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { findAsset } from '../../src/web/assets.ts'
import { liveStatus } from '../../src/web/checkout/live.ts'
import { renderCheckout, renderHandoff, renderReceipt } from '../../src/web/checkout/page.tsx'
import { renderProblem } from '../../src/web/checkout/problem.tsx'
import { isLocale, type Locale } from '../../src/web/messages/locales.ts'
import { type Words, wordsIn } from '../../src/web/messages/words.ts'
import { BUYER_HEADERS } from '../../src/web/page-headers.ts'
import { PLAIN_PLATFORM } from '../support/platforms.ts'
import { aCheckout, anAttempt, type CheckoutChanges } from '../web/fixtures.ts'
import { BY_STATUS, SITUATIONS } from '../web/situations.ts'

const CHECKOUTS = Object.entries<CheckoutChanges>({ ...BY_STATUS, ...SITUATIONS })

/** One page in other languages: from right to left, in another script, with long words. */
const TRANSLATED: Readonly<Record<string, Locale>> = { 'in Arabic': 'ar', 'in Hindi': 'hi', 'in German': 'de' }

export const GALLERY: readonly string[] = [
  ...CHECKOUTS.map(([name]) => name),
  ...Object.keys(TRANSLATED),
  'hand-off',
  'problem',
  'receipt',
  'test receipt',
  'long texts',
]

const LONG: CheckoutChanges = {
  shop: { name: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft' },
  payment: {
    provider: 'wallet_app',
    amount: { minor: '99999999999', currency: 'KRW' },
    description: `${'Unbreakable'.repeat(30)} and ${'many words '.repeat(20)}`,
    reference: 'R'.repeat(200),
  },
  rates: null,
}

/** Serves every page on a port, with the production headers. */
export async function serveGallery(): Promise<{
  buildUrl: (name: string, locale?: Locale) => string
  close(): Promise<void>
}> {
  let origin = ''
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', origin)
    const asset = findAsset(pathname.replace('/assets/', ''))
    if (asset !== null) {
      response.writeHead(200, { 'content-type': asset.contentType }).end(asset.body)
      return
    }
    const [, , slug, status] = pathname.split('/')
    // Nothing changes here: after this response a browser does not come back.
    if (status === 'live') {
      response.writeHead(204).end()
      return
    }
    const name = decodeURIComponent(slug ?? '')
    response.writeHead(200, { ...BUYER_HEADERS, 'content-type': status ? 'application/json' : 'text/html' })
    const language = searchParams.get('language') ?? ''
    const words = wordsIn(isLocale(language) ? language : (TRANSLATED[name] ?? 'en'), 'DE')
    response.end(
      status === undefined ? renderPage(name, words) : JSON.stringify(liveStatus(createCheckout(name, origin))),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    buildUrl: (name, locale = 'en') =>
      `${origin}/c/${encodeURIComponent(name)}${locale === 'en' ? '' : `?language=${locale}`}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  function renderPage(name: string, words: Words): string {
    if (name === 'problem')
      return renderProblem({ platform: PLAIN_PLATFORM, problem: 'unavailable', back: origin }, words)
    if (name === 'hand-off') return handoff(origin, words)
    if (name === 'receipt') return renderReceipt(createCheckout('succeeded', origin), words)
    if (name === 'test receipt') return renderReceipt(createCheckout('paid in test mode', origin), words)
    return renderCheckout(createCheckout(name, origin), words)
  }
}

function createCheckout(name: string, origin: string) {
  const situation = name in TRANSLATED ? 'a method chosen' : name
  const changes = name === 'long texts' ? LONG : (CHECKOUTS.find(([known]) => known === situation)?.[1] ?? {})
  const path = `/c/${encodeURIComponent(name)}`
  const checkout = aCheckout(changes)
  const frame = checkout.frame && { ...checkout.frame, path: `${path}/frame` }
  return { ...checkout, frame, url: `${origin}${path}`, path }
}

/** Here the hand-off leads to a page on its own origin, so that it can be examined while it is open. */
function handoff(origin: string, words: Words): string {
  const redirectUrl = `${origin}/c/hand-off`
  const page = renderHandoff(aCheckout(), words, { ...anAttempt('open'), redirectUrl })
  return page.replace(/<meta http-equiv="refresh"[^>]*>/, '')
}
