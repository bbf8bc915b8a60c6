import { describe, expect, test } from '@jest/globals'
import { WorkflowUpdateFailedError } from '@temporalio/client'
import { until } from '../../scripts/test/until.ts'
import { findImbalances } from '../../src/db/ledger.ts'
import { changePayment } from '../../src/db/payments/payment-changes.ts'
import { convertToMicroUsdc } from '../../src/domain/money.ts'
import type { IncidentKind } from '../../src/domain/payment/money/intents.ts'
import { sendDecision } from '../../src/temporal/decisions.ts'
import { operatorUpdates, paymentState } from '../../src/workflows/messages.ts'
import { decide, handle, opened, payment, result, settled, untilStatus, useWorld, world } from './story.ts'

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
    await expect(approve({})).rejects.toMatchObject({ cause: { message: expect.stringContaining('Give "version"') } })
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
    expect((await payment(paymentId)).fill).toMatchObject({ accepted: false })
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
    expect(parked).toMatchObject({ parkReason: 'fill_off_rate', usdc: null, fill: { micro: '1', accepted: false } })
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
    expect(row.fill).toMatchObject({ micro: '1', expected: row.usdc?.gross, accepted: true })
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
      cause: { message: 'The payment is processing and waits for no operator' },
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
