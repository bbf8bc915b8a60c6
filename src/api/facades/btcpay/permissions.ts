import type { ApiScope } from '../../auth/api-key.ts'
import type { Handle } from './serve.ts'

/**
 * BTCPay's permissions and the scopes that a key needs for each. A plugin refuses a key with a permission that it has not
 * asked for, so only those are here that the plugins of WooCommerce, PrestaShop and OpenCart ask for.
 */
export const PERMISSIONS: Readonly<Record<string, readonly ApiScope[]>> = {
  'btcpay.store.canviewinvoices': ['payments:read'],
  'btcpay.store.cancreateinvoice': ['payments:read', 'payments:write'],
  'btcpay.store.canviewstoresettings': ['payments:read'],
  'btcpay.store.canmodifyinvoices': ['payments:read', 'payments:write'],
  'btcpay.store.webhooks.canmodifywebhooks': ['webhooks:read', 'webhooks:write'],
  'btcpay.store.canmodifystoresettings': ['settings:write'],
}

export function listPermissions(scopes: readonly string[], storeId: string): string[] {
  return Object.entries(PERMISSIONS)
    .filter(([, needed]) => needed.every((scope) => scopes.includes(scope)))
    .map(([permission]) => `${permission}:${storeId}`)
}

/** An unknown permission needs no scope. */
export function listScopes(permissions: readonly string[]): ApiScope[] {
  return [...new Set(permissions.flatMap((one) => PERMISSIONS[one.split(':')[0] ?? ''] ?? []))]
}

/** A plugin that was connected by a key alone takes the key from this response. */
export const readCurrentKey: Handle = async ({ caller, storeId, request }) => ({
  apiKey: request.get('authorization')?.split(' ').at(-1) ?? '',
  label: `key_${caller.keyId}`,
  permissions: listPermissions(caller.scopes, storeId),
})
