import { type BlockList, isIP } from 'node:net'
import type { Request } from 'express'
import type { Queryable, Tenant } from '../../db/db.ts'
import { findApiKey, type NewDigest, type StoredApiKey } from '../../db/merchants/api-keys.ts'
import { isSameSecret } from '../../runtime/constant-time.ts'
import { Problem } from '../http/problems.ts'
import type { RequestLimits } from '../limits/request-limits.ts'
import { type ApiScope, derivePepperId, digestApiKey, parseApiKey } from './api-key.ts'
import { createBlockList } from './key-limits.ts'

/** `keyId` is null for a person of the account. */
export type Caller = Tenant & { readonly keyId: string | null; readonly scopes: readonly string[] }

/** `known` receives the caller once the key is proved, even if the request is then refused. */
export type Authenticate = (request: Request, scope: ApiScope, known?: (caller: Caller) => void) => Promise<Caller>

export type AuthDeps = {
  readonly db: Queryable
  readonly pepper: string
  /** Earlier peppers of keys that have not been used since. */
  readonly retiredPeppers: readonly string[]
  readonly clock: () => number
  /** Called with a used key whose stored time of last use is more than a minute old. */
  readonly onKeyUsed: (keyId: string) => void
  /** Called with the digest by the current pepper, if a used key still has a digest by a retired one. */
  readonly onOldPepper: (digest: NewDigest) => void
  readonly limits: Pick<RequestLimits, 'countRefusal'>
}

/** Milliseconds: a revocation takes effect within a second. */
const CACHE_MS = 1000
const CACHE_SIZE = 10_000
/** The time of last use is stored at most once a minute. */
const USED_MS = 60_000

/** Compared if there is no such key, so that unknown and wrong keys take the same time. */
const NO_DIGEST = new Uint8Array(32)

type Cached = {
  readonly key: StoredApiKey
  readonly allowed: BlockList | null
  readonly until: number
  /** True if the next use must be stored. Knowing the id alone is no use. */
  mustRecordUse: boolean
}

type Proof = 'by_current_pepper' | 'by_retired_pepper' | 'wrong'

/** `scheme`: of the Authorization header, by which a protocol sends its keys. */
export function createAuthenticate(deps: AuthDeps, scheme: 'Bearer' | 'token' = 'Bearer'): Authenticate {
  const cache = new Map<string, Cached>()
  const peppers = [deps.pepper, ...deps.retiredPeppers]
  const pepperId = derivePepperId(deps.pepper)

  return async (request, scope, known) => {
    const now = deps.clock()
    const parsed = parseApiKey(readToken(request, scheme))
    if (parsed === null) return refuse(request)
    const found = await find(parsed.id, now)
    const stored = found?.key.digest ?? NO_DIGEST
    const proof = prove(parsed.text, stored)
    if (found === null || proof === 'wrong' || found.key.livemode !== parsed.livemode) return refuse(request)
    const { key, allowed } = found
    const caller = toCaller(key)
    known?.(caller)
    if (!isUsable(key, now)) return refuse(request)
    if (found.mustRecordUse) deps.onKeyUsed(key.id)
    found.mustRecordUse = false
    if (proof === 'by_retired_pepper')
      deps.onOldPepper({ id: key.id, from: stored, digest: digestApiKey(parsed.text, deps.pepper), pepperId })
    if (allowed !== null && !isAllowed(allowed, request.ip ?? ''))
      throw new Problem(
        'ip_not_allowed',
        'This key cannot be used from your IP address. Its list of addresses is under API keys.',
      )
    requireScope(caller, scope)
    return caller
  }

  /** Compares with every pepper, so that the time reveals nothing. */
  function prove(text: string, digest: Uint8Array): Proof {
    const matches = peppers.map((pepper) => isSameSecret(digestApiKey(text, pepper), digest))
    if (matches[0] === true) return 'by_current_pepper'
    return matches.includes(true) ? 'by_retired_pepper' : 'wrong'
  }

  function refuse(request: Request): never {
    deps.limits.countRefusal(request.ip ?? '')
    throw unauthorized(scheme)
  }

  async function find(id: string, now: number): Promise<Cached | null> {
    const cached = cache.get(id)
    if (cached !== undefined && cached.until > now) return cached
    const key = await findApiKey(deps.db, id)
    if (cache.size >= CACHE_SIZE) cache.clear()
    if (key === null) return null
    const mustRecordUse = key.lastUsedAt === null || now - Date.parse(key.lastUsedAt) > USED_MS
    const fresh = {
      key,
      allowed: key.allowedIps === null ? null : createBlockList(key.allowedIps),
      until: now + CACHE_MS,
      mustRecordUse,
    }
    cache.set(id, fresh)
    return fresh
  }
}

export function requireScope({ scopes }: Pick<Caller, 'scopes'>, scope: ApiScope): void {
  if (scopes.includes(scope)) return
  throw new Problem('insufficient_scope', `This key lacks the scope ${scope}. Create a key that has it.`, {
    members: { required_scope: scope },
  })
}

function toCaller({ merchantId, livemode, id, scopes }: StoredApiKey): Caller {
  return { merchantId, livemode, keyId: id, scopes }
}

function isUsable(key: StoredApiKey, now: number): boolean {
  if (key.revokedAt !== null) return false
  return key.expiresAt === null || Date.parse(key.expiresAt) > now
}

/** A socket that serves both families shows an IPv4 client as `::ffff:192.0.2.7`. */
function isAllowed(list: BlockList, ip: string): boolean {
  const address = ip.replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Empty unless there is exactly one Authorization header, of this scheme. Keys in the query do not count. */
function readToken(request: Request, scheme: 'Bearer' | 'token'): string {
  const headers = request.rawHeaders.filter(
    (_, index) => index % 2 === 0 && request.rawHeaders[index]?.toLowerCase() === 'authorization',
  )
  const match = PATTERNS[scheme].exec(request.get('authorization') ?? '')
  return headers.length === 1 ? (match?.[1] ?? '') : ''
}

const PATTERNS = { Bearer: /^Bearer +([^\s]+)$/i, token: /^token +([^\s]+)$/i }

/** One response for missing, malformed, unknown, revoked and expired keys: a guesser learns nothing. */
function unauthorized(scheme: 'Bearer' | 'token'): Problem {
  return new Problem('invalid_api_key', `Send a valid API key as "Authorization: ${scheme} <key>".`, {
    headers: { 'www-authenticate': scheme },
  })
}
