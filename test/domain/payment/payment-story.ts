import { newPayment } from '../../../scripts/test/new-payment.ts'
import { derive, endIfGivenBack } from '../../../src/domain/payment/derived.ts'
import { type Answer, withAnswer } from '../../../src/domain/payment/funds/answer.ts'
import { withPaidOut } from '../../../src/domain/payment/funds/funds.ts'
import { advanceFunds, toFunds, withFunds } from '../../../src/domain/payment/funds/stored-funds.ts'
import { createdPayment } from '../../../src/domain/payment/new-payment.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import {
  type Attempt,
  NO_MONEY_YET,
  type Payment,
  type PaymentWithAttempts,
  type StoredSale,
} from '../../../src/domain/payment/payment-object.ts'
import { withReading } from '../../../src/domain/payment/reading.ts'

/** The steps of a payment of 100.00 EUR, as its row changes: each computes its consequences. */

export const AT = '2026-01-01T00:10:00.000Z'
export const RATE = { rate: '1.1', source: 'test' } as const
export const GROSS = 110_000_000n
export const NET = '105050000'

export const created = newPayment({
  id: 'pay_1',
  createdAt: '2026-01-01T00:00:00.000Z',
  amountText: '100',
  amount: { minor: '10000', currency: 'EUR' },
})

export const payment = (fields: Partial<Payment> = {}): Payment => ({
  ...createdPayment(created, { merchantId: 'mer_1', livemode: false }),
  ...fields,
})

export const attempt = (fields: Partial<Attempt> = {}): Attempt => ({
  id: 'att_1',
  paymentId: 'pay_1',
  provider: 'wallet_app',
  method: 'banking_app',
  status: 'open',
  asked: { minor: '10000', currency: 'EUR' },
  askedMicro: null,
  held: '0',
  outside: '0',
  writtenOff: '0',
  refunded: '0',
  refunding: '0',
  misfit: null,
  misfitAnswer: 'none',
  back: 'no',
  returned: false,
  refusals: 0,
  cancelAsked: false,
  silent: false,
  rate: null,
  paidAt: null,
  confirmedAt: null,
  partnerReference: null,
  partnerPayments: [],
  partnerDisputes: [],
  redirectUrl: null,
  intentUri: null,
  failureCode: null,
  silentAfterHours: 24,
  revision: 1,
  createdAt: '2026-01-01T00:01:00.000Z',
  updatedAt: '2026-01-01T00:01:00.000Z',
  ...fields,
})

/** An order for 110 USDC at an address of the platform. */
export const usdcAttempt = (fields: Partial<Attempt> = {}): Attempt =>
  attempt({ provider: 'crypto', method: 'usdc', askedMicro: '110000000', ...fields })

export const computed = (state: PaymentWithAttempts): PaymentWithAttempts =>
  derive(endIfGivenBack(advanceFunds(state)), AT)

export const createState = (
  fields: Partial<Payment> = {},
  { attempts = [], sales = [] }: Partial<PaymentWithAttempts> = {},
): PaymentWithAttempts => computed({ payment: payment(fields), attempts, sales })

export const newState: PaymentWithAttempts = { ...NO_MONEY_YET, payment: payment() }
export const opened = (...attempts: Attempt[]): PaymentWithAttempts => createState({}, { attempts })

type Report = Partial<Omit<PartnerOrder, 'received'>> & { readonly received?: string | null }

/** An order for 100.00 EUR as its partner reports it; `received` is in cents. */
export function order({ received = null, ...fields }: Report = {}): PartnerOrder {
  return {
    attemptId: 'att_1',
    reference: 'ref',
    account: 'ours',
    status: 'open',
    amount: { minor: '10000', currency: 'EUR' },
    received: received === null ? null : { minor: received, currency: 'EUR' },
    failureCode: null,
    ...fields,
  }
}

export const reads = (known: Attempt, report: Report, rate: typeof RATE | null = RATE): Attempt =>
  withReading(known, { order: order({ attemptId: known.id, ...report }), rate, account: 'ours', at: AT })

/** A step of a story: returns the payment after it. */
export type Step = (state: PaymentWithAttempts) => PaymentWithAttempts

export const after = (state: PaymentWithAttempts, ...steps: readonly Step[]): PaymentWithAttempts =>
  steps.reduce((known, step) => step(known), state)

export const sets =
  (fields: Partial<Payment>): Step =>
  (state) =>
    computed({ ...state, payment: { ...state.payment, ...fields } })

const changesAttempt =
  (id: string, change: (known: Attempt) => Attempt): Step =>
  (state) =>
    computed({ ...state, attempts: state.attempts.map((known) => (known.id === id ? change(known) : known)) })

export const setsAttempt = (fields: Partial<Attempt>, id = 'att_1'): Step =>
  changesAttempt(id, (known) => ({ ...known, ...fields }))

export const says = (report: Report, id = 'att_1'): Step => changesAttempt(id, (known) => reads(known, report))

/** The partner has received this amount, in cents. */
export const pays = (received = '10000', id = 'att_1'): Step => says({ status: 'paid', received }, id)

/** The chain has these micro-USDC at the payment's address. */
export const brings =
  (status: PartnerOrder['status'], ...micro: readonly string[]): Step =>
  (state) =>
    says({
      status,
      received: '1',
      usdc: {
        receipts: micro.map((units, index) => ({ key: `${index}`, micro: units })),
        askedMicro: '110000000',
        rate: { ...RATE, asOf: AT },
      },
    })(state)

export const decides =
  (answer: Answer): Step =>
  (state) =>
    computed(withFunds(state, withAnswer(toFunds(state), answer)))

/** The converter has filled the open order with this many micro-USDC. */
export const fills =
  (fill = GROSS): Step =>
  (state) =>
    computed({ ...state, sales: state.sales.map((sale) => (sale.state === 'asked' ? filled(sale, fill) : sale)) })

const filled = (sale: StoredSale, fill: bigint): StoredSale => ({ ...sale, state: 'filled', fill, reference: 'fill' })

export const handsOver: Step = sets({ payout: 'handed' })

export const paysOut =
  (micro = NET): Step =>
  (state) =>
    computed(withFunds(state, withPaidOut(toFunds(state), BigInt(micro))))

/** The money of the only order is confirmed, sold, handed over and paid out. */
export const sold = after(opened(attempt()), pays(), fills())
export const handed = after(sold, handsOver)
export const settled = after(handed, paysOut())
