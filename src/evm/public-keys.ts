import { pbkdf2Sync } from 'node:crypto'
import { HDKey } from 'viem/accounts'

/**
 * Mnemonics that are printed in the documentation of development chains, with accounts that everybody can sign for:
 * Foundry's and Hardhat's, and Ganache's with --deterministic.
 */
const MNEMONICS = [
  'test test test test test test test test test test test junk',
  'myth like bonus scare over problem client lizard pioneer submit female collect',
]

/** Number of known accounts of each mnemonic: ten times as many as the tools show by default. */
const ACCOUNTS = 100

let known: ReadonlySet<string> | undefined

/**
 * Returns secrets that everybody knows, as lower-case hexadecimal digits: the private keys of the mnemonics' accounts
 * (BIP-44, m/44'/60'/0'/0/n), and the seeds (BIP-39) that they derive from. Takes half a second the first time.
 */
export function publicKeys(): ReadonlySet<string> {
  known ??= new Set(MNEMONICS.flatMap(deriveSecrets))
  return known
}

export function containsPublicMnemonic(text: string): boolean {
  const words = text.toLowerCase().replaceAll(/[^a-z]+/g, ' ')
  return MNEMONICS.some((mnemonic) => words.includes(mnemonic))
}

function deriveSecrets(mnemonic: string): string[] {
  const seed = pbkdf2Sync(mnemonic, 'mnemonic', 2048, 64, 'sha512')
  const parent = HDKey.fromMasterSeed(seed).derive("m/44'/60'/0'/0")
  const keys = Array.from({ length: ACCOUNTS }, (_, index) => parent.deriveChild(index).privateKey)
  return [seed, ...keys].map((bytes) => Buffer.from(bytes ?? new Uint8Array()).toString('hex'))
}
