import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Queryable, Session, Tenant, Tx } from '../../db/db.ts'
import { answerClaim, claimAhead, claimKey, releaseClaim, storeAnswer } from '../../db/payments/idempotency.ts'
import { readIdempotentAnswer } from '../../db/payments/payments.ts'
import type { Answer } from './answer.ts'
import { Problem } from './problems.ts'

/** An `Idempotency-Key` on a route, with the digest of the request that it came with. */
export type Claim = { readonly route: string; readonly key: string; readonly fingerprint: Uint8Array }

/** Of a path with an id that nothing has: an index has no room for more. */
const LONGEST_ROUTE = 300

/**
 * Null without a key. The fingerprint is taken of the validated request with sorted keys, so neither the order of the
 * fields nor an omitted default makes a request a different one.
 */
export function claimOf(route: string, key: string | null, request: unknown): Claim | null {
  if (key === null) return null
  const fingerprint = createHash('sha256').update(route).update(canonical(request)).digest()
  return { route: route.slice(0, LONGEST_ROUTE), key, fingerprint }
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`
}

type StoredAnswer = Answer & { readonly body: string }

/**
 * The answer to the first request with this key, or null. Throws `idempotency_key_reused` if that was another one, and
 * `idempotency_key_in_use` while it is running.
 */
export async function readReplay(db: Queryable, tenant: Tenant, claim: Claim): Promise<StoredAnswer | null> {
  const stored = await readIdempotentAnswer(db, tenant, claim)
  if (stored === null) return null
  if (!Buffer.from(stored.fingerprint).equals(claim.fingerprint))
    throw new Problem(
      'idempotency_key_reused',
      'This Idempotency-Key was already used for a different request. Use a new key.',
      {
        param: 'Idempotency-Key',
      },
    )
  if (stored.status === 0) throw stillRunning()
  const headers = { 'idempotent-replayed': 'true', ...(stored.location !== null && { location: stored.location }) }
  return { status: stored.status, body: stored.body, headers }
}

/** Rethrows; but Postgres' 55P03 (lock_not_available) means that the first request with this key is still running. */
export function refuseWhileRunning(error: unknown): never {
  if (error instanceof Error && 'code' in error && error.code === '55P03') throw stillRunning()
  throw error
}

export function stillRunning(): Problem {
  return new Problem(
    'idempotency_key_in_use',
    'A request with this Idempotency-Key is still running. Send it again in a second.',
    { headers: { 'retry-after': '1' } },
  )
}

/** How an answer's text is stored: sealed when it holds a secret, otherwise as it is. */
export type Keeping = { seal(text: string): string; open(kept: string): string }

const AS_IT_IS: Keeping = { seal: (text) => text, open: (kept) => kept }

/**
 * Does the work and stores its answer under the claim, in one transaction. A second request with the key waits for the
 * first, then gets its answer.
 */
export async function answerOnce(
  db: Session,
  request: { tenant: Tenant; claim: Claim | null; keeping?: Keeping },
  work: (tx: Tx) => Promise<Answer>,
): Promise<Answer> {
  const { tenant, claim, keeping = AS_IT_IS } = request
  if (claim === null) return db.transaction(work)
  const answer = await db
    .transaction(async (tx) => {
      if (!(await claimKey(tx, tenant, claim))) return null
      const made = await work(tx)
      const body = typeof made.body === 'string' ? made.body : JSON.stringify(made.body)
      const stored = { status: made.status, location: made.headers?.['location'] ?? null, body: keeping.seal(body) }
      await storeAnswer(tx, tenant, { ...claim, ...stored })
      return { ...made, body }
    })
    .catch(refuseWhileRunning)
  if (answer !== null) return answer
  const replay = await readReplay(db, tenant, claim)
  if (replay === null) throw stillRunning()
  return { ...replay, body: keeping.open(replay.body) }
}

/** Stores answers encrypted. The claim's name is authenticated, so a row cannot stand in for another. */
export function sealedWith(
  box: { seal(text: string, name: string): string; open(kept: string, name: string): string },
  tenant: Tenant,
  claim: Claim | null,
): Keeping {
  const name = `idempotency ${tenant.merchantId} ${tenant.livemode} ${claim?.route} ${claim?.key}`
  return { seal: (text) => box.seal(text, name), open: (kept) => box.open(kept, name) }
}

/** Longer than a request may take: an update is waited for up to 30 s. Then its process has died. */
const CLAIM_SECONDS = 60
/** A second request waits for the answer of the first for so long, asking so often (milliseconds). */
const WAIT_MS = 2000
const ASK_MS = 100

/**
 * For work whose effect is outside of the database, and that may be done twice: claims the key, does the work, and stores
 * its answer. What is refused gives the key back. After a crash the same request does the work again, a minute later.
 */
export async function answerAhead(
  db: Session,
  { tenant, claim }: { tenant: Tenant; claim: Claim | null },
  work: () => Promise<Answer>,
): Promise<Answer> {
  if (claim === null) return work()
  for (let waitedMs = 0; !(await claimAhead(db, tenant, { ...claim, seconds: CLAIM_SECONDS })); waitedMs += ASK_MS) {
    try {
      const replay = await readReplay(db, tenant, claim)
      if (replay !== null) return replay
    } catch (problem) {
      if (!isRunning(problem) || waitedMs >= WAIT_MS) throw problem
    }
    await delay(ASK_MS)
  }
  try {
    const made = await work()
    const body = typeof made.body === 'string' ? made.body : JSON.stringify(made.body)
    await answerClaim(db, tenant, { ...claim, status: made.status, body })
    return { ...made, body }
  } catch (problem) {
    // What cannot be given back now is free when its time is over.
    await releaseClaim(db, tenant, claim).catch(() => undefined)
    throw problem
  }
}

function isRunning(problem: unknown): boolean {
  return problem instanceof Problem && problem.code === 'idempotency_key_in_use'
}
