import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { toRlp, keccak256 as viemKeccak256, toHex as viemToHex } from 'viem/utils'
import type { PaymentReceipt } from '../../src/domain/settlement/receipt.ts'
import { decodeRlp, indexKey, keccak256, toHex } from '../../src/verifier/reading.js'
import { verifyReceipt } from '../../src/verifier/verifier.js'
import { encodeNonce, forge, KEYS, pair, signed, signer } from './forge.ts'

const verify = (receipt: unknown, trusted: Parameters<typeof verifyReceipt>[1] = { keys: KEYS }) =>
  verifyReceipt(typeof receipt === 'string' ? receipt : JSON.stringify(receipt), trusted)

/** Returns the checks that fail. */
const failing = async (receipt: unknown, trusted?: Parameters<typeof verifyReceipt>[1]): Promise<string[]> =>
  (await verify(receipt, trusted)).checks.filter(({ result }) => result === 'fails').map(({ check }) => check)

const withProof = (receipt: PaymentReceipt, proof: Partial<PaymentReceipt['proof']>): PaymentReceipt => ({
  ...receipt,
  proof: { ...receipt.proof, ...proof },
})

test('a receipt of USDC on Polygon with a trusted block and the issuer’s key is proved', async () => {
  const receipt = forge()
  const { verdict, checks } = await verify(receipt, { keys: KEYS, blockHash: receipt.claims.block_hash })
  expect(checks.map(({ check, result }) => `${check} ${result}`)).toEqual(
    ['form', 'nonce', 'header', 'proof', 'network', 'block', 'signature'].map((check) => `${check} holds`),
  )
  expect(verdict).toBe('proved')
})

test('a legacy receipt, which has no type before it, is proved too', async () => {
  const { proof } = forge({ type: '0x' })
  expect(proof.nodes.length).toBeGreaterThan(1)
  expect(await failing(forge({ type: '0x' }))).toEqual([])
})

test('a block that is not compared leaves the verdict open and names what to look up; another block is wrong', async () => {
  const receipt = forge()
  const open = await verify(receipt)
  expect(open.verdict).toBe('open')
  expect(open.checks.find(({ check }) => check === 'block')?.says).toContain(receipt.claims.block_hash)
  expect(await failing(receipt, { keys: KEYS, blockHash: `0x${'55'.repeat(32)}` })).toEqual(['block'])
  expect(await failing(receipt, { keys: KEYS, blockHash: '' })).toEqual(['block'])
})

