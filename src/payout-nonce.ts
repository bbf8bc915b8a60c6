import { encodeAbiParameters, keccak256 } from 'viem/utils'

/** 0x and hexadecimal digits. */
type Hex = `0x${string}`

const NONCE_DOMAIN = 'pinrail.payout.v1'

const PARAMETERS = [
  { type: 'string' },
  { type: 'uint256' },
  { type: 'address' },
  { type: 'address' },
  { type: 'string' },
] as const

/**
 * The EIP-3009 nonce of a payment's payout: the same for life, whatever is restored, retried or signed again, so that
 * the token contract itself refuses a second transfer. Database and signer both derive it; neither takes it on trust.
 */
export function payoutNonce(payout: { chainId: number; token: Hex; treasury: Hex; paymentId: string }): Hex {
  return keccak256(
    encodeAbiParameters(PARAMETERS, [
      NONCE_DOMAIN,
      BigInt(payout.chainId),
      payout.token,
      payout.treasury,
      payout.paymentId,
    ]),
  )
}
