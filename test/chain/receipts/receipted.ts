import { parseGwei } from 'viem'
import { RECEIPT_KEY } from '../../../scripts/test/environment.ts'
import { accountOf } from '../../../src/chain/keys/private-key.ts'
import { proveInBlock } from '../../../src/chain/receipts/block-proofs.ts'
import { connectRpc, type Rpc } from '../../../src/chain/rpc/rpc.ts'
import { listReceiptKeys, readReceipt } from '../../../src/db/receipts/receipts.ts'
import type { PaymentReceipt } from '../../../src/domain/settlement/receipt.ts'
import { createReceiptIssuer, type ReceiptIssuerDeps } from '../../../src/settlement/receipts/issue.ts'
import { createReceiptSigner } from '../../../src/settlement/receipts/sign.ts'
import { newAddress, newKey, TOKEN, type World } from '../world.ts'

const TENANT = { merchantId: 'mer_1', livemode: false }

/** The issuer of receipts as the worker has it, on a world. */
export function issuerOf(world: World, changes: Partial<ReceiptIssuerDeps> & { urls?: readonly string[] } = {}) {
  const { urls = [world.anvil.url], ...rest } = changes
  return createReceiptIssuer({
    db: world.db,
    scope: { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address },
    rpc: rpcOf(urls),
    signer: createReceiptSigner(RECEIPT_KEY),
    issuer: 'https://pay.example',
    clock: () => world.clock.now.getTime(),
    log: { warn: () => undefined },
    ...rest,
  })
}

const rpcOf = (urls: readonly string[]): Rpc =>
  connectRpc({ urls, quorum: Math.floor(urls.length / 2) + 1, chainId: TOKEN.chainId })

export const receiptOf = (world: World, paymentId: string): Promise<PaymentReceipt | null> =>
  readReceipt(world.db, TENANT, paymentId)

export const keysOf = (world: World) => listReceiptKeys(world.db)

export const proveOn = (
  world: World,
  block: Parameters<typeof proveInBlock>[1],
  { hashes, url = world.anvil.url }: { hashes: Parameters<typeof proveInBlock>[2]; url?: string },
) => proveInBlock(rpcOf([url]), block, hashes)

/** Strangers' transactions of every type into the pool: legacy, with an access list, with a priority fee; some fail. */
export async function crowd(world: World, count: number): Promise<void> {
  const stranger = accountOf(newKey())
  await world.chain.setBalance({ address: stranger.address, value: 10n ** 24n })
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
    await world.chain.request({ method: 'eth_sendRawTransaction', params: [raw] } as never)
  }
}
