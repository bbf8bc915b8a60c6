import { createHash } from 'node:crypto'
import { type RequestHandler, Router } from 'express'
import { z } from 'zod'
import { insertClaim } from '../../db/accounts/account-claims.ts'
import type { Db } from '../../db/db.ts'
import { setStatus } from '../../db/merchants/agreement.ts'
import { insertApiKey } from '../../db/merchants/api-keys.ts'
import { insertMerchant } from '../../db/merchants/merchants.ts'
import { setWallet } from '../../db/merchants/wallets.ts'
import { firstStatus, type SignUp } from '../../domain/account/agreement.ts'
import type { IdKind } from '../../domain/ids.ts'
import type { Platform } from '../../domain/platform.ts'
import { checksumAddress } from '../../evm/checksum.ts'
import { newWebhookSecret } from '../../webhooks/sign.ts'
import { checkReceivingWallet, type WalletDeps } from '../accounts/receiving-wallet.ts'
import { digestOfToken, newToken } from '../accounts/tokens.ts'
import { type ApiScope, createApiKey } from '../auth/api-key.ts'
import { readJson } from '../http/json-body.ts'
import { Problem, refuseField } from '../http/problems.ts'
import { parseOrExplain } from '../http/validation.ts'
import type { RequestLimits } from '../limits/request-limits.ts'
import { onlyMethods } from '../route.ts'
import { checkShopName, shopName } from './v1/brand.ts'
import { createEndpointBody, endpointUrl } from './v1/webhooks/endpoint-schemas.ts'
import { addEndpoint, type EndpointOperationDeps } from './v1/webhooks/endpoints.ts'

/**
 * Accounts of test mode for programs: without a person, a key and an e-mail address. A person can claim one later. The
 * key works until then or for 60 days, so an account that nobody claims comes to rest without being deleted.
 */

export type TestAccountDeps = WalletDeps &
  EndpointOperationDeps & {
    readonly db: Db
    readonly pepper: string
    readonly signUp: SignUp
    readonly platform: Pick<Platform, 'name'>
    readonly limits: Pick<RequestLimits, 'countForm'>
    readonly newId: (kind: IdKind) => string
  }

const PATH = '/v1/test/accounts'
const CLAIM_MS = 60 * 86_400_000

/** Not those with which a key invites people, adds addresses for messages, or makes more keys. */
const SCOPES: readonly ApiScope[] = [
  'payments:read',
  'payments:write',
  'webhooks:read',
  'webhooks:write',
  'events:read',
  'settings:read',
  'settings:write',
  'audit:read',
  'agents:use',
]

const body = z.strictObject({
  name: shopName.default('Test shop'),
  wallet: z.string().max(200).optional(),
  webhook_url: endpointUrl.optional(),
})

/** In live mode there is no such path. */
export function testAccountRouter(deps: TestAccountDeps): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true })
  if (deps.db.livemode) return router
  router.post(PATH, countForm(deps), readJson, async (request, response) => {
    if (deps.signUp !== 'open')
      throw new Problem('not_possible_now', 'New accounts are not open here. Ask the operator for one.')
    response.status(201).json(await createTestAccount(deps, parseOrExplain(body, request.body)))
  })
  router.all(PATH, onlyMethods(['POST']))
  return router
}

function countForm({ limits }: TestAccountDeps): RequestHandler {
  return (request, _response, next) => {
    limits.countForm(request.ip ?? '')
    next()
  }
}

async function createTestAccount(deps: TestAccountDeps, wanted: z.output<typeof body>): Promise<object> {
  const { db, publicUrl, pepper, newId, clock } = deps
  checkShopName(wanted.name, deps.platform)
  const tenant = { merchantId: newId('merchant'), livemode: false }
  const wallet = await readWallet(deps, wanted.wallet ?? placeholderWallet(tenant.merchantId))
  const { id, text, digest, last4, pepperId } = createApiKey(false, pepper)
  const claim = newToken()
  const secret = newWebhookSecret()
  const endsAt = new Date(clock() + CLAIM_MS).toISOString()
  await db.transaction(async (tx) => {
    await insertMerchant(tx, { id: tenant.merchantId, name: wanted.name })
    await setStatus(tx, tenant.merchantId, { status: firstStatus(false), message: null })
    await setWallet(tx, tenant, wallet)
    const key = { id, digest, last4, pepperId, name: 'Test account', scopes: SCOPES, expiresAt: endsAt }
    await insertApiKey(tx, tenant, key)
    await insertClaim(tx, { merchantId: tenant.merchantId, digest: digestOfToken(claim), keyId: id, endsAt })
    if (wanted.webhook_url !== undefined)
      await addEndpoint(deps, tx, { tenant, secret, wanted: createEndpointBody.parse({ url: wanted.webhook_url }) })
  })
  return {
    object: 'test_account',
    id: tenant.merchantId,
    livemode: false,
    name: wanted.name,
    api_url: publicUrl,
    api_key: text,
    webhook_secret: secret,
    webhook_url: wanted.webhook_url ?? null,
    wallet,
    claim_url: `${publicUrl}/dashboard/accounts/claim/${claim}`,
    expires_at: endsAt,
  }
}

async function readWallet(deps: TestAccountDeps, text: string): Promise<string> {
  const check = await checkReceivingWallet(deps, deps.db, text)
  if (!check.ok) throw refuseField('wallet', check.message, check.code)
  return check.address
}

/** An address to which nobody has a key: USDC of a test chain is worth nothing. */
function placeholderWallet(merchantId: string): string {
  return checksumAddress(`0x${createHash('sha256').update(merchantId).digest('hex').slice(0, 40)}`)
}
