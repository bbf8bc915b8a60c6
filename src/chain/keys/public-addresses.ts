import { privateKeyToAddress } from 'viem/accounts'
import { publicKeys } from '../../evm/public-keys.ts'

let addresses: ReadonlySet<string> | undefined

/** Whether everybody can sign for the account. A key in a keystore or a key service is known by its address alone. */
export function isPublicAddress(address: string): boolean {
  const privateKeys = [...publicKeys()].filter((key) => key.length === 64)
  addresses ??= new Set(privateKeys.map((key) => privateKeyToAddress(`0x${key}`).toLowerCase()))
  return addresses.has(address.toLowerCase())
}
