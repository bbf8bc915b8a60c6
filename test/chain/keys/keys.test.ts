import { createHash, createPublicKey, randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sign as ecdsaSign } from 'tiny-secp256k1'
import { privateKeyToAccount } from 'viem/accounts'
import { createTreasurySigner } from '../../../src/chain/authorization.ts'
import { openAccount } from '../../../src/chain/keys/open.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { createWorld, newKey, queueAll, TOKEN, type World } from '../world.ts'
import { scryptKeystore } from './keystore.ts'

/** The test vector of the Web3 Secret Storage definition. */
const SECRET = '0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'
const PBKDF2 = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}

const folder = mkdtempSync(join(tmpdir(), 'pinrail-keys-'))
function fileOf(content: unknown): string {
  const path = join(folder, `${randomBytes(6).toString('hex')}.json`)
  writeFileSync(path, JSON.stringify(content))
  return `keystore:${path}`
}

describe('an encrypted keystore', () => {
  test.each([
    ['pbkdf2', PBKDF2],
    ['scrypt', scryptKeystore(SECRET, 'testpassword')],
    ['capitals', { version: 3, Crypto: PBKDF2.crypto }],
  ])('of version 3 (%s) gives its key', async (_kdf, content) => {
    const account = await openAccount(fileOf(content), { password: 'testpassword' })
    expect(account.address).toBe(privateKeyToAccount(SECRET).address)
  })

  test('with a wrong password, a changed byte, without a password, or that is none, is refused', async () => {
    await expect(openAccount(fileOf(PBKDF2), { password: 'wrong' })).rejects.toThrow(
      'password of the keystore is wrong',
    )
    const changed = structuredClone(PBKDF2)
    changed.crypto.ciphertext = changed.crypto.ciphertext.replace(/^53/, '54')
    await expect(openAccount(fileOf(changed), { password: 'testpassword' })).rejects.toThrow('file is damaged')
    await expect(openAccount(fileOf(PBKDF2))).rejects.toThrow('KEYSTORE_PASSWORD')
    await expect(openAccount(fileOf({ version: 1 }), { password: 'x' })).rejects.toThrow('not a keystore of version 3')
  })
})

/** A key service in this process: answers in DER, and every other time with the high s, which the token refuses. */
function keyService(key: Hex) {
  const secret = Buffer.from(key.slice(2), 'hex')
  const point = Buffer.from(privateKeyToAccount(key).publicKey.slice(2), 'hex')
  const spki = Buffer.concat([Buffer.from('3056301006072a8648ce3d020106052b8104000a034200', 'hex'), point])
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  let calls = 0
  const integer = (value: bigint): Buffer => {
    const digits = value.toString(16)
    const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex')
    const positive = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes
    return Buffer.concat([Buffer.of(2, positive.length), positive])
  }
  const sign = (digest: Uint8Array): Buffer => {
    calls += 1
    const raw = Buffer.from(ecdsaSign(digest, secret)).toString('hex')
    const [r, s] = [BigInt(`0x${raw.slice(0, 64)}`), BigInt(`0x${raw.slice(64)}`)]
    const parts = Buffer.concat([integer(r), integer(calls % 2 === 0 ? s : order - s)])
    return Buffer.concat([Buffer.of(0x30, parts.length), parts])
  }
  return { spki, sign }
}

type Input = { KeyId: string; Message?: Uint8Array; MessageType?: string; SigningAlgorithm?: string }

class Command {
  readonly input: Input
  constructor(input: Input) {
    this.input = input
  }
}

function amazon(key: Hex) {
  const { spki, sign } = keyService(key)
  class GetPublicKeyCommand extends Command {}
  class SignCommand extends Command {}
  class KMSClient {
    async send(command: Command): Promise<object> {
      if (command.input.KeyId !== 'alias/treasury') throw new Error('no such key')
      if (command instanceof GetPublicKeyCommand) return { PublicKey: new Uint8Array(spki) }
      expect(command.input).toMatchObject({ MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' })
      return { Signature: new Uint8Array(sign(command.input.Message!)) }
    }
  }
  return { KMSClient, GetPublicKeyCommand, SignCommand }
}

function google(key: Hex) {
  const { spki, sign } = keyService(key)
  const pem = createPublicKey({ key: spki, format: 'der', type: 'spki' }).export({ format: 'pem', type: 'spki' })
  class KeyManagementServiceClient {
    getPublicKey = async () => [{ pem: String(pem) }]
    asymmetricSign = async (request: { digest: { sha256: Uint8Array } }) => [{ signature: sign(request.digest.sha256) }]
  }
  return { KeyManagementServiceClient }
}

describe('a key in a key service', () => {
  const key = newKey()
  const services: [string, string, object][] = [
    ['Amazon', 'aws-kms:alias/treasury', amazon(key)],
    ['Google', 'gcp-kms:projects/p/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1', google(key)],
  ]

  test.each(services)('of %s signs what the token accepts: the low s, and 27 or 28', async (_name, reference, sdk) => {
    const account = await openAccount(reference, { load: async () => sdk })
    const own = privateKeyToAccount(key)
    expect(account.address.toLowerCase()).toBe(own.address.toLowerCase())
    for (let round = 0; round < 10; round++) {
      const hash: Hex = `0x${createHash('sha256').update(`${round}`).digest('hex')}`
      expect(await account.sign?.({ hash })).toBe(await own.sign({ hash }))
    }
  })

  test('whose package is not installed is refused, naming the package', async () => {
    await expect(openAccount('aws-kms:alias/treasury')).rejects.toThrow('npm install --no-save @aws-sdk/client-kms')
  })

  test('that signs with another key than it says is refused', async () => {
    const sdk = amazon(key)
    const other = keyService(newKey())
    sdk.KMSClient.prototype.send = async (command) =>
      command instanceof sdk.GetPublicKeyCommand
        ? { PublicKey: new Uint8Array(keyService(key).spki) }
        : { Signature: new Uint8Array(other.sign(command.input.Message!)) }
    const account = await openAccount('aws-kms:alias/treasury', { load: async () => sdk })
    await expect(account.sign?.({ hash: newKey() })).rejects.toThrow('signed with another key')
  })
})

test('a setting that names no key is refused', async () => {
  await expect(openAccount('vault:secret')).rejects.toThrow('keystore:<path>')
})

describe('a treasury whose key is in a key service', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld()
  })
  afterAll(() => world.stop())

  test('pays by the real token', async () => {
    const account = await openAccount('aws-kms:alias/treasury', { load: async () => amazon(newKey()) })
    const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }
    const treasuries = [createTreasurySigner(account, policy)]
    await mintUsdc(world.chain, { to: account.address, micro: 1_000_000_000n })
    const queued = await queueAll({ ...world, treasury: account }, [{}, {}, {}])
    await world.finalize(world.runner({ treasuries }))
    for (const { recipient, micro } of queued) expect(await world.balance(recipient)).toBe(micro)
  })
})
