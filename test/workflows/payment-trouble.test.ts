import { describe, expect, test } from '@jest/globals'
import { WorkflowUpdateFailedError } from '@temporalio/client'
import { until } from '../../scripts/test/until.ts'
import { findImbalances } from '../../src/db/ledger.ts'
import { changePayment } from '../../src/db/payments/payment-changes.ts'
import { TRANSFER_ACTIVITY_ID } from '../../src/domain/ids.ts'
import { convertToMicroUsdc } from '../../src/domain/money.ts'
import type { IncidentKind } from '../../src/domain/payment/money/intents.ts'
import { sendDecision } from '../../src/temporal/decisions.ts'
import { operatorUpdates, paymentState } from '../../src/workflows/messages.ts'
import {
  attempts,
  decide,
  eventsOf,
  handle,
  open,
  opened,
  payment,
  result,
  settled,
  skipWhileConverting,
  untilStatus,
  useWorld,
  world,
} from './story.ts'

describe('A payment in trouble', () => {
  useWorld()

  /** The tries are part of a workflow task; time that is skipped meanwhile would be over its limit. */
  const gaveUp = (
    events: { markerRecordedEventAttributes?: { markerName?: string | null } | null }[] | null | undefined,
  ) => (events ?? []).some((event) => event.markerRecordedEventAttributes?.markerName === 'core_local_activity')

  describe('trouble at the partner', () => {
    test.each([
      ['timeout_after_effect', 'convert', 'converter'],
      ['server_error', 'read', 'wallet_app'],
    ] as const)('%s of %s: tried again, with one effect', async (fault, operation, at) => {
      const { paymentId, attemptId } = await opened()
      await world.faultAt(at, { fault, operation, times: 1, ...(fault.startsWith('timeout') && { mode: 'close' }) })
      await world.pay('wallet_app', attemptId)
      await settled(paymentId)
      expect((await world.timeline(paymentId)).filter(({ kind }) => kind === 'payment.converted')).toHaveLength(1)
    })

    test('a partner that cannot be reached at all is polled until it answers', async () => {
      const { paymentId, attemptId } = await opened()
      await world.faultAt('wallet_app', { fault: 'server_error', operation: 'read' })
      await world.atPartner('wallet_app', attemptId, { action: 'pay' })
      await until(async () => (await handle(paymentId).fetchHistory()).events, gaveUp)
      await world.clearFaults()
      expect((await payment(paymentId)).status).toBe('pending')
      await world.skip('61 seconds')
      await settled(paymentId)
    })

    test('with rates that are old nothing is priced and no rate is locked, and the money is seen all the same; present ones settle it', async () => {
      const { paymentId, attemptId } = await opened()
      await world.faultAt('converter', { fault: 'old_rates', seconds: 601 })
      // The rates that were fetched before are still young: they are used until ten minutes after they were made.
      await world.skip('10 minutes')
      await world.skip('1 second')
      const ask = (path: string, body?: object) =>
        fetch(`${world.api}${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { authorization: `Bearer ${world.secretKey}`, 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
      for (const answer of [
        await ask('/v1/payments', { amount: '49.99', currency: 'EUR' }),
        await ask('/v1/quotes?amount=49.99&currency=EUR'),
      ]) {
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
        expect(await answer.json()).toMatchObject({ code: 'temporarily_unavailable' })
      }
      await world.atPartner('wallet_app', attemptId, { action: 'pay' })
      // The money is seen at once; what it is worth is found out when somebody knows it.
      await untilStatus(paymentId, 'processing')
      expect(await payment(paymentId)).toMatchObject({ rate: null, confirmed: { minor: '4999' }, usdc: null })
      await world.clearFaults()
      await skipWhileConverting(paymentId)
      expect((await settled(paymentId)).rate).not.toBeNull()
    })

    test('callbacks that come twice and out of order change nothing more', async () => {
      await world.faultAt('wallet_app', { fault: 'callbacks_twice' })
      const { paymentId, attemptId } = await opened()
      await world.pay('wallet_app', attemptId)
      await settled(paymentId)
      expect((await world.timeline(paymentId)).filter(({ to_status }) => to_status === 'processing')).toHaveLength(1)
    })

    test('a settlement that takes longer than a quarter of an hour is marked as delayed', async () => {
      await world.faultAt('converter', { fault: 'delay', seconds: 1000, times: 1 })
      const { paymentId, attemptId } = await opened()
      await world.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'processing')
      await world.skip('16 minutes')
      await until(
        () => payment(paymentId),
        (row) => row.exception === 'settlement_delayed',
      )
      await skipWhileConverting(paymentId)
      expect((await settled(paymentId)).exception).toBeNull()
    })

    test('an endpoint that fails gets a workflow of its own and keeps no payment open', async () => {
      await fetch(`${world.inboxUrl}/behaviour`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ answer: 500, times: 1 }),
      })
      const { paymentId, attemptId } = await opened()
      await world.pay('wallet_app', attemptId)
      await settled(paymentId)
      expect(await eventsOf(paymentId)).toHaveLength(1)
      await world.skip('7 seconds')
      expect(
        await until(
          () => eventsOf(paymentId),
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
        world.client.workflowService.respondActivityTaskFailedById({ ...waiting, failure }).then(
          () => true,
          () => false,
        ),
      Boolean,
    )
  }

  describe('what an operator does by hand in the Temporal UI', () => {
    test.each([
      ['without input', []],
      ['with null', [null]],
      ['with another input', [{ attempt: 'att_1' }]],
      ['with an id that is no text', [{ attemptId: 7 }]],
    ])('a signal %s stops no payment', async (_how, args) => {
      const { paymentId, attemptId } = await opened()
      await handle(paymentId).signal('partnerNews', ...args)
      await world.pay('wallet_app', attemptId)
      await settled(paymentId)
    })

    test('a transfer that is failed by hand is waited for again, and decisions are answered', async () => {
      const { paymentId, attemptId } = await opened()
      await world.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'settling')
      await failByHand(paymentId, TRANSFER_ACTIVITY_ID)
      expect(await decide(paymentId, 'hold')).toMatchObject({ message: 'hold: recorded' })
      expect(await decide(paymentId, 'release')).toMatchObject({ message: 'release: recorded' })
      await settled(paymentId)
    })

    test('a decision whose run is ended before it is answered is not told as refused', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await world.pay('wallet_app', attemptId, { receivedMinor: '6000' })
      await untilStatus(paymentId, 'under_review')
      await until(
        () => handle(paymentId).query(paymentState),
        (state) => state.status === 'under_review',
      )
      await world.faultAt('wallet_app', { fault: 'server_error', operation: 'refund' })
      const request = { workflowId: paymentId, decision: 'refund', note: { operator: 'ada', reason: 'x' } } as const
      const outcome = sendDecision(world.client, request)
      await until(
        async () => (await world.read(paymentId)).intents,
        ({ length }) => length > 0,
      )
      await handle(paymentId).terminate('by hand')
      expect(await outcome).toMatchObject({ kind: 'unknown' })
      await world.unlockTime()
    })
  })

  describe('a lost workflow', () => {
    test('the run is terminated by hand in the middle: the next message starts one that goes on from the row', async () => {
      const { paymentId, attemptId } = await opened()
      await handle(paymentId).terminate('by hand')
      await world.pay('wallet_app', attemptId)
      await settled(paymentId)
    })

    test('a start that was lost is done by the relay', async () => {
      const paymentId = await world.createPaymentWithoutStart()
      await expect(handle(paymentId).describe()).rejects.toMatchObject({ name: 'WorkflowNotFoundError' })
      await world.relay.startPayments()
      await world.pay('wallet_app', await open(paymentId))
      await settled(paymentId)
    })

    test('a callback that was stored and not passed on is passed on by the relay', async () => {
      const { paymentId, attemptId } = await opened()
      await world.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
      await world.pay('wallet_app', attemptId)
      await world.storeCallbackOnly('wallet_app', attemptId)
      await world.relay.tellPartnerNews()
      await settled(paymentId)
      expect(await world.relay.tellPartnerNews()).toBe(0)
    })
  })

  describe('a run that takes over a restored row', () => {
    /** The row is of the time before the conversion; the money was given back at the partner in the time that is forgotten. */
    async function forgotten() {
      await world.faultAt('converter', { fault: 'server_error', operation: 'convert' })
      const { paymentId, attemptId } = await opened()
      await world.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'processing')
      await handle(paymentId).terminate('database restored')
      await world.atPartner('wallet_app', attemptId, { action: 'reverse' }, 'silently')
      await world.clearFaults()
      return { paymentId, attemptId }
    }
    const payouts = async (paymentId: string) =>
      (await world.db.query('select state from payout where payment_id = $1', [paymentId])).rows

    test('asks first whether the money is still there, and pays nothing for what went back', async () => {
      const { paymentId } = await forgotten()
      await world.workflows.resume(await payment(paymentId))
      await untilStatus(paymentId, 'pending')
      expect((await payment(paymentId)).usdc).toBeNull()
      expect(await payouts(paymentId)).toEqual([])
    })

    test('lets no money go while the partner does not answer', async () => {
      const { paymentId, attemptId } = await forgotten()
      await world.faultAt('wallet_app', { fault: 'server_error', operation: 'read' })
      await world.workflows.resume(await payment(paymentId))
      await until(async () => (await handle(paymentId).fetchHistory()).events, gaveUp)
      const { status, usdc } = await payment(paymentId)
      expect([status, usdc]).toEqual(['processing', null])
      await world.clearFaults()
      await world.workflows.tellPartnerNews(paymentId, attemptId)
      await untilStatus(paymentId, 'pending')
      expect(await payouts(paymentId)).toEqual([])
    })

    test('asks a partner that did not answer again after seconds, and not only at the next poll', async () => {
      const { paymentId } = await forgotten()
      await world.faultAt('wallet_app', { fault: 'server_error', operation: 'read' })
      await world.workflows.resume(await payment(paymentId))
      await until(async () => (await handle(paymentId).fetchHistory()).events, gaveUp)
      await world.clearFaults()
      // The first poll is after a minute.
      await world.skip('2 seconds')
      await untilStatus(paymentId, 'pending')
    })
  })
})

describe('News of a partner', () => {
  useWorld()

  /** The partner can be called and takes the money, but its orders cannot be read. */
  const unreadable = (partner: 'wallet_app' | 'local_partner') =>
    world.faultAt(partner, { fault: 'server_error', operation: 'read' })

  /** The workflow has given up reading for now: all tries of the local activity failed. */
  const gaveUp = (paymentId: string, times = 1) =>
    until(
      async () => (await handle(paymentId).fetchHistory()).events ?? [],
      (events) => events.filter(hasFailedToRead).length >= times,
    )
  const hasFailedToRead = (event: { markerRecordedEventAttributes?: { failure?: unknown } | null }) =>
    Boolean(event.markerRecordedEventAttributes?.failure)
  const startsTimer = (event: { timerStartedEventAttributes?: unknown }) => Boolean(event.timerStartedEventAttributes)

  /** What an operator reads in the Temporal UI. */
  async function detailsOf(paymentId: string): Promise<string | undefined> {
    const query = '__temporal_workflow_metadata'
    return (await handle(paymentId).query<{ currentDetails?: string }, []>(query)).currentDetails
  }

  /** The relay's next round, as if the time of every repeat had come. */
  async function relayRound(): Promise<void> {
    await world.db.query('update partner_event set due_at = now() where applied_at is null')
    await world.relay.tellPartnerNews()
  }

  /** The row and the workflow both say so. */
  async function underReview(paymentId: string): Promise<void> {
    await untilStatus(paymentId, 'under_review')
    await until(
      () => handle(paymentId).query(paymentState),
      (state) => state.status === 'under_review',
    )
  }

  const unread = async (attemptId: string): Promise<number> => {
    const { rowCount } = await world.db.query(
      'select 1 from partner_event where attempt_id = $1 and applied_at is null',
      [attemptId],
    )
    return rowCount ?? 0
  }

  describe('news that cannot be read', () => {
    test('is repeated by the relay until it is applied, without waiting for a poll', async () => {
      const { paymentId, attemptId } = await opened()
      await unreadable('wallet_app')
      await world.atPartner('wallet_app', attemptId, { action: 'pay' })
      await gaveUp(paymentId)
      expect(await unread(attemptId)).toBeGreaterThan(0)
      await relayRound()
      await gaveUp(paymentId, 2)
      expect((await payment(paymentId)).status).toBe('pending')
      await world.clearFaults()
      await relayRound()
      await settled(paymentId)
      expect(await unread(attemptId)).toBe(0)
    })

    test('keeps a run from ending: late money after the end is not lost', async () => {
      const paymentId = await world.createPayment({ provider: undefined, amount: '50.00', currency: 'EUR' })
      const answer = await world.openAttempt(paymentId, 'local_partner', 'upi')
      if (answer.kind !== 'redirect') throw new Error('not opened')
      await world.faultAt('local_partner', { fault: 'late_money', attemptId: answer.attemptId })
      await world.workflows.cancel(paymentId)
      await world.skip('72 hours')
      expect(await result(paymentId)).toBe('canceled')
      await world.faultAt('local_partner', { fault: 'late_money' })
      await unreadable('local_partner')
      await world.pay('local_partner', answer.attemptId)
      await gaveUp(paymentId)
      expect(await unread(answer.attemptId)).toBeGreaterThan(0)
      expect((await handle(paymentId).describe()).status.name).toBe('RUNNING')
      await world.clearFaults()
      await relayRound()
      expect(await result(paymentId)).toBe('canceled')
      expect(await attempts(paymentId)).toEqual(['late'])
      expect(await unread(answer.attemptId)).toBe(0)
    })

    test('leaves a payout that is under way as it is: it is shown as settling, and no clock asks again for the money', async () => {
      const { paymentId, attemptId } = await opened()
      await world.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'settling')
      await unreadable('wallet_app')
      await world.workflows.tellPartnerNews(paymentId, attemptId)
      const events = await gaveUp(paymentId)
      expect(events.slice(events.findIndex(hasFailedToRead)).filter(startsTimer)).toEqual([])
      expect(await detailsOf(paymentId)).toContain('### settling')
      await world.clearFaults()
      await world.workflows.tellPartnerNews(paymentId, attemptId)
      await settled(paymentId)
    })

    test('is repeated to a run that was terminated in between', async () => {
      const { paymentId, attemptId } = await opened()
      await unreadable('wallet_app')
      await world.atPartner('wallet_app', attemptId, { action: 'pay' })
      await gaveUp(paymentId)
      await handle(paymentId).terminate('lost')
      await world.clearFaults()
      await relayRound()
      await untilStatus(paymentId, 'settling')
      await settled(paymentId)
    })
  })

  describe('before money moves on that has waited for an operator, the order is read again', () => {
    test('money that the partner took back meanwhile, without a word, is not approved', async () => {
      const { paymentId, attemptId } = await underpaid()
      await world.atPartner('wallet_app', attemptId, { action: 'reverse' }, 'silently')
      await expect(decide(paymentId, 'approve')).rejects.toMatchObject({
        cause: { message: 'The payment is failed and does not wait for an operator' },
      })
      expect(await result(paymentId)).toBe('failed')
      expect(await payment(paymentId)).toMatchObject({ usdc: null, confirmed: null, paidAttemptId: null })
    })

    test('a partner that does not answer leaves everything as it is; a later decision is carried out', async () => {
      const { paymentId } = await underpaid()
      await unreadable('wallet_app')
      await expect(decide(paymentId, 'approve')).rejects.toMatchObject({
        cause: { message: expect.stringContaining('The partner does not answer') },
      })
      expect(await payment(paymentId)).toMatchObject({ status: 'under_review', parkReason: 'underpaid' })
      await world.clearFaults()
      expect(await decide(paymentId, 'approve')).toMatchObject({ status: 'processing' })
      await settled(paymentId)
    })

    test('a payout that is held is not retried when its money is gone: it is voided, and the payment ends as refunded', async () => {
      const { paymentId, attemptId } = await payoutHeld()
      await world.atPartner('wallet_app', attemptId, { action: 'reverse' }, 'silently')
      await expect(decide(paymentId, 'retry')).rejects.toMatchObject({
        cause: { message: 'Parked for funds_reversed: it ends automatically' },
      })
      expect(await payment(paymentId)).toMatchObject({ status: 'under_review', parkReason: 'funds_reversed' })
      const details = await detailsOf(paymentId)
      expect(details).toContain('Ends automatically.')
      expect(details).not.toMatch(/Waits for an operator|payments decide/)
      const { rows } = await world.db.query('select state from payout where payment_id = $1', [paymentId])
      expect(rows).toEqual([{ state: 'voiding' }])
      await world.voidPayout(paymentId)
      expect(await result(paymentId)).toBe('refunded')
    })

    test('the operator’s command does not release a payout of a payment that is held', async () => {
      const { paymentId } = await payoutHeld()
      await decide(paymentId, 'hold')
      const release = world.db.transaction((tx) => world.hooks.onReleased(tx, { paymentId }))
      await expect(release).rejects.toThrow('An operator holds the payment')
      expect(await payment(paymentId)).toMatchObject({ status: 'under_review', parkReason: 'payout_held', held: true })
      await expect(decide(paymentId, 'retry')).rejects.toMatchObject({
        cause: { message: expect.stringContaining('release it first') },
      })
      await decide(paymentId, 'release')
      await decide(paymentId, 'retry')
      await settled(paymentId)
    })

    async function payoutHeld() {
      const { paymentId, attemptId } = await opened()
      await world.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'settling')
      const held = { paymentId, reason: 'blacklisted', detail: 'the wallet is on the list' } as const
      await world.db.transaction((tx) => world.hooks.onHeld(tx, held))
      const { rows: notices } = await world.db.query("select data from notice where kind = 'payout.held'")
      expect(notices).toContainEqual({ data: { id: held.paymentId, reason: held.reason } })
      await world.relay.completeTransfers()
      await underReview(paymentId)
      return { paymentId, attemptId }
    }

    async function underpaid() {
      const { paymentId, attemptId } = await opened()
      await world.pay('wallet_app', attemptId, { receivedMinor: '3000' })
      await underReview(paymentId)
      return { paymentId, attemptId }
    }
  })
})

describe('Decisions about a payment', () => {
  useWorld()

  const approve = (paymentId: string, version: number) =>
    handle(paymentId).executeUpdate(operatorUpdates.approve, { args: [{ operator: 'ada', reason: 'enough', version }] })

  /** The version of the row, once the Temporal UI says it. */
  async function untilShown(paymentId: string): Promise<number> {
    const versions = async () => {
      const metadata = await handle(paymentId).query<{ currentDetails?: string }, []>('__temporal_workflow_metadata')
      return [/version (\d+)/.exec(metadata.currentDetails ?? '')?.[1], String((await payment(paymentId)).version)]
    }
    const [shown] = await until(versions, ([shown, ofRow]) => shown === ofRow)
    return Number(shown)
  }

  const approveShown = async (paymentId: string) => approve(paymentId, await untilShown(paymentId))

  /** The summaries of what the history of a run lists, by the type of the event. */
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

  describe('in the Temporal UI', () => {
    test('each timer, activity and reading of a payment has a summary, and its details have amount, merchant and commands', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await world.pay('wallet_app', attemptId, { receivedMinor: '9000' })
      await untilStatus(paymentId, 'under_review')
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
        `- decide: \`pinrail payments decide ${paymentId} <approve|recordExternalRefund> --version ${version} --operator <name> --reason <text>\``,
        `- decide: \`pinrail payments decide ${paymentId} <refund> --operator <name> --reason <text>\``,
      ])
        expect(currentDetails).toContain(line)
      await decide(paymentId, 'approve')
      await settled(paymentId)
      const summaries = await readSummaries(paymentId)
      expect(summaries.filter(([, summary]) => summary === null)).toEqual([])
      expect(summaries).toEqual(
        expect.arrayContaining([
          ['timer', 'The payment expires'],
          ['timer', 'The open orders are read again'],
          ['activity', 'Open an order at the partner that the buyer has chosen'],
          ['reading', 'Read the order from its partner'],
          ['activity', 'Carry out the decision of an operator'],
          ['activity', 'Convert the money to USDC'],
          ['activity', 'Send the USDC to the merchant, until its block is final'],
          ['activity', 'Send the event to every endpoint'],
        ]),
      )
    })
  })

  describe('an operator', () => {
    test('underpaid is parked; approved, what arrived is settled', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await world.pay('wallet_app', attemptId, { receivedMinor: '9000' })
      expect(await untilStatus(paymentId, 'under_review')).toMatchObject({
        parkReason: 'underpaid',
        exception: 'underpaid',
      })
      await until(
        () => handle(paymentId).query(paymentState),
        (state) => state.status === 'under_review',
      )
      await expect(decide(paymentId, 'retry')).rejects.toThrow(WorkflowUpdateFailedError)
      expect(await decide(paymentId, 'approve')).toMatchObject({ status: 'processing' })
      const row = await settled(paymentId)
      expect(row.confirmed).toEqual({ minor: '9000', currency: 'EUR' })
      expect((await world.timeline(paymentId)).filter(({ actor }) => actor === 'operator')).toHaveLength(1)
    })

    test('underpaid and refunded: the money goes back once, and nothing is settled', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await world.pay('wallet_app', attemptId, { receivedMinor: '100' })
      await untilStatus(paymentId, 'under_review')
      await until(
        () => handle(paymentId).query(paymentState),
        (state) => state.status === 'under_review',
      )
      expect(await decide(paymentId, 'refund')).toMatchObject({ status: 'refunded' })
      expect(await result(paymentId)).toBe('refunded')
      expect((await world.orderAt('wallet_app', attemptId)).status).toBe('refunded')
      expect(await findImbalances(world.db)).toEqual([])
    })

    test('a refund whose partner does not answer keeps no decision waiting, and is carried out when it answers again', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await world.pay('wallet_app', attemptId, { receivedMinor: '6000' })
      await untilStatus(paymentId, 'under_review')
      await untilShown(paymentId)
      await world.faultAt('wallet_app', { fault: 'server_error', operation: 'refund' })
      expect(await decide(paymentId, 'refund')).toMatchObject({
        status: 'under_review',
        message: 'no answer yet: the partner is asked again',
      })
      expect(await decide(paymentId, 'hold')).toMatchObject({ message: 'hold: recorded' })
      await world.clearFaults()
      await world.skip('61 seconds')
      expect(await result(paymentId)).toBe('refunded')
      expect((await world.orderAt('wallet_app', attemptId)).status).toBe('refunded')
    })

    test('a decision without a name and a reason is refused', async () => {
      const { paymentId } = await opened()
      await expect(
        handle(paymentId).executeUpdate(operatorUpdates.hold, { args: [{ operator: '', reason: '' }] }),
      ).rejects.toThrow(WorkflowUpdateFailedError)
      expect((await payment(paymentId)).held).toBe(false)
    })

    test('an approval is of what was looked at: sent twice, or too late, it accepts nothing that came since', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await world.pay('wallet_app', attemptId, { receivedMinor: '6000' })
      const { version } = await untilStatus(paymentId, 'under_review')
      await until(
        () => handle(paymentId).query(paymentState),
        (state) => state.status === 'under_review',
      )
      const approve = (seen: { version?: number }) =>
        handle(paymentId).executeUpdate(operatorUpdates.approve, {
          args: [{ operator: 'ada', reason: 'enough', ...seen }],
        })
      await expect(approve({})).rejects.toMatchObject({ cause: { message: expect.stringContaining('Add "version"') } })
      await expect(approve({ version: version - 1 })).rejects.toMatchObject({
        cause: { message: expect.stringContaining('has changed since you looked') },
      })
      // Newer than what the run knows: the row is asked, and is not of that version.
      const request = {
        workflowId: paymentId,
        decision: 'approve',
        note: { operator: 'ada', reason: 'x', version: version + 1 },
      } as const
      expect(await sendDecision(world.client, request)).toEqual({
        kind: 'refused',
        message: expect.stringContaining('has changed since you looked'),
      })
      await world.faultAt('converter', {
        fault: 'fill_off_rate',
        minor: '1',
        times: 1,
        attemptId: `${paymentId}:convert`,
      })
      expect(await approve({ version })).toMatchObject({ status: 'processing', message: 'approve: recorded' })
      expect(await untilStatus(paymentId, 'under_review')).toMatchObject({ parkReason: 'fill_off_rate' })
      await until(
        () => handle(paymentId).query(paymentState),
        (state) => state.parkReason === 'fill_off_rate',
      )
      await expect(approve({ version })).rejects.toMatchObject({
        cause: { message: expect.stringContaining('has changed since you looked') },
      })
      expect((await payment(paymentId)).agreed).toBe(false)
      await decide(paymentId, 'refund')
      expect(await result(paymentId)).toBe('refunded')
    })

    test('the Temporal UI shows the version that is accepted, also when the run’s own clock has changed the row', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      const offRate = { fault: 'fill_off_rate', minor: '1', times: 1, attemptId: `${paymentId}:convert` } as const
      await world.faultAt('converter', offRate)
      await world.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'under_review')
      await world.skip('16 minutes')
      await until(
        () => payment(paymentId),
        (row) => row.exception === 'settlement_delayed',
      )
      expect(await approveShown(paymentId)).toMatchObject({ message: 'approve: recorded' })
      await settled(paymentId)
    })

    test('what refused a decision is shown, although whoever has changed the row told the run nothing', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      const context = { publicUrl: '', now: Date.now }
      const open = (kind: IncidentKind) =>
        changePayment(world.db, context, { id: paymentId, work: (work) => work.openIncident({ kind, attemptId }) })
      await open('misfit')
      await world.workflows.tellRowChanged(paymentId)
      const version = await untilShown(paymentId)
      await open('outside_reversed')
      await expect(approve(paymentId, version)).rejects.toThrow()
      expect(await approveShown(paymentId)).toMatchObject({ message: 'approve: recorded' })
      expect((await world.read(paymentId)).incidents.map(({ kind }) => kind)).toEqual(['outside_reversed'])
    })

    test('what is decided, and about which payment, is not taken from the note', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await world.pay('wallet_app', attemptId, { receivedMinor: '6000' })
      await untilStatus(paymentId, 'under_review')
      const strange = { operator: 'ada', reason: 'x', decision: 'approve', paymentId: await world.createPayment({}) }
      const answer = await handle(paymentId).executeUpdate(operatorUpdates.hold, { args: [strange] })
      expect(answer).toEqual({ status: 'under_review', message: 'hold: recorded' })
      expect(await payment(paymentId)).toMatchObject({ held: true, parkReason: 'underpaid' })
    })

    test('a note that no database stores is refused at once, and the next decision is heard', async () => {
      const paymentId = await world.createPayment()
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

    test('a hold placed before any money is a flag; the money then waits for the release', async () => {
      const { paymentId, attemptId } = await opened()
      expect(await decide(paymentId, 'hold')).toMatchObject({ status: 'pending' })
      await world.pay('wallet_app', attemptId)
      expect(await untilStatus(paymentId, 'under_review')).toMatchObject({ parkReason: 'operator_hold', usdc: null })
      await until(
        () => handle(paymentId).query(paymentState),
        (state) => state.status === 'under_review',
      )
      await expect(decide(paymentId, 'reject')).rejects.toThrow(WorkflowUpdateFailedError)
      expect(await decide(paymentId, 'release')).toMatchObject({ status: 'processing' })
      await settled(paymentId)
    })

    test('a conversion that is refused parks the payment; retried, it goes on', async () => {
      await world.faultAt('converter', { fault: 'conversion_refused', times: 1 })
      const { paymentId, attemptId } = await opened()
      await world.pay('wallet_app', attemptId)
      expect(await untilStatus(paymentId, 'under_review')).toMatchObject({ parkReason: 'conversion' })
      await until(
        () => handle(paymentId).query(paymentState),
        (state) => state.status === 'under_review',
      )
      await decide(paymentId, 'retry')
      await settled(paymentId)
    })

    test('a fill far off the locked rate parks the payment; a retry is refused, approved it settles at that rate', async () => {
      const { paymentId, attemptId } = await opened({ amount: '100.00' })
      await world.faultAt('converter', {
        fault: 'fill_off_rate',
        minor: '1',
        times: 1,
        attemptId: `${paymentId}:convert`,
      })
      await world.pay('wallet_app', attemptId)
      const parked = await untilStatus(paymentId, 'under_review')
      expect(parked).toMatchObject({ parkReason: 'fill_off_rate', usdc: null, agreed: false })
      await until(
        () => handle(paymentId).query(paymentState),
        (state) => state.status === 'under_review',
      )
      await expect(decide(paymentId, 'retry')).rejects.toMatchObject({
        cause: { message: 'Parked for fill_off_rate: decide with approve, refund, recordExternalRefund' },
      })
      expect(await decide(paymentId, 'approve')).toMatchObject({ status: 'processing' })
      const row = await settled(paymentId)
      expect(row.usdc?.gross).toBe(convertToMicroUsdc({ minor: '10000', currency: 'EUR' }, row.rate?.rate ?? ''))
      expect(row).toMatchObject({ agreed: true, takenSale: 1 })
    })

    test('a payout that is held parks the payment; paid after all, it succeeds', async () => {
      const { paymentId, attemptId } = await opened()
      await world.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'settling')
      await world.db.transaction((tx) =>
        world.hooks.onHeld(tx, { paymentId, reason: 'blacklisted', detail: 'the wallet is blacklisted' }),
      )
      await world.relay.completeTransfers()
      expect(await untilStatus(paymentId, 'under_review')).toMatchObject({ parkReason: 'payout_held' })
      await world.settle(paymentId)
      expect(await result(paymentId)).toBe('succeeded')
    })

    test('a payment with a payout is refunded only when the payout is voided', async () => {
      const { paymentId, attemptId } = await opened()
      await world.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'settling')
      await expect(decide(paymentId, 'refund')).rejects.toMatchObject({
        cause: { message: 'The payment is processing and does not wait for an operator' },
      })
      await world.voidPayout(paymentId)
      expect(await untilStatus(paymentId, 'under_review')).toMatchObject({ parkReason: 'payout_voided' })
      await until(
        () => handle(paymentId).query(paymentState),
        (state) => state.status === 'under_review',
      )
      expect(await decide(paymentId, 'refund')).toMatchObject({ status: 'refunded' })
      expect(await result(paymentId)).toBe('refunded')
      expect(await findImbalances(world.db)).toEqual([])
    })

    test('a settlement proved on chain that the state forbids is recorded and parked, not lost', async () => {
      const { paymentId, attemptId } = await opened()
      await world.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'settling')
      await world.voidPayout(paymentId)
      await until(
        () => handle(paymentId).query(paymentState),
        (state) => state.status === 'under_review',
      )
      await decide(paymentId, 'refund')
      await world.settle(paymentId)
      const row = await payment(paymentId)
      expect(row.status).toBe('refunded')
      expect(row.transfer).not.toBeNull()
      expect((await world.timeline(paymentId)).map(({ kind }) => kind)).toContain('payment.unexpected_settlement')
    })
  })
})