describe('Changes that are detected', () => {
  const other = `0x${'66'.repeat(20)}` as const
  test.each<[string, () => PaymentReceipt, string[]]>([
    ['a greater amount', () => forge({ claims: { net_usdc: '95.500001' } }), ['proof']],
    ['another wallet', () => forge({ claims: { destination: other } }), ['proof']],
    ['another treasury', () => forge({ claims: { treasury: other } }), ['nonce', 'proof']],
    ['another payment', () => forge({ claims: { payment: 'pay_other' } }), ['nonce']],
    [
      'another payment with its own nonce',
      () => forge({ claims: { payment: 'pay_other', nonce: encodeNonce('pay_other') } }),
      ['proof'],
    ],
    ['another chain', () => forge({ claims: { chain_id: 138 } }), ['nonce']],
    ['another token', () => forge({ claims: { token: other } }), ['nonce', 'proof']],
    ['another number of the block', () => forge({ claims: { block_number: 80_000_001 } }), ['header']],
    ['another hash of the block', () => forge({ claims: { block_hash: `0x${'77'.repeat(32)}` } }), ['header']],
    ['another time of the block', () => forge({ claims: { block_time: '2026-01-01T00:00:00.000Z' } }), ['header']],
    ['another place in the block', () => forge({ claims: { tx_index: 3 } }), ['proof']],
    ['a place outside of the block', () => forge({ claims: { tx_index: 300 } }), ['proof']],
    [
      'the header of another block',
      () => withProof(forge(), { header: forge({ number: 7n }).proof.header }),
      ['header'],
    ],
    [
      'a proof of another block',
      () => withProof(forge(), { nodes: forge({ logs: pair({ micro: 1n }) }).proof.nodes }),
      ['proof'],
    ],
    ['a proof that lacks its end', () => withProof(forge(), { nodes: forge().proof.nodes.slice(0, -1) }), ['proof']],
    [
      'a proof with more after its end',
      () => withProof(forge(), { nodes: [...forge().proof.nodes, '0xc0'] }),
      ['proof'],
    ],
    ['logs that are shown and not there', () => withProof(forge(), { logs: pair({ micro: 1n }) }), ['proof']],
    ['a transaction that failed', () => forge({ status: '0x' }), ['proof']],
    ['logs of a token that copies USDC', () => forge({ logs: pair({ token: other }) }), ['proof']],
    ['a transfer without its authorization', () => forge({ logs: pair().slice(1) }), ['proof']],
    ['an authorization that moves nothing', () => forge({ logs: pair().slice(0, 1) }), ['proof']],
    ['the two logs the other way round', () => forge({ logs: pair().toReversed() }), ['proof']],
    [
      'a log between the two',
      () => forge({ logs: [pair()[0]!, pair({ nonce: encodeNonce('x') })[0]!, pair()[1]!] }),
      ['proof'],
    ],
    [
      'an authorization of another payment before the transfer',
      () => forge({ logs: pair({ nonce: encodeNonce('pay_x') }) }),
      ['proof'],
    ],
  ])('a change is detected: %s', async (_name, make, expected) => {
    expect(await failing(make())).toEqual(expected)
  })

  test('a change of what the issuer did not sign is detected, also if the chain does not show it', async () => {
    const receipt = forge()
    expect(await failing({ ...receipt, claims: { ...receipt.claims, tx_hash: `0x${'88'.repeat(32)}` } })).toEqual([
      'signature',
    ])
    expect(await failing({ ...receipt, claims: { ...receipt.claims, note: 'more' } })).toEqual(['signature'])
    const { issued_at: _left, ...fewer } = receipt.claims
    expect(await failing({ ...receipt, claims: fewer })).toEqual(['signature'])
    const { signature } = signed({ ...receipt, claims: { ...receipt.claims, log_index: 8 } })
    expect(await failing({ ...receipt, signature })).toEqual(['signature'])
    expect(await failing({ ...receipt, signature: { ...receipt.signature, signature: signature.signature } })).toEqual([
      'signature',
    ])
    const head = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    for (const value of [
      { alg: 'none', kid: signer.key.kid },
      { alg: 'EdDSA', kid: 'other' },
      { alg: 'EdDSA', kid: signer.key.kid, crit: ['b64'] },
    ])
      expect(await failing({ ...receipt, signature: { ...receipt.signature, protected: head(value) } })).toEqual([
        'signature',
      ])
  })

  test('a missing issuer’s key leaves the signature open, and says so; an invalid key makes it wrong', async () => {
    const receipt = forge()
    const { verdict, checks } = await verify(receipt, { blockHash: receipt.claims.block_hash })
    expect(checks.find(({ check }) => check === 'signature')?.result).toBe('open')
    expect(verdict).toBe('proved')
    const broken = await verify(receipt, { keys: [{ ...KEYS[0], x: 'AA' }] })
    expect(broken.checks.find(({ check }) => check === 'signature')?.result).not.toBe('holds')
  })

  test('a change of every single byte of header, proof and signature is detected', async () => {
    const receipt = forge()
    const flipped = (hex: string, at: number) =>
      `${hex.slice(0, at)}${hex[at] === '0' ? '1' : '0'}${hex.slice(at + 1)}` as `0x${string}`
    const { header, nodes } = receipt.proof
    for (let at = 2; at < header.length; at += 9)
      expect(await failing(withProof(receipt, { header: flipped(header, at) }))).not.toEqual([])
    for (const [index, node] of nodes.entries())
      for (let at = 2; at < node.length; at += 31) {
        const changed = nodes.map((each, place) => (place === index ? flipped(each, at) : each))
        expect(await failing(withProof(receipt, { nodes: changed }))).toEqual(['proof'])
      }
  })
})

