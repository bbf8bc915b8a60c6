import { createHash, createPublicKey, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { sign as ecdsaSign } from 'tiny-secp256k1'
import { multicall3Abi, parseSignature } from 'viem'
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts'
import { encodeAbiParameters, encodeFunctionData, keccak256, parseAbi } from 'viem/utils'
import { scryptKeystore } from '../../../scripts/test/keystore.ts'
import { createTreasurySigner, PolicyRefusal } from '../../../src/chain/authorization.ts'
import { decidePayouts } from '../../../src/chain/authorizer.ts'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { awsKeyService, googleKeyService } from '../../../src/chain/keys/key-services.ts'
import { createServiceAccount } from '../../../src/chain/keys/kms.ts'
import { openAccount } from '../../../src/chain/keys/open.ts'
import { createKeyAccount } from '../../../src/chain/keys/private-key.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { Payout } from '../../../src/domain/settlement/payout.ts'
import { payoutNonce } from '../../../src/evm/payout-nonce.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { newAddress, newKey, queueAll, TOKEN, useFixture } from '../fixture.ts'

describe('authorizations', () => {
  const account = privateKeyToAccount(newKey())
  const treasury = account.address.toLowerCase() as `0x${string}`
  const signer = createTreasurySigner(account, { livemode: false, token: TOKEN, maxMicroPerPayout: 5_000_000n })

  function payout(changes: Partial<Payout> = {}): Payout {
    const base = { ownerId: 'pay_1', livemode: false, chainId: TOKEN.chainId, token: TOKEN.address, treasury }
    const nonce = payoutNonce({ ...base, ...changes })
    return {
      ...base,
      recipient: newAddress(),
      microUsdc: '1000000',
      authNonce: nonce,
      state: 'queued',
      stopReason: null,
      refusals: 0,
      createdAt: new Date(),
      ...changes,
    }
  }

  test('the WebAssembly signer signs exactly as viem does', async () => {
    for (let round = 0; round < 20; round++) {
      const key = newKey()
      const [ours, theirs] = [createKeyAccount(key), privateKeyToAccount(key)]
      expect(ours.address).toBe(theirs.address)
      const hash = newKey()
      expect(await ours.sign?.({ hash })).toBe(await theirs.sign({ hash }))
      expect(await ours.signMessage({ message: hash })).toBe(await theirs.signMessage({ message: hash }))
      const transaction = {
        type: 'eip1559',
        chainId: 31337,
        nonce: round,
        to: newAddress(),
        data: hash,
        gas: 21_000n,
        maxFeePerGas: 2n,
        maxPriorityFeePerGas: 1n,
      } as const
      expect(await ours.signTransaction(transaction)).toBe(await theirs.signTransaction(transaction))
    }
  })

  test('an authorization is the EIP-712 typed data of EIP-3009', async () => {
    const types = {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    } as const
    const domain = { name: 'USD Coin', version: '2', chainId: TOKEN.chainId, verifyingContract: TOKEN.address }
    const asked = payout()
    const transfer = await account.signTypedData({
      domain,
      types,
      primaryType: 'TransferWithAuthorization',
      message: {
        from: treasury,
        to: asked.recipient,
        value: 1_000_000n,
        validAfter: 0n,
        validBefore: 1_700_000_000n,
        nonce: asked.authNonce,
      },
    })
    expect((await signer.signTransfer(asked, 1_700_000_000)).signature).toBe(transfer)
    const cancel = await account.signTypedData({
      domain,
      types,
      primaryType: 'CancelAuthorization',
      message: { authorizer: treasury, nonce: asked.authNonce },
    })
    expect((await signer.signCancellation(asked)).signature).toBe(cancel)
  })

  test.each(['', 'pay_1', 'pay_01h455vb4pex5vsknk084sn02q', 'x'.repeat(32), 'é'.repeat(40)])(
    'the nonce of payment "%s" is the hash of the ABI encoding',
    (ownerId) => {
      const types = ['string', 'uint256', 'address', 'address', 'string'].map((type) => ({ type }))
      const values = ['pinrail.payout.v1', 31337n, TOKEN.address, account.address, ownerId]
      const place = { chainId: 31337, token: TOKEN.address, treasury: account.address, ownerId }
      expect(payoutNonce(place)).toBe(keccak256(encodeAbiParameters(types, values)))
    },
  )

  test('a batch is encoded by the ABI of Multicall3 and USDC', async () => {
    const transfer = payout()
    const cancel = payout({ ownerId: 'pay_2', state: 'voiding' })
    const signed = [
      { ...transfer, signed: await signer.signTransfer(transfer, 1_700_000_000) },
      { ...cancel, signed: await signer.signCancellation(cancel) },
    ]
    const abi = parseAbi([
      'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
      'function cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)',
    ])
    const [first, second] = signed.map((one) => parseSignature(one.signed.signature))
    const calls = [
      encodeFunctionData({
        abi,
        functionName: 'transferWithAuthorization',
        args: [
          treasury,
          transfer.recipient,
          1_000_000n,
          0n,
          1_700_000_000n,
          transfer.authNonce,
          Number(first!.v),
          first!.r,
          first!.s,
        ],
      }),
      encodeFunctionData({
        abi,
        functionName: 'cancelAuthorization',
        args: [treasury, cancel.authNonce, Number(second!.v), second!.r, second!.s],
      }),
    ].map((callData) => ({ target: TOKEN.address, allowFailure: true, callData }))
    expect(multicallCodec.encode(TOKEN.address, signed).calldata).toBe(
      encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] }),
    )
  })

  test('a payment has one nonce for life, the same in every version of this code', () => {
    const nonce = payoutNonce({
      chainId: 137,
      token: '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359',
      treasury: '0x1111111111111111111111111111111111111111',
      ownerId: 'pay_01h455vb4pex5vsknk084sn02q',
    })
    expect(nonce).toBe('0x22f21c1836d1384b60e001eb7678edc8899beef4bc8f49998f9533262e095b62')
    expect(payoutNonce({ chainId: 137, token: TOKEN.address, treasury, ownerId: 'pay_2' })).not.toBe(
      payoutNonce({ chainId: 137, token: TOKEN.address, treasury, ownerId: 'pay_3' }),
    )
  })

  describe('The treasury signs', () => {
    test('the treasury signs its own payout, with the requested deadline', async () => {
      const signed = await signer.signTransfer(payout(), 1_700_000_000)
      expect(signed).toMatchObject({ kind: 'transfer', validBefore: 1_700_000_000 })
      expect(signed.signature).toMatch(/^0x[0-9a-f]{128}1[bc]$/)
    })

    const stranger = newAddress()
    const within = (usdc: string): string =>
      `a payout must be more than nothing and at most 5.000000 USDC (PAYOUT_MAX_USDC), and this one is ${usdc} USDC`
    const TO_NOBODY = 'the recipient is the treasury, the token contract or zero'
    test.each([
      ['of the other mode', { livemode: true }, 'the payout belongs to the other mode'],
      ['of another chain', { chainId: 137 }, 'the payout belongs to chain 137'],
      ['in another token', { token: stranger }, `the payout is in another token: ${stranger}`],
      ['of another treasury', { treasury: stranger }, `the payout belongs to treasury ${stranger}`],
      [
        'whose nonce does not follow from the payment',
        { authNonce: `0x${'1'.repeat(64)}` as const },
        'the nonce does not follow from the payment',
      ],
    ])('the treasury signs neither a payout %s nor its cancellation', async (_case, changes, why) => {
      const refusal = new PolicyRefusal(why)
      await expect(signer.signTransfer(payout(changes), 1_700_000_000)).rejects.toThrow(refusal)
      await expect(signer.signCancellation(payout(changes))).rejects.toThrow(refusal)
      await expect(signer.signCancellation(payout(changes))).rejects.toBeInstanceOf(PolicyRefusal)
    })

    test.each([
      ['to itself', { recipient: treasury }, TO_NOBODY],
      ['to the token contract', { recipient: TOKEN.address }, TO_NOBODY],
      ['to the zero address', { recipient: `0x${'0'.repeat(40)}` as const }, TO_NOBODY],
      ['above the limit', { microUsdc: '5000001' }, within('5.000001')],
      ['of nothing', { microUsdc: '0' }, within('0.000000')],
      ['of less than nothing', { microUsdc: '-1' }, within('-0.000001')],
    ])('the treasury signs no payout %s, but its cancellation, which moves no money', async (_case, changes, why) => {
      const refused = signer.signTransfer(payout(changes), 1_700_000_000)
      await expect(refused).rejects.toThrow(new PolicyRefusal(why))
      await expect(refused).rejects.toBeInstanceOf(PolicyRefusal)
      expect(await signer.signCancellation(payout(changes))).toMatchObject({ kind: 'cancel' })
    })
  })

  describe('A treasury with too little USDC', () => {
    const decide = (queued: readonly Payout[], available: bigint) =>
      decidePayouts(
        queued,
        {
          paused: false,
          treasuryBlacklisted: false,
          balance: available,
          payouts: queued.map(() => ({ blacklisted: false, used: false })),
        },
        {
          available,
          spendable: 10n ** 12n,
          signedBefore: new Set(),
          heldAfter: new Date(0),
        },
      ).map(({ kind }) => kind)

    test('a treasury with too little keeps the order of one merchant’s payouts, and pays the others while it can', () => {
      const [recipient, other] = [newAddress(), newAddress()]
      const large = payout({ recipient, microUsdc: '5000000' })
      const small = payout({ recipient, microUsdc: '1' })
      expect(decide([large, small, payout({ recipient: other })], 2_000_000n)).toEqual(['wait', 'wait', 'sign'])
      expect(decide([small, large, small], 2_000_000n)).toEqual(['sign', 'wait', 'wait'])
    })

    test('a treasury with too little promises no micro-USDC twice', () => {
      const queued = [payout(), payout(), payout()]
      expect(decide(queued, 2_000_000n)).toEqual(['sign', 'sign', 'wait'])
      expect(decide(queued, 1_999_999n)).toEqual(['sign', 'wait', 'wait'])
    })
  })
})

