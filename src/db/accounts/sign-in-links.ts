import { z } from 'zod'
import { execute, maybeOne, one, type Queryable, sql, type Tx } from '../db.ts'

const linkRow = z
  .object({
    id: z.string(),
    email: z.string(),
    session_id: z.string().nullable(),
    confirmation_id: z.string().nullable(),
  })
  .transform((row) => ({
    id: row.id,
    email: row.email,
    sessionId: row.session_id,
    confirmationId: row.confirmation_id,
  }))
export type SignInLink = z.output<typeof linkRow>

export type NewSignInLink = {
  readonly id: string
  readonly email: string
  readonly digest: Uint8Array
  readonly codeDigest: Uint8Array
  /** The digest of the cookie of the browser that requested the link. */
  readonly browserDigest: Uint8Array
  /** The session that it confirms; null: it opens a session. */
  readonly sessionId: string | null
  readonly confirmationId: string | null
  readonly askedFrom: string
  /** ISO 8601. */
  readonly now: string
  readonly expiresAt: string
}

/** Locks the address, so that counts for it run one after the other. */
async function lockAddress(tx: Tx, email: string): Promise<void> {
  await execute(tx, sql`select pg_advisory_xact_lock(hashtextextended(${`sign_in_link ${email}`}, 0))`)
}

/** The value of `asked_from` for a browser in which the address signed in before. Otherwise it is a network. */
export const KNOWN_BROWSER = 'known'

const linkCountRow = z.object({ same: z.coerce.number(), strangers: z.coerce.number() })

/**
 * Counts the links that were sent to the address since the time: those that sign in, or those that confirm the session.
 * They are counted separately, because anybody can request a sign-in link. `same`: requested by the same network.
 * `strangers`: requested by any network.
 */
export async function countLinks(
  tx: Tx,
  { email, sessionId, askedFrom, since }: Pick<NewSignInLink, 'email' | 'sessionId' | 'askedFrom'> & { since: string },
): Promise<{ same: number; strangers: number }> {
  await lockAddress(tx, email)
  return one(
    tx,
    linkCountRow,
    sql`select count(*) filter (where asked_from = ${askedFrom}) as same,
          count(*) filter (where asked_from <> ${KNOWN_BROWSER}) as strangers
        from sign_in_link where email = ${email}
          and session_id is not distinct from ${sessionId} and created_at > ${since}::timestamptz`,
  )
}

export async function insertLink(tx: Tx, link: NewSignInLink): Promise<void> {
  await execute(
    tx,
    sql`insert into sign_in_link
          (id, email, digest, code_digest, browser_digest, session_id, confirmation_id, asked_from, created_at, expires_at)
        values (${link.id}, ${link.email}, ${link.digest}, ${link.codeDigest}, ${link.browserDigest}, ${link.sessionId},
          ${link.confirmationId},
          ${link.askedFrom}, ${link.now}::timestamptz, ${link.expiresAt}::timestamptz)`,
  )
}

/** Reading does not use the link up. */
export function findLink(
  db: Queryable,
  link: { digest: Uint8Array; browserDigest: Uint8Array; now: string },
): Promise<SignInLink | null> {
  return maybeOne(
    db,
    linkRow,
    sql`select id, email, session_id, confirmation_id from sign_in_link
        where digest = ${link.digest} and browser_digest = ${link.browserDigest}
          and used_at is null and expires_at > ${link.now}::timestamptz`,
  )
}

/** Only one of any number of presses succeeds. */
export function useLink(
  tx: Tx,
  link: { digest: Uint8Array; browserDigest: Uint8Array; now: string },
): Promise<SignInLink | null> {
  return maybeOne(
    tx,
    linkRow,
    sql`update sign_in_link set used_at = ${link.now}::timestamptz
        where digest = ${link.digest} and browser_digest = ${link.browserDigest}
          and used_at is null and expires_at > ${link.now}::timestamptz
        returning id, email, session_id, confirmation_id`,
  )
}

const emailRow = z.object({ email: z.string() })

export async function findBrowserAddress(db: Queryable, browserDigest: Uint8Array): Promise<string | null> {
  const row = await maybeOne(db, emailRow, sql`select email from sign_in_link where browser_digest = ${browserDigest}`)
  return row?.email ?? null
}

/** The most tries to type a code. `same`: for one address, by one network; `strangers`: by all networks together. */
export type CodeTries = { readonly each: number; readonly same: number; readonly strangers: number }

const askedRow = z.object({ email: z.string(), askedFrom: z.string() })

/**
 * Uses up the link that this browser requested, by the code from the same mail. Each try counts, even a wrong one, so
 * it must be committed whatever the result is. After too many wrong tries for the address since the time, no code
 * works. Tries are limited for each network, and for all networks together, except browsers that the address knows.
 */
export async function useCode(
  tx: Tx,
  code: {
    browserDigest: Uint8Array
    codeDigest: Uint8Array
    tries: CodeTries
    since: string
    now: string
  },
): Promise<SignInLink | null> {
  const asked = await maybeOne(
    tx,
    askedRow,
    sql`select email, asked_from as "askedFrom" from sign_in_link where browser_digest = ${code.browserDigest}`,
  )
  if (asked === null) return null
  await lockAddress(tx, asked.email)
  const wrong = await one(
    tx,
    linkCountRow,
    sql`select coalesce(sum(code_tries) filter (where asked_from = ${asked.askedFrom}), 0) as same,
          coalesce(sum(code_tries) filter (where asked_from <> ${KNOWN_BROWSER}), 0) as strangers
        from sign_in_link where email = ${asked.email} and used_at is null and created_at > ${code.since}::timestamptz`,
  )
  if (wrong.same >= code.tries.same) return null
  if (asked.askedFrom !== KNOWN_BROWSER && wrong.strangers >= code.tries.strangers) return null
  return maybeOne(
    tx,
    linkRow,
    sql`with tried as (
          update sign_in_link set code_tries = code_tries + 1,
            used_at = case when code_digest = ${code.codeDigest} then ${code.now}::timestamptz end
          where browser_digest = ${code.browserDigest} and used_at is null and code_tries < ${code.tries.each}
            and expires_at > ${code.now}::timestamptz
          returning *)
        select id, email, session_id, confirmation_id from tried where used_at is not null`,
  )
}
