import { afterEach, describe, expect, test } from '@jest/globals'
import { until } from '../../scripts/test/until.ts'
import { findImbalances } from '../../src/db/ledger.ts'
import { listDecisions } from '../../src/db/payments/decisions.ts'
import { insertRefund } from '../../src/db/refunds/refunds.ts'
import type { Refund } from '../../src/domain/refund/refund.ts'
import { newId } from '../../src/ids.ts'
import { findDifferences } from '../support/differences.ts'

import { call, createRefund, fund, refund } from './refunds.ts'
import { decide, fixture, opened, payment, result, settled, untilReviewed, untilStatus, useFixture } from './story.ts'

describe('A refund before the settlement', () => {
  useFixture()
  afterEach(async () => {
    expect((await findDifferences(fixture.db)).filter((difference) => difference.startsWith('refund'))).toEqual([])
    expect(await findImbalances(fixture.db)).toEqual([])
  })

  const ask = (paymentId: string, body: object = {}, headers = {}) =>
    call(`/v1/payments/${paymentId}/refunds`, body, headers)
  const giveBack = async (paymentId: string): Promise<string> => {
    const { status, body } = await ask(paymentId)
    if (status !== 201) throw new Error(JSON.stringify(body))
    return body['id']
  }
  /** The end of the give-back makes the refund due, and the relay wakes its run. */
  const untilOver = (id: string, expected: 'succeeded' | 'failed') =>
    until(
      async () => {
        await fixture.relay.relayChanges()
        await fixture.relay.wakeRefunds()
        return refund(id)
      },
      ({ status }) => status === expected,
    )
  const untilVoiding = (paymentId: string) =>
    until(
      () => payment(paymentId),
      ({ payout }) => payout === 'voiding',
    )
  const listEvents = async (paymentId: string): Promise<string[]> => {
    const { rows } = await fixture.db.query(
      `select type from event where payment_id = $1 and type ~ 'refund' order by sequence`,
      [paymentId],
    )
    return rows.map(({ type }) => type)
  }

  async function handedOver() {
    const made = await opened()
    await fixture.pay('wallet_app', made.attemptId)
    await untilStatus(made.paymentId, 'settling')
    return made
  }

  test('gives the whole payment back once its payout is void, and costs nothing', async () => {
    const { paymentId, attemptId } = await handedOver()
    const { status, body } = await ask(paymentId, { reason: 'sold out', metadata: { order: '7' } })
    expect([status, body['status'], body['fund_from'], body['funding']]).toEqual([201, 'pending', 'payment', null])
    await untilVoiding(paymentId)
    expect((await fixture.orderAt('wallet_app', attemptId)).status).toBe('paid')
    await fixture.voidPayout(paymentId)
    expect(await result(paymentId)).toBe('refunded')
    expect(await untilOver(body['id'], 'succeeded')).toMatchObject({
      number: 1,
      amount: { minor: '4999', currency: 'EUR' },
      requiredMicro: '0',
      place: null,
      partnerKey: expect.stringContaining(`${attemptId}:refund`),
    })
    expect((await fixture.orderAt('wallet_app', attemptId)).status).toBe('refunded')
    const shown = (await call(`/v1/payments/${paymentId}`)).body
    expect([shown['refunded_amount'], shown['refundable_amount'], shown['refunds_count']]).toEqual(['49.99', '0.00', 1])
    expect(await listEvents(paymentId)).toEqual(['refund.created', 'payment.refunded', 'refund.succeeded'])
    expect(await listDecisions(fixture.db, paymentId)).toMatchObject([
      { say: 'give_back', operator: 'merchant', reason: 'sold out', attempt_id: attemptId, outside: false },
    ])
    const entries = await fixture.timeline(paymentId)
    expect(entries.filter(({ actor }) => actor === 'operator')).toEqual([])
    expect(entries.filter(({ actor }) => actor === 'merchant')).toMatchObject([
      { kind: 'payment.created' },
      { kind: 'payment.under_review', message: 'The merchant refunds the payment before it is settled' },
    ])
    // Nothing is left to refund.
    expect((await ask(paymentId)).body).toMatchObject({ code: 'not_possible_now' })
  })

  test('fails if the transfer of the payout is faster, and the settled payment can be refunded with USDC', async () => {
    const { paymentId, attemptId } = await handedOver()
    const id = await giveBack(paymentId)
    await untilVoiding(paymentId)
    await fixture.settle(paymentId)
    expect(await untilOver(id, 'failed')).toMatchObject({ statusReason: 'payment_changed', partnerKey: null })
    await untilStatus(paymentId, 'succeeded')
    expect((await fixture.orderAt('wallet_app', attemptId)).status).toBe('paid')
    const again = await createRefund(paymentId, '20')
    await fund(again)
    expect(await untilOver(again, 'succeeded')).toMatchObject({ number: 2, fundFrom: 'wallet' })
    expect((await payment(paymentId)).refundsMinor).toBe('2000')
  })

  test('fails and has no key of the partner if the money is reversed before the partner is asked', async () => {
    const { paymentId, attemptId } = await handedOver()
    const id = await giveBack(paymentId)
    await untilVoiding(paymentId)
    expect((await refund(id)).partnerKey).toBe(`${attemptId}:refund`)
    await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' })
    expect(await untilOver(id, 'failed')).toMatchObject({ statusReason: 'money_gone', partnerKey: null })
    expect(await listEvents(paymentId)).toEqual(['refund.created', 'refund.failed'])
    await fixture.voidPayout(paymentId)
  })

  test('fails as changed if the money was away before the partner was asked, and is there again', async () => {
    const { paymentId, attemptId } = await handedOver()
    const id = await giveBack(paymentId)
    await untilVoiding(paymentId)
    // As if a reversal and its end had been read before the run of the refund.
    await fixture.db.query(`update attempt set back = 'no' where id = $1`, [attemptId])
    await fixture.db.query('update refund set due_at = now() where id = $1', [id])
    expect(await untilOver(id, 'failed')).toMatchObject({ statusReason: 'payment_changed', partnerKey: null })
    await fixture.voidPayout(paymentId)
  })

  test('fails if the partner refuses, and can be asked for again', async () => {
    const { paymentId, attemptId } = await opened({ amount: '100.00' })
    await fixture.pay('wallet_app', attemptId, { receivedMinor: '9000' })
    await untilReviewed(paymentId, 'too_little')
    await fixture.faultAt('wallet_app', { fault: 'refund_refused', attemptId, times: 1 })
    expect(await untilOver(await giveBack(paymentId), 'failed')).toMatchObject({
      statusReason: 'refused',
      partnerKey: `${attemptId}:refund`,
    })
    expect(await payment(paymentId)).toMatchObject({ status: 'under_review', refundsMinor: '0' })
    const again = await untilOver(await giveBack(paymentId), 'succeeded')
    expect(again).toMatchObject({ amount: { minor: '9000' }, partnerKey: expect.stringMatching(/refund.2$/) })
    expect(await result(paymentId)).toBe('refunded')
    expect(await listEvents(paymentId)).toEqual([
      'refund.created',
      'refund.failed',
      'refund.created',
      'payment.refunded',
      'refund.succeeded',
    ])
  })

  test('is pending while the partner does not answer, and ends once', async () => {
    const { paymentId, attemptId } = await opened({ amount: '100.00' })
    await fixture.pay('wallet_app', attemptId, { receivedMinor: '9000' })
    await untilReviewed(paymentId, 'too_little')
    await fixture.faultAt('wallet_app', { fault: 'server_error', operation: 'refund' })
    const id = await giveBack(paymentId)
    await until(
      async () => {
        await fixture.relay.relayChanges()
        return payment(paymentId)
      },
      ({ statusReason }) => statusReason === 'giving_back',
    )
    expect((await ask(paymentId)).status).toBe(409)
    expect((await call(`/v1/refunds/${id}/cancel`, {})).body['detail']).toContain(
      'the money is going back to the buyer',
    )
    expect((await refund(id)).status).toBe('pending')
    await fixture.clearFaults()
    await until(
      async () => {
        await fixture.skip('61 seconds')
        await fixture.relay.wakeRefunds()
        return refund(id)
      },
      ({ status }) => status === 'succeeded',
    )
    expect((await fixture.orderAt('wallet_app', attemptId)).status).toBe('refunded')
  })

  test('is of the whole payment, and not of one that is not paid or that an operator holds', async () => {
    const { paymentId } = await handedOver()
    const part = await ask(paymentId, { amount: '20' })
    expect([part.status, part.body['errors']?.[0]?.message]).toEqual([
      400,
      'amount: must be 49.99 EUR, or absent: before the settlement only the whole payment can go back. Refund a part of it after payment.succeeded.',
    ])
    await decide(paymentId, 'hold')
    expect((await ask(paymentId)).body).toMatchObject({ code: 'not_possible_now' })
    const open = await opened()
    expect((await ask(open.paymentId)).body).toMatchObject({ code: 'not_possible_now' })
  })

  test('is created once, also if requests come at the same moment or are repeated', async () => {
    const { paymentId, attemptId } = await handedOver()
    const key = { 'idempotency-key': paymentId }
    const answers = await Promise.all([ask(paymentId, {}, key), ask(paymentId), ask(paymentId)])
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    await untilVoiding(paymentId)
    await fixture.voidPayout(paymentId)
    expect(await result(paymentId)).toBe('refunded')
    const { rows } = await fixture.db.query('select id, status from refund where payment_id = $1', [paymentId])
    expect(rows).toHaveLength(1)
    await untilOver(rows[0].id, 'succeeded')
    expect((await fixture.orderAt('wallet_app', attemptId)).status).toBe('refunded')
  })

  test('is refused by the database if the payment has changed since the request has read it', async () => {
    const { paymentId, attemptId } = await handedOver()
    const { version } = await payment(paymentId)
    const now = new Date().toISOString()
    const insert = (paymentVersion: number) =>
      insertRefund(fixture.db, fixture.tenant, {
        id: newId('refund'),
        paymentId,
        attemptId,
        amount: { minor: '4999', currency: 'EUR' },
        reason: null,
        metadata: null,
        fundFrom: 'payment',
        paymentVersion,
        rate: '1.08',
        rateSource: 'test',
        requiredMicro: '0',
        request: null,
        createdAt: now,
        expiresAt: now,
      })
    expect(await insert(version - 1)).toBe('too_much')
    // The payment is settled before the run of the refund has read it.
    const made = await insert(version)
    await settled(paymentId)
    await fixture.relay.wakeRefunds()
    expect(await untilOver((made as Refund).id, 'failed')).toMatchObject({
      statusReason: 'payment_changed',
      partnerKey: null,
    })
    expect((await payment(paymentId)).status).toBe('succeeded')
  })
})
