import { API_SCOPES, createApiKey, NETWORK } from '../../api/auth/api-key.ts'
import { leaveNotice } from '../../db/accounts/account-notices.ts'
import type { Db, Queryable, Tenant } from '../../db/db.ts'
import {
  countActiveKeys,
  findApiKey,
  insertApiKey,
  listApiKeys,
  revokeApiKey,
  type StoredApiKey,
} from '../../db/merchants/api-keys.ts'
import { lockMerchant } from '../../db/merchants/merchants.ts'
import { recordAction } from '../../db/operator/actions.ts'
import { type CommandContext, Refusal, requireMerchant, sayList, signedBy, UsageError, wholeNumber } from '../call.ts'

/** The API's limit for an account. */
const MOST_KEYS = 25
const ALL_OF_THEM = { limit: 1000, after: null, before: null }
const DEFAULT_SCOPES = ['payments:read', 'payments:write']
const MOST_DAYS = 365
const DAY_MS = 86_400_000
const PREFIX = 'key_'

export type KeyLine = Omit<StoredApiKey, 'digest' | 'merchantId' | 'livemode'> & { readonly isInUse: boolean }

/** Newest first, including those that have ended. */
export async function readKeys(db: Queryable, tenant: Tenant): Promise<KeyLine[]> {
  const found = await listApiKeys(db, tenant, ALL_OF_THEM)
  const now = Date.now()
  return (found?.rows ?? []).map(({ digest: _digest, merchantId: _merchantId, livemode: _livemode, ...key }) => ({
    ...key,
    id: `${PREFIX}${key.id}`,
    isInUse: key.revokedAt === null && (key.expiresAt === null || Date.parse(key.expiresAt) > now),
  }))
}

export async function listKeys(context: CommandContext): Promise<number> {
  const keys = await readKeys(context.db, await requireMerchant(context))
  context.give('keys', keys)
  return sayList(context.say, {
    none: 'no key',
    head: ['key', 'ends in', 'state', 'last used', 'name', 'scopes'],
    rows: keys.map(({ id, name, last4, scopes, lastUsedAt, ...key }) => [
      id,
      `…${last4}`,
      key.isInUse ? 'in use' : 'expired or revoked',
      lastUsedAt ?? 'never',
      name,
      scopes.join(','),
    ]),
  })
}

/** The key is shown once: only its digest is stored. */
export async function createKey(context: CommandContext): Promise<number> {
  const { db, settings, options, say, give } = context
  const signed = signedBy(context)
  if (settings.API_KEY_PEPPER === undefined)
    throw new UsageError(
      'API_KEY_PEPPER must be set to the pepper of the API, which refuses keys made with another one',
    )
  const wanted = readWanted(options)
  const merchant = await requireMerchant(context)
  const { id, text, ...made } = createApiKey(db.livemode, settings.API_KEY_PEPPER.reveal())
  await db.transaction(async (tx) => {
    await lockMerchant(tx, merchant.merchantId)
    if ((await countActiveKeys(tx, merchant, new Date().toISOString())) >= MOST_KEYS)
      throw new Refusal(`an account has at most ${MOST_KEYS} keys in use: revoke one first`)
    await insertApiKey(tx, merchant, { id, ...made, ...wanted })
    const data = { key: `${PREFIX}${id}`, ...wanted }
    await recordAction(tx, merchant, { ...signed, kind: 'key.created', data })
    await leaveNotice(tx, merchant, { kind: 'api_key.created', data: { key: data.key, name: wanted.name } })
  })
  give('key', { id: `${PREFIX}${id}`, key: text, ...wanted })
  say(text)
  say(`${PREFIX}${id} of ${merchant.name}, shown only now: ${wanted.scopes.join(', ')}`)
  return 0
}

function readWanted(options: CommandContext['options']) {
  const scopes = splitList(options.scopes) ?? DEFAULT_SCOPES
  const stranger = scopes.find((scope) => !API_SCOPES.some((known) => known === scope))
  if (stranger !== undefined) throw new UsageError(`--scopes has no scope ${stranger}. Use ${API_SCOPES.join(', ')}`)
  const allowedIps = splitList(options['allowed-ips']) ?? null
  if (allowedIps?.length === 0) throw new UsageError('--allowed-ips must name at least one address or network')
  const noAddress = allowedIps?.find((address) => !NETWORK.safeParse(address).success)
  if (noAddress !== undefined)
    throw new UsageError(`--allowed-ips must be addresses or networks: ${noAddress} is neither`)
  const days = options.days === undefined ? null : wholeNumber('days', options.days, MOST_DAYS)
  const expiresAt = days === null ? null : new Date(Date.now() + days * DAY_MS).toISOString()
  return { name: options.name ?? 'Made by an operator', scopes, allowedIps, expiresAt }
}

const splitList = (text: string | undefined): string[] | undefined =>
  text
    ?.split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

/** Takes effect within a second: API processes cache a key for that long. */
export async function revokeKey(context: CommandContext): Promise<number> {
  const { say, give } = context
  const signed = signedBy(context)
  const key = await ownKey(context)
  const tenant = { merchantId: key.merchantId, livemode: key.livemode }
  const revoked = await context.db.transaction(async (tx) => {
    const ended = await revokeApiKey(tx, tenant, { id: key.id, at: new Date().toISOString() })
    await recordAction(tx, tenant, { ...signed, kind: 'key.revoked', data: { key: `${PREFIX}${key.id}` } })
    const data = { key: `${PREFIX}${key.id}`, name: key.name }
    if (key.revokedAt === null) await leaveNotice(tx, tenant, { kind: 'api_key.revoked', data })
    return ended
  })
  give('key', { id: `${PREFIX}${key.id}`, merchant: key.merchantId, revokedAt: revoked?.revokedAt })
  say(`${PREFIX}${key.id} of ${key.merchantId} was revoked at ${revoked?.revokedAt}`)
  return 0
}

async function ownKey({ db, subjects: [id = ''] }: CommandContext & { readonly db: Db }): Promise<StoredApiKey> {
  const key = await findApiKey(db, id.startsWith(PREFIX) ? id.slice(PREFIX.length) : id)
  if (key === null) throw new Refusal(`there is no key ${id}: see \`pinrail keys list <merchant>\``)
  return key
}
