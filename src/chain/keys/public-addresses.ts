import { privateKeyToAddress } from 'viem/accounts'
import { publicKeys } from '../../evm/public-keys.ts'

let addresses: ReadonlySet<string> | undefined

/** Returns true if the account's key is public. A key in a keystore or a key service is known only by its address. */
export function isPublicAddress(address: string): boolean {
  const privateKeys = [...publicKeys()].filter((key) => key.length === 64)
  addresses ??= new Set(privateKeys.map((key) => privateKeyToAddress(`0x${key}`).toLowerCase()))
  return addresses.has(address.toLowerCase())
}
