import { describe, expect, test } from '@jest/globals'
import { WorkflowUpdateFailedError } from '@temporalio/client'
import { until } from '../../scripts/test/until.ts'
import { findImbalances, readBalances } from '../../src/db/ledger.ts'
import { extendPayment } from '../../src/db/payments/payment-changes.ts'
import { EXTENDABLE_MS, EXTENSION_MS } from '../../src/domain/payment/requests.ts'
import { operatorUpdates, paymentState } from '../../src/workflows/messages.ts'
import {
  attempts,
  decide,
  handle,
  open,
  opened,
  payment,
  result,
  settled,
  untilStatus,
  useWorld,
  world,
} from './story.ts'

useWorld()

describe('expiry and cancellation', () => {
  test('nothing was paid in 24 hours: expired, and closed at once where no order is open', async () => {
    const paymentId = await world.createPayment()
    await world.skip('24 hours')
    expect(await result(paymentId)).toBe('expired')
    const row = await payment(paymentId)
    expect(row.closedAt).not.toBeNull()
    expect(Date.parse(row.updatedAt) - Date.parse(row.createdAt)).toBeGreaterThanOrEqual(86_400_000)
  })

  test('expiry has the open partner order canceled first', async () => {
    const { paymentId, attemptId } = await opened()
    await world.skip('24 hours')
    expect(await result(paymentId)).toBe('expired')
    const { rows } = await world.db.query(
      'select kind, attempt_id, state, operator from intent where payment_id = $1',
      [paymentId],
    )
    expect(rows).toEqual([{ kind: 'cancel', attempt_id: attemptId, state: 'done', operator: 'system' }])
    // By the partner's clock it has run out in the moment in which we ask: either way nobody can pay it any more.
    expect(['canceled', 'expired']).toContain((await world.orderAt('wallet_app', attemptId)).status)
    expect((await payment(paymentId)).closedAt).not.toBeNull()
  })

  test('paid wins over expiry: money that nobody told us of is found before the payment is closed', async () => {
    const { paymentId, attemptId } = await opened({ expires_in: 1800 })
    await world.skip('20 minutes')
    await world.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
    await world.pay('wallet_app', attemptId)
    await world.skip('10 minutes')
    const row = await settled(paymentId)
    expect(row.exception).toBeNull()
  })

  test('paid wins over cancellation', async () => {
    const { paymentId, attemptId } = await opened()
    await world.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
    await world.pay('wallet_app', attemptId)
    expect(await world.workflows.cancel(paymentId)).toMatchObject({ status: 'processing' })
    await settled(paymentId)
  })

  test('canceled before any money: the order is canceled, and nobody can pay any more', async () => {
    const { paymentId, attemptId } = await opened()
    expect(await world.workflows.cancel(paymentId)).toEqual({ status: 'canceled' })
    expect((await world.orderAt('wallet_app', attemptId)).status).toBe('canceled')
    expect(
      await world.workflows.openAttempt(paymentId, {
        attemptId: 'att_x',
        provider: 'wallet_app',
        method: 'banking_app',
      }),
    ).toEqual({ kind: 'not_payable', status: 'canceled' })
  })

  test('a running identity check postpones the expiry, once and by 24 hours', async () => {
    const { paymentId, attemptId } = await opened()
    await world.atPartner('wallet_app', attemptId, { action: 'require_verification', buyer: 'slow' })
    await until(
      () => payment(paymentId),
      (row) => row.exception === 'verification_required',
    )
    await world.skip('24 hours')
    const postponed = await until(
      () => payment(paymentId),
      (row) => row.expiryPostponed,
    )
    expect(postponed.status).toBe('pending')
    await world.skip('24 hours')
    expect(await result(paymentId)).toBe('expired')
    expect(Date.parse(postponed.expiresAt) - Date.parse(postponed.createdAt)).toBe(2 * 86_400_000)
  })

  test.each(['is told', 'is not told', 'reads it with an order'])(
    'a buyer who asks for more time in the last minutes gets it once: the workflow %s of it',
    async (heard) => {
      const paymentId = await world.createPayment({ expires_in: 1800 })
      const end = Date.parse((await payment(paymentId)).expiresAt)
      const extend = (now: number) =>
        world.db.transaction((tx) => extendPayment(tx, { publicUrl: 'https://pay.example', now: () => now }, paymentId))
      // Too early, and too late.
      expect([await extend(end - EXTENDABLE_MS - 1), await extend(end)]).toEqual([false, false])
      await world.skip('27 minutes')
      expect([await extend(end - 60_000), await extend(end - 60_000)]).toEqual([true, false])
      if (heard === 'is told') await world.workflows.tellRowChanged(paymentId)
      if (heard === 'reads it with an order') await open(paymentId)
      await world.skip('8 minutes')
      expect((await payment(paymentId)).status).toBe(heard === 'reads it with an order' ? 'pending' : 'created')
      await world.skip('12 minutes')
      expect(await result(paymentId)).toBe('expired')
      const row = await payment(paymentId)
      expect([row.expiryExtended, Date.parse(row.expiresAt) - end]).toEqual([true, EXTENSION_MS])
      // The next poll would end it too, up to three quarters of an hour later.
      expect(Date.parse(row.updatedAt) - Date.parse(row.expiresAt)).toBeLessThan(5 * 60_000)
    },
  )
})

