import { expect, test } from '@jest/globals'
import { opened, settled, useWorld, world } from './story.ts'

useWorld()

test.each([
  { fault: 'timeout_after_effect', mode: 'close' },
  { fault: 'timeout_before_effect', mode: 'close' },
  { fault: 'server_error' },
] as const)('a conversion with $fault is tried again, with one effect', async (trouble) => {
  const { paymentId, attemptId } = await opened()
  await world.faultAt('converter', { ...trouble, operation: 'convert', times: 1 })
  await world.pay('wallet_app', attemptId)
  await settled(paymentId)
  expect((await world.timeline(paymentId)).filter(({ kind }) => kind === 'payment.converted')).toHaveLength(1)
})
