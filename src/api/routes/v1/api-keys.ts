import { z } from 'zod'
import { leaveNotice } from '../../../db/accounts/account-notices.ts'
import type { Queryable, Tx } from '../../../db/db.ts'
import {
  countActiveKeys,
  expireApiKey,
  findOwnApiKey,
  insertApiKey,
  listApiKeys as listStoredKeys,
  revokeApiKey as revokeStoredKey,
  type StoredApiKey,
} from '../../../db/merchants/api-keys.ts'
import { lockMerchant } from '../../../db/merchants/merchants.ts'
import type { SecretBox } from '../../../webhooks/secret-box.ts'
import { API_SCOPES, type ApiScope, createApiKey as generateKey, NETWORK } from '../../auth/api-key.ts'
import type { Caller } from '../../auth/auth.ts'
import { endsWithin, type KeyLimits, liesWithin, NO_LIMITS } from '../../auth/key-limits.ts'
import { API_KEY, API_KEY_WITH_SECRET } from '../../document/examples.ts'
import { answerOnce, createClaim, sealedWith } from '../../http/idempotency.ts'
import { Problem, refuseField } from '../../http/problems.ts'
import { defineOperation, NOTHING, WHOLE } from '../../operation.ts'
import { idPath, moment, safeText } from './fields.ts'
import { listAnswer, listSchema, noCursor, pageQuery, readPage } from './lists.ts'
import { requireTestKey, type StepUp } from './step-up.ts'

export type ApiKeyOperationDeps = StepUp & {
  readonly clock: () => number
  readonly pepper: string
  readonly secretBox: SecretBox
}

const MOST_KEYS = 25
/** Enough for a program that takes payments. Other scopes must be named. */
const DEFAULT_SCOPES: readonly ApiScope[] = ['payments:read', 'payments:write']

const createBody = z.strictObject({
  name: safeText(100),
  scopes: z
    .array(z.enum(API_SCOPES))
    .min(1, 'must name at least one scope')
    .max(50)
    .transform((scopes) => [...new Set(scopes)])
    .default([...DEFAULT_SCOPES]),
  allowed_ips: z.array(NETWORK).min(1, 'must name at least one IP address').max(50).optional(),
  expires_in: z.int().min(60).max(31_536_000).optional().meta({ description: 'Seconds.' }),
})

const rotateBody = z.strictObject({
  overlap: z
    .int()
    .min(0)
    .max(604_800)
    .default(86_400)
    .meta({ description: 'Seconds for which the old key still works.' }),
})

const fields = {
  id: z.string(),
  object: z.literal('api_key'),
  livemode: z.boolean(),
  name: z.string(),
  last4: z.string(),
  scopes: z.array(z.string()),
  allowed_ips: z.array(z.string()).nullable(),
  created_at: moment,
  last_used_at: moment.nullable().meta({ description: 'To the minute.' }),
  expires_at: moment.nullable(),
  revoked_at: moment.nullable(),
}
const keyObject = z.strictObject(fields).meta({ id: 'ApiKey', examples: [API_KEY] })
const keyWithSecret = z
  .strictObject({ ...fields, key: z.string().meta({ description: 'Shown only here.' }) })
  .meta({ id: 'ApiKeyWithSecret', examples: [API_KEY_WITH_SECRET] })

