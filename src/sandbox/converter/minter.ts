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
import type { Minter } from '../treasury-top-up.ts'
import type { PreparedMint } from './state.ts'

const MINT = parseAbi(['function mint(address to, uint256 amount) returns (bool)'])

/** In gas. A mint of USDC to an address without a balance takes about 75,000. */
const GAS = 150_000n

/** In wei. The development chain has no fee market; it asks for far less. */
const MAX_FEE = parseGwei('500')
const TIP = parseGwei('30')

/** In milliseconds. The chain is on this machine, so it answers at once or not at all. */
const ANSWER_TIMEOUT_MS = 2000

export type MinterOptions = {
  readonly rpcUrl: string
  readonly usdc: Hex
  readonly treasury: Hex
  /** Key of an account that may mint USDC and can pay for gas. Only this minter may send from it. */
  readonly privateKey: Hex
}

/** Mints USDC to the treasury on the development chain. A real converter would transfer it. */
export function createMinter({ rpcUrl, usdc, treasury, privateKey }: MinterOptions): Minter {
  const client = createPublicClient({ transport: http(rpcUrl, { timeout: ANSWER_TIMEOUT_MS, retryCount: 0 }) })
  const account = privateKeyToAccount(privateKey)

  async function look(mint: PreparedMint): ReturnType<Minter['look']> {
    const hash = mint.hash as Hex
    // The receipt is read after the count, so that a mint mined in between does not count as superseded.
    const count = await client.getTransactionCount({ address: account.address, blockTag: 'latest' })
    const receipt = await client.getTransactionReceipt({ hash }).catch((error: unknown) => {
      // Only "not found" means absent. To treat another error so would mint a second time.
      if (error instanceof TransactionReceiptNotFoundError) return null
      throw error
    })
    if (receipt === null) return count > mint.nonce ? 'superseded' : 'waiting'
    if (receipt.status !== 'success') return 'reverted'
    const finalized = await client.getBlock({ blockTag: 'finalized' })
    return receipt.blockNumber <= finalized.number ? 'final' : 'mined'
  }

  return {
    async prepare(microUsdc) {
      const [nonce, chainId] = await Promise.all([
        client.getTransactionCount({ address: account.address, blockTag: 'latest' }),
        client.getChainId(),
      ])
      const raw = await account.signTransaction({
        to: usdc,
        data: encodeFunctionData({ abi: MINT, functionName: 'mint', args: [treasury, BigInt(microUsdc)] }),
        nonce,
        chainId,
        gas: GAS,
        maxFeePerGas: MAX_FEE,
        maxPriorityFeePerGas: TIP,
        type: 'eip1559',
      })
      return { raw, hash: keccak256(raw), nonce }
    },
    async send(mint) {
      try {
        await client.sendRawTransaction({ serializedTransaction: mint.raw as Hex })
      } catch (error) {
        // A node refuses a transaction that it already has. The refusal is an error only if it does not have it.
        const known = await client.getTransaction({ hash: mint.hash as Hex }).catch(() => null)
        if (known === null) throw error
      }
    },
    look,
  }
}