describe('late and second money', () => {
  test('late money after expiry is settled and marked', async () => {
    const { paymentId, attemptId } = await lateable()
    await world.skip('25 hours')
    await untilStatus(paymentId, 'expired')
    await world.pay('local_partner', attemptId)
    const row = await settled(paymentId)
    expect(row.exception).toBe('paid_late')
    expect(row.usdc).not.toBeNull()
  })

  test('money after cancellation is settled and marked', async () => {
    const { paymentId, attemptId } = await lateable()
    await world.workflows.cancel(paymentId)
    await untilStatus(paymentId, 'canceled')
    await world.pay('local_partner', attemptId)
    expect((await settled(paymentId)).exception).toBe('paid_late')
  })

  test('an attempt that is not proved dead is listened to for 72 hours (UPI), then the payment closes', async () => {
    const { paymentId } = await lateable()
    await world.workflows.cancel(paymentId)
    const before = await payment(paymentId)
    expect(before.closedAt).toBeNull()
    await world.skip('72 hours')
    expect(await result(paymentId)).toBe('canceled')
    const after = await payment(paymentId)
    expect(after.listenEnded).toBe(true)
    expect(Date.parse(after.closedAt ?? '') - Date.parse(after.canceledAt ?? '')).toBeGreaterThanOrEqual(72 * 3_600_000)
  })

  test('money after the workflow has closed is booked to suspense and opens a workflow for an operator', async () => {
    const { paymentId, attemptId } = await lateable()
    await world.workflows.cancel(paymentId)
    await world.skip('72 hours')
    expect(await result(paymentId)).toBe('canceled')
    await world.faultAt('local_partner', { fault: 'late_money' })
    await world.pay('local_partner', attemptId)
    await until(
      () => attempts(paymentId),
      ([status]) => status === 'late',
    )
    expect((await payment(paymentId)).status).toBe('canceled')
    const suspense = (await readBalances(world.db)).find(
      ({ account, asset }) => account === 'suspense' && asset === 'INR',
    )
    expect(BigInt(suspense?.amount ?? 0)).toBeLessThan(0n)
    const late = handle(`late_${attemptId}`)
    await until(
      () =>
        late.describe().then(
          ({ status }) => status.name,
          () => 'absent',
        ),
      (name) => name === 'RUNNING',
    )
    const note = { operator: 'ada', reason: 'too late' }
    const record = (version?: number) =>
      late.executeUpdate(operatorUpdates.recordExternalRefund, { args: [{ ...note, ...(version && { version }) }] })
    await expect(record()).rejects.toMatchObject({ cause: { message: expect.stringContaining('Give "version"') } })
    const { version } = await payment(paymentId)
    await expect(record(version - 1)).rejects.toMatchObject({
      cause: { cause: { message: expect.stringContaining('has changed since you looked') } },
    })
    await late.executeUpdate(operatorUpdates.refund, { args: [note] })
    expect(await late.result()).toBe('refunded')
    expect(await attempts(paymentId)).toEqual(['refunded'])
  })

  test('a second payment for the same payment is kept for an operator and never settled twice', async () => {
    const { paymentId, own } = await paidTwice()
    const row = await payment(paymentId)
    expect(row.exception).toBe('duplicate_payment')
    expect(row.paidAttemptId).toBe(own)
    await expect(decide(paymentId, 'approve')).rejects.toThrow(WorkflowUpdateFailedError)
    expect(await decide(paymentId, 'refund')).toMatchObject({ message: 'refunded' })
    expect(await result(paymentId)).toBe('succeeded')
    expect(await findImbalances(world.db)).toEqual([])
  })

  test('a second payment that its partner took back without a word waits for nobody once its refund is refused', async () => {
    const { paymentId, second } = await paidTwice()
    await world.atPartner('local_partner', second, { action: 'reverse' }, 'silently')
    await expect(decide(paymentId, 'refund')).rejects.toThrow(WorkflowUpdateFailedError)
    expect(await result(paymentId)).toBe('succeeded')
    expect(await attempts(paymentId)).toEqual(['declined', 'confirmed'])
    const { parts } = await world.read(paymentId)
    expect(parts.map(({ state }) => state)).toEqual(['counted', 'reversed', 'reversed'])
  })

  /** By another order, once it was paid out. */
  async function paidTwice() {
    const { paymentId, attemptId: second } = await lateable()
    const other = await world.openAttempt(paymentId, 'card_partner', 'card')
    if (other.kind !== 'redirect') throw new Error('not opened')
    await world.pay('card_partner', other.attemptId)
    await untilStatus(paymentId, 'settling')
    await world.settle(paymentId)
    await untilStatus(paymentId, 'succeeded')
    await world.pay('local_partner', second)
    await until(
      () => handle(paymentId).query(paymentState),
      (state) => state.attempts.some(({ status }) => status === 'surplus'),
    )
    return { paymentId, second, own: other.attemptId }
  }

  /** UPI cannot be canceled, so its order stays payable. */
  async function lateable() {
    const paymentId = await world.createPayment({ provider: undefined, amount: '50.00', currency: 'EUR' })
    const answer = await world.openAttempt(paymentId, 'local_partner', 'upi')
    if (answer.kind !== 'redirect') throw new Error('not opened')
    await world.faultAt('local_partner', { fault: 'late_money', attemptId: answer.attemptId })
    return { paymentId, attemptId: answer.attemptId }
  }
})
