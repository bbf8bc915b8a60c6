import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { findOwnApiKey, listApiKeys, type StoredApiKey } from '../../../../db/merchants/api-keys.ts'
import { hasAbility, type Role } from '../../../../domain/account/roles.ts'
import { plainLine } from '../../../../domain/text.ts'
import {
  KEY_DAYS,
  KEY_PRESETS,
  type KeyDraft,
  type KeyPreset,
  renderKeyMade,
  renderNewKey,
} from '../../../../web/dashboard/developers/key-form.tsx'
import { isInUse, type KeyShown } from '../../../../web/dashboard/developers/key-words.tsx'
import { renderKey, renderKeys } from '../../../../web/dashboard/developers/keys.tsx'
import { API_SCOPES, NETWORK } from '../../../auth/api-key.ts'
import { getRoleScopes } from '../../../auth/role-scopes.ts'
import { catchRefusal, Problem } from '../../../http/problems.ts'
import { toFieldErrors } from '../../../http/validation.ts'
import { SiteProblem } from '../../site-problem.ts'
import { type ApiKeyOperationDeps, createApiKey, revokeApiKey, rotateApiKey } from '../../v1/api-keys.ts'
import { onceField, overlapField, severalField } from '../fields.ts'
import { runOperation } from '../operations.ts'
import { definePage, type Page, type PageCall } from '../page.ts'

/** More keys than an account has in use, then the newest of those that ended. */
const MOST_SHOWN = 100
const DAY_SECONDS = 86_400

/** A key gets only those scopes that its maker has. Nouns that do not exist match nothing. */
const PRESET_SCOPES: Readonly<Record<Exclude<KeyPreset, 'own'>, readonly string[]>> = {
  sell: API_SCOPES.filter((scope) => /^(?:payments|payment_links|links):/.test(scope)),
  // Plugins refuse a key that can do more than they ask for.
  shop: ['payments:read', 'payments:write', 'webhooks:read', 'webhooks:write'],
  read: API_SCOPES.filter((scope) => scope.endsWith(':read')),
  agent: ['payments:read', 'payments:write', 'webhooks:read', 'events:read', 'agents:use'],
  all: API_SCOPES.filter((scope) => scope !== 'agents:use'),
}

const oneOf = <T extends string>(all: Readonly<Record<T, unknown>>) => z.enum(Object.keys(all) as [T, ...T[]])
const newForm = z.object({
  name: z.string().max(1000),
  preset: oneOf(KEY_PRESETS),
  scope: severalField,
  allowed_ips: z.string().max(5000).default(''),
  days: oneOf(KEY_DAYS),
  once: onceField,
})
const rotateForm = z.object({ overlap: overlapField, once: onceField })

const keyPath = (params: Readonly<Record<string, string>>): string =>
  `/dashboard/keys/${encodeURIComponent(params['id'] ?? '')}`

/** An id in a mail must be well-formed. */
const nameKey = (id: string): string => (/^key_[0-9A-Za-z]{12}$/.test(id) ? `the API key ${id}` : 'an API key')

export function keyPages(deps: ApiKeyOperationDeps): Page[] {
  return [...listPages(deps), ...newPages(deps), ...changePages(deps)]
}

function listPages(deps: ApiKeyOperationDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: '/dashboard/keys',
      needs: 'look',
      handle: async ({ db, tenant, frame, role }) => {
        const found = await listApiKeys(db, tenant, { limit: MOST_SHOWN, after: null, before: null })
        const all = (found?.rows ?? []).map(shown)
        const { now } = common(deps)
        const keys = [...all.filter((key) => isInUse(key, now)), ...all.filter((key) => !isInUse(key, now))]
        return { html: renderKeys({ ...common(deps), frame, keys, mayChange: hasAbility(role, 'develop') }) }
      },
    }),
  ]
}

function newPages(deps: ApiKeyOperationDeps): Page[] {
  const path = '/dashboard/keys/new'
  const show = ({ frame, role }: PageCall, draft: KeyDraft, errors: Record<string, string>): string =>
    renderNewKey({ ...common(deps), scopes: getRoleScopes(role), frame, draft, errors, once: randomUUID() })
  return [
    definePage({
      method: 'get',
      path,
      needs: 'develop',
      handle: async (call) => {
        return { html: show(call, readDraft(call), {}) }
      },
    }),
    definePage({
      method: 'post',
      path: '/dashboard/keys',
      needs: 'develop',
      makes: 'key',
      fresh: { what: 'a new API key', back: '/dashboard/keys' },
      form: newForm,
      handle: async (call) => {
        const { form } = call
        const draft = { ...form, scopes: form.scope, allowedIps: form.allowed_ips }
        const ips = form.allowed_ips.split(/[\s,]+/).filter((ip) => ip !== '')
        const body = {
          name: form.name.trim(),
          scopes: scopesFor(form, call.role),
          ...(ips.length > 0 && { allowed_ips: ips }),
          ...(form.days !== '0' && { expires_in: Number(form.days) * DAY_SECONDS }),
        }
        const request = { operation: createApiKey, body, once: form.once }
        const made = await catchRefusal(runOperation(deps, call, request))
        if (made instanceof Problem) return { status: 400, html: show(call, draft, toKeyErrors(made, ips)) }
        return { html: await showMade(deps, call, { made, oldUntil: null }) }
      },
    }),
  ]
}

