import { expect, test } from '@jest/globals'
import { fixture, opened, settled, useFixture } from './story.ts'

useFixture()

test.each([
  { fault: 'timeout_after_effect', mode: 'close' },
  { fault: 'timeout_before_effect', mode: 'close' },
  { fault: 'server_error' },
] as const)('a conversion with $fault is tried again, with one effect', async (trouble) => {
  const { paymentId, attemptId } = await opened()
  await fixture.faultAt('converter', { ...trouble, operation: 'convert', times: 1 })
  await fixture.pay('wallet_app', attemptId)
  await settled(paymentId)
  expect((await fixture.timeline(paymentId)).filter(({ kind }) => kind === 'payment.converted')).toHaveLength(1)
})
