import {
  createPublicClient,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  parseAbi,
  parseGwei,
  TransactionReceiptNotFoundError,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { formatUsdc } from '../../domain/money.ts'
import type { UsdcSource } from '../treasury-top-up.ts'
import type { PreparedDelivery } from './state.ts'

const USDC = parseAbi([
  'function mint(address to, uint256 amount) returns (bool)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function balanceOf(address) view returns (uint256)',
])

/** In gas. A mint or a transfer of USDC to an address without a balance takes about 75,000. */
const GAS = 150_000n

/** In wei. A test network requires 30 gwei or more, the development chain far less. */
const MAX_FEE = parseGwei('500')
const TIP = parseGwei('30')

/** In milliseconds. A request that is not answered is repeated by the next round. */
const ANSWER_TIMEOUT_MS = 5000

/** The chain id of Polygon, where a faucet must not send real USDC. */
const POLYGON = 137

export type UsdcSourceOptions = {
  readonly rpcUrl: string
  readonly usdc: Hex
  readonly treasury: Hex
  /**
   * `mint`: the account of the key may mint USDC, as on the development chain. `transfer`: it is a faucet's wallet on a
   * test network, and has USDC.
   */
  readonly by: 'mint' | 'transfer'
  /** Key of an account that can pay for gas. Only this source may send from it. */
  readonly privateKey: Hex
}

/** Gives USDC that is worth nothing to the treasury. A real converter would transfer real USDC. */
export function createUsdcSource({ rpcUrl, usdc, treasury, by, privateKey }: UsdcSourceOptions): UsdcSource {
  const client = createPublicClient({ transport: http(rpcUrl, { timeout: ANSWER_TIMEOUT_MS, retryCount: 0 }) })
  const account = privateKeyToAccount(privateKey)

  async function look(delivery: PreparedDelivery): ReturnType<UsdcSource['look']> {
    const hash = delivery.hash as Hex
    // The receipt is read after the count, so that a transaction mined in between does not count as superseded.
    const count = await client.getTransactionCount({ address: account.address, blockTag: 'latest' })
    const receipt = await client.getTransactionReceipt({ hash }).catch((error: unknown) => {
      // Only "not found" means absent. If another error counted as absent, the USDC would be delivered twice.
      if (error instanceof TransactionReceiptNotFoundError) return null
      throw error
    })
    if (receipt === null) return count > delivery.nonce ? 'superseded' : 'waiting'
    if (receipt.status !== 'success') return 'reverted'
    const finalized = await client.getBlock({ blockTag: 'finalized' })
    return receipt.blockNumber <= finalized.number ? 'final' : 'mined'
  }

  /** A transfer of more than the faucet has would revert, and cost gas, again and again. */
  async function assertEnough(microUsdc: string): Promise<void> {
    const has = await client.readContract({
      address: usdc,
      abi: USDC,
      functionName: 'balanceOf',
      args: [account.address],
    })
    if (has < BigInt(microUsdc))
      throw new Error(
        `The faucet ${account.address} must have ${formatUsdc(microUsdc)} USDC of the test network, and has ${formatUsdc(String(has))}. Send it more.`,
      )
  }

  return {
    async prepare(microUsdc) {
      const [nonce, chainId] = await Promise.all([
        client.getTransactionCount({ address: account.address, blockTag: 'latest' }),
        client.getChainId(),
        by === 'transfer' && assertEnough(microUsdc),
      ])
      if (by === 'transfer' && chainId === POLYGON)
        throw new Error(
          'The faucet must be on a test network, not on Polygon: simulated payments would cost real USDC.',
        )
      const raw = await account.signTransaction({
        to: usdc,
        data: encodeFunctionData({ abi: USDC, functionName: by, args: [treasury, BigInt(microUsdc)] }),
        nonce,
        chainId,
        gas: GAS,
        maxFeePerGas: MAX_FEE,
        maxPriorityFeePerGas: TIP,
        type: 'eip1559',
      })
      return { raw, hash: keccak256(raw), nonce }
    },
    async send(delivery) {
      try {
        await client.sendRawTransaction({ serializedTransaction: delivery.raw as Hex })
      } catch (error) {
        // A node refuses a transaction that it already has. The refusal is an error only if the node does not have it.
        const known = await client.getTransaction({ hash: delivery.hash as Hex }).catch(() => null)
        if (known === null) throw error
      }
    },
    look,
  }
}
