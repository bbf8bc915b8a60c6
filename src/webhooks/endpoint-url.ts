import { isIP } from 'node:net'
import { HOST_NAME } from '../domain/host.ts'
import { hasCharacters, isSafeText } from '../domain/text.ts'

/** URLs that webhooks may go to. `testTargets` are exact `host:port` pairs that are allowed in test mode. */
export type TargetRules = { readonly mode: 'test' | 'live'; readonly testTargets: readonly string[] }

export type UrlRefusal =
  | 'invalid'
  | 'too_long'
  | 'scheme'
  | 'credentials'
  | 'fragment'
  | 'port'
  | 'ip_literal'
  | 'local_name'
  | 'no_domain'

const URL_REFUSALS: Record<UrlRefusal, string> = {
  invalid: 'must be a URL without spaces, such as https://shop.example/webhooks',
  too_long: 'must have at most 2048 characters',
  scheme: 'must begin with https://',
  credentials: 'must not contain a user name or password',
  fragment: 'must not contain a fragment (#…)',
  port: 'must use port 443',
  ip_literal: 'must name a host, not an IP address',
  local_name: 'must not name a local host',
  no_domain: 'must name a public host with a domain',
}

/**
 * Returns what the URL must be; in test mode also the local addresses that are allowed, because developers try those
 * first.
 */
export function urlRefusal(reason: UrlRefusal, { mode, testTargets }: TargetRules): string {
  const isAboutHost = ['scheme', 'port', 'ip_literal', 'local_name', 'no_domain'].includes(reason)
  if (mode === 'live' || !isAboutHost) return URL_REFUSALS[reason]
  const allowed = testTargets.length === 0 ? 'none yet' : testTargets.map((target) => `http://${target}`).join(', ')
  return `${URL_REFUSALS[reason]}. In test mode WEBHOOK_TEST_TARGETS allows local addresses: ${allowed}`
}

export type UrlCheck =
  | { readonly ok: true; readonly url: URL; readonly testTarget: boolean }
  | { readonly ok: false; readonly reason: UrlRefusal }

/** Names that resolvers answer themselves or that exist only inside a network. */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|localdomain|home\.arpa|lan|intranet)$/

const LONGEST_URL = 2048

/**
 * Checks whether the text of the URL allows webhooks to it. `guarded-agents.ts` checks the resolved addresses. Only the
 * parsed host counts: the parser turns `127.1`, `0x7f.1` and `①②⑦.⓪.⓪.①` into 127.0.0.1.
 */
export function checkEndpointUrl(text: string, { mode, testTargets }: TargetRules): UrlCheck {
  if (text.length > LONGEST_URL) return refused('too_long')
  // The parser drops or encodes invisible characters: the URL that is called would differ from the stored one.
  if (!isSafeText(text, 'line') || hasCharacters(text, 'blank', 'invisible')) return refused('invalid')
  // The parser reads `https:shop.example` as https://shop.example.
  const url = /^[a-z]+:\/\/[^/]/i.test(text) && URL.canParse(text) ? new URL(text) : null
  if (url === null) return refused('invalid')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('scheme')
  if (url.username !== '' || url.password !== '') return refused('credentials')
  if (url.hash !== '' || text.includes('#')) return refused('fragment')
  if (mode === 'test' && testTargets.includes(hostAndPort(url))) return { ok: true, url, testTarget: true }
  if (url.protocol !== 'https:') return refused('scheme')
  if (mode === 'live' && url.port !== '') return refused('port')
  const reason = refuseHost(url.hostname)
  return reason === null ? { ok: true, url, testTarget: false } : refused(reason)
}

function refuseHost(hostname: string): UrlRefusal | null {
  const host = hostname.replace(/\.+$/, '')
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0) return 'ip_literal'
  if (LOCAL_NAME.test(host)) return 'local_name'
  return HOST_NAME.test(host) ? null : 'no_domain'
}

/** Returns the host as WEBHOOK_TEST_TARGETS names it: with the port, even the default one. */
function hostAndPort(url: URL): string {
  const defaultPort = url.protocol === 'https:' ? '443' : '80'
  return `${url.hostname}:${url.port === '' ? defaultPort : url.port}`
}

function refused(reason: UrlRefusal): UrlCheck {
  return { ok: false, reason }
}
