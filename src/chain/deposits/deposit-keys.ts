import { hkdfSync } from 'node:crypto'
import type { LocalAccount } from 'viem/accounts'
import { encodeAbiParameters } from 'viem/utils'
import type { Hex } from '../../domain/hex.ts'
import { keccak256 } from '../../evm/keccak.ts'
import { createKeyAccount } from '../keys/private-key.ts'

/** Order of the group of secp256k1 (SEC 2, 2.4.1): private keys are 1 to n − 1. */
const GROUP_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** 16 bytes more than a key has, so that the reduction modulo n leaves no measurable bias (FIPS 186-5, A.2.1). */
const MATERIAL_BYTES = 48

/** As many bytes as a key has: a shorter seed would be easier to guess than a key. */
const MIN_SEED_BYTES = 32

export type DepositKeys = {
  /** Lower case. */
  readonly deriveAddress: (ownerId: string) => Hex
  /** Returns the account with this address, also of a retired seed; null if no seed here derives it. */
  readonly findAccount: (ownerId: string, address: Hex) => LocalAccount | null
}

/**
 * Derives the keys of the deposit addresses: HKDF-SHA-256 of the seed with the id of the payment or refund. The seed
 * and the list of these are enough to recover every key. There is no counter that a restored backup could set back. New addresses
 * follow from the first seed. Throws for a seed of fewer than 32 bytes (base64).
 */
export function createDepositKeys(seed: string, chainId: number, retired: readonly string[] = []): DepositKeys {
  const secrets = [seed, ...retired].map((text) => Buffer.from(text, 'base64'))
  if (secrets.some((secret) => secret.length < MIN_SEED_BYTES))
    throw new Error('a deposit seed has fewer than 32 bytes')
  const derive = (ownerId: string, secret: Buffer): LocalAccount => {
    const info = `pinrail.deposit.v1:${chainId}:${ownerId}`
    const material = Buffer.from(hkdfSync('sha256', secret, '', info, MATERIAL_BYTES)).toString('hex')
    const key = (BigInt(`0x${material}`) % (GROUP_ORDER - 1n)) + 1n
    return createKeyAccount(`0x${key.toString(16).padStart(64, '0')}`)
  }
  const getAddress = (account: LocalAccount): Hex => account.address.toLowerCase() as Hex
  return {
    deriveAddress: (ownerId) => getAddress(derive(ownerId, secrets[0] ?? Buffer.alloc(0))),
    findAccount: (ownerId, address) =>
      secrets.map((secret) => derive(ownerId, secret)).find((account) => getAddress(account) === address) ?? null,
  }
}

/**
 * The EIP-3009 nonce of the transfer by which a merchant's wallet pays for a refund: of the refund's id, so that a
 * wallet that signs twice pays once.
 */
export function fundingNonce(refund: { chainId: number; token: Hex; id: string }): Hex {
  const types = ['string', 'uint256', 'address', 'string'].map((type) => ({ type }))
  const { chainId, token, id } = refund
  const values = ['pinrail.refund.v1', BigInt(chainId), token, id]
  return keccak256(encodeAbiParameters(types, values))
}

/** The EIP-3009 nonce of one sweep, derived from the owner of the address and the sweep's index. */
export function sweepNonce(sweep: { chainId: number; token: Hex; address: Hex; ownerId: string; index: number }): Hex {
  const types = ['string', 'uint256', 'address', 'address', 'string', 'uint256'].map((type) => ({ type }))
  const { chainId, token, address, ownerId, index } = sweep
  const values = ['pinrail.sweep.v1', BigInt(chainId), token, address, ownerId, BigInt(index)]
  return keccak256(encodeAbiParameters(types, values))
}
