import { expect, test } from '@jest/globals'
import { attempts, fixture, opened, settled, untilStatus, useFixture } from './story.ts'

useFixture()

test('a partner that hangs for sixty payments does not keep the payments of another partner waiting', async () => {
  const waiting: { paymentId: string; attemptId: string }[] = []
  for (let count = 0; count < 60; count++) waiting.push(await opened())
  const paymentId = await fixture.createPayment({ provider: 'card_partner' })
  const card = await fixture.openAttempt(paymentId, 'card_partner', 'card')
  if (card.kind !== 'redirect') throw new Error('not opened')
  await fixture.faultAt('wallet_app', { fault: 'timeout_before_effect', operation: 'read', mode: 'hang' })
  const signaled = waiting.map((one) => fixture.workflows.signalOrderChanged(one.paymentId, one.attemptId))
  await Promise.all(signaled)
  const begun = Date.now()
  await fixture.pay('card_partner', card.attemptId)
  await untilStatus(paymentId, 'settling')
  // One call that hangs takes ten seconds.
  expect(Date.now() - begun).toBeLessThan(8000)
  await settled(paymentId)
}, 90_000)

test('a partner that hangs for forty buyers who choose it does not keep the buyers of another partner waiting', async () => {
  const ids = await Promise.all(Array.from({ length: 45 }, () => fixture.createPayment({ provider: undefined })))
  await fixture.faultAt('wallet_app', { fault: 'timeout_before_effect', mode: 'hang' })
  const hanging = ids.slice(5).map((id) => fixture.openAttempt(id, 'wallet_app', 'banking_app').catch(() => null))
  const others = ids.slice(0, 5).map((id) => fixture.openAttempt(id, 'card_partner', 'card'))
  const isFirst = await Promise.race([
    Promise.all(others).then(() => true),
    Promise.any(hanging.map(async (one) => (await one) === null || Promise.reject(new Error('opened')))).then(
      () => false,
    ),
  ])
  expect(isFirst).toBe(true)
  await fixture.clearFaults()
  await Promise.all(hanging)
}, 90_000)

test('a buyer pays another way, and a merchant cancels, while the partner of the open order hangs', async () => {
  const { paymentId, attemptId } = await opened()
  await fixture.faultAt('wallet_app', { fault: 'timeout_before_effect', mode: 'hang' })
  await fixture.workflows.signalOrderChanged(paymentId, attemptId)
  const { kind } = await fixture.openAttempt(paymentId, 'card_partner', 'card')
  expect(kind).toBe('redirect')
  expect(await attempts(paymentId)).toEqual(['open', 'open'])
  await fixture.workflows.signalOrderChanged(paymentId, attemptId)
  expect(await fixture.workflows.cancel(paymentId)).toEqual({ status: 'canceled' })
  expect(await attempts(paymentId)).toEqual(['open', 'canceled'])
}, 120_000)
