import { toSeconds } from '../../../domain/btcpay/events.ts'
import { getInvoiceState, getPaidPart, PAYMENT_METHOD } from '../../../domain/btcpay/invoice.ts'
import { renderInvoiceMetadata } from '../../../domain/btcpay/metadata.ts'
import type { Money } from '../../../domain/money.ts'
import { isOpen } from '../../../domain/payment/payment.ts'
import type { ShownPayment } from '../../routes/v1/payments/shown-payments.ts'

/** Minutes for which late money is watched: reported, because clients read the field. */
const MONITORED = 1440

/** `asked`: what the paid attempt asked for; null if there is none. */
export type ShownInvoice = { readonly payment: ShownPayment; readonly asked: Money | null }

export function renderInvoice(shown: ShownInvoice, storeId: string): object {
  const { payment } = shown
  const { status, additionalStatus } = getInvoiceState(payment)
  const [created, expires] = [toSeconds(payment.created_at), toSeconds(payment.expires_at)]
  return {
    id: payment.id,
    storeId,
    amount: payment.amount_decimal,
    paidAmount: readPaidPart(shown).paid,
    currency: payment.currency,
    type: 'Standard',
    checkoutLink: payment.checkout_url,
    createdTime: created,
    expirationTime: expires,
    monitoringExpiration: expires + MONITORED * 60,
    monitoringTime: expires + MONITORED * 60,
    status,
    additionalStatus,
    availableStatusesForManualMarking: isOpen(payment.status) ? ['Invalid'] : [],
    archived: false,
    metadata: renderInvoiceMetadata(payment),
    checkout: {
      speedPolicy: 'MediumSpeed',
      paymentMethods: [PAYMENT_METHOD],
      defaultPaymentMethod: PAYMENT_METHOD,
      expirationMinutes: Math.round((expires - created) / 60),
      monitoringMinutes: MONITORED,
      paymentTolerance: 0,
      redirectURL: payment.success_url,
      redirectAutomatically: false,
      requiresRefundEmail: false,
      defaultLanguage: null,
    },
    receipt: { enabled: null, showQR: null, showPayments: null },
  }
}

/** One method with one payment: the money that is the payment's. */
export function renderInvoiceMethods(shown: ShownInvoice): object[] {
  const { payment } = shown
  const { status } = getInvoiceState(payment)
  const { paid, due } = readPaidPart(shown)
  const paidAt = paid === '0' ? null : payment.paid_at
  return [
    {
      paymentMethodId: PAYMENT_METHOD,
      paymentMethod: PAYMENT_METHOD,
      currency: payment.currency,
      activated: true,
      destination: '',
      paymentLink: payment.checkout_url,
      rate: '1',
      paymentMethodPaid: paid,
      totalPaid: paid,
      due,
      amount: payment.amount_decimal,
      networkFee: '0',
      paymentMethodFee: '0',
      payments:
        paidAt === null
          ? []
          : [
              {
                id: payment.settlement.tx_hash ?? payment.id,
                receivedDate: toSeconds(paidAt),
                value: paid,
                fee: '0',
                status: status === 'Settled' ? 'Settled' : 'Processing',
                destination: payment.settlement.destination,
              },
            ],
      additionalData: {},
    },
  ]
}

function readPaidPart({ payment, asked }: ShownInvoice) {
  const { amount_minor: minor, currency, settlement } = payment
  const confirmed = settlement.confirmed && {
    minor: String(settlement.confirmed.amount_minor),
    currency: settlement.confirmed.currency,
  }
  return getPaidPart({ price: { minor: String(minor), currency }, confirmed, asked })
}
