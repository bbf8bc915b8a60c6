import type { Request } from 'express'
import { findApiKey, type StoredApiKey } from '../db/api-keys.ts'
import type { Queryable } from '../db/db.ts'
import type { Tenant } from '../db/payments.ts'
import { type ApiScope, digestOf, parseApiKey, sameDigest } from './api-key.ts'
import { Problem } from './problems.ts'

/** Who asks, and what the key allows. */
export type Caller = Tenant & { readonly keyId: string; readonly scopes: readonly string[] }

export type Authenticate = (request: Request, scope: ApiScope) => Promise<Caller>

/** A key that was found is believed for this long: a revocation is effective within a second. */
const CACHE_MS = 1000
const CACHE_SIZE = 10_000

/** Compared when there is no such key, so that unknown and wrong keys take the same time. */
const NO_KEY: StoredApiKey = {
  id: '',
  merchantId: '',
  livemode: false,
  digest: new Uint8Array(32),
  scopes: [],
  expiresAt: null,
  revokedAt: 0,
}

export function createAuthenticate(deps: { db: Queryable; pepper: string; clock: () => number }): Authenticate {
  const cache = new Map<string, { key: StoredApiKey; until: number }>()

  return async (request, scope) => {
    const now = deps.clock()
    const parsed = parseApiKey(bearerToken(request))
    if (parsed === null) throw unauthorized()
    const key = await find(parsed.id, now)
    const right = sameDigest(digestOf(parsed.text, deps.pepper), key.digest)
    const usable =
      key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now) && key.livemode === parsed.livemode
    if (!right || !usable) throw unauthorized()
    if (!key.scopes.includes(scope))
      throw new Problem('insufficient_scope', `This key lacks the scope ${scope}. Make a key that has it.`, {
        members: { required_scope: scope },
      })
    return { merchantId: key.merchantId, livemode: key.livemode, keyId: key.id, scopes: key.scopes }
  }

  async function find(id: string, now: number): Promise<StoredApiKey> {
    const cached = cache.get(id)
    if (cached !== undefined && cached.until > now) return cached.key
    const key = (await findApiKey(deps.db, id)) ?? NO_KEY
    if (cache.size >= CACHE_SIZE) cache.clear()
    if (key !== NO_KEY) cache.set(id, { key, until: now + CACHE_MS })
    return key
  }
}

/** Exactly one Authorization header with the Bearer scheme; keys in the query are not looked at. */
function bearerToken(request: Request): string {
  const headers = request.rawHeaders.filter(
    (_, index) => index % 2 === 0 && request.rawHeaders[index]?.toLowerCase() === 'authorization',
  )
  const match = /^Bearer +([^\s]+)$/i.exec(request.get('authorization') ?? '')
  return headers.length === 1 ? (match?.[1] ?? '') : ''
}

/** Missing, malformed, unknown, revoked and expired keys get the same answer. */
function unauthorized(): Problem {
  return new Problem('invalid_api_key', 'Send a valid API key as "Authorization: Bearer <key>".', {
    headers: { 'www-authenticate': 'Bearer' },
  })
}
