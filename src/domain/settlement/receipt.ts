import type { Hex } from '../hex.ts'

/** The receipt of a settled payment, which anyone can verify offline with src/verifier. */

export const RECEIPT_FORMAT = 'pinrail.receipt.v1'

/** Flat, so that they can be compared field by field. */
export type ReceiptClaims = {
  readonly payment: string
  readonly livemode: boolean
  readonly chain_id: number
  readonly token: Hex
  readonly treasury: Hex
  readonly destination: Hex
  /** With six decimals. */
  readonly net_usdc: string
  readonly nonce: Hex
  readonly block_number: number
  readonly block_hash: Hex
  /** ISO 8601 UTC. */
  readonly block_time: string
  /** Claimed by the issuer alone: no transaction receipt contains it. */
  readonly tx_hash: Hex
  readonly tx_index: number
  readonly log_index: number
  /** The issuer, whose keys are at `<issuer>/.well-known/jwks.json`. */
  readonly issuer: string
  readonly issued_at: string
}

export type ReceiptLog = { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }

/** Parts of a JSON Web Signature, each in base64url. */
export type ReceiptSignature = { readonly protected: string; readonly payload: string; readonly signature: string }

export type PaymentReceipt = {
  readonly object: 'payment_receipt'
  readonly format: typeof RECEIPT_FORMAT
  readonly claims: ReceiptClaims
  readonly proof: { readonly header: Hex; readonly nodes: readonly Hex[]; readonly logs: readonly ReceiptLog[] }
  readonly signature: ReceiptSignature
}

/** A public key as it is published (RFC 8037). */
export type ReceiptKey = {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly use: 'sig'
  readonly alg: 'EdDSA'
  readonly kid: string
  readonly x: string
}
