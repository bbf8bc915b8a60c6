import type { Hex } from '../domain/hex.ts'
import { keccak256 } from './keccak.ts'

const NONCE_DOMAIN = 'pinrail.payout.v1'

const word = (digits: string): string => digits.padStart(64, '0')

/** ABI-encodes the content of a string: its length, and its bytes padded to whole words. */
function tail(text: string): string {
  const bytes = Buffer.from(text)
  const words = Math.ceil(bytes.length / 32)
  return word(bytes.length.toString(16)) + bytes.toString('hex').padEnd(64 * words, '0')
}

const DOMAIN_TAIL = tail(NONCE_DOMAIN)
/** Offsets of the two strings: after the five words of the head. */
const DOMAIN_OFFSET = word((5 * 32).toString(16))
const OWNER_OFFSET = word((5 * 32 + DOMAIN_TAIL.length / 2).toString(16))

/**
 * Returns the EIP-3009 nonce of a payout. It never changes, whatever is restored, retried or signed again, so
 * that the token contract itself refuses a second transfer. Database and signer both derive it; neither trusts the
 * other. It is `keccak256(abi.encode("pinrail.payout.v1", chainId, token, treasury, ownerId))`, the types being
 * string, uint256, address, address, string.
 */
export function payoutNonce(payout: { chainId: number; token: Hex; treasury: Hex; ownerId: string }): Hex {
  const { chainId, token, treasury, ownerId } = payout
  const fixed = word(chainId.toString(16)) + word(token.slice(2)) + word(treasury.slice(2))
  return keccak256(`0x${DOMAIN_OFFSET}${fixed}${OWNER_OFFSET}${DOMAIN_TAIL}${tail(ownerId)}`.toLowerCase() as Hex)
}
