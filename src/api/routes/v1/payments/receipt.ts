import { z } from 'zod'
import { readReceipt } from '../../../../db/receipts/receipts.ts'
import type { Payment } from '../../../../domain/payment/payment-object.ts'
import { RECEIPT_FORMAT } from '../../../../domain/settlement/receipt.ts'
import { PAYMENT_RECEIPT } from '../../../document/examples.ts'
import { Problem } from '../../../http/problems.ts'
import { defineOperation } from '../../../operation.ts'
import { idPath, moment, usdcAmount } from '../fields.ts'
import { loadPayment } from './payments.ts'

const bytes = z.string().regex(/^0x(?:[0-9a-f]{2})*$/)
const hash = z.string().regex(/^0x[0-9a-f]{64}$/)
const address = z.string().regex(/^0x[0-9a-f]{40}$/)
const base64url = z.string().regex(/^[\w-]+$/)

const paymentReceipt = z
  .strictObject({
    object: z.literal('payment_receipt'),
    format: z.literal(RECEIPT_FORMAT),
    claims: z.strictObject({
      payment: z.string(),
      livemode: z.boolean(),
      chain_id: z.int(),
      token: address,
      treasury: address,
      destination: address,
      net_usdc: usdcAmount,
      nonce: hash,
      block_number: z.int(),
      block_hash: hash,
      block_time: moment,
      tx_hash: hash,
      tx_index: z.int(),
      log_index: z.int(),
      issuer: z.string(),
      issued_at: moment,
    }),
    proof: z.strictObject({
      header: bytes,
      nodes: z.array(bytes),
      logs: z.array(z.strictObject({ address, topics: z.array(hash), data: bytes })),
    }),
    signature: z.strictObject({ protected: base64url, payload: base64url, signature: base64url }),
  })
  .meta({ id: 'PaymentReceipt', examples: [PAYMENT_RECEIPT] })

/** Seconds between two rounds of the worker that issues receipts. */
const RETRY_AFTER = '5'

export const readPaymentReceipt = defineOperation({
  name: 'readPaymentReceipt',
  method: 'get',
  path: '/v1/payments/{id}/receipt',
  tag: 'Payments',
  summary: 'Read the receipt of a settled payment',
  description:
    'A signed document that proves that the USDC arrived. Anyone can verify it independently: at /receipts/verify, or with `pinrail verify`.',
  problems: ['receipt_not_available'],
  scope: 'payments:read',
  params: idPath,
  answers: { 200: paymentReceipt },
  handle: async ({ caller, db, params }) => {
    const { payment } = await loadPayment(db, caller, params.id)
    const receipt = await readReceipt(db, caller, payment.id)
    if (receipt === null) throw notAvailable(payment)
    return { status: 200, body: JSON.stringify(receipt) }
  },
})

function notAvailable({ status, transfer }: Payment): Problem {
  const members = { payment_status: status }
  if (transfer === null)
    return new Problem('receipt_not_available', `Only a settled payment has a receipt: this one is ${status}.`, {
      members,
    })
  return new Problem('receipt_not_available', 'The proof is being fetched from the chain. Try again.', {
    members,
    headers: { 'retry-after': RETRY_AFTER },
  })
}
