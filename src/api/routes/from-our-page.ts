import type { Request, RequestHandler } from 'express'
import { SiteProblem } from './site-problem.ts'

/** A request that names no page: `refused` where a cookie carries authority, `allowed` where the address is the only key. */
type Silence = 'refused' | 'allowed'

/**
 * Reports whether a POST comes from one of our pages. Browsers send `Sec-Fetch-Site` (W3C Fetch Metadata), which no page
 * can forge, older ones only `Origin` (RFC 6454), and programs neither. A browser that hides where people come from sends
 * `Origin: null` from our own pages too.
 */
export function isFromOurPage(request: Request, origin: string, silence: Silence): boolean {
  const [site, claimed] = [request.get('sec-fetch-site'), request.get('origin')]
  if (site !== undefined) return site === 'same-origin' && [undefined, 'null', origin].includes(claimed)
  return claimed === undefined ? silence === 'allowed' : claimed === origin
}

/** Refuses a POST that a page of another site sends. */
export function fromOurPage(publicUrl: string, silence: Silence = 'refused'): RequestHandler {
  const { origin } = new URL(publicUrl)
  return (request, _response, next) => {
    next(isFromOurPage(request, origin, silence) ? undefined : new SiteProblem('forbidden_origin'))
  }
}
