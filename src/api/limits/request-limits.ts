import type { Tenant } from '../../db/db.ts'
import { Problem } from '../http/problems.ts'
import { type Counter, createCounter, type Taken } from './counter.ts'
import { PROMPT_REFUSALS } from './hold.ts'
import { getNetwork, isOwnMachine } from './network.ts'

/**
 * Each limit throws `rate_limited` (429). The headers are those of the IETF draft `RateLimit header fields`. No request
 * waits for another process: `shared-counters.ts` combines their counts.
 */
export type RequestLimits = {
  /** Returns the headers of the response. */
  readonly count: (tenant: Tenant, cost: number) => Record<string, string>
  readonly countRefusal: (address: string) => void
  readonly countSignIn: (source: string) => void
  readonly countPress: (address: string, linkId: string) => void
  readonly countForm: (address: string) => void
  readonly countVisit: (address: string, kind: Visit) => void
  readonly countSend: (tenant: Tenant) => void
  readonly countPerson: (personId: string, what: Made) => void
  readonly countLink: (token: string, kind: Visit) => void
  /** Typesetting a receipt file is expensive. */
  readonly countReceiptFile: (address: string) => void
  readonly counters: Readonly<Record<string, Counter>>
}

export type Visit = 'look' | 'act'

/** Expensive or permanent work: a file of all payments, a key. */
export type Made = 'file' | 'key'

export type RequestLimitSettings = {
  readonly requests: number
  readonly windowSeconds: number
  /** Requests with a valid key are never refused because of invalid ones from their network. */
  readonly refusalsPerMinute: number
  readonly signInsPerHour: number
  readonly pressesPerMinute: { readonly address: number; readonly link: number }
  readonly formsPerHour: number
  readonly sendsPerHour: number
  /** By person, for all their accounts together. */
  readonly madePerHour: Readonly<Record<Made, number>>
  readonly looksPerMinute: number
  readonly actsPerMinute: number
  /** Unix milliseconds. */
  readonly clock: () => number
}

/** People of an office or of a mobile network share an address, so networks get a multiple of a link's limit. */
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
    receiptFiles: perMinute(actsPerMinute),
    networkLooks: perMinute(looksPerMinute * LINKS_PER_NETWORK),
    networkActs: perMinute(actsPerMinute * LINKS_PER_NETWORK),
  }
  const toHeaders = ({ remaining, resetMs }: Taken) => ({
    'ratelimit-policy': `"account";q=${requests};w=${windowSeconds}`,
    ratelimit: `"account";r=${remaining};t=${Math.ceil(resetMs / 1000)}`,
  })
  return {
    counters,
    count: ({ merchantId, livemode }, cost) => {
      const taken = counters.accounts.take(`${livemode} ${merchantId}`, cost)
      const headers = toHeaders(taken)
      take(
        taken,
        `The limit of an account is ${requests} requests in ${windowSeconds} s. A list counts once for every ten rows of its \`limit\`.`,
        headers,
      )
      return headers
    },
    countRefusal: (address) =>
      take(counters.refusals.take(getNetwork(address)), 'Too many requests with invalid keys.'),
    countSignIn: (source) => take(counters.signIns.take(source), 'Too many attempts to sign in.'),
    countPress: (address, linkId) => {
      // The address first: a refused address uses up nothing of the link's limit.
      take(counters.presses.take(getNetwork(address)), 'Too many payments were started from your network.')
      take(counters.linkPresses.take(linkId), 'Too many payments of this link were started.')
    },
    countForm: (address) =>
      take(counters.forms.take(getNetwork(address)), 'Too many links, reports or test accounts from your network.'),
    countSend: ({ merchantId, livemode }) =>
      take(counters.sends.take(`${livemode} ${merchantId}`), 'Too many test events and redeliveries.'),
    countPerson: (personId, what) => {
      const counter = what === 'file' ? counters.files : counters.keys
      take(counter.take(personId), what === 'file' ? 'Too many downloads.' : 'Too many keys were created.')
    },
    countVisit: (address, kind) => {
      if (isOwnMachine(address)) return
      const counter = kind === 'look' ? counters.networkLooks : counters.networkActs
      take(counter.take(getNetwork(address)), 'Too many requests from your network.')
    },
    countReceiptFile: (address) => {
      if (!isOwnMachine(address)) take(counters.receiptFiles.take(getNetwork(address)), 'Too many receipt downloads.')
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
