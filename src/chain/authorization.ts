import type { LocalAccount } from 'viem/accounts'
import { toHex } from 'viem/utils'
import type { Hex } from '../domain/hex.ts'
import { formatUsdc } from '../domain/money.ts'
import type { Payout, PayoutSignature } from '../domain/settlement/payout.ts'
import { keccak256 } from '../evm/keccak.ts'
import { payoutNonce } from '../evm/payout-nonce.ts'
import { word } from './token/words.ts'

/** EIP-3009 authorizations of the treasury. Its key signs nothing else. */

export type Token = {
  readonly chainId: number
  readonly address: Hex
  /** EIP-712 domain name: "USD Coin" for Polygon's native USDC, "USDC" on Amoy. */
  readonly name: string
}

const hashText = (text: string): Hex => keccak256(toHex(text))

/** EIP-712 type hashes, as FiatTokenV2_2 has them in EIP3009.sol. */
const TRANSFER_TYPE = hashText(
  'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
)
const CANCEL_TYPE = hashText('CancelAuthorization(address authorizer,bytes32 nonce)')

/**
 * Signs the EIP-712 hash of an authorization. Faster than the account's own method, which hashes types and domain each
 * time.
 */
async function signStruct(
  account: LocalAccount,
  separator: Hex,
  struct: readonly (Hex | number | bigint)[],
): Promise<Hex> {
  if (account.sign === undefined) throw new Error('an authorization needs an account that signs hashes')
  const hash = keccak256(`0x${struct.map(word).join('')}`)
  return account.sign({ hash: keccak256(`0x1901${separator.slice(2)}${hash.slice(2)}`) })
}

/** Signs a transfer from an address of a payment. `validBefore` is in Unix seconds. */
export function signTransferAuthorization(
  account: LocalAccount,
  token: Token,
  transfer: { from: Hex; to: Hex; micro: bigint; validBefore: number; nonce: Hex },
): Promise<Hex> {
  const { from, to, micro, validBefore, nonce } = transfer
  return signStruct(account, domainSeparator(token), [TRANSFER_TYPE, from, to, micro, 0, validBefore, nonce])
}

/**
 * The domain separator that the token's `DOMAIN_SEPARATOR()` must return: the contract refuses signatures for another
 * domain.
 */
export function domainSeparator(token: Token): Hex {
  const type = hashText('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)')
  const digits = [type, hashText(token.name), hashText('2'), token.chainId, token.address].map(word)
  return keccak256(`0x${digits.join('')}`)
}

/** Thrown for a payout that must not be signed, with the reason for the operator. */
export class PolicyRefusal extends Error {
  override readonly name = 'PolicyRefusal'
}

export type TreasuryPolicy = {
  readonly livemode: boolean
  readonly token: Token
  /** Maximum micro-USDC of one authorization. */
  readonly maxMicroPerPayout: bigint
}

export type TreasurySigner = {
  readonly address: Hex
  /** Returns why this treasury must never sign the transfer, in words for an operator; null if it may sign. */
  whyRefused(payout: Payout): string | null
  /** Throws PolicyRefusal for a payout that this treasury must not pay. `validBefore` is in Unix seconds. */
  signTransfer(payout: Payout, validBefore: number): Promise<PayoutSignature>
  signCancellation(payout: Payout): Promise<PayoutSignature>
}

/**
 * The treasury's key behind its policy. It signs only transfers and cancellations of one token on one chain, for
 * payouts in the mode of the key, with the nonce derived from the payment.
 */
export function createTreasurySigner(account: LocalAccount, policy: TreasuryPolicy): TreasurySigner {
  const address = account.address.toLowerCase() as Hex
  const separator = domainSeparator(policy.token)

  /**
   * Returns why the payout is not this treasury's, or null. A cancellation needs only this check: it moves no money.
   */
  function whyStrange(payout: Payout): string | null {
    const { token } = policy
    if (payout.livemode !== policy.livemode) return 'the payout belongs to the other mode'
    if (payout.chainId !== token.chainId) return `the payout belongs to chain ${payout.chainId}`
    if (payout.token !== token.address) return `the payout is in another token: ${payout.token}`
    if (payout.treasury !== address) return `the payout belongs to treasury ${payout.treasury}`
    const nonce = payoutNonce({ ...payout, token: token.address, treasury: address })
    return payout.authNonce === nonce ? null : 'the nonce does not follow from the payment'
  }

  function whyRefused(payout: Payout): string | null {
    const strange = whyStrange(payout)
    if (strange !== null) return strange
    const { token, maxMicroPerPayout } = policy
    if (payout.recipient === address || payout.recipient === token.address || /^0x0{40}$/.test(payout.recipient))
      return 'the recipient is the treasury, the token contract or zero'
    const micro = BigInt(payout.microUsdc)
    if (micro > 0n && micro <= maxMicroPerPayout) return null
    const [asked, most] = [payout.microUsdc, maxMicroPerPayout.toString()].map(formatUsdc)
    return `a payout must be more than nothing and at most ${most} USDC (PAYOUT_MAX_USDC), and this one is ${asked} USDC`
  }

  function refuse(why: string | null): void {
    if (why !== null) throw new PolicyRefusal(why)
  }

  const sign = (struct: readonly (Hex | number | bigint)[]): Promise<Hex> => signStruct(account, separator, struct)

  return {
    address,
    whyRefused,
    async signTransfer(payout, validBefore) {
      refuse(whyRefused(payout))
      const value = BigInt(payout.microUsdc)
      const struct = [TRANSFER_TYPE, address, payout.recipient, value, 0, validBefore, payout.authNonce]
      return { kind: 'transfer', validBefore, signature: await sign(struct) }
    },
    async signCancellation(payout) {
      refuse(whyStrange(payout))
      return { kind: 'cancel', validBefore: null, signature: await sign([CANCEL_TYPE, address, payout.authNonce]) }
    },
  }
}
