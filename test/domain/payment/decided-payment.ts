import { newPayment } from '../../../scripts/test/new-payment.ts'
import type { Part } from '../../../src/domain/payment/money/parts.ts'
import { createdPayment } from '../../../src/domain/payment/new-payment.ts'
import type { ParkReason } from '../../../src/domain/payment/payment.ts'
import {
  type Attempt,
  NO_MONEY_YET,
  type Payment,
  type PaymentWithAttempts,
} from '../../../src/domain/payment/payment-object.ts'
import { newPaymentSnapshot, type PaymentSnapshot } from '../../../src/domain/payment/snapshot.ts'

/** A payment of 49.99 EUR and its money, about which an operator decides. */

export const note = { operator: 'ada', reason: 'looked at it' }
export const fresh = newPaymentSnapshot('pay_1', 0)
export const parkedFor = (parkReason: ParkReason): PaymentSnapshot => ({ ...fresh, status: 'under_review', parkReason })

export const created = newPayment({ id: 'pay_1', createdAt: '2026-01-01T00:00:00.000Z' })
export const payment = (fields: Partial<Payment>): Payment => ({
  ...createdPayment(created, { merchantId: 'mer_1', livemode: false }),
  ...fields,
})
export const attempt = (fields: Partial<Attempt>): Attempt => ({
  id: 'att_1',
  paymentId: 'pay_1',
  provider: 'wallet_app',
  method: 'banking_app',
  status: 'confirmed',
  asked: { minor: '4999', currency: 'EUR' },
  partnerReference: null,
  redirectUrl: null,
  intentUri: null,
  failureCode: null,
  acknowledgedMinor: null,
  returnedByHand: false,
  silentAfterHours: 24,
  createdAt: '',
  updatedAt: '',
  ...fields,
})
export const usdc = { gross: '100', fee: '4', net: '96' }
export const part = (fields: Partial<Part>): Part => ({
  key: 'att_1:0:4999',
  attemptId: 'att_1',
  kind: 'receipt',
  asset: 'EUR',
  units: '4999',
  chargeMinor: '4999',
  state: 'counted',
  ...fields,
})
export const confirmedMoney = { paidAttemptId: 'att_1', confirmed: { minor: '4999', currency: 'EUR' } } as const
/** A payment and its money; one that was paid has its 49.99 EUR. */
export const stateOf = (fields: Partial<Payment>, money: Partial<PaymentWithAttempts> = {}): PaymentWithAttempts => ({
  ...NO_MONEY_YET,
  payment: payment(fields.paidAttemptId === 'att_1' ? { ...confirmedMoney, ...fields } : fields),
  parts: fields.paidAttemptId === 'att_1' ? [part({})] : [],
  ...money,
})
export const refund = {
  id: '1',
  key: 'k',
  kind: 'refund',
  attemptId: 'att_1',
  state: 'asked',
  operator: 'a',
  reason: 'r',
} as const
export const transfer = { txHash: '0x1', logIndex: 1, blockNumber: '1', finalizedAt: '' }
