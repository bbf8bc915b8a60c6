import type { Request, RequestHandler } from 'express'
import type { Platform } from '../../domain/platform.ts'
import { PAGE_HEADERS } from '../../web/page-headers.ts'
import { renderOtherAddress } from '../../web/site-problem.tsx'
import { Problem } from '../http/problems.ts'
import { MCP_PATH } from '../mcp/mcp.ts'

export type OurAddress = { readonly platform: Platform; readonly publicUrl: string; readonly trustProxyHops: number }

/** Paths that programs and pages of other sites load, on any host. */
const FOR_PROGRAMS =
  /^\/(?:(?:v1|btcpay|callbacks|assets|logos|\.well-known)(?:\/|$)|(?:pinrail\.js|openapi\.json|llms\.txt|robots\.txt|favicon\.ico)$)/

/** A buyer's or an owner's link, or the first page of that part of the site. */
const PAGE_OF_FORM = /^\/(?:[clo]\/[^/]+|[^/]*)/

/**
 * Serves pages only on the host of PUBLIC_URL, to which cookies and passkeys belong. A GET on another host is
 * redirected, and a POST gets a page with a link. A proxy can change `Host`, so behind one only `X-Forwarded-Host`
 * counts, without its port, which is often the proxy's own.
 */
export function onlyOurAddress({ platform, publicUrl, trustProxyHops }: OurAddress): RequestHandler {
  const { origin, host, hostname, protocol } = new URL(publicUrl)
  const parsed = (asked: string): URL | null =>
    URL.canParse(`${protocol}//${asked}`) ? new URL(`${protocol}//${asked}`) : null
  const isOurs = (request: Request): boolean => {
    if (trustProxyHops === 0) return parsed(request.get('host') ?? host)?.host === host
    // Each trusted proxy may have appended its host. The browser knows the one of the first proxy.
    const forwarded = (request.get('x-forwarded-host') ?? hostname).split(',').slice(-trustProxyHops)
    const named = parsed((forwarded[0] ?? '').trim())
    return named === null || named.hostname === hostname
  }
  return (request, response, next) => {
    if (isOurs(request) || FOR_PROGRAMS.test(request.path)) return next()
    // If the request target names a host itself (RFC 9112, 3.2.2), only its path counts.
    const { pathname, search } = URL.canParse(request.originalUrl, origin)
      ? new URL(request.originalUrl, origin)
      : new URL(origin)
    if (request.path === MCP_PATH) throw new Problem('origin_not_allowed', `Use ${origin}${MCP_PATH}.`)
    response.set(PAGE_HEADERS)
    if (['GET', 'HEAD'].includes(request.method)) return response.redirect(307, `${origin}${pathname}${search}`)
    const page = `${origin}${PAGE_OF_FORM.exec(pathname)?.[0] ?? '/'}`
    response.status(403).type('html').send(renderOtherAddress(platform, page))
  }
}
