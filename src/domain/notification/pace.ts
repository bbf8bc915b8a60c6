/** Which notifications are sent next, and when: one by one while there are few, in a digest when there are many. */

export type Waiting = {
  readonly id: string
  /** It is about the wallet, keys or sign-in: it is sent alone, and quiet hours do not delay it. */
  readonly urgent: boolean
  /** True if quiet hours have delayed it. */
  readonly delayed: boolean
}

/** A message that was sent within the last minute. */
export type Recent = { readonly at: number; readonly digest: boolean }

export type Next =
  | { readonly kind: 'send'; readonly ids: readonly string[]; readonly digest: boolean }
  /** Unix milliseconds. */
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'nothing' }

export type Situation = {
  /** Unix milliseconds. */
  readonly now: number
  /** Oldest first, at most as many as one digest contains. */
  readonly waiting: readonly Waiting[]
  readonly recent: readonly Recent[]
  readonly quietUntil: number | null
}

/** More messages than this within a minute are joined into one. */
export const MOST_A_MINUTE = 10
const MINUTE_MS = 60_000

export const DIGEST_SIZE = 500

export function whatNext({ now, waiting, recent, quietUntil }: Situation): Next {
  const urgent = waiting.find((each) => each.urgent)
  if (urgent !== undefined) return { kind: 'send', ids: [urgent.id], digest: false }
  const [first] = waiting
  if (first === undefined) return { kind: 'nothing' }
  if (quietUntil !== null) return { kind: 'wait', until: quietUntil }

  const lately = recent.filter(({ at }) => at > now - MINUTE_MS)
  const free = MOST_A_MINUTE - lately.length
  const delayedTogether = waiting.filter(({ delayed }) => delayed).length > 1
  if (waiting.length <= free && !delayedTogether) return { kind: 'send', ids: [first.id], digest: false }
  if (free <= 0) return { kind: 'wait', until: Math.min(...lately.map(({ at }) => at)) + MINUTE_MS }
  const lastDigest = Math.max(...lately.filter(({ digest }) => digest).map(({ at }) => at))
  // A full digest gains nothing by waiting.
  if (Number.isFinite(lastDigest) && waiting.length < DIGEST_SIZE)
    return { kind: 'wait', until: lastDigest + MINUTE_MS }
  return { kind: 'send', ids: waiting.map(({ id }) => id), digest: true }
}
