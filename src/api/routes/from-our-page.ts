import type { Request, RequestHandler } from 'express'
import { SiteProblem } from './site-problem.ts'

/** `refused` if a cookie has authority, `allowed` if the URL is the only key. */
type Silence = 'refused' | 'allowed'

/**
 * Browsers send `Sec-Fetch-Site` (W3C Fetch Metadata), which no page can forge; older ones send only `Origin` (RFC
 * 6454), and programs send neither. A browser that hides the referring page sends `Origin: null` from our own pages
 * too.
 */
export function isFromOurPage(request: Request, origin: string, silence: Silence): boolean {
  const [site, claimed] = [request.get('sec-fetch-site'), request.get('origin')]
  if (site !== undefined) return site === 'same-origin' && [undefined, 'null', origin].includes(claimed)
  return claimed === undefined ? silence === 'allowed' : claimed === origin
}

export function fromOurPage(publicUrl: string, silence: Silence = 'refused'): RequestHandler {
  const { origin } = new URL(publicUrl)
  return (request, _response, next) => {
    next(isFromOurPage(request, origin, silence) ? undefined : new SiteProblem('forbidden_origin'))
  }
}
