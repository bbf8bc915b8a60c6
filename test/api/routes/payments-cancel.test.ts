import { expect, test } from '@jest/globals'
import { until } from '../../../scripts/test/until.ts'
import { openAddress, send } from '../../workflows/deposits.ts'
import { useWorld, world } from '../../workflows/story.ts'

useWorld()

type Answer = { status: number; body: Record<string, unknown> }

async function cancel(id: string): Promise<Answer> {
  const response = await fetch(`${world.api}/v1/payments/${id}/cancel`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.secretKey}` },
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

async function opened(id: string): Promise<string> {
  const answer = await world.openAttempt(id)
  if (answer.kind !== 'redirect') throw new Error(answer.kind)
  return answer.attemptId
}

test('a payment that nobody has opened is canceled, and canceling it again changes nothing', async () => {
  const id = await world.createPayment()
  const first = await cancel(id)
  expect(first).toMatchObject({ status: 200, body: { id, status: 'canceled', canceled_at: expect.any(String) } })
  expect(await cancel(id)).toEqual(first)
})

test('a payment that the buyer has opened is canceled together with the order at the partner', async () => {
  const id = await world.createPayment()
  const attemptId = await opened(id)
  expect(await cancel(id)).toMatchObject({ status: 200, body: { status: 'canceled' } })
  expect((await world.orderAt('wallet_app', attemptId)).status).toBe('canceled')
})

test('asked for many times at the same moment it is canceled once, and each answer says so', async () => {
  const id = await world.createPayment()
  const attemptId = await opened(id)
  const answers = await Promise.all(Array.from({ length: 5 }, () => cancel(id)))
  expect(answers).toEqual(answers.map(() => answers[0]))
  expect(answers[0]).toMatchObject({ status: 200, body: { status: 'canceled' } })
  expect((await world.orderAt('wallet_app', attemptId)).status).toBe('canceled')
  const { rows } = await world.db.query(
    "select 1 from timeline_entry where payment_id = $1 and to_status = 'canceled'",
    [id],
  )
  expect(rows.length).toBe(1)
})

test('money that the partner has confirmed, and that we have not heard of, wins over the cancellation', async () => {
  const id = await world.createPayment()
  await world.pay('wallet_app', await opened(id))
  const answer = await cancel(id)
  expect(answer).toMatchObject({ status: 409, body: { code: 'payment_not_cancelable' } })
  // Also so that no transfer is waited for, which would keep the time from being skipped.
  await until(
    () => world.read(id),
    ({ payment }) => payment.status === 'settling',
  )
  await world.settle(id)
})

// was answered with 200 and a payment that went on waiting for its buyer
test('a part of the price is not canceled away, and the merchant is told so', async () => {
  const { paymentId, attemptId } = await openAddress()
  await send(attemptId, '20000000')
  await until(
    () => world.read(paymentId),
    ({ parts }) => parts.length === 1,
  )
  expect(await cancel(paymentId)).toMatchObject({
    status: 409,
    body: {
      code: 'payment_not_cancelable',
      payment_status: 'pending',
      detail: 'Too late to cancel: a part of the price has come.',
    },
  })
})

test('… nor is one of which nobody had heard when it was asked for', async () => {
  const { paymentId, attemptId } = await openAddress()
  await send(attemptId, '20000000')
  expect(await cancel(paymentId)).toMatchObject({ status: 409, body: { code: 'payment_not_cancelable' } })
})

test('a payment that has ended otherwise is not canceled, and the answer says how it stands', async () => {
  const id = await world.createPayment({ expires_in: 1800 })
  await world.skip('31 minutes')
  await until(
    () => world.read(id),
    ({ payment }) => payment.status === 'expired',
  )
  expect(await cancel(id)).toMatchObject({
    status: 409,
    body: { code: 'payment_not_cancelable', payment_status: 'expired', detail: expect.stringContaining('expired') },
  })
})