describe('keys', () => {
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
  function writeKeyFile(content: unknown): string {
    const path = join(folder, `${randomBytes(6).toString('hex')}.json`)
    writeFileSync(path, JSON.stringify(content))
    return `keystore:${path}`
  }

  describe('An encrypted keystore', () => {
    test.each([
      ['pbkdf2', PBKDF2],
      ['scrypt', scryptKeystore(SECRET, 'testpassword')],
      ['capitals', { version: 3, Crypto: PBKDF2.crypto }],
    ])('an encrypted keystore of version 3 (%s) gives its key', async (_kdf, content) => {
      const account = await openAccount(writeKeyFile(content), { password: 'testpassword' })
      expect(account.address).toBe(privateKeyToAccount(SECRET).address)
    })

    test('a keystore with a wrong password, a changed byte, no password, or another format is refused', async () => {
      await expect(openAccount(writeKeyFile(PBKDF2), { password: 'wrong' })).rejects.toThrow(
        'password of the keystore is wrong',
      )
      const changed = structuredClone(PBKDF2)
      changed.crypto.ciphertext = changed.crypto.ciphertext.replace(/^53/, '54')
      await expect(openAccount(writeKeyFile(changed), { password: 'testpassword' })).rejects.toThrow('file is damaged')
      await expect(openAccount(writeKeyFile(PBKDF2))).rejects.toThrow('KEYSTORE_PASSWORD')
      await expect(openAccount(writeKeyFile({ version: 1 }), { password: 'x' })).rejects.toThrow(
        'not a keystore of version 3',
      )
    })
  })

  /**
   * A key service in this process: it answers in DER, and every other time with the high s, which the token refuses.
   */
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
      asymmetricSign = async (request: { digest: { sha256: Uint8Array } }) => [
        { signature: sign(request.digest.sha256) },
      ]
    }
    return { KeyManagementServiceClient }
  }

  describe('A key in a key service', () => {
    const key = newKey()
    const services: [string, string, object][] = [
      ['Amazon', 'aws-kms:alias/treasury', amazon(key)],
      ['Google', 'gcp-kms:projects/p/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1', google(key)],
    ]

    test.each(services)(
      'a key of %s signs what the token accepts: the low s, and 27 or 28',
      async (_name, reference, sdk) => {
        const account = await openAccount(reference, { load: async () => sdk })
        const own = privateKeyToAccount(key)
        expect(account.address.toLowerCase()).toBe(own.address.toLowerCase())
        for (let round = 0; round < 10; round++) {
          const hash: Hex = `0x${createHash('sha256').update(`${round}`).digest('hex')}`
          expect(await account.sign?.({ hash })).toBe(await own.sign({ hash }))
        }
      },
    )

    test('a key service is refused with the name of its package if that is not installed', async () => {
      await expect(openAccount('aws-kms:alias/treasury')).rejects.toThrow('needs the package @aws-sdk/client-kms')
    })

    test('a key service is refused if it signs with another key than it reports', async () => {
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
    const fixture = useFixture()

    test('a treasury whose key is in a key service pays by the real token', async () => {
      const account = await openAccount('aws-kms:alias/treasury', { load: async () => amazon(newKey()) })
      const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }
      const treasuries = [createTreasurySigner(account, policy)]
      await mintUsdc(fixture.chain, { to: account.address, micro: 1_000_000_000n })
      const queued = await queueAll({ ...fixture, treasury: account }, [{}, {}, {}])
      await fixture.finalize(fixture.runner({ treasuries }))
      for (const { recipient, micro } of queued) expect(await fixture.balance(recipient)).toBe(micro)
    })
  })
})

