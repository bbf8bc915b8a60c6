import { toRlp } from 'viem/utils'
import { buildTrie, proveEntry } from '../../src/chain/receipts/trie.ts'
import { TOPICS } from '../../src/chain/token/contracts.ts'
import type { Hex } from '../../src/domain/hex.ts'
import type { PaymentReceipt, ReceiptClaims, ReceiptLog } from '../../src/domain/settlement/receipt.ts'
import { keccak256 } from '../../src/evm/keccak.ts'
import { payoutNonce } from '../../src/evm/payout-nonce.ts'
import { createReceiptSigner } from '../../src/settlement/receipts/sign.ts'

/** Receipts of invented blocks: all hashes are right, so that a test can break one thing at a time. */

const USDC: Hex = '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359'
const TREASURY: Hex = `0x${'11'.repeat(20)}`
const DESTINATION: Hex = `0x${'22'.repeat(20)}`
const PAYMENT = 'pay_01k9zq8v6xe5v8m1j5d4s3r2q1'
const BLOOM: Hex = `0x${'00'.repeat(256)}`

export const signer = createReceiptSigner(Buffer.alloc(32, 5).toString('base64'))
export const KEYS = [{ kty: 'OKP', crv: 'Ed25519', ...signer.key }]

const word = (value: Hex | bigint): Hex =>
  `0x${(typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')}`

export const encodeNonce = (paymentId: string): Hex =>
  payoutNonce({ chainId: 137, token: USDC, treasury: TREASURY, ownerId: paymentId })

/** The two logs of a payout. */
export function pair(changes: { nonce?: Hex; to?: Hex; micro?: bigint; token?: Hex } = {}): ReceiptLog[] {
  const { nonce = encodeNonce(PAYMENT), to = DESTINATION, micro = 95_500_000n, token = USDC } = changes
  return [
    { address: token, topics: [TOPICS.authorizationUsed, word(TREASURY), nonce], data: '0x' },
    { address: token, topics: [TOPICS.transfer, word(TREASURY), word(to)], data: word(micro) },
  ]
}

export type Forgery = {
  readonly logs?: readonly ReceiptLog[]
  readonly status?: Hex
  readonly type?: Hex
  /** Instead of the receipt's own bytes. */
  readonly leaf?: Hex
  readonly number?: bigint
  readonly claims?: Partial<ReceiptClaims>
}

/** A receipt of the third transaction of a block of five. */
export function forge({
  logs = pair(),
  status = '0x01',
  type = '0x02',
  leaf,
  number,
  claims = {},
}: Forgery = {}): PaymentReceipt {
  const body = toRlp([status, '0x5208', BLOOM, logs.map(({ address, topics, data }) => [address, [...topics], data])])
  const mine: Hex = leaf ?? `${type}${body.slice(2)}`
  const other = (index: number): Hex => toRlp(['0x01', `0x0${index + 1}`, BLOOM, []])
  const path = (index: number): string => (index === 0 ? '80' : `0${index}`)
  const trie = buildTrie(
    [0, 1, 2, 3, 4].map((index) => ({ path: path(index), value: index === 2 ? mine : other(index) })),
  )
  const header = encodeHeader(trie.hash, number)
  const said: ReceiptClaims = {
    payment: PAYMENT,
    livemode: true,
    chain_id: 137,
    token: USDC,
    treasury: TREASURY,
    destination: DESTINATION,
    net_usdc: '95.500000',
    nonce: encodeNonce(PAYMENT),
    block_number: 80_000_000,
    block_hash: keccak256(header),
    block_time: new Date(1_763_800_000_000).toISOString(),
    tx_hash: `0x${'33'.repeat(32)}`,
    tx_index: 2,
    log_index: 7,
    issuer: 'https://pay.example',
    issued_at: '2026-11-22T08:00:00.000Z',
    ...claims,
  }
  const nodes = proveEntry(trie, path(2))
  return signed({
    object: 'payment_receipt',
    format: 'pinrail.receipt.v1',
    claims: said,
    proof: { header, nodes, logs: logs.slice(0, 2) },
  })
}

/** The receipt with the issuer's signature over its new content. */
export const signed = (receipt: Omit<PaymentReceipt, 'signature'>): PaymentReceipt => ({
  ...receipt,
  signature: signer.sign(receipt.claims),
})

function encodeHeader(receiptsRoot: Hex, number = 80_000_000n): Hex {
  const hash: Hex = `0x${'44'.repeat(32)}`
  const digits = number.toString(16)
  const height: Hex = `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`
  const fees: Hex[] = ['0x01', height, '0x03938700', '0x5208', '0x692173c0']
  return toRlp([
    hash,
    hash,
    TREASURY,
    hash,
    hash,
    receiptsRoot,
    BLOOM,
    ...fees,
    '0x',
    hash,
    '0x0000000000000000',
    '0x1e',
  ])
}
