import type { Tenant } from '../../db/db.ts'
import { Problem } from '../http/problems.ts'
import { type Counter, createCounter, type Taken } from './counter.ts'
import { PROMPT_REFUSALS } from './hold.ts'
import { isOwnMachine, networkOf } from './network.ts'

/**
 * Limits of requests, of which each throws `rate_limited` (429) when there were too many. The headers are those of the
 * IETF draft `RateLimit header fields`. No request waits for another process: `shared-counters.ts` lets them count together.
 */
export type RequestLimits = {
  /** Counts a request of the account in its mode as so many. Returns the headers of the answer. */
  readonly count: (tenant: Tenant, cost: number) => Record<string, string>
  /** Counts a refused key from this IP address. */
  readonly countRefusal: (address: string) => void
  /** Counts a try to sign in, of a network or of a browser that is known. */
  readonly countSignIn: (source: string) => void
  /** Counts a press on the page of a link, of this IP address and of the link. */
  readonly countPress: (address: string, linkId: string) => void
  /** Counts a link that is made without an account, or a report, from this IP address. */
  readonly countForm: (address: string) => void
  /** Counts a request without a key from this IP address: a page, or something that is to be done. */
  readonly countVisit: (address: string, kind: Visit) => void
  /** Counts a test event or a redelivery that the account in its mode asks for. */
  readonly countSend: (tenant: Tenant) => void
  /** Counts what a signed-in person has made, whichever account it is for. */
  readonly countPerson: (personId: string, what: Made) => void
  /** Counts a request with a buyer's link. */
  readonly countLink: (token: string, kind: Visit) => void
  /** Counts a receipt that is made as a file, from this IP address: its letters are set one by one. */
  readonly countPaper: (address: string) => void
  /** For those who count together. */
  readonly counters: Readonly<Record<string, Counter>>
}

export type Visit = 'look' | 'act'

/** What costs much, or stays for ever: a file of all payments, a key. */
export type Made = 'file' | 'key'

export type RequestLimitSettings = {
  /** Requests of one account in one mode, in each window. */
  readonly requests: number
  readonly windowSeconds: number
  /** Requests with an invalid key, from one network. Requests with a valid key are never refused for them. */
  readonly refusalsPerMinute: number
  /** Tries to sign in, from one network, and in one browser that is known. */
  readonly signInsPerHour: number
  /** Presses on pages of links, from one network and on one link. */
  readonly pressesPerMinute: { readonly address: number; readonly link: number }
  /** Links that are made without an account, and reports, from one network. */
  readonly formsPerHour: number
  /** Test events and redeliveries of one account in one mode. */
  readonly sendsPerHour: number
  /** Of one person, in all their accounts together. */
  readonly madePerHour: Readonly<Record<Made, number>>
  /** Pages and questions about its state, with one link. */
  readonly looksPerMinute: number
  /** Forms sent, with one link. */
  readonly actsPerMinute: number
  /** Unix milliseconds. */
  readonly clock: () => number
}

/** People of an office or of a mobile network share an address: it may do so many times what one link may. */
const LINKS_PER_NETWORK = 10

export function createRequestLimits(settings: RequestLimitSettings): RequestLimits {
  const { requests, windowSeconds, looksPerMinute, actsPerMinute, clock } = settings
  const perMinute = (points: number): Counter => createCounter({ points, windowSeconds: 60, clock })
  const perHour = (points: number): Counter => createCounter({ points, windowSeconds: 3600, clock })
  const counters = {
    accounts: createCounter({ points: requests, windowSeconds, clock }),
    refusals: perMinute(settings.refusalsPerMinute),
    signIns: perHour(settings.signInsPerHour),
    presses: perMinute(settings.pressesPerMinute.address),
    linkPresses: perMinute(settings.pressesPerMinute.link),
    forms: perHour(settings.formsPerHour),
    sends: perHour(settings.sendsPerHour),
    files: perHour(settings.madePerHour.file),
    keys: perHour(settings.madePerHour.key),
    linkLooks: perMinute(looksPerMinute),
    linkActs: perMinute(actsPerMinute),
    papers: perMinute(actsPerMinute),
    networkLooks: perMinute(looksPerMinute * LINKS_PER_NETWORK),
    networkActs: perMinute(actsPerMinute * LINKS_PER_NETWORK),
  }
  const headersOf = ({ remaining, resetMs }: Taken) => ({
    'ratelimit-policy': `"account";q=${requests};w=${windowSeconds}`,
    ratelimit: `"account";r=${remaining};t=${Math.ceil(resetMs / 1000)}`,
  })
  return {
    counters,
    count: ({ merchantId, livemode }, cost) => {
      const taken = counters.accounts.take(`${livemode} ${merchantId}`, cost)
      const headers = headersOf(taken)
      take(
        taken,
        `The limit of an account is ${requests} requests in ${windowSeconds} s. A list counts once for every ten rows of its \`limit\`.`,
        headers,
      )
      return headers
    },
    countRefusal: (address) => take(counters.refusals.take(networkOf(address)), 'Too many requests with invalid keys.'),
    countSignIn: (source) => take(counters.signIns.take(source), 'Too many attempts to sign in.'),
    countPress: (address, linkId) => {
      // The address first: one that is refused uses up nothing of the link.
      take(counters.presses.take(networkOf(address)), 'Too many payments were started from your network.')
      take(counters.linkPresses.take(linkId), 'Too many payments of this link were started.')
    },
    countForm: (address) =>
      take(counters.forms.take(networkOf(address)), 'Too many links or reports from your network.'),
    countSend: ({ merchantId, livemode }) =>
      take(counters.sends.take(`${livemode} ${merchantId}`), 'Too many test events and redeliveries.'),
    countPerson: (personId, what) => {
      const counter = what === 'file' ? counters.files : counters.keys
      take(counter.take(personId), what === 'file' ? 'Too many downloads.' : 'Too many keys were created.')
    },
    countVisit: (address, kind) => {
      if (isOwnMachine(address)) return
      const counter = kind === 'look' ? counters.networkLooks : counters.networkActs
      take(counter.take(networkOf(address)), 'Too many requests from your network.')
    },
    countPaper: (address) => {
      if (!isOwnMachine(address)) take(counters.papers.take(networkOf(address)), 'Too many receipt downloads.')
    },
    countLink: (token, kind) => {
      const counter = kind === 'look' ? counters.linkLooks : counters.linkActs
      take(counter.take(token), 'Too many requests with this link.')
    },
  }
}

function take(
  { taken, resetMs, refused }: Taken,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (taken) return
  const seconds = Math.max(1, Math.ceil(resetMs / 1000))
  throw new Problem('rate_limited', `${detail} Try again in ${seconds} s.`, {
    headers: { ...headers, 'retry-after': String(seconds) },
    isHeld: refused > PROMPT_REFUSALS,
  })
}
