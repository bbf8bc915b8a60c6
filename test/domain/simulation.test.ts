import { expect, test } from '@jest/globals'
import { SIMULATED_ACTIONS } from '../../src/domain/simulation.ts'

test('test mode offers the names that merchants’ scripts already call', () => {
  expect(SIMULATED_ACTIONS.join(' ')).toBe(
    'pay decline cancel require_verification verify fail_verification hold release confirm top_up reverse expire under over late partner_down',
  )
})
