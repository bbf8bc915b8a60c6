import { expect, test } from '@jest/globals'
import { opened, settled, untilStatus, useWorld, world } from './story.ts'

useWorld()

test('a partner that hangs for sixty payments does not keep the payments of another partner waiting', async () => {
  const waiting: { paymentId: string; attemptId: string }[] = []
  for (let count = 0; count < 60; count++) waiting.push(await opened())
  const paymentId = await world.createPayment({ provider: 'card_partner' })
  const card = await world.openAttempt(paymentId, 'card_partner', 'card')
  if (card.kind !== 'redirect') throw new Error('not opened')
  await world.faultAt('wallet_app', { fault: 'timeout_before_effect', operation: 'read', mode: 'hang' })
  const told = waiting.map((one) => world.workflows.tellPartnerNews(one.paymentId, one.attemptId))
  await Promise.all(told)
  const begun = Date.now()
  await world.pay('card_partner', card.attemptId)
  await untilStatus(paymentId, 'settling')
  // One call that hangs takes ten seconds, and each order is asked for three times.
  expect(Date.now() - begun).toBeLessThan(8000)
  await settled(paymentId)
}, 90_000)
