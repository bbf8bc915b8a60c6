import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Tenant } from '../../db/db.ts'
import { Problem } from '../http/problems.ts'

/**
 * Limits of requests. Each process counts in memory, so no request costs a write, and with N replicas an account may
 * make N times as many. The headers are those of the IETF draft `RateLimit header fields`.
 */
export type RequestLimits = {
  /** Counts a request of the account in its mode. Returns the headers of the answer; throws `rate_limited` (429). */
  readonly count: (tenant: Tenant) => Promise<Record<string, string>>
  /** Counts a refused key from this IP address. Throws `rate_limited` (429) when there were too many. */
  readonly countRefusal: (address: string) => Promise<void>
  /** Counts a try to sign in from this IP address. Throws `rate_limited` (429) when there were too many. */
  readonly countSignIn: (address: string) => Promise<void>
  /** Counts a press on the page of a link, of this IP address and of the link. Throws as above. */
  readonly countPress: (address: string, linkId: string) => Promise<void>
  /** Counts a link that is made without an account, or a report, from this IP address. Throws as above. */
  readonly countForm: (address: string) => Promise<void>
}

export type RequestLimitSettings = {
  /** Requests of one account in one mode, in each window. */
  readonly requests: number
  readonly windowSeconds: number
  /** Requests with an invalid key, from one network. Requests with a valid key are never refused for them. */
  readonly refusalsPerMinute: number
  /** Tries to sign in, from one network. */
  readonly signInsPerHour: number
  /** Presses on pages of links, from one network and on one link. */
  readonly pressesPerMinute: { readonly address: number; readonly link: number }
  /** Links that are made without an account, and reports, from one network. */
  readonly formsPerHour: number
}

export function createRequestLimits({
  requests,
  windowSeconds,
  refusalsPerMinute,
  signInsPerHour,
  pressesPerMinute,
  formsPerHour,
}: RequestLimitSettings): RequestLimits {
  const accounts = new RateLimiterMemory({ points: requests, duration: windowSeconds })
  const refusals = new RateLimiterMemory({ points: refusalsPerMinute, duration: 60 })
  const signIns = new RateLimiterMemory({ points: signInsPerHour, duration: 3600 })
  const presses = new RateLimiterMemory({ points: pressesPerMinute.address, duration: 60 })
  const linkPresses = new RateLimiterMemory({ points: pressesPerMinute.link, duration: 60 })
  const forms = new RateLimiterMemory({ points: formsPerHour, duration: 3600 })
  const policy = `"account";q=${requests};w=${windowSeconds}`
  const headersOf = ({ remainingPoints, msBeforeNext }: RateLimiterRes) => ({
    'ratelimit-policy': policy,
    ratelimit: `"account";r=${remainingPoints};t=${Math.ceil(msBeforeNext / 1000)}`,
  })
  return {
    count: async ({ merchantId, livemode }) => {
      const result = await consume(accounts, `${livemode} ${merchantId}`)
      if (result.taken) return headersOf(result.state)
      throw limited(
        result.state,
        `An account may make ${requests} requests in ${windowSeconds} s.`,
        headersOf(result.state),
      )
    },
    countRefusal: async (address) => {
      const result = await consume(refusals, networkOf(address))
      if (!result.taken) throw limited(result.state, 'Too many requests with invalid keys.')
    },
    countSignIn: async (address) => {
      const result = await consume(signIns, networkOf(address))
      if (!result.taken) throw limited(result.state, 'Too many tries to sign in.')
    },
    countPress: async (address, linkId) => {
      // The address first: one that is refused uses up nothing of the link.
      const own = await consume(presses, networkOf(address))
      if (!own.taken) throw limited(own.state, 'Too many payments were started from here.')
      const ofLink = await consume(linkPresses, linkId)
      if (!ofLink.taken) throw limited(ofLink.state, 'Too many payments of this link were started.')
    },
    countForm: async (address) => {
      const result = await consume(forms, networkOf(address))
      if (!result.taken) throw limited(result.state, 'Too many links or reports from here.')
    },
  }
}

async function consume(limiter: RateLimiterMemory, key: string): Promise<{ taken: boolean; state: RateLimiterRes }> {
  try {
    return { taken: true, state: await limiter.consume(key) }
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return { taken: false, state: refusal }
    throw refusal
  }
}

function limited({ msBeforeNext }: RateLimiterRes, detail: string, headers: Record<string, string> = {}): Problem {
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
  return new Problem('rate_limited', `${detail} Ask again in ${seconds} s.`, {
    headers: { ...headers, 'retry-after': String(seconds) },
  })
}

/** The IPv4 address, also when written `::ffff:192.0.2.7`. Of IPv6 the first 56 bits: one customer's network. */
function networkOf(address: string): string {
  const v4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  return v4 ?? prefixOf(address)
}

function prefixOf(address: string): string {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const left = head.split(':').filter((group) => group !== '')
  const right = (tail ?? '').split(':').filter((group) => group !== '')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right].map((group) => group.padStart(4, '0'))
  return groups.slice(0, 4).join('').slice(0, 14)
}
