import { parseGwei } from 'viem'
import { RECEIPT_KEY } from '../../../scripts/test/environment.ts'
import { signTransferAuthorization } from '../../../src/chain/authorization.ts'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { createKeyAccount } from '../../../src/chain/keys/private-key.ts'
import { proveInBlock } from '../../../src/chain/receipts/block-proofs.ts'
import { connectRpc, type Rpc } from '../../../src/chain/rpc/rpc.ts'
import { sql } from '../../../src/db/db.ts'
import { listReceiptKeys, readReceipt } from '../../../src/db/receipts/receipts.ts'
import { readSigned } from '../../../src/db/settlement/queue.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { SignedPayout } from '../../../src/domain/settlement/payout.ts'
import type { PaymentReceipt } from '../../../src/domain/settlement/receipt.ts'
import { createReceiptIssuer, type ReceiptIssuerDeps } from '../../../src/settlement/receipts/issue.ts'
import { createReceiptSigner } from '../../../src/settlement/receipts/sign.ts'
import { verifyReceipt } from '../../../src/verifier/verifier.js'
import { type Fixture, newAddress, newKey, TOKEN } from '../fixture.ts'

const TENANT = { merchantId: 'mer_1', livemode: false }

/** The worker’s issuer of receipts, on a fixture. */
export function createIssuer(
  fixture: Fixture,
  changes: Partial<ReceiptIssuerDeps> & { urls?: readonly string[] } = {},
) {
  const { urls = [fixture.anvil.url], ...rest } = changes
  return createReceiptIssuer({
    db: fixture.db,
    scope: { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address },
    rpc: openRpc(urls),
    signer: createReceiptSigner(RECEIPT_KEY),
    issuer: 'https://pay.example',
    clock: () => fixture.clock.now.getTime(),
    log: { warn: () => undefined },
    ...rest,
  })
}

const openRpc = (urls: readonly string[]): Rpc =>
  connectRpc({ urls, quorum: Math.floor(urls.length / 2) + 1, chainId: TOKEN.chainId })

export const readPaymentReceipt = (fixture: Fixture, paymentId: string): Promise<PaymentReceipt | null> =>
  readReceipt(fixture.db, TENANT, paymentId)

export type Trusted = Parameters<typeof verifyReceipt>[1]

export async function verifyStored(fixture: Fixture, paymentId: string, trusted: Trusted = {}) {
  const receipt = await readPaymentReceipt(fixture, paymentId)
  return verifyReceipt(JSON.stringify(receipt), { keys: await readKeys(fixture), ...trusted })
}

export const readKeys = (fixture: Fixture) => listReceiptKeys(fixture.db)

export const proveOn = (
  fixture: Fixture,
  block: Parameters<typeof proveInBlock>[1],
  { hashes, url = fixture.anvil.url }: { hashes: Parameters<typeof proveInBlock>[2]; url?: string },
) => proveInBlock(openRpc([url]), block, hashes)

/**
 * Puts strangers’ transactions of every type into the pool: legacy, with an access list, with a priority fee; some
 * fail.
 */
export async function crowd(fixture: Fixture, count: number): Promise<void> {
  const stranger = createKeyAccount(newKey())
  await fixture.chain.setBalance({ address: stranger.address, value: 10n ** 24n })
  for (let nonce = 0; nonce < count; nonce++) {
    const common = { chainId: TOKEN.chainId, nonce, gas: 200_000n, value: 0n }
    const price = parseGwei('200')
    const target = nonce % 5 === 0 ? { to: TOKEN.address, data: '0xdeadbeef' as const } : { to: newAddress() }
    const raw = await stranger.signTransaction(
      nonce % 3 === 0
        ? { ...common, ...target, type: 'legacy', gasPrice: price }
        : nonce % 3 === 1
          ? { ...common, ...target, type: 'eip2930', gasPrice: price, accessList: [] }
          : { ...common, ...target, type: 'eip1559', maxFeePerGas: price, maxPriorityFeePerGas: parseGwei('1') },
    )
    await fixture.chain.request({ method: 'eth_sendRawTransaction', params: [raw] } as never)
  }
}

/** The payout as it is public in a pool: signed, and sent by no lane of the platform. */
export async function signedPayout(fixture: Fixture, paymentId: string): Promise<SignedPayout> {
  await fixture.runner({ options: { maxInFlight: 0 } }).tick()
  const [payout] = await readSigned(fixture.db, sql`p.payment_id = ${paymentId}`, 1)
  if (payout === undefined) throw new Error(`${paymentId} is not signed`)
  return payout
}

/** Puts a stranger’s transaction into the pool that moves nothing by the payout’s nonce, and then the payout. */
export async function carryBehindItsNonce(fixture: Fixture, payout: SignedPayout): Promise<void> {
  const stranger = createKeyAccount(newKey())
  await fixture.chain.setBalance({ address: stranger.address, value: 10n ** 24n })
  const [from, to] = [stranger.address.toLowerCase() as Hex, newAddress()]
  const { authNonce: nonce } = payout
  const validBefore = 4_000_000_000
  const signature = await signTransferAuthorization(stranger, TOKEN, { from, to, micro: 0n, validBefore, nonce })
  const signed = { kind: 'transfer', validBefore, signature } as const
  const own = { ...payout, treasury: from, recipient: to, microUsdc: '0', signed }
  const { target, calldata } = multicallCodec.encode(TOKEN.address, [own, payout])
  const serializedTransaction = await stranger.signTransaction({
    type: 'eip1559',
    chainId: TOKEN.chainId,
    nonce: 0,
    to: target,
    data: calldata,
    gas: 400_000n,
    maxFeePerGas: parseGwei('1000'),
    maxPriorityFeePerGas: parseGwei('100'),
  })
  await fixture.chain.sendRawTransaction({ serializedTransaction })
}
