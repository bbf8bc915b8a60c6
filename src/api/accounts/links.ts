import {
  countLinks,
  insertLink,
  KNOWN_BROWSER,
  type SignInLink,
  useCode,
  useLink,
} from '../../db/accounts/sign-in-links.ts'
import type { Db, Tx } from '../../db/db.ts'
import {
  CODE_TRIES,
  CODE_TRIES_A_DAY,
  LINK_MS,
  LINKS_PER_HOUR,
  STRANGERS_CODE_TRIES_A_DAY,
  STRANGERS_LINKS_PER_HOUR,
} from '../../domain/account/session.ts'
import type { Platform } from '../../domain/platform.ts'
import { confirmMail, type MailDeps, queueMail, signInMail } from './mails.ts'
import { digestOfCode, digestOfToken, newCode, newToken } from './tokens.ts'

export type LinkDeps = MailDeps & {
  readonly platform: Platform
  readonly db: Db
  readonly publicUrl: string
  readonly pepper: string
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly newSignInLinkId: () => string
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const HOME = '/dashboard'

/** `what`: the change, as it follows "Confirm". */
export type Confirms = { readonly sessionId: string; readonly confirmationId: string; readonly what: string }

/**
 * Sends a link that signs in, or one that confirms the session. Every address gets one, with or without an account, so
 * response, time and mail reveal nothing. `to`: the path to continue with. `askedFrom`: the network, or a known
 * browser. Returns the token for the browser's cookie, or null if the limit of requests is reached and no link was
 * sent.
 */
export async function sendLink(
  deps: LinkDeps,
  email: string,
  { confirms, to, askedFrom }: { confirms: Confirms | null; to: string; askedFrom: string },
): Promise<string | null> {
  const now = deps.clock()
  const iso = (ms: number): string => new Date(ms).toISOString()
  const [token, browser, code] = [newToken(), newToken(), newCode()]
  const browserDigest = digestOfToken(browser)
  const url = `${deps.publicUrl}/sign-in/link/${token}${to === HOME ? '' : `?to=${encodeURIComponent(to)}`}`
  const mail =
    confirms === null
      ? signInMail(email, { platform: deps.platform, url, code })
      : confirmMail(email, { url, code, what: confirms.what })
  const sessionId = confirms?.sessionId ?? null
  const times = { now: iso(now), expiresAt: iso(now + LINK_MS) }
  return deps.db.transaction(async (tx) => {
    const sent = await countLinks(tx, { email, sessionId, askedFrom, since: iso(now - HOUR_MS) })
    if (sent.same >= LINKS_PER_HOUR) return null
    if (askedFrom !== KNOWN_BROWSER && sent.strangers >= STRANGERS_LINKS_PER_HOUR) return null
    await insertLink(tx, {
      id: deps.newSignInLinkId(),
      email,
      digest: digestOfToken(token),
      codeDigest: digestOfCode(code, browserDigest, deps.pepper),
      browserDigest,
      sessionId,
      confirmationId: confirms?.confirmationId ?? null,
      askedFrom,
      ...times,
    })
    await queueMail(deps, tx, { mail, ...times })
    return browser
  })
}

export type Proof = { readonly token: string } | { readonly code: string }

/** Null if the link does not work, for any reason. */
export function spendLink(deps: LinkDeps, tx: Tx, { browser, proof }: { browser: string; proof: Proof }) {
  const browserDigest = digestOfToken(browser)
  const [now, since] = [deps.clock(), deps.clock() - DAY_MS].map((ms) => new Date(ms).toISOString()) as [string, string]
  if ('token' in proof) return useLink(tx, { digest: digestOfToken(proof.token), browserDigest, now })
  const codeDigest = digestOfCode(proof.code, browserDigest, deps.pepper)
  return useCode(tx, {
    browserDigest,
    codeDigest,
    tries: { each: CODE_TRIES, same: CODE_TRIES_A_DAY, strangers: STRANGERS_CODE_TRIES_A_DAY },
    since,
    now,
  })
}

export type { SignInLink }
