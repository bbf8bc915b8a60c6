import type { Role } from '../../domain/account/roles.ts'
import { API_SCOPES, type ApiScope } from './api-key.ts'

/** The keys of a person have no scopes beyond these. */
export function getRoleScopes(role: Role): readonly ApiScope[] {
  if (role === 'owner') return API_SCOPES
  const reads = API_SCOPES.filter((scope) => scope.endsWith(':read'))
  if (role === 'viewer') return reads
  if (role === 'support') return [...reads, 'payments:write']
  return API_SCOPES.filter((scope) => scope !== 'members:write' && scope !== 'settings:write')
}
