import { z } from 'zod'
import type { Hex } from '../../../../domain/hex.ts'
import {
  FUND_SOURCES,
  FUNDING_REFUSALS,
  type FundingRefusal,
  REFUND_FAILURES,
  REFUND_STATUSES,
  type RefundFailure,
} from '../../../../domain/refund/refund.ts'
import { REFUND } from '../../../document/refund-examples.ts'
import { amountText, currency, moment, safeText, usdcAmount } from '../fields.ts'
import { metadata } from '../payments/payment-schemas.ts'

export const createRefundBody = z.strictObject({
  amount: amountText.optional(),
  fund_from: z.enum(['wallet', 'next_payouts']).optional(),
  reason: safeText(500).optional(),
  metadata: metadata.optional(),
})
export type CreateRefundBody = z.output<typeof createRefundBody>

const fields = z.array(
  z.strictObject({
    name: z.string().meta({ description: 'The name of the field.' }),
    type: z.string().meta({ description: 'Its type in Solidity.' }),
  }),
)

const typedData = z.strictObject({
  domain: z.strictObject({
    name: z.string(),
    version: z.string(),
    chainId: z.int().meta({ description: 'The id of the blockchain.' }),
    verifyingContract: z.string().meta({ description: 'The contract of the token.' }),
  }),
  types: z.record(z.string(), fields),
  primaryType: z.literal('TransferWithAuthorization'),
  message: z.record(z.string(), z.string()),
})

/** A key signs with 65 bytes; a contract's signature has any length (EIP-1271). */
export const fundRefundBody = z.strictObject({
  signature: z
    .string()
    .regex(/^0x(?:[0-9a-fA-F]{2}){65,4096}$/, 'must be 0x and 65 to 4096 bytes in hexadecimal digits')
    .transform((text) => text.toLowerCase() as Hex),
})

const funding = z.strictObject({
  required_usdc: usdcAmount,
  received_usdc: usdcAmount,
  wallet: z.string(),
  address: z.string().nullable(),
  chain: z.literal('polygon'),
  chain_id: z.int(),
  token: z.string(),
  eip681: z.string().nullable(),
  rate: z.string(),
  rate_source: z.string(),
  expires_at: moment,
  typed_data: typedData.nullable(),
  signed_at: moment.nullable(),
  refusal: z.enum(Object.keys(FUNDING_REFUSALS) as [FundingRefusal, ...FundingRefusal[]]).nullable(),
  tx_hash: z.string().nullable(),
})

export const refundObject = z
  .strictObject({
    id: z.string(),
    object: z.literal('refund'),
    livemode: z.boolean(),
    payment: z.string(),
    number: z.int(),
    amount: z.number(),
    amount_decimal: z.string(),
    amount_minor: z.int(),
    currency,
    status: z.enum(REFUND_STATUSES),
    status_reason: z.enum(Object.keys(REFUND_FAILURES) as [RefundFailure, ...RefundFailure[]]).nullable(),
    reason: z.string().nullable(),
    fund_from: z.enum(FUND_SOURCES),
    metadata: z.record(z.string(), z.string()),
    funding: funding.nullable(),
    partner_reference: z.string().nullable(),
    returned_tx_hash: z.string().nullable(),
    created_at: moment,
    updated_at: moment,
    funded_at: moment.nullable(),
    succeeded_at: moment.nullable(),
    failed_at: moment.nullable(),
    version: z.int(),
  })
  .meta({ id: 'Refund', examples: [REFUND] })
