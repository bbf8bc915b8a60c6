import type { Currency } from '../currencies.ts'
import { formatAmount, formatUsdc } from '../money.ts'
import { transferLink } from '../settlement/deposit.ts'
import type { FundingRefusal, FundSource, Refund, RefundFailure, RefundPlace, RefundStatus } from './refund.ts'

/** A refund as the API and its events show it. */
export function renderRefund(refund: Refund): RefundObject {
  const { amount } = refund
  return {
    id: refund.id,
    object: 'refund',
    livemode: refund.livemode,
    payment: refund.paymentId,
    number: refund.number,
    amount: Number(formatAmount(amount)),
    amount_decimal: formatAmount(amount),
    amount_minor: Number(amount.minor),
    currency: amount.currency,
    status: refund.status,
    status_reason: refund.statusReason,
    reason: refund.reason,
    fund_from: refund.fundFrom,
    metadata: refund.metadata ?? {},
    funding: refund.fundFrom === 'payment' ? null : renderFunding(refund),
    partner_reference: refund.partnerKey,
    returned_tx_hash: refund.returnedTxHash,
    created_at: refund.createdAt,
    updated_at: refund.updatedAt,
    funded_at: refund.fundedAt,
    succeeded_at: refund.succeededAt,
    failed_at: refund.failedAt,
    version: refund.version,
  }
}

export function renderFunding(refund: Refund): FundingObject {
  const { requiredMicro, receivedMicro, chainId, token, place, wallet } = refund
  const address = place?.address ?? null
  return {
    required_usdc: formatUsdc(requiredMicro),
    received_usdc: formatUsdc(receivedMicro),
    wallet,
    address,
    chain: 'polygon',
    chain_id: chainId,
    token,
    eip681: address === null ? null : transferLink({ chainId, token, address, micro: requiredMicro }),
    rate: refund.rate,
    rate_source: refund.rateSource,
    expires_at: refund.expiresAt,
    typed_data: place && createTypedData(refund, place),
    signed_at: refund.signedAt,
    refusal: refund.fundingRefusal,
    tx_hash: refund.fundingTxHash,
  }
}

/**
 * Returns the EIP-712 data that the merchant's wallet signs to pay for the refund: an EIP-3009 transfer, without gas. The
 * recipient of `receiveWithAuthorization` must be the caller, so the platform could not send it with others.
 */
function createTypedData(refund: Refund, { address, nonce, tokenName }: RefundPlace): TypedData {
  const { chainId, token, wallet, requiredMicro, expiresAt } = refund
  return {
    domain: { name: tokenName, version: '2', chainId, verifyingContract: token },
    types: { EIP712Domain: DOMAIN_FIELDS, TransferWithAuthorization: TRANSFER_FIELDS },
    primaryType: 'TransferWithAuthorization',
    message: {
      from: wallet,
      to: address,
      value: requiredMicro,
      validAfter: '0',
      validBefore: validBefore(expiresAt).toString(),
      nonce,
    },
  }
}

/** Unix seconds of an ISO 8601 time. */
// oxlint-disable-next-line no-restricted-globals -- reads what it is given, not the clock
export const validBefore = (expiresAt: string): number => Math.floor(Date.parse(expiresAt) / 1000)

type Field = { name: string; type: string }

const DOMAIN_FIELDS: Field[] = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
]

const TRANSFER_FIELDS: Field[] = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
]

export type TypedData = {
  domain: { name: string; version: string; chainId: number; verifyingContract: string }
  types: Record<string, Field[]>
  primaryType: 'TransferWithAuthorization'
  message: Record<string, string>
}

export type FundingObject = {
  required_usdc: string
  received_usdc: string
  wallet: string
  address: string | null
  chain: 'polygon'
  chain_id: number
  token: string
  eip681: string | null
  rate: string
  rate_source: string
  expires_at: string
  typed_data: TypedData | null
  signed_at: string | null
  refusal: FundingRefusal | null
  tx_hash: string | null
}

export type RefundObject = {
  id: string
  object: 'refund'
  livemode: boolean
  payment: string
  number: number
  amount: number
  amount_decimal: string
  amount_minor: number
  currency: Currency
  status: RefundStatus
  status_reason: RefundFailure | null
  reason: string | null
  fund_from: FundSource
  metadata: Readonly<Record<string, string>>
  /** Null: the payment's own money goes back. */
  funding: FundingObject | null
  partner_reference: string | null
  returned_tx_hash: string | null
  created_at: string
  updated_at: string
  funded_at: string | null
  succeeded_at: string | null
  failed_at: string | null
  version: number
}