export const createApiKey = defineOperation({
  name: 'createApiKey',
  method: 'post',
  path: '/v1/api_keys',
  tag: 'API keys',
  summary: 'Create an API key',
  description:
    'With a key only in test mode; live keys are created by a signed-in person. A key cannot create a key with more scopes, with more IP addresses or for a longer time than its own. Absent fields are copied from the key that makes the request.',
  scope: 'keys:write',
  audited: WHOLE,
  idempotency: 'itself',
  body: createBody,
  answers: { 201: keyWithSecret },
  problems: ['step_up_required', 'limit_reached'],
  example: { body: { name: 'Shop server', scopes: ['payments:read', 'payments:write'] } },
  handle: async ({ caller, db, body, claim: asked }, deps: ApiKeyOperationDeps) => {
    requireTestKey(deps, caller, 'keys')
    requireScopes(caller, body.scopes)
    const limits = await readLimits(db, caller)
    // The stored response of another key may contain a key that this one cannot make.
    const claim = asked && limits !== NO_LIMITS ? createClaim(asked.route, asked.key, { body, limits }) : asked
    const keeping = sealedWith(deps.secretBox, caller, claim)
    return answerOnce(db, { tenant: caller, claim, keeping }, async (tx) => {
      const { name, scopes, allowed_ips: allowedIps = limits.allowedIps, expires_in: expiresIn } = body
      const expiresAt = expiresIn === undefined ? limits.expiresAt : at(deps, expiresIn)
      if (!liesWithin(allowedIps, limits.allowedIps))
        throw refuseField('allowed_ips', 'must be within those of the key that makes the request')
      if (!endsWithin(expiresAt, limits.expiresAt))
        throw refuseField('expires_in', 'must expire no later than the key that makes the request')
      return made(await addKey(deps, { tx, caller }, { name, scopes, allowedIps, expiresAt }))
    })
  },
})

export const listApiKeys = defineOperation({
  name: 'listApiKeys',
  method: 'get',
  path: '/v1/api_keys',
  tag: 'API keys',
  summary: 'List the API keys, newest first',
  scope: 'keys:read',
  query: z.strictObject(pageQuery('key')),
  answers: { 200: listSchema(keyObject) },
  handle: async ({ caller, db, query }) => {
    const page = readPage(query)
    const bare = { ...page, after: page.after && bareId(page.after), before: page.before && bareId(page.before) }
    const found = await listStoredKeys(db, caller, bare)
    if (found === null) throw noCursor(page)
    return listAnswer(found.rows.map(render), found.hasMore)
  },
})

export const rotateApiKey = defineOperation({
  name: 'rotateApiKey',
  method: 'post',
  path: '/v1/api_keys/{id}/rotate',
  tag: 'API keys',
  summary: 'Rotate an API key; both are valid during the overlap',
  scope: 'keys:write',
  audited: WHOLE,
  idempotency: 'itself',
  params: idPath,
  body: rotateBody,
  answers: { 201: keyWithSecret },
  problems: ['step_up_required', 'limit_reached', 'not_possible_now'],
  example: { body: { overlap: 3600 } },
  handle: async ({ caller, db, params, body, claim }, deps: ApiKeyOperationDeps) => {
    requireTestKey(deps, caller, 'keys')
    const id = bareId(params.id)
    // Checked before a stored response too, because that contains the new key.
    const before = await findOwn(db, caller, id)
    requireScopes(caller, before.scopes)
    const { allowedIps: ips, expiresAt: end } = await readLimits(db, caller)
    if (!liesWithin(before.allowedIps, ips) || !endsWithin(before.expiresAt, end))
      throw new Problem(
        'not_possible_now',
        'The key works from more IP addresses or for longer than the key that makes the request.',
      )
    const keeping = sealedWith(deps.secretBox, caller, claim)
    return answerOnce(db, { tenant: caller, claim, keeping }, async (tx) => {
      const old = await findOwn(tx, caller, id)
      const ended = await expireApiKey(tx, caller, { id, at: at(deps, body.overlap) })
      if (ended === null) throw new Problem('not_possible_now', 'The key was revoked. Create a new one.')
      // The new key expires when the old one would have: a rotation must not extend a short-lived key.
      const { name, scopes, allowedIps, expiresAt } = old
      if (expiresAt !== null && Date.parse(expiresAt) <= deps.clock())
        throw new Problem('not_possible_now', 'The key has expired. Create a new one.')
      return made(await addKey(deps, { tx, caller }, { name, scopes, allowedIps, expiresAt }))
    })
  },
})