describe('errors of a key service', () => {
  /** Faulty answers of a key service instead of a key or a signature, and what becomes of the payouts. */

  const key = newKey()
  const own = privateKeyToAccount(key)
  const point = Buffer.from(own.publicKey.slice(2), 'hex')
  const hash: Hex = `0x${createHash('sha256').update('payout').digest('hex')}`

  const answering = (signature: readonly number[]): Promise<LocalAccount> =>
    createServiceAccount({ publicKey: async () => point, signDigest: async () => Uint8Array.from(signature) })

  test('the image of each key service has exactly its package, at a version', async () => {
    const listPackages = (image: string): [string, string][] => {
      const path = new URL(`../../../ops/images/${image}/package.json`, import.meta.url)
      const { dependencies } = JSON.parse(readFileSync(path, 'utf8')) as { dependencies: Record<string, string> }
      return Object.entries(dependencies)
    }
    const loaded: string[] = []
    const load = async (name: string): Promise<never> => {
      loaded.push(name)
      throw new Error('not installed')
    }
    for (const open of [awsKeyService, googleKeyService])
      await expect(open('key', load)).rejects.toThrow('not installed')
    const listed = ['aws', 'gcp'].flatMap(listPackages)
    expect(listed).toEqual(loaded.map((name) => [name, expect.stringMatching(/^\d+\.\d+\.\d+$/)]))
  })

  describe('a key service', () => {
    const NO_KEY = 'the key service has no uncompressed secp256k1 key under this name'
    test.each([
      ['nothing', Buffer.alloc(0)],
      ['half of a key', point.subarray(0, 64)],
      ['a compressed key', Buffer.concat([Buffer.alloc(40), Buffer.of(2), point.subarray(1)])],
    ])('a key service is refused if it answers %s as the public key', async (_what, publicKey) => {
      const service = { publicKey: async () => publicKey, signDigest: async () => new Uint8Array() }
      await expect(createServiceAccount(service)).rejects.toThrow(NO_KEY)
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
    ])('a key service is refused if it signs with %s', async (_what, der) => {
      const account = await answering(der)
      await expect(account.sign?.({ hash })).rejects.toThrow(NO_SIGNATURE)
    })

    test('a key service is refused if its signature is well formed but of no key', async () => {
      const account = await answering([0x30, 6, 2, 1, 1, 2, 1, 1])
      await expect(account.sign?.({ hash })).rejects.toThrow('the key service signed with another key')
    })

    test('a key service is asked for 25 signatures at once, and not awaited beyond its deadline', async () => {
      let [busy, most] = [0, 0]
      const signDigest = async (): Promise<Uint8Array> => {
        busy += 1
        most = Math.max(most, busy)
        await setImmediate()
        busy -= 1
        return new Uint8Array()
      }
      const publicKey = async () => point
      const account = await createServiceAccount({ publicKey, signDigest })
      await Promise.allSettled(Array.from({ length: 60 }, async () => account.sign?.({ hash })))
      expect(most).toBe(25)
      const silent = { publicKey, signDigest: () => new Promise<never>(() => undefined) }
      await expect((await createServiceAccount(silent, 20)).sign?.({ hash })).rejects.toThrow(
        'the key service did not answer within 20 ms',
      )
    })

    test('a key service that does not answer is named with the reason', async () => {
      const account = await createServiceAccount({
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
      'a key service of %s is refused with the name of the missing part if it answers without key or signature',
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
    const fixture = useFixture()

    test('a treasury whose key service fails delays its payouts and stops none: they are paid when it answers again', async () => {
      const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }
      const signer = createTreasurySigner(fixture.treasury, policy)
      const queued = await fixture.queue([{}, {}, {}])
      const states = () => Promise.all(queued.map(async ({ paymentId }) => (await fixture.payout(paymentId)).state))
      let failures = 0
      const failing = {
        ...signer,
        signTransfer: async () => {
          failures += 1
          throw new Error('the key service does not answer')
        },
      }
      const down = fixture.runner({ treasuries: [failing] })
      for (let round = 0; round < 2; round++) {
        await expect(down.tick()).rejects.toThrow('the key service does not answer')
        expect(await states()).toEqual(['queued', 'queued', 'queued'])
      }
      expect(failures).toBeGreaterThanOrEqual(2)
      expect(fixture.hookCalls.stopped).toEqual([])
      const { rows } = await fixture.db.query('select count(*)::int as spent from treasury_hour')
      expect(rows).toEqual([{ spent: 0 }])
      await fixture.finalize(fixture.runner())
      expect(await states()).toEqual(['settled', 'settled', 'settled'])
      for (const { recipient, micro } of queued) expect(await fixture.balance(recipient)).toBe(micro)
    })
  })
})