function changePages(deps: ApiKeyOperationDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: '/dashboard/keys/:id',
      needs: 'look',
      handle: async (call) => ({ html: await show(deps, call, null) }),
    }),
    definePage({
      method: 'post',
      path: '/dashboard/keys/:id/roll',
      needs: 'develop',
      makes: 'key',
      fresh: { what: ({ id = '' }) => `a new API key in place of ${nameKey(id)}`, back: keyPath },
      form: rotateForm,
      handle: async (call) => {
        const old = await findOwn(call)
        const body = { overlap: Number(call.form.overlap) }
        const request = { operation: rotateApiKey, params: { id: shown(old).id }, body, once: call.form.once }
        const made = await catchRefusal(runOperation(deps, call, request))
        if (made instanceof Problem) return { status: 409, html: await show(deps, call, made.message) }
        const { expiresAt: oldUntil } = await findOwn(call)
        return { html: await showMade(deps, call, { made, oldUntil }) }
      },
    }),
    definePage({
      method: 'post',
      path: '/dashboard/keys/:id/revoke',
      needs: 'develop',
      fresh: { what: ({ id = '' }) => `the revocation of ${nameKey(id)}`, back: keyPath },
      handle: async (call) => {
        await runOperation(deps, call, { operation: revokeApiKey, params: { id: call.params['id'] ?? '' } })
        return { to: '/dashboard/keys', done: 'key_revoked' }
      },
    }),
  ]
}

/** A plugin that sends a person here names itself and the scopes. The page shows both before there is a key. */
function readDraft({ query, role }: Pick<PageCall, 'query' | 'role'>): KeyDraft {
  const asked = String(query['scopes'] ?? '').split(',')
  const scopes = getRoleScopes(role).filter((scope) => asked.includes(scope))
  const name = plainLine(String(query['name'] ?? '')).slice(0, 100)
  return { name, preset: scopes.length === 0 ? 'sell' : 'own', scopes, allowedIps: '', days: '0' }
}

const common = ({ clock, publicUrl }: ApiKeyOperationDeps) => ({
  scopes: API_SCOPES,
  now: new Date(clock()).toISOString(),
  publicUrl,
})

/** Limited to the scopes of the maker. */
export const sellScopes = (role: Role): readonly string[] =>
  getRoleScopes(role).filter((one) => PRESET_SCOPES.sell.includes(one))

function scopesFor({ preset, scope }: z.output<typeof newForm>, role: Role): readonly string[] {
  if (preset === 'own') return scope
  const wanted = PRESET_SCOPES[preset]
  return getRoleScopes(role).filter((one) => wanted.includes(one))
}

/** Names the first invalid address, rather than its place in a list. */
function toKeyErrors(problem: Problem, ips: readonly string[]): Record<string, string> {
  const errors = toFieldErrors(problem, 'name')
  if (errors['allowed_ips'] === undefined) return errors
  const wrong = ips.find((ip) => !NETWORK.safeParse(ip).success)
  const text = wrong === undefined ? errors['allowed_ips'] : `“${wrong}” is not an IP address.`
  return { ...errors, allowed_ips: `${text} Enter 203.0.113.7 or 203.0.113.0/24, one per line.` }
}

async function findOwn({ db, tenant, params }: Pick<PageCall, 'db' | 'tenant' | 'params'>): Promise<StoredApiKey> {
  const id = /^key_([0-9A-Za-z]{12})$/.exec(params['id'] ?? '')?.[1]
  const found = id === undefined ? null : await findOwnApiKey(db, tenant, id)
  if (found === null) throw new SiteProblem('not_found')
  return found
}

async function show(deps: ApiKeyOperationDeps, call: PageCall, problem: string | null): Promise<string> {
  const apiKey = shown(await findOwn(call))
  const mayChange = hasAbility(call.role, 'develop')
  const { merchantId: storeId } = call.tenant
  return renderKey({ ...common(deps), storeId, frame: call.frame, apiKey, mayChange, once: randomUUID(), problem })
}

type Made = { readonly made: { readonly id: string; readonly key: string }; readonly oldUntil: string | null }

async function showMade(deps: ApiKeyOperationDeps, call: PageCall, { made, oldUntil }: Made): Promise<string> {
  const { id, key: text } = made
  const apiKey = shown(await findOwn({ ...call, params: { id } }))
  const { merchantId: storeId } = call.tenant
  return renderKeyMade({ ...common(deps), storeId, frame: call.frame, apiKey, text, oldUntil })
}

function shown(key: StoredApiKey): KeyShown {
  return { ...key, id: `key_${key.id}` }
}
