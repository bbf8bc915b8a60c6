import { expect, test } from '@jest/globals'
import { type Ability, hasAbility, ROLES } from '../../../src/domain/account/roles.ts'

const ABILITIES: readonly Ability[] = ['look', 'sell', 'develop', 'own']

test('each role has its abilities and no other', () => {
  const allowed = ROLES.map((role) => [role, ABILITIES.filter((ability) => hasAbility(role, ability))])
  expect(allowed).toEqual([
    ['owner', ['look', 'sell', 'develop', 'own']],
    ['developer', ['look', 'sell', 'develop']],
    ['support', ['look', 'sell']],
    ['viewer', ['look']],
  ])
})
