import { afterEach, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { WALLET as SHOP_WALLET } from '../../scripts/histories/payment-parts.ts'
import { until } from '../../scripts/test/until.ts'
import { setWallet } from '../../src/db/merchants/wallets.ts'
import { createRelay } from '../../src/worker/relay.ts'
import { findDifferences } from '../support/differences.ts'
import {
  arrive,
  call,
  createRefund,
  decided,
  findReturned,
  fund,
  loseRun,
  passUntilWake,
  refund,
  secondsUntilWake,
  settledPayment,
  untilRefund,
} from './refunds.ts'
import { fixture, payment, useFixture } from './story.ts'

describe('Refunds of settled payments', () => {
  useFixture()
  // There is no engine behind these payments, so nothing about payouts can be compared.
  const COMPARED = /^(refund|books_are|bookings|deposits_are|partner_receivable|payment_is|conversion_is|held_is)/
  afterEach(async () =>
    expect((await findDifferences(fixture.db)).filter((difference) => COMPARED.test(difference))).toEqual([]),
  )

  const WALLET = SHOP_WALLET.toLowerCase()
  const shown = async (paymentId: string) => {
    const { body } = await call(`/v1/payments/${paymentId}`)
    return [body['status'], body['refunded_amount'], body['refundable_amount'], body['refunds_count']]
  }
  const listEvents = async (paymentId: string): Promise<string[]> => {
    const { rows } = await fixture.db.query(
      `select type from event where payment_id = $1 and type ~ 'refund|charge' order by sequence`,
      [paymentId],
    )
    return rows.map(({ type }) => type)
  }
  const untilSkipped = (id: string, expected: string, step = '30 seconds') =>
    until(
      async () => {
        await fixture.skip(step)
        return refund(id)
      },
      ({ status }) => status === expected,
    )
  const readOrder = (attemptId: string) => fixture.orderAt('wallet_app', attemptId)
  const bookedUsdc = async (paymentId: string) => {
    const { rows } = await fixture.db.query(
      `select e.account || ' ' || sum(e.amount) as line from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
       where t.payment_id = $1 and t.kind in ('deposited', 'returned', 'refund_taken') group by e.account, e.asset
       having sum(e.amount) <> 0 order by 1`,
      [paymentId],
    )
    return rows.map(({ line }) => line)
  }

  test('a full refund is paid for in USDC at the locked rate, and the buyer gets everything back', async () => {
    const { paymentId, attemptId } = await settledPayment()
    expect(await shown(paymentId)).toEqual(['succeeded', '0.00', '49.99', 0])
    const id = await createRefund(paymentId)
    const made = await refund(id)
    expect(made).toMatchObject({ number: 1, status: 'awaiting_funds', amount: { minor: '4999', currency: 'EUR' } })
    expect(await decided(id)).toEqual({ treasury: null, there: '0', return_to: WALLET })
    expect(await shown(paymentId)).toEqual(['succeeded', '0.00', '0.00', 1])
    await fund(id)
    const done = await untilRefund(id, 'succeeded')
    expect(done).toMatchObject({ receivedMicro: made.requiredMicro, partnerKey: id })
    expect(await readOrder(attemptId)).toMatchObject({ status: 'refunded' })
    expect(await shown(paymentId)).toEqual(['succeeded', '49.99', '0.00', 1])
    // The platform has the USDC, and its partner has paid the euros.
    expect(await decided(id)).toEqual({ treasury: made.requiredMicro, there: made.requiredMicro, return_to: WALLET })
    expect(await bookedUsdc(paymentId)).toEqual([`deposits ${made.requiredMicro}`, `exchange -${made.requiredMicro}`])
    expect((await payment(paymentId)).lostMinor).toBe('0')
    expect(await listEvents(paymentId)).toEqual(['refund.created', 'refund.funded', 'refund.succeeded'])
  })

  test('two partial refunds give everything back, each with its own key', async () => {
    const { paymentId, attemptId } = await settledPayment()
    const first = await createRefund(paymentId, '20')
    await fund(first)
    await untilRefund(first, 'succeeded')
    expect(await readOrder(attemptId)).toMatchObject({ status: 'paid', receivedMinor: '2999' })
    expect(await shown(paymentId)).toEqual(['succeeded', '20.00', '29.99', 1])
    const second = await createRefund(paymentId)
    await fund(second)
    expect(await untilRefund(second, 'succeeded')).toMatchObject({
      number: 2,
      amount: { minor: '2999' },
      partnerKey: second,
    })
    expect(await readOrder(attemptId)).toMatchObject({ status: 'refunded' })
    expect(await shown(paymentId)).toEqual(['succeeded', '49.99', '0.00', 2])
  })

  test('more than was paid is refused with what is left, also if two requests come at the same moment', async () => {
    const { paymentId } = await settledPayment()
    const tooMuch = await call(`/v1/payments/${paymentId}/refunds`, { amount: '50' })
    expect([tooMuch.status, tooMuch.body['code'], tooMuch.body['maximum']]).toEqual([422, 'amount_too_large', '49.99'])
    const answers = await Promise.all(
      ['30', '30.01', '30.02'].map((amount) => call(`/v1/payments/${paymentId}/refunds`, { amount })),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422, 422])
    expect(await shown(paymentId)).toMatchObject(['succeeded', '0.00', expect.stringMatching(/^19\.9[789]$/), 1])
    const created = answers.find(({ status }) => status === 201)?.body['id']
    expect((await call(`/v1/refunds/${created}/cancel`, {})).body['status']).toBe('canceled')
    expect(await shown(paymentId)).toEqual(['succeeded', '0.00', '49.99', 1])
  })

  test('the 51st refund of a payment is refused, also if two requests come at the same moment', async () => {
    const { paymentId } = await settledPayment()
    const set = (count: number) =>
      fixture.db.query('update payment set refunds_count = $2 where id = $1', [paymentId, count])
    await set(49)
    const ask = () => call(`/v1/payments/${paymentId}/refunds`, { amount: '1' })
    const answers = await Promise.all([ask(), ask(), ask()])
    const codes = answers.map(({ status, body }) => String(body['code'] ?? status))
    expect(codes.toSorted((a, b) => a.localeCompare(b))).toEqual(['201', 'limit_reached', 'limit_reached'])
    await set(1)
  })

  test('a repeated request with its key creates one refund', async () => {
    const { paymentId } = await settledPayment()
    const ask = () => call(`/v1/payments/${paymentId}/refunds`, { amount: '10' }, { 'idempotency-key': paymentId })
    const [first, second] = [await ask(), await ask()]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body['id']).toBe(first.body['id'])
    expect(await shown(paymentId)).toEqual(['succeeded', '0.00', '39.99', 1])
  })

  test.each([undefined, '30', '49.99'])(
    'a request for %s that is repeated after its process died returns the refund that it has made',
    async (amount) => {
      const { paymentId } = await settledPayment()
      const ask = (other = amount) =>
        call(`/v1/payments/${paymentId}/refunds`, { amount: other }, { 'idempotency-key': paymentId })
      const first = await ask()
      // As the row of a request is that has no answer for a minute.
      await fixture.db.query('delete from idempotency_key')
      const second = await ask()
      expect([second.status, second.body['id']]).toEqual([201, first.body['id']])
      await fixture.db.query('delete from idempotency_key')
      expect((await ask('1')).body['code']).toBe('idempotency_key_reused')
    },
  )

  test('a chargeback that comes first leaves nothing to refund, and the USDC goes back', async () => {
    const { paymentId, attemptId } = await settledPayment()
    const id = await createRefund(paymentId)
    await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' }, 'silently')
    await fund(id)
    expect(await untilRefund(id, 'failed')).toMatchObject({ statusReason: 'money_gone', partnerKey: null })
    expect(await decided(id)).toMatchObject({ treasury: '0' })
    expect((await payment(paymentId)).lostMinor).toBe('4999')
    expect(await shown(paymentId)).toEqual(['succeeded', '0.00', '0.00', 1])
    const more = await call(`/v1/payments/${paymentId}/refunds`, {})
    expect([more.status, more.body['code']]).toEqual([422, 'amount_too_large'])
  })

  test('a chargeback of what is left after a refund is a loss, and the refund is none', async () => {
    const { paymentId, attemptId } = await settledPayment()
    const id = await createRefund(paymentId, '20')
    await fund(id)
    await untilRefund(id, 'succeeded')
    await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' })
    await until(
      () => payment(paymentId),
      ({ lostMinor }) => lostMinor === '2999',
    )
    expect(await shown(paymentId)).toEqual(['succeeded', '20.00', '0.00', 1])
  })

  test('a chargeback of a part before a refund stays a loss, and is announced once', async () => {
    const { paymentId, attemptId } = await settledPayment()
    await fixture.atPartner('wallet_app', attemptId, { action: 'reverse', receivedMinor: '3499' })
    await until(
      () => payment(paymentId),
      ({ lostMinor }) => lostMinor === '1500',
    )
    await fixture.faultAt('wallet_app', { fault: 'refund_pending', attemptId, times: 1, seconds: 60 })
    const id = await createRefund(paymentId, '20')
    await fund(id)
    await untilRefund(id, 'pending')
    expect(await shown(paymentId)).toEqual(['succeeded', '0.00', '14.99', 1])
    await untilSkipped(id, 'succeeded')
    expect(await shown(paymentId)).toEqual(['succeeded', '20.00', '14.99', 1])
    expect(await listEvents(paymentId)).toEqual([
      'payment.chargeback',
      'refund.created',
      'refund.funded',
      'refund.succeeded',
    ])
  })

  test.each(['20', '49.99'])(
    'a refund of %s that the partner has made, and a restored backup has forgotten, is made once and is no chargeback',
    async (amount) => {
      const { paymentId, attemptId } = await settledPayment()
      const id = await createRefund(paymentId, amount)
      await arrive(id)
      const { requiredMicro, amount: asked } = await refund(id)
      const key = id
      await fixture.sandbox.partners.wallet_app.book.refund(attemptId, { key, minor: asked.minor })
      // The callback is read before the refund continues.
      await fixture.sandbox.callbacks.flush()
      await until(
        () => fixture.read(paymentId),
        ({ attempts: [attempt] }) => attempt?.held === `${4999 - Number(asked.minor)}`,
      )
      expect((await payment(paymentId)).lostMinor).toBe('0')
      await fixture.relay.wakeRefunds()
      expect(await untilRefund(id, 'succeeded')).toMatchObject({ partnerKey: key })
      expect(await decided(id)).toMatchObject({ treasury: requiredMicro })
      expect(await readOrder(attemptId)).toMatchObject({ refunds: [{ key, minor: asked.minor }] })
      expect(await listEvents(paymentId)).toEqual(['refund.created', 'refund.funded', 'refund.succeeded'])
    },
  )

  test('a refund with the number of another one, which a restored backup has forgotten, is made as well', async () => {
    const { paymentId, attemptId } = await settledPayment()
    const forgotten = await createRefund(paymentId, '20')
    await fund(forgotten)
    await untilRefund(forgotten, 'succeeded')
    const count = (refunds: number, number: number) =>
      fixture.db.transaction(async (tx) => {
        await tx.query(`set local session_replication_role = 'replica'`)
        await tx.query('update payment set refunds_count = $2 where id = $1', [paymentId, refunds])
        await tx.query('update refund set number = $2 where id = $1', [forgotten, number])
      })
    await count(0, 99)
    const id = await createRefund(paymentId, '20')
    const [made, known] = [await refund(id), await refund(forgotten)]
    expect([made.number, made.place?.nonce === known.place?.nonce]).toEqual([1, false])
    await fund(id)
    await untilRefund(id, 'succeeded')
    expect(await readOrder(attemptId)).toMatchObject({
      receivedMinor: '999',
      refunds: [{ minor: '2000' }, { minor: '2000' }],
    })
    await count(2, 2)
  })

  test.each(['funded', 'pending'])(
    'a refund that had failed, and is %s again by a restored backup, is not made after its USDC has gone back',
    async (status) => {
      const { paymentId, attemptId } = await settledPayment()
      const id = await createRefund(paymentId, '20')
      const lost = { fault: 'timeout_before_effect', operation: 'refund', attemptId, times: 1000 }
      if (status === 'pending') await fixture.faultAt('wallet_app', lost)
      await arrive(id)
      if (status === 'pending') {
        await fixture.relay.wakeRefunds()
        await untilRefund(id, status)
      }
      await findReturned(id)
      await fixture.clearFaults()
      await fixture.relay.wakeRefunds()
      if (status === 'pending') await untilSkipped(id, 'failed', '10 seconds')
      expect(await untilRefund(id, 'failed')).toMatchObject({ statusReason: 'usdc_returned' })
      expect(await readOrder(attemptId)).toMatchObject({ status: 'paid', refunds: [] })
      expect(await decided(id)).toMatchObject({ treasury: '0', there: '0' })
    },
  )

  test('a refund that the partner refuses fails, the USDC goes back, and another one has its own key', async () => {
    const { paymentId, attemptId } = await settledPayment()
    await fixture.faultAt('wallet_app', { fault: 'refund_refused', attemptId, times: 1 })
    const id = await createRefund(paymentId)
    await fund(id)
    expect(await untilRefund(id, 'failed')).toMatchObject({ statusReason: 'refused' })
    expect(await decided(id)).toMatchObject({ treasury: '0' })
    expect(await shown(paymentId)).toEqual(['succeeded', '0.00', '49.99', 1])
    const again = await createRefund(paymentId)
    await fund(again)
    expect(await untilRefund(again, 'succeeded')).toMatchObject({ partnerKey: again })
  })

  test('a refund that is pending for days is asked about until its end', async () => {
    const { paymentId, attemptId } = await settledPayment()
    await fixture.faultAt('wallet_app', { fault: 'refund_pending', attemptId, times: 1, seconds: 3 * 86_400 })
    const id = await createRefund(paymentId, '20')
    await fund(id)
    await untilRefund(id, 'pending')
    expect(await decided(id)).toMatchObject({ treasury: null })
    await untilSkipped(id, 'succeeded', '6 hours')
    expect(await readOrder(attemptId)).toMatchObject({ status: 'paid', receivedMinor: '2999' })
  })

  test.each(['timeout_after_effect', 'timeout_before_effect', 'server_error'])(
    'a refund whose request has no answer (%s) is asked again under its key',
    async (fault) => {
      const { paymentId, attemptId } = await settledPayment()
      const id = await createRefund(paymentId, '20')
      await fixture.faultAt('wallet_app', { fault, operation: 'refund', attemptId, times: 2 })
      await fund(id)
      await untilSkipped(id, 'succeeded', '10 seconds')
      expect(await readOrder(attemptId)).toMatchObject({ status: 'paid', receivedMinor: '2999' })
    },
  )

  test('too little USDC waits for the rest until the expiry, and then goes back', async () => {
    const { paymentId } = await settledPayment()
    const id = await createRefund(paymentId, '20')
    await fund(id, '1000000')
    expect(await refund(id)).toMatchObject({ status: 'awaiting_funds', receivedMicro: '1000000' })
    await fixture.skip('66 minutes')
    await untilRefund(id, 'expired')
    expect(await decided(id)).toMatchObject({ treasury: '0', there: '1000000' })
    expect(await shown(paymentId)).toEqual(['succeeded', '0.00', '49.99', 1])
  })

  test('USDC in two parts funds a refund, and what is too much goes back', async () => {
    const { paymentId } = await settledPayment()
    const id = await createRefund(paymentId, '20')
    const { requiredMicro } = await refund(id)
    await fund(id, '1000000')
    await fund(id, requiredMicro)
    await untilRefund(id, 'succeeded')
    const there = (BigInt(requiredMicro) + 1_000_000n).toString()
    expect(await decided(id)).toMatchObject({ treasury: requiredMicro, there })
    expect(await bookedUsdc(paymentId)).toEqual([
      `deposits ${there}`,
      `exchange -${requiredMicro}`,
      'suspense -1000000',
    ])
  })

  test('USDC that arrives after the expiry, or a second time, changes nothing but what goes back', async () => {
    const { paymentId } = await settledPayment()
    const late = await createRefund(paymentId, '20')
    await fixture.skip('66 minutes')
    await untilRefund(late, 'expired')
    await fund(late)
    expect(await refund(late)).toMatchObject({ status: 'expired' })
    expect(await decided(late)).toMatchObject({ treasury: '0', there: (await refund(late)).requiredMicro })
    const twice = await createRefund(paymentId, '20')
    await fund(twice)
    await untilRefund(twice, 'succeeded')
    await fund(twice)
    const { requiredMicro, receivedMicro } = await refund(twice)
    expect(receivedMicro).toBe((2n * BigInt(requiredMicro)).toString())
    expect(await decided(twice)).toMatchObject({ treasury: requiredMicro, there: receivedMicro })
  })

  test('a canceled refund takes no USDC, and a funded one cannot be canceled', async () => {
    const { paymentId } = await settledPayment()
    const id = await createRefund(paymentId, '20')
    expect((await call(`/v1/refunds/${id}/cancel`, {})).body['status']).toBe('canceled')
    await fund(id)
    expect(await refund(id)).toMatchObject({ status: 'canceled' })
    expect(await decided(id)).toMatchObject({ treasury: '0' })
    const funded = await createRefund(paymentId, '20')
    await fund(funded)
    await untilRefund(funded, 'succeeded')
    const answer = await call(`/v1/refunds/${funded}/cancel`, {})
    expect([answer.status, answer.body['code']]).toEqual([409, 'not_possible_now'])
  })

  test('USDC goes back to the wallet of the payment, although the merchant has another wallet since', async () => {
    const { paymentId } = await settledPayment()
    await setWallet(fixture.db, fixture.tenant, `0x${'9'.repeat(40)}`)
    const id = await createRefund(paymentId, '20')
    await setWallet(fixture.db, fixture.tenant, SHOP_WALLET)
    expect(await decided(id)).toMatchObject({ return_to: WALLET })
  })

  test.each(['awaiting_funds', 'funded', 'pending'])(
    'a refund whose run is lost while it is %s is continued by another one',
    async (status) => {
      const { paymentId, attemptId } = await settledPayment()
      if (status === 'pending')
        await fixture.faultAt('wallet_app', { fault: 'refund_pending', attemptId, times: 1, seconds: 60 })
      const id = await createRefund(paymentId, '20')
      if (status === 'pending') {
        await fund(id)
        await untilRefund(id, 'pending')
      }
      await loseRun(id)
      if (status !== 'funded') {
        await passUntilWake(id)
        await fixture.relay.wakeRefunds()
      }
      if (status !== 'pending') await fund(id)
      await untilSkipped(id, 'succeeded')
      expect(await readOrder(attemptId)).toMatchObject({ receivedMinor: '2999' })
    },
  )

  test('a run that waits says when it acts next, and one that is lost by then is missed a minute later', async () => {
    const { paymentId, attemptId } = await settledPayment()
    await fixture.faultAt('wallet_app', { fault: 'refund_pending', attemptId, times: 1, seconds: 86_400 })
    const id = await createRefund(paymentId, '20')
    const waits = (seconds: number) =>
      until(
        async () => {
          await fixture.relay.wakeRefunds()
          return secondsUntilWake(id)
        },
        (left) => left > seconds - 30 && left <= seconds,
      )
    // An hour for the USDC, five minutes for it to become final, and the minute.
    await waits(66 * 60)
    await fund(id)
    await untilRefund(id, 'pending')
    await waits(2 * 60)
    await fixture.skip('61 minutes')
    await waits(6 * 3600 - 59 * 60)
  })

  test('a wake that does not reach Temporal is sent again within seconds, also if the refund is pending', async () => {
    const { paymentId, attemptId } = await settledPayment()
    await fixture.faultAt('wallet_app', { fault: 'refund_pending', attemptId, times: 1, seconds: 60 })
    const id = await createRefund(paymentId, '20')
    await fund(id)
    await untilRefund(id, 'pending')
    await loseRun(id)
    const { db, client, workflows, clock } = fixture
    const refunds = { wake: () => Promise.reject(new Error('Temporal does not answer')) }
    const relay = createRelay({ db, client, workflows, refunds, clock, log: pino({ level: 'silent' }) })
    await passUntilWake(id)
    expect([await relay.wakeRefunds(), await relay.wakeRefunds()]).toEqual([0, 0])
    expect(await secondsUntilWake(id)).toBeLessThan(10)
    await passUntilWake(id)
    expect(await fixture.relay.wakeRefunds()).toBe(1)
    await untilSkipped(id, 'succeeded')
  })

  test('a payment that is not paid is not refunded, and the answer says what to do', async () => {
    const paymentId = await fixture.createPayment()
    const { status, body } = await call(`/v1/payments/${paymentId}/refunds`, {})
    expect([status, body['code']]).toEqual([409, 'not_possible_now'])
    expect(body['detail']).toContain('To have it not paid, cancel it')
  })
})
