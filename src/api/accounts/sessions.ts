import type { Request } from 'express'
import { leaveNotice } from '../../db/accounts/account-notices.ts'
import { writeAuditEverywhere } from '../../db/accounts/audit.ts'
import { listMemberships, readPersonEmail } from '../../db/accounts/people.ts'
import {
  confirmSession,
  endSessions,
  findSession,
  insertSession,
  isNewDevice,
  type Session,
  touchSession,
} from '../../db/accounts/sessions.ts'
import type { Queryable, Tx } from '../../db/db.ts'
import { isOpen } from '../../domain/account/session.ts'
import type { Cookies } from './cookies.ts'
import { digestOfToken, newToken } from './tokens.ts'

export type SessionDeps = {
  readonly db: Queryable
  readonly cookies: Cookies
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly newSessionId: () => string
}

export type SignedIn = { readonly session: Session; readonly token: string }

/** The time of last use is stored at most once a minute. */
const USED_MS = 60_000
/** Characters. Only the owner sees how the browser describes itself. */
const LONGEST_AGENT = 300

export async function findSignedIn(deps: SessionDeps, request: Request): Promise<SignedIn | null> {
  const token = deps.cookies.read(request, 'session')
  const session = token === null ? null : await findSession(deps.db, digestOfToken(token))
  const now = deps.clock()
  if (token === null || session === null || !isOpen(session, now)) return null
  if (now - session.usedAt > USED_MS) await touchSession(deps.db, session.id, new Date(now).toISOString())
  return { session, token }
}

/**
 * Opens a session with a new token and ends the previous one of this browser: a token from before the sign-in never
 * becomes the token of a signed-in person. Returns the cookie.
 */
export async function openSession(
  deps: SessionDeps,
  { tx, request }: { tx: Tx; request: Request },
  { personId, how }: Pick<Session, 'personId' | 'how'>,
): Promise<string> {
  const now = new Date(deps.clock()).toISOString()
  const before = deps.cookies.read(request, 'session')
  const old = before === null ? null : await findSession(tx, digestOfToken(before))
  if (old !== null) await endSessions(tx, old.personId, { only: old.id, now })
  const memberships = await listMemberships(tx, personId)
  const userAgent = (request.get('user-agent') ?? '').slice(0, LONGEST_AGENT)
  if (await isNewDevice(tx, personId, userAgent)) {
    const data = { person: personId, email: await readPersonEmail(tx, personId), ip: request.ip ?? '' }
    for (const { merchantId } of memberships)
      await leaveNotice(tx, { merchantId, livemode: tx.livemode }, { kind: 'sign_in.new', data })
  }
  const audit = { actor: personId, action: 'person.signed_in', data: { how }, ip: request.ip ?? '' }
  await writeAuditEverywhere(tx, memberships, audit)
  const token = newToken()
  await insertSession(tx, {
    id: deps.newSessionId(),
    digest: digestOfToken(token),
    personId,
    merchantId: memberships[0]?.merchantId ?? null,
    how,
    ip: request.ip ?? '',
    userAgent,
    now,
  })
  return deps.cookies.set('session', token)
}

export async function confirm(deps: SessionDeps, tx: Tx, sessionId: string): Promise<void> {
  await confirmSession(tx, sessionId, new Date(deps.clock()).toISOString())
}
