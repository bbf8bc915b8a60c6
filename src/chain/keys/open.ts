import { readFile } from 'node:fs/promises'
import type { LocalAccount } from 'viem/accounts'
import type { Hex } from '../../domain/hex.ts'
import { awsKeyService, googleKeyService, type Load, loadPackage } from './key-services.ts'
import { openKeystore } from './keystore.ts'
import { createServiceAccount } from './kms.ts'
import { createKeyAccount } from './private-key.ts'

/**
 * Opens the account that a setting names: `0x…` (a private key, for development), `keystore:<path>`, `aws-kms:<key id>`
 * or `gcp-kms:<resource name of the key version>`. Throws if it cannot be opened.
 */
export async function openAccount(
  reference: string,
  options: { readonly password?: string | undefined; readonly load?: Load } = {},
): Promise<LocalAccount> {
  if (/^0x[0-9a-fA-F]{64}$/.test(reference)) return createKeyAccount(reference as Hex)
  const [, kind, name] = /^(keystore|aws-kms|gcp-kms):(.+)$/.exec(reference) ?? []
  const load = options.load ?? loadPackage
  if (name !== undefined && kind === 'aws-kms') return createServiceAccount(await awsKeyService(name, load))
  if (name !== undefined && kind === 'gcp-kms') return createServiceAccount(await googleKeyService(name, load))
  if (name === undefined) throw new Error('a key is 0x and 64 digits, keystore:<path>, aws-kms:<id> or gcp-kms:<name>')
  // An error would show it as the name of a file.
  if (/^(?:0x)?[0-9a-f]{64}$/i.test(name)) throw new Error('keystore: is followed by a private key, not by a path')
  if (options.password === undefined) throw new Error(`the keystore ${name} needs KEYSTORE_PASSWORD`)
  return createKeyAccount(await openKeystore(await readFile(name, 'utf8'), options.password))
}

export function openAccounts(
  references: string,
  options: { readonly password: string | undefined },
): Promise<LocalAccount[]> {
  return Promise.all(references.split(',').map((reference) => openAccount(reference.trim(), options)))
}