describe('A receipt made to harm its verifier', () => {
  const base = forge()
  const leaf = (rlp: string) => forge({ leaf: `0x${rlp}` })
  const long = (bytes: number) => `${'ff'.repeat(bytes)}`
  const deep = (levels: number): string => (levels === 0 ? 'c0' : wrap(deep(levels - 1)))
  const wrap = (rlp: string): string => {
    const size = rlp.length / 2
    if (size <= 55) return (0xc0 + size).toString(16) + rlp
    const digits = size.toString(16)
    const even = digits.length % 2 === 0 ? digits : `0${digits}`
    return (0xf7 + even.length / 2).toString(16) + even + rlp
  }
  const claims = (changes: object) => ({ ...base, claims: { ...base.claims, ...changes } })
  test.each<[string, unknown]>([
    ['no text', ''],
    ['no JSON', '{"format":'],
    ['another format', { ...base, format: 'pinrail.receipt.v2' }],
    ['a list', [base]],
    ['null', 'null'],
    ['no proof', { ...base, proof: null }],
    ['no signature', { ...base, signature: undefined }],
    ['no claims', { ...base, claims: [] }],
    ['more than the most', ' '.repeat(5_000_001)],
    ['a hundred thousand lists in one another', '['.repeat(100_000)],
    [
      'deep claims',
      `{"format":"pinrail.receipt.v1","claims":{"payment":${'['.repeat(50_000)}${']'.repeat(50_000)}},"proof":{},"signature":{}}`,
    ],
    ['a thousand nodes', withProof(base, { nodes: Array.from({ length: 1000 }, () => '0xc0' as const) })],
    ['nodes that are no text', { ...base, proof: { ...base.proof, nodes: [1, null] } }],
    ['upper case', withProof(base, { header: base.proof.header.toUpperCase() as '0x' })],
    ['an odd number of digits', withProof(base, { header: `${base.proof.header}0` })],
    ['a truncated header', withProof(base, { header: base.proof.header.slice(0, -2) as '0x' })],
    ['a header that is a number', { ...base, proof: { ...base.proof, header: 7 } }],
    ['a header of two fields', withProof(base, { header: toRlp(['0x01', '0x02']) })],
    ['a header of lists', withProof(base, { header: toRlp(Array.from({ length: 16 }, () => ['0x01' as const])) })],
    ['RLP a thousand deep', leaf(deep(1000))],
    ['RLP that says 2^64 bytes follow', leaf(`bf${long(8)}`)],
    ['RLP that says a giant list follows', leaf(`ff${long(8)}`)],
    ['RLP with a length of leading zeros', leaf('b80001')],
    ['RLP that ends within an item', leaf('f8ff01')],
    ['a receipt that is empty', leaf('c0')],
    ['a leaf that is one byte', leaf('01')],
    ['a number with a fraction', claims({ tx_index: 1.5 })],
    ['a negative number', claims({ tx_index: -1 })],
    ['a number beyond 2^53', claims({ block_number: 2 ** 60 })],
    ['an infinite number', JSON.stringify(base).replace('"chain_id":137', '"chain_id":1e999')],
    ['a giant payment id', claims({ payment: 'p'.repeat(1_000_000) })],
    ['an id with a quote', claims({ payment: 'pay_"x' })],
    ['a prototype', JSON.stringify(base).replace('"claims":{', '"claims":{"__proto__":{"payment":"pay_x"},')],
    ['base64 that is none', { ...base, signature: { ...base.signature, payload: '%%%' } }],
    [
      'a payload that is no object',
      { ...base, signature: { ...base.signature, payload: Buffer.from('7').toString('base64url') } },
    ],
  ])('a hostile receipt is wrong, and never an error: %s', async (_name, receipt) => {
    const { verdict, checks } = await verify(receipt)
    expect(verdict).toBe('wrong')
    for (const { says } of checks) expect(says.length).toBeLessThan(3_000_000)
  })

  test('a block number or a time of 256 bits does not pass for one that JSON can hold', async () => {
    expect(await failing(forge({ number: 2n ** 255n }))).toEqual(['header'])
  })

  test('any text gets a verdict without an exception', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (noise) => {
        expect((await verify(noise)).verdict).toBe('wrong')
        expect((await verify({ ...base, proof: noise })).verdict).toBe('wrong')
        expect((await verify({ ...base, claims: noise })).verdict).toBe('wrong')
        expect((await verify({ ...base, signature: noise })).verdict).toBe('wrong')
        expect((await verify(withProof(base, { logs: noise as never }))).verdict).toBe('wrong')
      }),
      { numRuns: 60 },
    )
  })
})

describe('The verifier’s own decoders', () => {
  test('the verifier’s keccak256 equals another implementation’s, at every length around its blocks', () => {
    for (const length of [0, 1, 55, 134, 135, 136, 137, 271, 272, 273, 1000]) {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 31 + length) % 256)
      expect(keccak256(bytes)).toBe(viemKeccak256(bytes))
    }
  })

  test('the verifier decodes what another implementation encodes, and refuses longer encodings', () => {
    type Tree = `0x${string}` | Tree[]
    const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.uint8Array({ maxLength: 70 }).map((bytes) => viemToHex(bytes)),
        fc.array(tie('tree'), { maxLength: 5 }),
      ),
    }))
    type Read = Uint8Array | Read[]
    const shown = (item: Read): Tree => (Array.isArray(item) ? item.map(shown) : (toHex(item) as `0x${string}`))
    fc.assert(
      fc.property(tree, (value) => {
        expect(shown(decodeRlp(Buffer.from(toRlp(value).slice(2), 'hex')))).toEqual(value)
      }),
    )
    const SHORTER = 'as short as can be'
    const CUT = 'not end within an item'
    for (const [rlp, why] of [
      ['8100', SHORTER],
      ['817f', SHORTER],
      ['b800', SHORTER],
      ['b90010', SHORTER],
      ['f800', SHORTER],
      ['c2c001ff', 'end with its item'],
      ['c281', CUT],
      ['', CUT],
    ] as const)
      expect(() => decodeRlp(Buffer.from(rlp, 'hex'))).toThrow(why)
  })

  test('the key of a place in the block is its RLP', () => {
    for (const index of [0, 1, 127, 128, 255, 256, 65_535, 65_536])
      expect(`0x${indexKey(index)}`).toBe(toRlp(index === 0 ? '0x' : viemToHex(index)))
  })

  test('money of six decimals is shown whole, whatever its size', async () => {
    for (const [micro, shown] of [
      [1n, '0.000001'],
      [1_000_000n, '1.000000'],
      [2n ** 200n, undefined],
    ] as const) {
      const usdc = shown ?? `${2n ** 200n / 1_000_000n}.${String(2n ** 200n % 1_000_000n).padStart(6, '0')}`
      expect(await failing(forge({ logs: pair({ micro }), claims: { net_usdc: usdc } }))).toEqual([])
    }
  })
})