export const revokeApiKey = defineOperation({
  name: 'revokeApiKey',
  method: 'delete',
  path: '/v1/api_keys/{id}',
  tag: 'API keys',
  summary: 'Revoke an API key, within a second',
  description: 'Also possible with a live key, because it only removes rights.',
  scope: 'keys:write',
  audited: NOTHING,
  params: idPath,
  answers: { 200: keyObject },
  handle: async ({ caller, db, params }, deps: ApiKeyOperationDeps) => {
    const revoked = await db.transaction(async (tx) => {
      const before = await findOwnApiKey(tx, caller, bareId(params.id))
      const ended = await revokeStoredKey(tx, caller, { id: bareId(params.id), at: at(deps, 0) })
      if (ended === null) throw noKey()
      const data = { key: params.id, name: ended.name }
      if (before?.revokedAt === null) await leaveNotice(tx, caller, { kind: 'api_key.revoked', data })
      return ended
    })
    return { status: 200, body: render(revoked) }
  },
})

type WantedKey = Pick<StoredApiKey, 'name' | 'scopes'> & KeyLimits

async function addKey(deps: ApiKeyOperationDeps, { tx, caller }: { tx: Tx; caller: Caller }, wanted: WantedKey) {
  await lockMerchant(tx, caller.merchantId)
  if ((await countActiveKeys(tx, caller, at(deps, 0))) >= MOST_KEYS)
    throw new Problem('limit_reached', `An account has at most ${MOST_KEYS} keys in use. Revoke one first.`)
  const { id, text, ...digest } = generateKey(caller.livemode, deps.pepper)
  const stored = await insertApiKey(tx, caller, { id, ...digest, ...wanted })
  await leaveNotice(tx, caller, { kind: 'api_key.created', data: { key: `${PREFIX}${id}`, name: stored.name } })
  return { ...render(stored), key: text }
}

function made(key: z.output<typeof keyWithSecret>) {
  return { status: 201, body: key, headers: { location: `/v1/api_keys/${key.id}` } }
}

/** Otherwise any key could make a more powerful one. */
function requireScopes(caller: Caller, scopes: readonly string[]): void {
  const missing = scopes.find((scope) => !caller.scopes.includes(scope))
  if (missing === undefined) return
  const who = caller.keyId === null ? 'Your role' : 'This key'
  throw new Problem('insufficient_scope', `${who} lacks the scope ${missing}, so it cannot grant it to another key.`, {
    members: { required_scope: missing },
  })
}

/**
 * A new key cannot exceed the limits of its maker: otherwise a stolen key that is limited by network or time could make
 * one that is not.
 */
async function readLimits(db: Queryable, caller: Caller): Promise<KeyLimits> {
  const own = caller.keyId === null ? null : await findOwnApiKey(db, caller, caller.keyId)
  if (own === null || (own.allowedIps === null && own.expiresAt === null)) return NO_LIMITS
  return { allowedIps: own.allowedIps, expiresAt: own.expiresAt }
}

function at(deps: ApiKeyOperationDeps, seconds: number): string {
  return new Date(deps.clock() + seconds * 1000).toISOString()
}

/** The database stores key ids without it. */
const PREFIX = 'key_'

function bareId(id: string): string {
  return id.startsWith(PREFIX) && /^[0-9A-Za-z]{12}$/.test(id.slice(PREFIX.length)) ? id.slice(PREFIX.length) : ''
}

async function findOwn(db: Queryable, caller: Caller, id: string): Promise<StoredApiKey> {
  const found = await findOwnApiKey(db, caller, id)
  if (found === null) throw noKey()
  return found
}

function noKey(): Problem {
  return new Problem('resource_missing', 'There is no such API key.')
}

function render(key: StoredApiKey): z.output<typeof keyObject> {
  return {
    id: `${PREFIX}${key.id}`,
    object: 'api_key',
    livemode: key.livemode,
    name: key.name,
    last4: key.last4,
    scopes: key.scopes,
    allowed_ips: key.allowedIps,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
  }
}
