/** Every role can read everything except secrets. */

export const ROLES = ['owner', 'developer', 'support', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** `look`: read. `sell`: payments. `develop`: keys and webhooks. `own`: the wallet and the team. */
export type Ability = 'look' | 'sell' | 'develop' | 'own'

const ABILITIES: Readonly<Record<Role, readonly Ability[]>> = {
  owner: ['look', 'sell', 'develop', 'own'],
  developer: ['look', 'sell', 'develop'],
  support: ['look', 'sell'],
  viewer: ['look'],
}

export function hasAbility(role: Role, ability: Ability): boolean {
  return ABILITIES[role].includes(ability)
}
