import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { LocalAccount } from 'viem/accounts'
import { privateKeyToAccount } from 'viem/accounts'
import { createTreasurySigner } from '../../../src/chain/authorization.ts'
import { awsKeyService, googleKeyService } from '../../../src/chain/keys/key-services.ts'
import { accountOfKeyService } from '../../../src/chain/keys/kms.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { createWorld, newKey, TOKEN, type World } from '../world.ts'

/** What a key service may answer instead of a key or a signature, and what becomes of the payouts meanwhile. */

const key = newKey()
const own = privateKeyToAccount(key)
const point = Buffer.from(own.publicKey.slice(2), 'hex')
const hash: Hex = `0x${createHash('sha256').update('payout').digest('hex')}`

const answering = (signature: readonly number[]): Promise<LocalAccount> =>
  accountOfKeyService({ publicKey: async () => point, signDigest: async () => Uint8Array.from(signature) })

test('the packages of key services are declared, at a version, and installed only where they are needed', async () => {
  const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    peerDependencies: Record<string, string>
    peerDependenciesMeta: Record<string, { optional: boolean }>
  }
  const loaded: string[] = []
  const load = async (name: string): Promise<never> => {
    loaded.push(name)
    throw new Error('not installed')
  }
  for (const open of [awsKeyService, googleKeyService]) await expect(open('key', load)).rejects.toThrow('not installed')
  expect(loaded.toSorted()).toEqual(Object.keys(manifest.peerDependencies).toSorted())
  for (const name of loaded) {
    expect(manifest.peerDependencies[name]).toMatch(/^\d+\.\d+\.\d+$/)
    expect(manifest.peerDependenciesMeta[name]).toEqual({ optional: true })
  }
})

describe('a key service', () => {
  const NO_KEY = 'the key service has no uncompressed secp256k1 key under this name'
  test.each([
    ['nothing', Buffer.alloc(0)],
    ['half of a key', point.subarray(0, 64)],
    ['a compressed key', Buffer.concat([Buffer.alloc(40), Buffer.of(2), point.subarray(1)])],
  ])('that answers %s as the public key is refused', async (_what, publicKey) => {
    const service = { publicKey: async () => publicKey, signDigest: async () => new Uint8Array() }
    await expect(accountOfKeyService(service)).rejects.toThrow(NO_KEY)
  })

  const NO_SIGNATURE = 'the key service answered no ECDSA signature'
  test.each<[string, number[]]>([
    ['nothing', []],
    ['something that is no sequence', [0x31, 6, 2, 1, 1, 2, 1, 1]],
    ['a sequence of something else', [0x30, 6, 4, 1, 1, 2, 1, 1]],
    ['a sequence of one number', [0x30, 3, 2, 1, 1]],
    ['a number and something else', [0x30, 6, 2, 1, 1, 4, 1, 1]],
    ['a first number longer than the answer', [0x30, 6, 2, 9, 1, 2, 1, 1]],
    ['a second number longer than the answer', [0x30, 6, 2, 1, 1, 2, 9, 1]],
    ['an answer cut in the second number', [0x30, 6, 2, 1, 1, 2, 2, 1]],
  ])('that signs with %s is refused', async (_what, der) => {
    const account = await answering(der)
    await expect(account.sign?.({ hash })).rejects.toThrow(NO_SIGNATURE)
  })

  test('whose signature is well formed but of no key is refused', async () => {
    const account = await answering([0x30, 6, 2, 1, 1, 2, 1, 1])
    await expect(account.sign?.({ hash })).rejects.toThrow('the key service signed with another key')
  })

  test('that does not answer says why it did not', async () => {
    const account = await accountOfKeyService({
      publicKey: async () => point,
      signDigest: async () => {
        throw new Error('ThrottlingException: rate exceeded')
      },
    })
    await expect(account.sign?.({ hash })).rejects.toThrow('ThrottlingException: rate exceeded')
  })

  test.each([
    ['Amazon', awsKeyService, amazonWithout()],
    ['Google', googleKeyService, googleWithout()],
  ] as const)(
    'of %s that answers without key or signature is refused, naming what is missing',
    async (_name, open, sdk) => {
      const service = await open('treasury', async () => sdk)
      await expect(service.publicKey()).rejects.toThrow('the key service answered no public key')
      await expect(service.signDigest(Buffer.alloc(32))).rejects.toThrow('the key service answered no signature')
    },
  )
})

function amazonWithout(): object {
  class Command {}
  class KMSClient {
    send = async () => ({})
  }
  return { KMSClient, GetPublicKeyCommand: Command, SignCommand: Command }
}

function googleWithout(): object {
  class KeyManagementServiceClient {
    getPublicKey = async () => [{ pem: null }]
    asymmetricSign = async () => [{ signature: null }]
  }
  return { KeyManagementServiceClient }
}

describe('a treasury whose key service fails', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld()
  })
  afterAll(() => world.stop())

  test('delays its payouts and holds none: they are paid when it answers again', async () => {
    const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }
    const signer = createTreasurySigner(world.treasury, policy)
    const queued = await world.queue([{}, {}, {}])
    const states = () => Promise.all(queued.map(async ({ paymentId }) => (await world.payout(paymentId)).state))
    let failures = 0
    const failing = {
      ...signer,
      signTransfer: async () => {
        failures += 1
        throw new Error('the key service does not answer')
      },
    }
    const down = world.runner({ treasuries: [failing] })
    for (let round = 0; round < 2; round++) {
      await expect(down.tick()).rejects.toThrow('the key service does not answer')
      expect(await states()).toEqual(['queued', 'queued', 'queued'])
    }
    expect(failures).toBeGreaterThanOrEqual(2)
    expect(world.heard.held).toEqual([])
    const { rows } = await world.db.query('select count(*)::int as spent from treasury_hour')
    expect(rows).toEqual([{ spent: 0 }])
    await world.finalize(world.runner())
    expect(await states()).toEqual(['settled', 'settled', 'settled'])
    for (const { recipient, micro } of queued) expect(await world.balance(recipient)).toBe(micro)
  })
})
