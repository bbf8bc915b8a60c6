import { describe, expect, test } from '@jest/globals'
import { until } from '../../../scripts/test/until.ts'
import { newId } from '../../../src/ids.ts'
import { openAddress, send } from '../../workflows/deposits.ts'
import { attempts, handle, payment, result, settled, untilStatus, useWorld, world } from '../../workflows/story.ts'

describe('Canceling a payment', () => {
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
        detail: 'Too late to cancel: a part of the price has arrived.',
      },
    })
  })

  test('a part of the price that arrives unnoticed is not canceled away either', async () => {
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
})

describe('Simulating a partner', () => {
  useWorld()

  const simulate = async (id: string, body: Record<string, unknown>) => {
    const response = await fetch(`${world.api}/v1/test/payments/${id}/simulate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    // The simulator of the tests sends its callbacks when it is told to.
    await world.sandbox.callbacks.flush()
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  describe('a test payment that is simulated', () => {
    // First: time is skipped here, and stands still once others' transfers run.
    test('is paid in the end when its partner was down meanwhile', async () => {
      const id = await world.createPayment({ provider: 'card_partner' })
      expect((await simulate(id, { action: 'partner_down' })).status).toBe(202)
      expect((await payment(id)).status).toBe('pending')
      expect((await simulate(id, { action: 'pay' })).status).toBe(202)
      await until(
        async () => (await handle(id).fetchHistory()).events ?? [],
        (events) => events.some((event) => Boolean(event.markerRecordedEventAttributes?.failure)),
      )
      expect((await payment(id)).status).toBe('pending')
      await world.skip('1 minute')
      await settled(id)
    })

    test('is paid as by a buyer: an order is opened, the identity check passed, and it settles', async () => {
      const id = await world.createPayment()
      const paid = await simulate(id, { action: 'pay' })
      expect([paid.status, paid.body['status']]).toEqual([202, 'pending'])
      const checked = await simulate(id, { action: 'verify' })
      expect([202, 409]).toContain(checked.status)
      const row = await settled(id)
      expect(row.status).toBe('succeeded')
    })

    test('can be declined, and then paid in another order', async () => {
      const id = await world.createPayment({ provider: 'card_partner' })
      expect((await simulate(id, { action: 'decline', failure_code: 'insufficient_funds' })).status).toBe(202)
      await until(
        () => attempts(id),
        (all) => all.join() === 'declined',
      )
      expect((await payment(id)).status).toBe('pending')
      await simulate(id, { action: 'pay' })
      await simulate(id, { action: 'verify' })
      await settled(id)
    })

    test('can be paid too little, and is then held for somebody to decide', async () => {
      const id = await world.createPayment({ provider: 'card_partner' })
      await simulate(id, { action: 'pay', received_minor: '1000' })
      await simulate(id, { action: 'verify' })
      const row = await untilStatus(id, 'under_review')
      expect(row.exception).toBe('underpaid')
    })

    test('can be paid half, or half more than asked', async () => {
      const half = await world.createPayment({ provider: 'card_partner' })
      expect((await simulate(half, { action: 'under' })).status).toBe(202)
      expect((await untilStatus(half, 'under_review')).exception).toBe('underpaid')
      const more = await world.createPayment({ provider: 'card_partner' })
      expect((await simulate(more, { action: 'over' })).status).toBe(202)
      expect((await settled(more)).exception).toBe('overpaid')
    })

    test('can be paid by two ways: the second is settled, the first is kept apart for an operator', async () => {
      const id = await world.createPayment()
      expect((await simulate(id, { action: 'twice' })).status).toBe(202)
      await until(
        () => attempts(id),
        (all) => all.includes('surplus'),
      )
      await untilStatus(id, 'settling')
      expect((await payment(id)).exception).toBe('duplicate_payment')
    })

    test('can be paid late: it expires, and is then paid all the same', async () => {
      const id = await world.createPayment({ provider: 'card_partner' })
      expect((await simulate(id, { action: 'late' })).status).toBe(202)
      const row = await until(
        () => payment(id),
        ({ exception }) => exception === 'paid_late',
      )
      expect(['processing', 'settling']).toContain(row.status)
    })

    test('says what is not possible, with the state of the order', async () => {
      const id = await world.createPayment()
      const answer = await simulate(id, { action: 'release' })
      expect([answer.status, answer.body['code'], answer.body['order_status']]).toEqual([
        409,
        'not_possible_now',
        'open',
      ])
      expect((await simulate('pay_x', { action: 'pay' })).status).toBe(404)
      expect((await simulate(id, { action: 'explode' })).status).toBe(400)
    })
  })

  /** A press of the bar of the checkout, by who has the link. */
  async function press(id: string, fields: Record<string, string>): Promise<{ status: number; text: string }> {
    const { checkoutToken } = await payment(id)
    const response = await fetch(`${world.api}/c/${checkoutToken}/sandbox`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(fields),
    })
    await world.sandbox.callbacks.flush()
    return { status: response.status, text: await response.text() }
  }

  describe('the bar of the checkout', () => {
    test('plays the partner and skips time, as the API does', async () => {
      const paid = await world.createPayment({ provider: 'card_partner' })
      expect((await press(paid, { do: 'under' })).status).toBe(303)
      expect((await untilStatus(paid, 'under_review')).exception).toBe('underpaid')
      const impossible = await press(paid, { do: 'decline' })
      expect(impossible.status).toBe(409)
      expect(impossible.text).toContain('decline is not possible')
      const forgotten = await world.createPayment()
      expect((await press(forgotten, { skip: '604800' })).status).toBe(303)
      await untilStatus(forgotten, 'expired')
    })
  })

  const DAY = 86_400

  const skipTime = async (id: string, seconds: unknown, key = world.secretKey) => {
    const response = await fetch(`${world.api}/v1/test/payments/${id}/skip_time`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ seconds }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  describe('time that is skipped for a test payment', () => {
    test('lets one that nobody paid expire, and no sooner', async () => {
      const id = await world.createPayment()
      const before = await payment(id)
      expect((await skipTime(id, DAY / 2)).status).toBe(202)
      const half = await payment(id)
      expect([half.status, Date.parse(before.expiresAt) - Date.parse(half.expiresAt)]).toEqual([
        'created',
        (DAY / 2) * 1000,
      ])
      const other = await world.createPayment()
      await skipTime(id, DAY / 2)
      expect((await untilStatus(id, 'expired')).closedAt).not.toBeNull()
      expect(await result(id)).toBe('expired')
      expect((await payment(other)).status).toBe('created')
    })

    test('is no way to another merchant’s payment, and wants whole seconds', async () => {
      const id = await world.createPayment()
      expect((await skipTime(newId('payment'), 60)).status).toBe(404)
      for (const seconds of [0, -1, 1.5, '60', 31 * DAY]) expect((await skipTime(id, seconds)).status).toBe(400)
    })
  })
})
