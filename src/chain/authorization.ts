import type { LocalAccount } from 'viem/accounts'
import { encodeAbiParameters, keccak256, toBytes } from 'viem/utils'
import type { Hex, Payout, PayoutSignature } from '../domain/payout.ts'
import { payoutNonce } from '../payout-nonce.ts'

/** EIP-3009 authorizations of the treasury: the only thing that its key ever signs. */

export type Token = {
  readonly chainId: number
  readonly address: Hex
  /** EIP-712 domain name: "USD Coin" for Polygon's native USDC, "USDC" on Amoy. */
  readonly name: string
}

const TRANSFER = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const
const CANCEL = [
  { name: 'authorizer', type: 'address' },
  { name: 'nonce', type: 'bytes32' },
] as const

const domainOf = (token: Token) => ({
  name: token.name,
  version: '2',
  chainId: token.chainId,
  verifyingContract: token.address,
})

/** What the token's `DOMAIN_SEPARATOR()` must answer; signatures made for another domain are refused by the contract. */
export function domainSeparator(token: Token): Hex {
  const hash = (text: string): Hex => keccak256(toBytes(text))
  return keccak256(
    encodeAbiParameters(
      [{ type: 'bytes32' }, { type: 'bytes32' }, { type: 'bytes32' }, { type: 'uint256' }, { type: 'address' }],
      [
        hash('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'),
        hash(token.name),
        hash('2'),
        BigInt(token.chainId),
        token.address,
      ],
    ),
  )
}

/** A payout that must not be signed, with the reason for the operator. */
export class PolicyRefusal extends Error {
  override readonly name = 'PolicyRefusal'
}

export type TreasuryPolicy = {
  readonly livemode: boolean
  readonly token: Token
  /** No single authorization above this many micro-USDC. */
  readonly maxMicroPerPayout: bigint
}

export type TreasurySigner = {
  readonly address: Hex
  /** Throws PolicyRefusal for a payout that this treasury must not pay. `validBefore` in Unix seconds. */
  signTransfer(payout: Payout, validBefore: number): Promise<PayoutSignature>
  signCancellation(payout: Payout): Promise<PayoutSignature>
}

/**
 * The treasury's key behind its policy. The treasury signs typed data of one token on one chain only, for a payout of
 * its own mode, with the nonce that follows from the payment; so the policy is complete.
 */
export function createTreasurySigner(account: LocalAccount, policy: TreasuryPolicy): TreasurySigner {
  const address = account.address.toLowerCase() as Hex
  const domain = domainOf(policy.token)

  function check(payout: Payout): void {
    const { token } = policy
    if (payout.livemode !== policy.livemode) throw new PolicyRefusal('the payout belongs to the other mode')
    if (payout.chainId !== token.chainId) throw new PolicyRefusal(`the payout belongs to chain ${payout.chainId}`)
    if (payout.token !== token.address) throw new PolicyRefusal(`the payout is in another token: ${payout.token}`)
    if (payout.treasury !== address) throw new PolicyRefusal(`the payout belongs to treasury ${payout.treasury}`)
    if (payout.recipient === address || payout.recipient === token.address || /^0x0{40}$/.test(payout.recipient))
      throw new PolicyRefusal('the recipient is the treasury, the token contract or zero')
    const micro = BigInt(payout.microUsdc)
    if (micro <= 0n || micro > policy.maxMicroPerPayout)
      throw new PolicyRefusal(`${micro} micro-USDC is not within the limit of ${policy.maxMicroPerPayout} per payout`)
    const nonce = payoutNonce({ ...payout, token: token.address, treasury: address })
    if (payout.authNonce !== nonce) throw new PolicyRefusal('the nonce does not follow from the payment')
  }

  return {
    address,
    async signTransfer(payout, validBefore) {
      check(payout)
      const signature = await account.signTypedData({
        domain,
        types: { TransferWithAuthorization: TRANSFER },
        primaryType: 'TransferWithAuthorization',
        message: {
          from: address,
          to: payout.recipient,
          value: BigInt(payout.microUsdc),
          validAfter: 0n,
          validBefore: BigInt(validBefore),
          nonce: payout.authNonce,
        },
      })
      return { kind: 'transfer', validBefore, signature }
    },
    async signCancellation(payout) {
      check(payout)
      const signature = await account.signTypedData({
        domain,
        types: { CancelAuthorization: CANCEL },
        primaryType: 'CancelAuthorization',
        message: { authorizer: address, nonce: payout.authNonce },
      })
      return { kind: 'cancel', validBefore: null, signature }
    },
  }
}
