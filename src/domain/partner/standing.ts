import type { ProviderName } from '../methods.ts'

/**
 * The state of a partner, shared by all processes. Failures of payments are only a suspicion, because whoever makes an
 * order can make it fail. A partner is down if it does not answer the platform's own questions, which no merchant or
 * buyer influences, or if it answers them and yet opens no order for several payments of several merchants.
 */
export type Standing = {
  readonly provider: ProviderName
  /** Unix milliseconds; null while it works. */
  readonly downSince: number | null
  readonly why: DownReason | null
  /** Payments whose order could not be opened since the last one that was. */
  readonly suspects: readonly Suspect[]
  /** The platform's own questions in a row that got no answer, while it works. */
  readonly misses: number
  /** Questions in a row that got an answer, while it is down. */
  readonly answers: number
  /** How often in a row it went down again soon after it had recovered. */
  readonly falls: number
  readonly fellAt: number | null
  /** When it is asked next; null: there is nothing to find out. */
  readonly askAt: number | null
}

/** `refuses_us`: it refuses the platform's account or signature. `opens_nothing`: it answers, but opens no order. */
export const DOWN_REASONS = ['silent', 'refuses_us', 'opens_nothing'] as const
export type DownReason = (typeof DOWN_REASONS)[number]

export type Suspect = { readonly paymentId: string; readonly merchantId: string; readonly at: number }

/** A call about an attempt that got no answer, or for which the platform's account was refused. */
export type FailedCall = { readonly provider: ProviderName; readonly attemptId: string; readonly isOpening: boolean }

export type Asked = 'answered' | 'silent' | 'refuses_us'

/** Milliseconds. Older failures prove nothing about now. */
const SUSPECT_MS = 120_000
/** Milliseconds before a question, however much fails; a disturbance of seconds has passed by the third. */
const ASK_EVERY_MS = 5000
const MISSES_TO_FALL = 3
/** Orders of one merchant, or a few of one kind, are no proof. */
const PAYMENTS_TO_FALL = 5
const MERCHANTS_TO_FALL = 3
/** Limits the size of the row. More suspects prove no more. */
const MOST_SUSPECTS = 20

/** Milliseconds between two questions while it is down. */
const ASK_DOWN_MS = 10_000
/** Milliseconds until orders are tried again at a partner that opens none; doubled after each fall. */
const TRY_ORDERS_MS = 30_000
const TRY_ORDERS_MOST_MS = 15 * 60_000
/** Milliseconds. A partner that goes down again within this time must answer one more question before it is offered. */
const FALLS_MS = 30 * 60_000
const ANSWERS_AT_MOST = 6

export function working(provider: ProviderName): Standing {
  return {
    provider,
    downSince: null,
    why: null,
    suspects: [],
    misses: 0,
    answers: 0,
    falls: 0,
    fellAt: null,
    askAt: null,
  }
}

/** No answer arrived, or the platform's account was refused. A partner that is down gains no suspects. */
export function suspected(standing: Standing, suspect: Suspect): Standing {
  if (standing.downSince !== null) return standing
  const others = recent(standing.suspects, suspect.at).filter(({ paymentId }) => paymentId !== suspect.paymentId)
  const suspects = [...others, suspect].slice(-MOST_SUSPECTS)
  return { ...standing, suspects, askAt: standing.askAt ?? suspect.at + ASK_EVERY_MS }
}

/** The partner is asked after another failed call, which proves nothing about opening orders. */
export function doubted(standing: Standing, now: number): Standing {
  if (standing.downSince !== null || standing.askAt !== null) return standing
  return { ...standing, askAt: now + ASK_EVERY_MS }
}

/** Records that an order was opened: the earlier failures were due to their orders. */
export function openedAnOrder(standing: Standing): Standing {
  return standing.downSince === null ? { ...standing, suspects: [] } : standing
}

export function wasAsked(standing: Standing, asked: Asked, now: number): Standing {
  return standing.downSince === null ? askedWhileUp(standing, asked, now) : askedWhileDown(standing, asked, now)
}

function askedWhileUp(standing: Standing, asked: Asked, now: number): Standing {
  const suspects = recent(standing.suspects, now)
  if (asked === 'answered') {
    if (isProof(suspects)) return fall(standing, 'opens_nothing', now)
    return { ...standing, suspects, misses: 0, askAt: null }
  }
  const misses = standing.misses + 1
  if (misses >= MISSES_TO_FALL) return fall(standing, asked, now)
  return { ...standing, suspects, misses, askAt: now + ASK_EVERY_MS }
}

function askedWhileDown(standing: Standing, asked: Asked, now: number): Standing {
  const { provider, falls, fellAt } = standing
  const askAt = now + ASK_DOWN_MS
  if (asked !== 'answered') return { ...standing, why: asked, answers: 0, askAt }
  const answers = standing.answers + 1
  const isEnough = standing.why === 'opens_nothing' || answers >= Math.min(falls, ANSWERS_AT_MOST)
  return isEnough ? { ...working(provider), falls, fellAt } : { ...standing, answers, askAt }
}

function fall(standing: Standing, why: DownReason, now: number): Standing {
  const { provider, fellAt } = standing
  const falls = fellAt !== null && now - fellAt < FALLS_MS ? standing.falls + 1 : 1
  const wait = why === 'opens_nothing' ? Math.min(TRY_ORDERS_MS * 2 ** (falls - 1), TRY_ORDERS_MOST_MS) : ASK_DOWN_MS
  return { ...working(provider), downSince: now, why, falls, fellAt: now, askAt: now + wait }
}

function recent(suspects: readonly Suspect[], now: number): Suspect[] {
  return suspects.filter(({ at }) => now - at < SUSPECT_MS)
}

function isProof(suspects: readonly Suspect[]): boolean {
  const merchants = new Set(suspects.map(({ merchantId }) => merchantId))
  return suspects.length >= PAYMENTS_TO_FALL && merchants.size >= MERCHANTS_TO_FALL
}
