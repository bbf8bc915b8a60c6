import { describe, expect, test } from '@jest/globals'
import { loadPayment } from '../../src/db/payments/payments.ts'
import { getPayoutMicro } from '../../src/domain/payment/reserve.ts'
import { call, loseRun, passUntilWake, refund, settledPayment, untilRefund } from './refunds.ts'
import { fixture, open, untilStatus, useFixture } from './story.ts'

describe('Refunds that the next payouts pay for, by API', () => {
  useFixture()
  const allow = (limit: number | null) =>
    fixture.db.query('update merchant set deduction_limit_micro = $1', [limit === null ? null : limit * 1_000_000])

  const listEvents = async (paymentId: string): Promise<string[]> => {
    const { rows } = await fixture.db.query(
      `select type from event where payment_id = $1 and type ~ 'refund' order by sequence`,
      [paymentId],
    )
    return rows.map(({ type }) => type)
  }

  /** A payment whose payout is handed over. */
  async function handedOver(): Promise<string> {
    const paymentId = await fixture.createPayment()
    await fixture.pay('wallet_app', await open(paymentId))
    await untilStatus(paymentId, 'settling')
    return paymentId
  }

  async function settle(paymentId: string): Promise<void> {
    const { payment } = await loadPayment(fixture.db, paymentId)
    if (payment.usdc === null) throw new Error('nothing was converted')
    await fixture.settle(paymentId, getPayoutMicro({ ...payment, usdc: payment.usdc }))
    await untilStatus(paymentId, 'succeeded')
    await fixture.relay.wakeRefunds()
  }

  test.each(['runs', 'is lost'])(
    'the buyer gets the money back once a payout that lacks it is final, if the run %s',
    async (run) => {
      await allow(500)
      const { paymentId } = await settledPayment()
      const made = await call(`/v1/payments/${paymentId}/refunds`, { amount: '20', fund_from: 'next_payouts' })
      expect([made.status, made.body['fund_from'], made.body['funding'].address]).toEqual([201, 'next_payouts', null])
      const id = made.body['id']
      const signature = { signature: `0x${'1'.repeat(130)}` }
      expect((await call(`/v1/refunds/${id}/fund`, signature)).body['code']).toBe('not_possible_now')
      const next = await handedOver()
      const { requiredMicro } = await refund(id)
      const { body: shown } = await call(`/v1/payments/${next}`)
      expect(shown['settlement'].deduction).toEqual({
        usdc: made.body['funding'].required_usdc,
        refund: id,
        release: null,
      })
      if (run === 'is lost') await loseRun(id)
      await settle(next)
      if (run === 'is lost') {
        await passUntilWake(id)
        await fixture.relay.wakeRefunds()
      }
      expect(await untilRefund(id, 'succeeded')).toMatchObject({ receivedMicro: requiredMicro, place: null })
      expect(await listEvents(paymentId)).toEqual(['refund.created', 'refund.funded', 'refund.succeeded'])
    },
  )

  test('a refund without the consent of an owner, beyond it, or before the settlement is refused', async () => {
    await allow(null)
    const { paymentId } = await settledPayment()
    const ask = (amount?: string) =>
      call(`/v1/payments/${paymentId}/refunds`, { ...(amount && { amount }), fund_from: 'next_payouts' })
    expect((await ask()).body).toMatchObject({ code: 'validation_failed', param: 'fund_from' })
    await allow(30)
    expect((await ask()).body).toMatchObject({ code: 'limit_reached' })
    const made = await ask('20')
    expect(made.status).toBe(201)
    expect((await ask('20')).body).toMatchObject({ code: 'limit_reached' })
    expect((await call(`/v1/refunds/${made.body['id']}/cancel`, {})).body['status']).toBe('canceled')
    expect((await ask('20')).status).toBe(201)
    const unsettled = await handedOver()
    expect((await call(`/v1/payments/${unsettled}/refunds`, { fund_from: 'next_payouts' })).body).toMatchObject({
      code: 'validation_failed',
      param: 'fund_from',
    })
  })
})
