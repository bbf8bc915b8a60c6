import { createHash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Db } from '../../../db/db.ts'
import { readWallet } from '../../../db/merchants/wallets.ts'
import { listPayments } from '../../../db/payments/payment-list.ts'
import { listEndpoints } from '../../../db/webhooks/webhook-endpoints.ts'
import { hasAbility } from '../../../domain/account/roles.ts'
import { isConfirmed } from '../../../domain/account/session.ts'
import { checkoutUrl } from '../../../domain/payment/payment-object.ts'
import { DEFAULT_EVENT_TYPES } from '../../../domain/webhook.ts'
import { checksumAddress } from '../../../evm/checksum.ts'
import type { FirstView } from '../../../web/dashboard/first-steps.tsx'
import { arePasskeysPossible, creationOptions, type PasskeyDeps } from '../../accounts/passkeys.ts'
import { catchRefusal, Problem } from '../../http/problems.ts'
import { toFieldErrors } from '../../http/validation.ts'
import { type ApiKeyOperationDeps, createApiKey } from '../v1/api-keys.ts'
import { type SettingsOperationDeps, setWallet } from '../v1/settings.ts'
import { createWebhookEndpoint, type EndpointOperationDeps } from '../v1/webhooks/endpoints.ts'
import { sellScopes } from './developers/keys.ts'
import { onceField } from './fields.ts'
import { runOperation } from './operations.ts'
import { definePage, type Page, type PageCall } from './page.ts'
import { walletChange } from './settings/wallet.ts'

export type FirstStepsDeps = SettingsOperationDeps &
  ApiKeyOperationDeps &
  EndpointOperationDeps &
  PasskeyDeps & { readonly db: Db }

export type Shown = Partial<Pick<FirstView, 'createdKey' | 'address' | 'errors'>>

export type ShowOverview = (call: PageCall, shown: Shown) => Promise<string>

const HOME = '/dashboard'

/** Each step is done with one press on the overview. */
export function firstStepsPages(deps: FirstStepsDeps, show: ShowOverview): Page[] {
  return [
    definePage({
      method: 'post',
      path: '/dashboard/first-steps/wallet',
      needs: 'own',
      fresh: { what: ({ address = '' }) => walletChange(address), back: HOME },
      form: z.object({ address: z.string().max(2000).default(''), test: z.string().max(10).optional() }),
      handle: async (call) => {
        const { tenant, form } = call
        // A wallet that is already set is changed on its own page, which asks for the address twice.
        if ((await readWallet(call.db, tenant)) !== null) return { to: HOME, done: null }
        const isTest = form.test !== undefined && !tenant.livemode
        const address = isTest ? testWallet(tenant.merchantId) : form.address.trim()
        const set = await catchRefusal(runOperation(deps, call, { operation: setWallet, body: { address } }))
        if (!(set instanceof Problem)) return { to: HOME, done: 'wallet_saved' }
        const shown = { address: form.address.slice(0, 100), errors: toFieldErrors(set, 'address') }
        return { status: 400, html: await show(call, shown) }
      },
    }),
    definePage({
      method: 'post',
      path: '/dashboard/first-steps/key',
      needs: 'develop',
      makes: 'key',
      fresh: { what: 'a new API key', back: HOME },
      form: z.object({ once: onceField }),
      handle: async (call) => {
        const body = { name: 'First key', scopes: sellScopes(call.role) }
        const made = await runOperation(deps, call, { operation: createApiKey, body, once: call.form.once })
        return { html: await show(call, { createdKey: made.key }) }
      },
    }),
    definePage({
      method: 'post',
      path: '/dashboard/first-steps/webhook',
      needs: 'develop',
      fresh: { what: 'a new webhook endpoint', back: HOME },
      handle: async (call) => {
        if (deps.inbox === null) return { to: '/dashboard/webhooks/new', done: null }
        const url = `${deps.inbox.url}/webhooks`
        const known = await listEndpoints(call.db, call.tenant)
        if (known.some((endpoint) => endpoint.url === url)) return { to: HOME, done: null }
        const body = { url, description: 'The inbox of this machine', enabled_events: DEFAULT_EVENT_TYPES }
        await runOperation(deps, call, { operation: createWebhookEndpoint, body })
        return { to: HOME, done: 'endpoint_added' }
      },
    }),
  ]
}

/** An address for play money, for each account. Nobody has its key: money that is sent there is lost. */
function testWallet(merchantId: string): string {
  const digest = createHash('sha256').update(`pinrail test wallet ${merchantId}`).digest('hex')
  return checksumAddress(`0x${digest.slice(-40)}`)
}

/** A passkey belongs to the person, the other steps to the account. */
export type Done = FirstView['done']

/** Null if all steps are done. Reads only what the overview has not read. */
export async function readFirstSteps(
  deps: FirstStepsDeps,
  { db, tenant, person, role, signedIn, frame: { platform } }: PageCall,
  { done, createdKey = null, address = '', errors = {} }: Shown & { readonly done: Done },
): Promise<FirstView | null> {
  if (createdKey === null && Object.values(done).every(Boolean)) return null
  const page = { limit: 1, after: null, before: null }
  const created = done.payment ? null : await listPayments(db, tenant, { filters: { status: ['created'] }, page })
  const { session } = signedIn
  const canAdd = arePasskeysPossible(deps.publicUrl) && isConfirmed(session, deps.clock())
  const token = created?.rows[0]?.payment.checkoutToken
  return {
    done,
    createdKey,
    address,
    errors,
    once: randomUUID(),
    hasInbox: deps.inbox !== null,
    passkeyOptions:
      canAdd && !done.passkey
        ? await creationOptions(deps, deps.db, { platform, sessionId: session.id, person })
        : null,
    checkout: token === undefined ? null : checkoutUrl(deps.publicUrl, token),
    publicUrl: deps.publicUrl,
    may: { own: hasAbility(role, 'own'), develop: hasAbility(role, 'develop'), sell: hasAbility(role, 'sell') },
  }
}
