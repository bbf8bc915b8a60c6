import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isLockTimeout, type Queryable, type Session, type Tenant, type Tx } from '../../db/db.ts'
import { answerClaim, claimAhead, claimKey, releaseClaim, storeAnswer } from '../../db/payments/idempotency.ts'
import { readIdempotentAnswer } from '../../db/payments/payments.ts'
import type { Answer } from './answer.ts'
import { Problem } from './problems.ts'

export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/

export type Claim = { readonly route: string; readonly key: string; readonly fingerprint: Uint8Array }

/** Characters. Paths with unknown ids can be longer, and an index entry has limited room. */
const LONGEST_ROUTE = 300

/**
 * Null without a key. Sorted keys of the validated request: the order of fields and omitted defaults make no
 * difference.
 */
export function createClaim(route: string, key: string | null, request: unknown): Claim | null {
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

type StoredAnswer = Answer<never>

/** Throws `idempotency_key_reused` if the first request was different, `idempotency_key_in_use` while it is running. */
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

/** The first request with this key has the lock, so it is still running. */
export function refuseWhileRunning(error: unknown): never {
  if (isLockTimeout(error)) throw stillRunning()
  throw error
}

export function stillRunning(): Problem {
  return new Problem(
    'idempotency_key_in_use',
    'A request with this Idempotency-Key is still running. Send it again in a second.',
    { headers: { 'retry-after': '1' } },
  )
}

/** Seals a response that contains a secret. */
export type Keeping = { seal(text: string): string; open(kept: string): string }

const UNSEALED: Keeping = { seal: (text) => text, open: (kept) => kept }

/** Stores the response in the transaction of the work. A second request waits for the first and gets its response. */
export async function answerOnce<T>(
  db: Session,
  request: { tenant: Tenant; claim: Claim | null; keeping?: Keeping },
  work: (tx: Tx) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const { tenant, claim, keeping = UNSEALED } = request
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

/** Stores responses encrypted. The claim's name is authenticated, so one row cannot replace another. */
export function sealedWith(
  box: { seal(text: string, name: string): string; open(kept: string, name: string): string },
  tenant: Tenant,
  claim: Claim | null,
): Keeping {
  const name = `idempotency ${tenant.merchantId} ${tenant.livemode} ${claim?.route} ${claim?.key}`
  return { seal: (text) => box.seal(text, name), open: (kept) => box.open(kept, name) }
}

/** Seconds, longer than any request: an update is awaited for up to 30 s. After that its process has died. */
const CLAIM_SECONDS = 60
/** Milliseconds that a second request waits for the first one's response, and between two checks. */
const WAIT_MS = 2000
const ASK_MS = 100

/**
 * For work with an effect outside the database that is safe to repeat. A refused request releases the key. After a
 * crash the same request can do the work again a minute later.
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
    // A key that cannot be released now is free after CLAIM_SECONDS.
    await releaseClaim(db, tenant, claim).catch(() => undefined)
    throw problem
  }
}

function isRunning(problem: unknown): boolean {
  return problem instanceof Problem && problem.code === 'idempotency_key_in_use'
}
