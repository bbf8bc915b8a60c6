import { changePayment } from '../../../src/payments/change-payment.ts'
import { extendPayment } from '../../../src/payments/extend-payment.ts'
import { LONG, SHORT, SOON_EXPIRED_MS, UPI } from './closing.ts'
import { HOUR_MS, MINUTE_MS, type Scenario } from './scenario.ts'

/**
 * Milliseconds by which the clock goes back so that something is due in a few seconds: a settlement's delay, a
 * partner's silence.
 */
const SOON_DELAYED_MS = 15 * MINUTE_MS - 6000
const SOON_SILENT_MS = 24 * HOUR_MS - 4000
/** Confirming for longer than the clock goes back (seconds). */
const CONFIRMING = { action: 'pay', seconds: 90_000 }

/** The converter does not know the order, so that it can be ended at once. */
const neverReached = (paymentId: string) => {
  const fault = { fault: 'timeout_before_effect', operation: 'convert', mode: 'close', times: 3 }
  return { ...fault, attemptId: `${paymentId}:convert` }
}

/** Scenarios of the clocks of a payment: its expiry, a partner's silence, the delay of a settlement. */
export const CLOCKS: Readonly<Record<string, Scenario>> = {
  'confirming-for-too-long': async ({ fixture, handle, open, behind, untilRow, untilState }) => {
    const { paymentId, attemptId } = await behind(SOON_SILENT_MS, async () => {
      const id = await fixture.createPayment(LONG)
      const opened = { paymentId: id, attemptId: await open(id) }
      await fixture.atPartner('wallet_app', opened.attemptId, CONFIRMING)
      await untilRow(id, 'status', 'processing')
      return opened
    })
    await untilState(paymentId, 'under_review')
    await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' })
    await untilState(paymentId, 'pending')
    await fixture.workflows.cancel(paymentId)
    await handle(paymentId).result()
    return paymentId
  },

  'withdrawn-after-the-expiry': async ({ fixture, handle, open, behind, untilRow, untilRung }) => {
    const { paymentId, attemptId } = await behind(SOON_EXPIRED_MS, async () => {
      const id = await fixture.createPayment(SHORT)
      const opened = { paymentId: id, attemptId: await open(id) }
      await fixture.atPartner('wallet_app', opened.attemptId, CONFIRMING)
      await untilRow(id, 'status', 'processing')
      return opened
    })
    await untilRung(paymentId)
    await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' })
    await handle(paymentId).result()
    return paymentId
  },

  'late-money-withdrawn': async ({ fixture, handle, open, behind, untilRow }) => {
    const { paymentId, attemptId } = await behind(SOON_EXPIRED_MS, async () => {
      const id = await fixture.createPayment({ ...UPI, ...SHORT })
      return { paymentId: id, attemptId: await open(id, 'local_partner', 'upi') }
    })
    await handle(paymentId).result()
    await fixture.faultAt('converter', neverReached(paymentId))
    await fixture.faultAt('local_partner', { fault: 'late_money', times: 1, attemptId })
    await fixture.atPartner('local_partner', attemptId, { action: 'pay' })
    await untilRow(paymentId, 'status', 'processing')
    await fixture.atPartner('local_partner', attemptId, { action: 'reverse' })
    await handle(paymentId).result()
    return [{ name: 'late-money-withdrawn', workflowId: paymentId, run: 1 }]
  },

  'expiry-moved-without-a-signal': async ({ fixture, handle, open, behind, untilRung }) => {
    const paymentId = await behind(SOON_EXPIRED_MS, async () => {
      const id = await fixture.createPayment(SHORT)
      const end = Date.parse((await fixture.read(id)).payment.expiresAt)
      const context = { publicUrl: '', now: () => end - MINUTE_MS }
      await fixture.db.transaction((tx) => extendPayment(tx, context, id))
      // The run learns of it from the answer that opens the order.
      await open(id)
      return id
    })
    await untilRung(paymentId)
    await fixture.workflows.cancel(paymentId)
    await handle(paymentId).result()
    return paymentId
  },

  'paid-again-and-delayed': async ({ fixture, open, behind, untilRow, untilState, settled }) =>
    behind(SOON_DELAYED_MS, async () => {
      const paymentId = await fixture.createPayment()
      const first = await open(paymentId)
      await fixture.faultAt('converter', neverReached(paymentId))
      await fixture.atPartner('wallet_app', first, { action: 'pay' })
      await untilState(paymentId, 'processing')
      await fixture.atPartner('wallet_app', first, { action: 'reverse' })
      await untilRow(paymentId, 'status', 'pending')
      await fixture.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
      await untilRow(paymentId, 'exception', 'settlement_delayed')
      await settled(paymentId)
      return paymentId
    }),

  'moved-without-a-signal': async ({ fixture, open, behind, untilState, settled }) =>
    behind(SOON_DELAYED_MS, async () => {
      const paymentId = await fixture.createPayment()
      const attemptId = await open(paymentId)
      await fixture.faultAt('converter', { fault: 'conversion_refused', times: 1, attemptId: `${paymentId}:convert` })
      await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
      await untilState(paymentId, 'under_review')
      // As by an activity of a run that was lost. The run learns of it from the answer that marks the delay.
      await changePayment(
        fixture.db,
        { publicUrl: '', now: fixture.clock },
        {
          id: paymentId,
          change: (draft) => draft.setPayment({ stuck: null }),
        },
      )
      await settled(paymentId)
      return paymentId
    }),
}
