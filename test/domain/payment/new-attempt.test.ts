import { expect, test } from '@jest/globals'
import { createAttempt } from '../../../src/domain/payment/new-attempt.ts'
import { attempt } from './payment-story.ts'

const AT = '2026-01-01T00:01:00.000Z'

test('a new attempt has no money, and its partner has not been asked', () => {
  const { id, provider, method, asked } = attempt()
  expect(createAttempt('pay_1', { id, provider, method, asked }, AT)).toStrictEqual(attempt({ status: 'opening' }))
})

test('a new attempt may be silent as long as money can arrive late at its partner', () => {
  const upi = createAttempt('pay_1', { ...attempt(), provider: 'local_partner', method: 'upi' }, AT)
  expect(upi).toMatchObject({ silentAfterHours: 72, provider: 'local_partner', method: 'upi' })
})
