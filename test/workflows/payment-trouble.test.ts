import { describe, expect, test } from '@jest/globals'
import { WorkflowUpdateFailedError } from '@temporalio/client'
import { until } from '../../scripts/test/until.ts'
import { findImbalances } from '../../src/db/ledger.ts'
import { lockPayments } from '../../src/db/payments/payments.ts'
import { stopPayout } from '../../src/db/settlement/payouts.ts'
import { SETTLE_ACTIVITY_ID } from '../../src/domain/ids.ts'
import { convertToMicroUsdc } from '../../src/domain/money.ts'
import { OTHER_TOKEN } from '../../src/domain/payment/reading.ts'
import { changePayment } from '../../src/payments/change-payment.ts'
import { sendDecision } from '../../src/temporal/decisions.ts'
import { operatorUpdates } from '../../src/workflows/messages.ts'
import {
  attempts,
  confirmedBefore,
  decide,
  fixture,
  handle,
  hasFailedToRead,
  listEventTypes,
  open,
  opened,
  payment,
  result,
  settled,
  skipWhileConverting,
  untilReadFailed,
  untilReviewed,
  untilStatus,
  useFixture,
} from './story.ts'

describe('A payment in trouble', () => {
  useFixture()

  describe('Trouble at the partner', () => {
    test.each([
      ['timeout_after_effect', 'convert', 'converter'],
      ['server_error', 'read', 'wallet_app'],
    ] as const)('a call with trouble is tried again, with one effect: %s of %s', async (fault, operation, at) => {
      const { paymentId, attemptId } = await opened()
      await fixture.faultAt(at, { fault, operation, times: 1, ...(fault.startsWith('timeout') && { mode: 'close' }) })
      await fixture.pay('wallet_app', attemptId)
      await settled(paymentId)
      expect((await fixture.timeline(paymentId)).filter(({ kind }) => kind === 'payment.converted')).toHaveLength(1)
    })

    test('a partner that cannot be reached is polled until it answers', async () => {
      const { paymentId, attemptId } = await opened()
      await fixture.faultAt('wallet_app', { fault: 'server_error', operation: 'read' })
      await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
      await untilReadFailed(paymentId)
      await fixture.clearFaults()
      expect((await payment(paymentId)).status).toBe('pending')
      await fixture.skip('61 seconds')
      await settled(paymentId)
    })

    test('old rates price nothing and lock no rate, although the money is read; present ones settle it', async () => {
      const { paymentId, attemptId } = await opened()
      await fixture.faultAt('converter', { fault: 'old_rates', seconds: 601 })
      // The rates that were fetched before are still young: they are used until ten minutes after they were made.
      await fixture.skip('10 minutes')
      await fixture.skip('1 second')
      const ask = (path: string, body?: object) =>
        fetch(`${fixture.api}${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { authorization: `Bearer ${fixture.secretKey}`, 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
      for (const answer of [
        await ask('/v1/payments', { amount: '49.99', currency: 'EUR' }),
        await ask('/v1/quotes?amount=49.99&currency=EUR'),
      ]) {
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
        expect(await answer.json()).toMatchObject({ code: 'temporarily_unavailable' })
      }
      await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
      // The money is read at once; its value is computed when a rate is known.
      await untilStatus(paymentId, 'processing')
      expect(await payment(paymentId)).toMatchObject({ rate: null, confirmed: { minor: '4999' }, usdc: null })
      await fixture.clearFaults()
      await skipWhileConverting(paymentId)
      expect((await settled(paymentId)).rate).not.toBeNull()
    })

    test('callbacks that arrive twice and out of order change nothing more', async () => {
      await fixture.faultAt('wallet_app', { fault: 'callbacks_twice' })
      const { paymentId, attemptId } = await opened()
      await fixture.pay('wallet_app', attemptId)
      await settled(paymentId)
      expect((await fixture.timeline(paymentId)).filter(({ to_status }) => to_status === 'processing')).toHaveLength(1)
    })

    test('a settlement that takes longer than a quarter of an hour is marked as delayed', async () => {
      await fixture.faultAt('converter', { fault: 'delay', seconds: 1000, times: 1 })
      const { paymentId, attemptId } = await opened()
      await fixture.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'processing')
      await fixture.skip('16 minutes')
      await until(
        () => payment(paymentId),
        (row) => row.exception === 'settlement_delayed',
      )
      await skipWhileConverting(paymentId)
      expect((await settled(paymentId)).exception).toBeNull()
    })

    test('an endpoint that fails gets its own workflow and keeps no payment open', async () => {
      await fetch(`${fixture.inboxUrl}/behavior`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ answer: 500, times: 1 }),
      })
      const { paymentId, attemptId } = await opened()
      await fixture.pay('wallet_app', attemptId)
      await settled(paymentId)
      expect(await listEventTypes(paymentId)).toHaveLength(1)
      await fixture.skip('7 seconds')
      expect(
        await until(
          () => listEventTypes(paymentId),
          (events) => events.length > 1,
        ),
      ).toEqual(['payment.succeeded', 'payment.succeeded'])
    })
  })

  /** As `temporal activity fail` does, once the activity waits. */
  async function failByHand(paymentId: string, activityId: string): Promise<void> {
    const failure = { message: 'by hand', applicationFailureInfo: { type: 'ByHand', nonRetryable: true } }
    const waiting = { namespace: 'default', workflowId: paymentId, activityId, identity: 'ada' }
    await until(
      () =>
        fixture.client.workflowService.respondActivityTaskFailedById({ ...waiting, failure }).then(
          () => true,
          () => false,
        ),
      Boolean,
    )
  }

  describe('Actions of an operator in the Temporal UI', () => {
    test.each([
      ['without input', []],
      ['with null', [null]],
      ['with another input', [{ attempt: 'att_1' }]],
      ['with an id that is no text', [{ attemptId: 7 }]],
    ])('a signal %s stops no payment', async (_how, args) => {
      const { paymentId, attemptId } = await opened()
      await handle(paymentId).signal('orderChanged', ...args)
      await fixture.pay('wallet_app', attemptId)
      await settled(paymentId)
    })

    test('a transfer that is failed by hand is awaited again, and decisions are answered', async () => {
      const { paymentId, attemptId } = await opened()
      await fixture.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'settling')
      await failByHand(paymentId, SETTLE_ACTIVITY_ID)
      expect(await decide(paymentId, 'hold')).toMatchObject({ message: 'hold: recorded' })
      expect(await decide(paymentId, 'release')).toMatchObject({ message: 'release: recorded' })
      await settled(paymentId)
    })

    test('a decision whose run is ended before it is answered is not reported as refused', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await fixture.pay('wallet_app', attemptId, { receivedMinor: '6000' })
      const { version } = await untilReviewed(paymentId, 'too_little')
      const decision = { operator: 'ada', reason: 'x', version }
      await fixture.db.transaction(async (tx) => {
        await lockPayments(tx, [paymentId])
        const outcome = sendDecision(fixture.client, { workflowId: paymentId, say: 'give_back', decision })
        await until(
          () =>
            fixture.db.query(
              "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
            ),
          ({ rowCount }) => rowCount === 1,
        )
        await handle(paymentId).terminate('by hand')
        expect(await outcome).toMatchObject({ kind: 'unknown' })
      })
      await fixture.unlockTime()
    })
  })

  describe('A lost workflow', () => {
    test('a run that is terminated by hand in the middle is started again by the next message, and continues from the row', async () => {
      const { paymentId, attemptId } = await opened()
      await handle(paymentId).terminate('by hand')
      await fixture.pay('wallet_app', attemptId)
      await settled(paymentId)
    })

    test('a lost start is repeated by the relay', async () => {
      const paymentId = await fixture.createPaymentWithoutStart()
      await expect(handle(paymentId).describe()).rejects.toMatchObject({ name: 'WorkflowNotFoundError' })
      await fixture.relay.startPayments()
      await fixture.pay('wallet_app', await open(paymentId))
      await settled(paymentId)
    })

    test('a buyer who is faster than the start opens an order at once, and the start changes nothing', async () => {
      const paymentId = await fixture.createPaymentWithoutStart()
      const attemptId = await open(paymentId)
      const { runId } = await handle(paymentId).describe()
      expect(await fixture.relay.startPayments()).toBe(1)
      expect((await handle(paymentId).describe()).runId).toBe(runId)
      await fixture.pay('wallet_app', attemptId)
      await settled(paymentId)
    })

    test('a callback that was stored and not passed on is passed on by the relay', async () => {
      const { paymentId, attemptId } = await opened()
      await fixture.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
      await fixture.pay('wallet_app', attemptId)
      await fixture.storeCallbackOnly('wallet_app', attemptId)
      await fixture.relay.relayCallbacks()
      await settled(paymentId)
      expect(await fixture.relay.relayCallbacks()).toBe(0)
    })
  })

  describe('A run that takes over a restored row', () => {
    /** The row is from before the conversion; the partner gave the money back in the time that is forgotten. */
    async function forgotten() {
      await fixture.faultAt('converter', { fault: 'server_error', operation: 'convert' })
      const { paymentId, attemptId } = await opened()
      await fixture.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'processing')
      await handle(paymentId).terminate('database restored')
      await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' }, 'silently')
      await fixture.clearFaults()
      await confirmedBefore(attemptId)
      return { paymentId, attemptId }
    }
    const payouts = async (paymentId: string) =>
      (await fixture.db.query('select state from payout where payment_id = $1', [paymentId])).rows

    test('a restored payment asks first if the money is still there, and pays nothing for returned money', async () => {
      const { paymentId } = await forgotten()
      await fixture.workflows.resume(await payment(paymentId))
      await untilStatus(paymentId, 'pending')
      expect((await payment(paymentId)).usdc).toBeNull()
      expect(await payouts(paymentId)).toEqual([])
    })

    test('a restored payment moves no money while the partner does not answer', async () => {
      const { paymentId, attemptId } = await forgotten()
      await fixture.faultAt('wallet_app', { fault: 'server_error', operation: 'read' })
      await fixture.workflows.resume(await payment(paymentId))
      await untilReadFailed(paymentId)
      const { status, usdc } = await payment(paymentId)
      expect([status, usdc]).toEqual(['processing', null])
      await fixture.clearFaults()
      await fixture.workflows.signalOrderChanged(paymentId, attemptId)
      await untilStatus(paymentId, 'pending')
      expect(await payouts(paymentId)).toEqual([])
    })

    test('a restored payment asks a silent partner again after seconds, and not only at the next poll', async () => {
      const { paymentId } = await forgotten()
      await fixture.faultAt('wallet_app', { fault: 'server_error', operation: 'read' })
      await fixture.workflows.resume(await payment(paymentId))
      await untilReadFailed(paymentId)
      await fixture.clearFaults()
      // The first poll is after a minute.
      await fixture.skip('2 seconds')
      await untilStatus(paymentId, 'pending')
    })
  })
})

describe('Callbacks whose order cannot be read', () => {
  useFixture()

  /** The partner can be called and takes the money, but its orders cannot be read. */
  const unreadable = (partner: 'wallet_app' | 'local_partner') =>
    fixture.faultAt(partner, { fault: 'server_error', operation: 'read' })

  const startsTimer = (event: { timerStartedEventAttributes?: unknown }) => Boolean(event.timerStartedEventAttributes)

  /** The details that an operator reads in the Temporal UI. */
  async function readDetails(paymentId: string): Promise<string | undefined> {
    const query = '__temporal_workflow_metadata'
    return (await handle(paymentId).query<{ currentDetails?: string }, []>(query)).currentDetails
  }

  /** The relay’s next round, as if the time of every repeat had come. */
  async function relayRound(): Promise<void> {
    await fixture.db.query('update partner_callback set due_at = now() where applied_at is null')
    await fixture.relay.relayCallbacks()
  }

  const unread = async (attemptId: string): Promise<number> => {
    const { rowCount } = await fixture.db.query(
      'select 1 from partner_callback where attempt_id = $1 and applied_at is null',
      [attemptId],
    )
    return rowCount ?? 0
  }

  describe('A callback whose order cannot be read', () => {
    test('an unread callback is repeated by the relay until it is applied, without waiting for a poll', async () => {
      const { paymentId, attemptId } = await opened()
      await unreadable('wallet_app')
      await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
      await untilReadFailed(paymentId)
      expect(await unread(attemptId)).toBeGreaterThan(0)
      await relayRound()
      await untilReadFailed(paymentId, 2)
      expect((await payment(paymentId)).status).toBe('pending')
      await fixture.clearFaults()
      await relayRound()
      await settled(paymentId)
      expect(await unread(attemptId)).toBe(0)
    })

    test('an unread callback is repeated after its run has ended, so that late money after the end is not lost', async () => {
      const paymentId = await fixture.createPayment({ provider: undefined, amount: '50.00', currency: 'EUR' })
      const answer = await fixture.openAttempt(paymentId, 'local_partner', 'upi')
      if (answer.kind !== 'redirect') throw new Error('not opened')
      await fixture.faultAt('local_partner', { fault: 'late_money', attemptId: answer.attemptId })
      await fixture.workflows.cancel(paymentId)
      await fixture.skip('72 hours')
      expect(await result(paymentId)).toBe('canceled')
      await fixture.faultAt('local_partner', { fault: 'late_money' })
      await unreadable('local_partner')
      await fixture.pay('local_partner', answer.attemptId)
      await untilReadFailed(paymentId)
      expect(await unread(answer.attemptId)).toBeGreaterThan(0)
      await fixture.clearFaults()
      await relayRound()
      await untilReviewed(paymentId, 'excess')
      expect(await attempts(paymentId)).toEqual(['paid'])
      expect(await unread(answer.attemptId)).toBe(0)
    })

    test('an unread callback does not change a payout that is on its way, and starts no timer for it', async () => {
      const { paymentId, attemptId } = await opened()
      await fixture.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'settling')
      await unreadable('wallet_app')
      await fixture.workflows.signalOrderChanged(paymentId, attemptId)
      const events = await untilReadFailed(paymentId)
      expect(events.slice(events.findIndex(hasFailedToRead)).filter(startsTimer)).toEqual([])
      expect((await payment(paymentId)).status).toBe('settling')
      await fixture.clearFaults()
      await fixture.workflows.signalOrderChanged(paymentId, attemptId)
      await settled(paymentId)
    })

    test('an unread callback is repeated to a run that was terminated in between', async () => {
      const { paymentId, attemptId } = await opened()
      await unreadable('wallet_app')
      await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
      await untilReadFailed(paymentId)
      await handle(paymentId).terminate('lost')
      await fixture.clearFaults()
      await relayRound()
      await untilStatus(paymentId, 'settling')
      await settled(paymentId)
    })
  })

  describe('The order of a payment that waited for an operator is read again before its money moves', () => {
    test('money that the partner took back silently during the wait is not settled', async () => {
      const { paymentId, attemptId } = await underpaid()
      await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' }, 'silently')
      expect(await decide(paymentId, 'settle')).toMatchObject({ status: 'processing' })
      await untilStatus(paymentId, 'pending')
      expect(await payment(paymentId)).toMatchObject({ usdc: null, confirmed: null, paidAttemptId: null })
      await until(
        () => fixture.read(paymentId),
        ({ sales }) => sales.map(({ state }) => state).join() === 'ended',
      )
    })

    test('nothing is sold before the partner has answered', async () => {
      const { paymentId } = await underpaid()
      await unreadable('wallet_app')
      expect(await decide(paymentId, 'settle')).toMatchObject({ status: 'processing' })
      await fixture.skip('5 seconds')
      expect(await payment(paymentId)).toMatchObject({ status: 'processing', usdc: null })
      await fixture.clearFaults()
      await skipWhileConverting(paymentId)
      await settled(paymentId)
    })

    test('a payout that was stopped is not tried again when its money is gone: it is voided, and the payment ends as refunded', async () => {
      const { paymentId, attemptId } = await payoutStopped()
      await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' }, 'silently')
      await decide(paymentId, 'settle')
      await until(
        () => payment(paymentId),
        ({ statusReason }) => statusReason === 'voiding',
      )
      const details = await until(
        () => readDetails(paymentId),
        (text) => text?.includes('whether the payout was already on its way') === true,
      )
      expect(details).not.toContain('waits for an operator')
      const { rows } = await fixture.db.query('select state from payout where payment_id = $1', [paymentId])
      expect(rows).toEqual([{ state: 'voiding' }])
      await fixture.voidPayout(paymentId)
      expect(await result(paymentId)).toBe('refunded')
    })

    test('neither the settlement’s own command nor another decision releases the payout of a payment on hold', async () => {
      const { paymentId } = await payoutStopped()
      await decide(paymentId, 'hold')
      const release = fixture.db.transaction((tx) => fixture.hooks.onResumed(tx, { ownerId: paymentId }))
      await expect(release).rejects.toThrow('An operator holds the payment')
      await decide(paymentId, 'settle')
      expect(await payment(paymentId)).toMatchObject({ status: 'under_review', statusReason: 'held', held: true })
      const { rows } = await fixture.db.query('select state from payout where payment_id = $1', [paymentId])
      expect(rows).toEqual([{ state: 'stopped' }])
      await decide(paymentId, 'release')
      await settled(paymentId)
    })

    async function payoutStopped() {
      const { paymentId, attemptId } = await opened()
      await fixture.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'settling')
      const held = { ownerId: paymentId, reason: 'blacklisted', detail: 'the wallet is on the list' } as const
      await fixture.db.transaction(async (tx) => {
        expect(await stopPayout(tx, paymentId, held.detail)).toBe(true)
        await fixture.hooks.onStopped(tx, held)
      })
      const { rows: notices } = await fixture.db.query("select data from notice where kind = 'payout.stopped'")
      expect(notices).toContainEqual({ data: { id: held.ownerId, reason: held.reason } })
      await fixture.relay.relayChanges()
      await untilReviewed(paymentId, 'payout_stopped')
      await confirmedBefore(attemptId)
      return { paymentId, attemptId }
    }

    async function underpaid() {
      const { paymentId, attemptId } = await opened()
      await fixture.pay('wallet_app', attemptId, { receivedMinor: '3000' })
      await untilReviewed(paymentId, 'too_little')
      await confirmedBefore(attemptId)
      return { paymentId, attemptId }
    }
  })
})

describe('Decisions about a payment', () => {
  useFixture()

  /** Waits until the Temporal UI shows the version of the row, and returns it. */
  async function untilShown(paymentId: string): Promise<number> {
    const versions = async () => {
      const metadata = await handle(paymentId).query<{ currentDetails?: string }, []>('__temporal_workflow_metadata')
      return [/version (\d+)/.exec(metadata.currentDetails ?? '')?.[1], String((await payment(paymentId)).version)]
    }
    const [shown] = await until(versions, ([shown, ofRow]) => shown === ofRow)
    return Number(shown)
  }

  const settleShown = async (paymentId: string) => decide(paymentId, 'settle', { version: await untilShown(paymentId) })

  /** The summaries in the history of a run, by the type of the event. */
  async function readSummaries(workflowId: string): Promise<[string, string | null][]> {
    const { events } = await handle(workflowId).fetchHistory()
    return (events ?? []).flatMap((event): [string, string | null][] => {
      const { data } = event.userMetadata?.summary ?? {}
      const summary = data ? (JSON.parse(Buffer.from(data).toString()) as string) : null
      if (event.timerStartedEventAttributes) return [['timer', summary]]
      if (event.activityTaskScheduledEventAttributes) return [['activity', summary]]
      return event.markerRecordedEventAttributes ? [['reading', summary]] : []
    })
  }

  describe('A payment in the Temporal UI', () => {
    test('each timer, activity and reading of a payment has a summary, and its details have amount, merchant and commands', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await fixture.pay('wallet_app', attemptId, { receivedMinor: '9000' })
      await untilReviewed(paymentId, 'too_little')
      const version = await untilShown(paymentId)
      const { currentDetails } = await handle(paymentId).query<{ currentDetails: string }, []>(
        '__temporal_workflow_metadata',
      )
      const { merchantId } = await payment(paymentId)
      for (const line of [
        '- amount: 100.00 EUR',
        `- merchant: ${merchantId}`,
        `- attempt ${attemptId}: wallet_app, banking_app, `,
        `- more: \`pinrail payments explain ${paymentId}\``,
        `**too_little (${attemptId}).** `,
        'The partner has 90.00 EUR, of 100.00 EUR that was asked for.',
        ...[
          'settle',
          `give_back --attempt ${attemptId}`,
          `give_back --attempt ${attemptId} --outside --proof '<reference>'`,
          'hold',
        ].map(
          (answer) =>
            `- decide: \`pinrail payments decide ${paymentId} ${answer} --version ${version} --operator '<name>' --reason '<text>'\``,
        ),
      ])
        expect(currentDetails).toContain(line)
      await decide(paymentId, 'settle')
      await settled(paymentId)
      const summaries = await readSummaries(paymentId)
      expect(summaries.filter(([, summary]) => summary === null)).toEqual([])
      expect(summaries).toEqual(
        expect.arrayContaining([
          ['timer', 'The open orders are read again'],
          ['reading', 'Open an order at the partner that the buyer has chosen'],
          ['reading', 'Read the order from its partner'],
          ['activity', 'Carry out the decision of an operator'],
          ['activity', 'Convert the money to USDC and send it to the merchant, until its block is final'],
          ['reading', 'Send the event to every endpoint'],
        ]),
      )
    })
  })

  describe('Decisions of an operator', () => {
    test('too little money waits for an operator, whose decision to settle pays it out', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await fixture.pay('wallet_app', attemptId, { receivedMinor: '9000' })
      expect(await untilReviewed(paymentId, 'too_little')).toMatchObject({
        status: 'under_review',
        statusReason: 'too_little',
        exception: 'underpaid',
      })
      await expect(decide(paymentId, 'write_off')).rejects.toThrow(WorkflowUpdateFailedError)
      expect(await decide(paymentId, 'settle')).toMatchObject({ status: 'processing' })
      const row = await settled(paymentId)
      expect(row.confirmed).toEqual({ minor: '9000', currency: 'EUR' })
      expect((await fixture.timeline(paymentId)).filter(({ actor }) => actor === 'operator')).toHaveLength(1)
    })

    test('too little money that is given back goes back once, and nothing is settled', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await fixture.pay('wallet_app', attemptId, { receivedMinor: '100' })
      await untilReviewed(paymentId, 'too_little')
      expect(await decide(paymentId, 'give_back')).toMatchObject({ status: 'under_review' })
      expect(await result(paymentId)).toBe('refunded')
      expect((await fixture.orderAt('wallet_app', attemptId)).status).toBe('refunded')
      expect(await findImbalances(fixture.db)).toEqual([])
    })

    test('a give-back whose partner does not answer blocks no decision, and is carried out when it answers again', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await fixture.pay('wallet_app', attemptId, { receivedMinor: '6000' })
      await untilReviewed(paymentId, 'too_little')
      await fixture.faultAt('wallet_app', { fault: 'server_error', operation: 'refund' })
      expect(await decide(paymentId, 'give_back')).toMatchObject({ message: 'give_back: recorded' })
      await until(
        () => payment(paymentId),
        ({ statusReason }) => statusReason === 'giving_back',
      )
      expect(await decide(paymentId, 'hold')).toMatchObject({ message: 'hold: recorded' })
      await fixture.clearFaults()
      await fixture.skip('61 seconds')
      expect(await result(paymentId)).toBe('refunded')
      expect((await fixture.orderAt('wallet_app', attemptId)).status).toBe('refunded')
    })

    test('a decision without a name and a reason is refused', async () => {
      const { paymentId } = await opened()
      await expect(
        handle(paymentId).executeUpdate(operatorUpdates.hold, { args: [{ operator: '', reason: '' }] }),
      ).rejects.toThrow(WorkflowUpdateFailedError)
      expect((await payment(paymentId)).held).toBe(false)
    })

    test('a decision is about the version that was read: sent twice, or too late, it accepts nothing newer', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await fixture.pay('wallet_app', attemptId, { receivedMinor: '6000' })
      const { version } = await untilReviewed(paymentId, 'too_little')
      const settle = (seen: number | undefined) => decide(paymentId, 'settle', { version: seen as number })
      await expect(settle(undefined)).rejects.toMatchObject({
        cause: { message: expect.stringContaining('Add "version"') },
      })
      await expect(settle(version - 1)).rejects.toMatchObject({
        cause: { message: expect.stringContaining('has changed since you looked') },
      })
      // Newer than the run’s version: the row is asked, and does not have that version.
      const decision = { operator: 'ada', reason: 'x', version: version + 1 }
      expect(await sendDecision(fixture.client, { workflowId: paymentId, say: 'settle', decision })).toEqual({
        kind: 'refused',
        message: expect.stringContaining('has changed since you looked'),
      })
      await fixture.faultAt('converter', offRate(paymentId))
      expect(await settle(version)).toMatchObject({ status: 'processing', message: 'settle: recorded' })
      await untilReviewed(paymentId, 'too_little', 'far_fill')
      await expect(settle(version)).rejects.toMatchObject({
        cause: { message: expect.stringContaining('has changed since you looked') },
      })
      expect((await payment(paymentId)).agreed).toBeNull()
      await decide(paymentId, 'give_back')
      expect(await result(paymentId)).toBe('refunded')
    })

    test('the Temporal UI shows the version that is accepted, also when the run’s own clock has changed the row', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await fixture.faultAt('converter', offRate(paymentId))
      await fixture.pay('wallet_app', attemptId)
      await untilReviewed(paymentId, 'far_fill')
      await fixture.skip('16 minutes')
      await until(
        () => payment(paymentId),
        (row) => row.exception === 'settlement_delayed',
      )
      expect(await settleShown(paymentId)).toMatchObject({ message: 'settle: recorded' })
      await settled(paymentId)
    })

    test('a refused decision shows its reason, although the change of the row did not signal the run', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      const context = { publicUrl: '', now: Date.now }
      const arrives = (amount: string) =>
        changePayment(fixture.db, context, {
          id: paymentId,
          change: (draft) =>
            draft.setAttempt(attemptId, {
              misfit: { ...OTHER_TOKEN, amount: { minor: amount, currency: 'USDC' } },
              misfitAnswer: 'none',
            }),
        })
      await arrives('1')
      await fixture.workflows.signalRowChanged(paymentId)
      const version = await untilShown(paymentId)
      await arrives('2')
      await expect(decide(paymentId, 'write_off', { version })).rejects.toThrow(WorkflowUpdateFailedError)
      const answer = await decide(paymentId, 'write_off', { version: await untilShown(paymentId) })
      expect(answer).toMatchObject({ message: 'write_off: recorded' })
    })

    test('a decision and its payment are not read from the note', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await fixture.pay('wallet_app', attemptId, { receivedMinor: '6000' })
      await untilReviewed(paymentId, 'too_little')
      const strange = { operator: 'ada', reason: 'x', say: 'settle', paymentId: await fixture.createPayment({}) }
      const answer = await handle(paymentId).executeUpdate(operatorUpdates.hold, { args: [strange] })
      expect(answer).toEqual({ status: 'under_review', message: 'hold: recorded' })
      expect(await payment(paymentId)).toMatchObject({ held: true, agreed: null, statusReason: 'too_little' })
    })

    test('a note that no database stores is refused at once, and the next decision is accepted', async () => {
      const paymentId = await fixture.createPayment()
      const hold = (note: object) =>
        handle(paymentId).executeUpdate(operatorUpdates.hold, { args: [note as { operator: string; reason: string }] })
      const good = { operator: 'ada', reason: 'a look' }
      for (const bad of [
        { reason: 'a\0look' },
        { operator: 'a\0da' },
        { reason: 'half a \ud83d' },
        { attempt: 'att_\0' },
      ])
        await expect(hold({ ...good, ...bad })).rejects.toThrow(WorkflowUpdateFailedError)
      expect(await hold(good)).toMatchObject({ message: 'hold: recorded' })
    })

    test('a hold before any money is a flag; the money then waits for the release', async () => {
      const { paymentId, attemptId } = await opened()
      expect(await decide(paymentId, 'hold')).toMatchObject({ status: 'pending' })
      await fixture.pay('wallet_app', attemptId)
      expect(await untilReviewed(paymentId, 'held')).toMatchObject({ status: 'under_review', usdc: null })
      await expect(decide(paymentId, 'write_off')).rejects.toThrow(WorkflowUpdateFailedError)
      expect(await decide(paymentId, 'release')).toMatchObject({ status: 'processing' })
      await settled(paymentId)
    })

    test('a conversion that is refused waits for an operator; a decision to settle requests another order', async () => {
      await fixture.faultAt('converter', { fault: 'conversion_refused', times: 1 })
      const { paymentId, attemptId } = await opened()
      await fixture.pay('wallet_app', attemptId)
      await untilReviewed(paymentId, 'sale_stuck')
      await decide(paymentId, 'settle')
      await settled(paymentId)
      expect((await fixture.read(paymentId)).sales).toMatchObject([{ state: 'ended' }, { state: 'filled' }])
    })

    test('a fill far off the locked rate waits for an operator; a decision to settle pays what that rate gives', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await fixture.faultAt('converter', offRate(paymentId))
      await fixture.pay('wallet_app', attemptId)
      expect(await untilReviewed(paymentId, 'far_fill')).toMatchObject({ usdc: null, agreed: null })
      expect(await decide(paymentId, 'settle')).toMatchObject({ status: 'processing' })
      const row = await settled(paymentId)
      expect(row.usdc?.gross).toBe(convertToMicroUsdc({ minor: '10000', currency: 'EUR' }, row.rate?.rate ?? ''))
      expect(row).toMatchObject({ agreed: `${attemptId}:10000`, takenSale: 1 })
    })

    /** The first fill of the payment has bought next to nothing. */
    const offRate = (paymentId: string) =>
      ({ fault: 'fill_off_rate', minor: '1', times: 1, attemptId: `${paymentId}:convert` }) as const

    test('a payout that is stopped waits for an operator; when it is paid after all, the payment succeeds', async () => {
      const { paymentId, attemptId } = await opened()
      await fixture.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'settling')
      await fixture.db.transaction((tx) =>
        fixture.hooks.onStopped(tx, { ownerId: paymentId, reason: 'blacklisted', detail: 'the wallet is blacklisted' }),
      )
      await fixture.relay.relayChanges()
      await untilReviewed(paymentId, 'payout_stopped')
      await fixture.settle(paymentId)
      expect(await result(paymentId)).toBe('succeeded')
    })

    test('the money of a payout goes back only once it is void', async () => {
      const { paymentId, attemptId } = await opened()
      await fixture.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'settling')
      await decide(paymentId, 'give_back')
      await until(
        () => payment(paymentId),
        ({ payout }) => payout === 'voiding',
      )
      expect((await fixture.orderAt('wallet_app', attemptId)).status).toBe('paid')
      await fixture.voidPayout(paymentId)
      expect(await result(paymentId)).toBe('refunded')
      expect((await fixture.orderAt('wallet_app', attemptId)).status).toBe('refunded')
      expect(await findImbalances(fixture.db)).toEqual([])
    })

    test('the money of a payout that was voided by hand waits for an operator', async () => {
      const { paymentId } = await voidedByHand()
      await decide(paymentId, 'give_back')
      expect(await result(paymentId)).toBe('refunded')
      expect(await findImbalances(fixture.db)).toEqual([])
    })

    async function voidedByHand() {
      const made = await opened()
      await fixture.pay('wallet_app', made.attemptId)
      await untilStatus(made.paymentId, 'settling')
      await fixture.voidPayout(made.paymentId)
      await untilReviewed(made.paymentId, 'excess')
      return made
    }

    test('a settlement that is proved on chain after all is recorded, and an operator reads the loss', async () => {
      const { paymentId } = await voidedByHand()
      await decide(paymentId, 'give_back')
      await untilStatus(paymentId, 'refunded')
      await fixture.settle(paymentId)
      const row = await untilReviewed(paymentId, 'loss')
      expect(row).toMatchObject({ status: 'succeeded', transfer: { logIndex: 1 } })
      expect(await findImbalances(fixture.db)).toEqual([])
      await decide(paymentId, 'write_off')
      expect(await result(paymentId)).toBe('succeeded')
    })
  })
})
