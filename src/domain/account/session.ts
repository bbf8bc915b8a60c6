/** Milliseconds (OWASP ASVS 5.0, 7.3): an unused session ends after an hour, every session after a day. */
export const IDLE_MS = 3_600_000
export const ABSOLUTE_MS = 86_400_000

/** How long a fresh passkey or link counts for changes of wallet, keys, secrets and members (milliseconds). */
export const CONFIRMED_MS = 600_000

export const MOST_PASSKEYS = 20

/** How long a link in a mail works (milliseconds). */
export const LINK_MS = 900_000

/** Tries to type the code of one mail: with six digits a guesser has one chance in 200,000. */
export const CODE_TRIES = 5

/**
 * Wrong codes that one network can type for one address in a day, so that it does not use up the tries of other
 * networks. Browsers in which the address signed in before count as one network. Links still work after that.
 */
export const CODE_TRIES_A_DAY = 20

/**
 * Wrong codes that all networks together can type for one address in a day: a guesser with many networks has one chance
 * in 10,000 a day. NIST SP 800-63B-4, 3.2.2, allows as many in a row.
 */
export const STRANGERS_CODE_TRIES_A_DAY = 100

/**
 * Links that one network can request for one address in an hour, and that one session can request to confirm itself.
 * Further links are not sent, and the page does not show it. Browsers in which the address signed in before count as
 * one network.
 */
export const LINKS_PER_HOUR = 5

/** Links that all networks together can request for one address in an hour, so that strangers fill no mailbox. */
export const STRANGERS_LINKS_PER_HOUR = 20

/** How long a browser is known after a sign-in (seconds): the longest that browsers keep a cookie. */
export const KNOWN_BROWSER_SECONDS = 400 * 86_400

/** Unix milliseconds. */
export type SessionTimes = {
  readonly createdAt: number
  readonly usedAt: number
  readonly confirmedAt: number
  readonly endedAt: number | null
}

export function isOpen({ createdAt, usedAt, endedAt }: SessionTimes, now: number): boolean {
  return endedAt === null && now - usedAt < IDLE_MS && now - createdAt < ABSOLUTE_MS
}

export function isConfirmed({ confirmedAt }: SessionTimes, now: number): boolean {
  return now - confirmedAt < CONFIRMED_MS
}
