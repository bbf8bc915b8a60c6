import type { ProviderName } from '../methods.ts'

/**
 * Whether a partner works, as all processes know it. What goes wrong with payments is suspicion alone: whoever makes
 * an order may have made it go wrong. A partner is down when questions of our own, in which nobody has a word, find it
 * silent, or when it answers them and yet opens no order of several payments of several merchants.
 */
export type Standing = {
  readonly provider: ProviderName
  /** Unix milliseconds; null while it works. */
  readonly downSince: number | null
  readonly why: DownReason | null
  /** Payments whose order could not be opened since one last was. */
  readonly suspects: readonly Suspect[]
  /** Questions of our own in a row that were not answered, while it works. */
  readonly misses: number
  /** Questions in a row that were answered, while it is down. */
  readonly answers: number
  /** How often in a row it went down again soon after it had come back. */
  readonly falls: number
  readonly fellAt: number | null
  /** When it is asked next; null: nothing is to be found out. */
  readonly askAt: number | null
}

/** `refuses_us`: it refuses our account or signature. `opens_nothing`: it answers questions and opens no order. */
export const DOWN_REASONS = ['silent', 'refuses_us', 'opens_nothing'] as const
export type DownReason = (typeof DOWN_REASONS)[number]

export type Suspect = { readonly paymentId: string; readonly merchantId: string; readonly at: number }

/** A call about an attempt that was not answered, or for which our account was refused. */
export type FailedCall = { readonly provider: ProviderName; readonly attemptId: string; readonly isOpening: boolean }

/** What a question of our own came to. */
export type Asked = 'answered' | 'silent' | 'refuses_us'

/** Milliseconds. What went wrong longer ago says nothing about now. */
const SUSPECT_MS = 120_000
/** Milliseconds before a question, however much goes wrong; a disturbance of seconds has passed by the third. */
const ASK_EVERY_MS = 5000
const MISSES_TO_FALL = 3
/** One merchant's orders, or a few of one kind, are no proof. */
const PAYMENTS_TO_FALL = 5
const MERCHANTS_TO_FALL = 3
/** Bounds the row. More suspects prove no more. */
const MOST_SUSPECTS = 20

/** Milliseconds between two questions while it is down. */
const ASK_DOWN_MS = 10_000
/** Milliseconds until orders are tried again at a partner that opens none; doubled with each fall. */
const TRY_ORDERS_MS = 30_000
const TRY_ORDERS_MOST_MS = 15 * 60_000
/** Milliseconds. Who goes down again within this must answer one question more before it is offered again. */
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

/**
 * The order of a payment could not be opened: no answer came, or a refusal of our account. A partner that is down cannot
 * be suspected more.
 */
export function suspected(standing: Standing, suspect: Suspect): Standing {
  if (standing.downSince !== null) return standing
  const others = recent(standing.suspects, suspect.at).filter(({ paymentId }) => paymentId !== suspect.paymentId)
  const suspects = [...others, suspect].slice(-MOST_SUSPECTS)
  return { ...standing, suspects, askAt: standing.askAt ?? suspect.at + ASK_EVERY_MS }
}

/** Another call about a payment went wrong: the partner is asked, but that proves nothing about opening orders. */
export function doubted(standing: Standing, now: number): Standing {
  if (standing.downSince !== null || standing.askAt !== null) return standing
  return { ...standing, askAt: now + ASK_EVERY_MS }
}

/** An order was opened: whatever went wrong before went wrong with those orders. */
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
