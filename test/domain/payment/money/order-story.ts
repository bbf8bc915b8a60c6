import type { KnownAttempt, KnownPayment } from '../../../../src/domain/payment/money/effect.ts'
import type { Part } from '../../../../src/domain/payment/money/parts.ts'
import type { PartnerOrder } from '../../../../src/domain/payment/partner.ts'
import { effectOfOrder } from '../../../../src/domain/payment/partner-news.ts'
import type { PaymentStatus } from '../../../../src/domain/payment/payment.ts'

/** An order of 50.00 EUR, what is known of its payment, and what the partner says. */

export const asked = { minor: '5000', currency: 'EUR' as const }
export const account = 'pinrail'
export const context = { account, tolerancePercent: 1 }
export const order = (fields: Partial<PartnerOrder>): PartnerOrder => ({
  attemptId: 'att_1',
  reference: 'ref',
  account,
  status: 'open',
  amount: asked,
  received: null,
  failureCode: null,
  ...fields,
})
export const paidOrder = (minor = '5000') => order({ status: 'paid', received: { minor, currency: 'EUR' } })
/** What came to the address of the payment, as our own order says it: 60 USDC are asked for. */
export const deposit = (status: PartnerOrder['status'], minor: string, ...receipts: [string, string][]) =>
  order({
    status,
    received: { minor, currency: 'EUR' },
    usdc: {
      receipts: receipts.map(([key, micro]) => ({ key, micro })),
      askedMicro: '60000000',
      rate: { rate: '1.2', source: 'test', asOf: '' },
    },
  })
export const pending: KnownPayment = {
  status: 'pending',
  parkReason: null,
  exception: null,
  paidAttemptId: null,
  converted: false,
  confirmed: null,
  pinned: true,
  fallback: 'picker',
  listenEnded: false,
  canceledAt: null,
  failedAt: null,
  attempts: [],
  parts: [],
  intents: [],
}
export const open: KnownAttempt = {
  id: 'att_1',
  status: 'open',
  asked,
  acknowledgedMinor: null,
  returnedByHand: false,
}
export const effect = (payment: Partial<KnownPayment>, attempt: Partial<KnownAttempt>, news: PartnerOrder) =>
  effectOfOrder({ ...pending, ...payment }, { ...open, ...attempt }, { order: news, context })
export const statusesOf = (moves: readonly { to: PaymentStatus }[]) => moves.map((move) => move.to)
export const part = (chargeMinor: string, fields: Partial<Part> = {}): Part => ({
  key: `att_1:0:${chargeMinor}`,
  attemptId: 'att_1',
  kind: 'receipt',
  asset: 'EUR',
  units: chargeMinor,
  chargeMinor,
  state: 'counted',
  ...fields,
})
/** The payment has the money of the attempt. */
export const paidBy = (chargeMinor = '5000', fields: Partial<KnownPayment> = {}): Partial<KnownPayment> => ({
  status: 'processing',
  paidAttemptId: 'att_1',
  confirmed: { minor: chargeMinor, currency: 'EUR' },
  parts: [part(chargeMinor)],
  ...fields,
})
export const came = (parts: readonly Part[]) => parts.map(({ chargeMinor, state }) => `${chargeMinor} ${state}`)
