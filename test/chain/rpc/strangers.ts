import { parseEther } from 'viem'
import { encodeFunctionData, parseAbi } from 'viem/utils'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { createKeyAccount } from '../../../src/chain/keys/private-key.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { type Fixture, newAddress, newKey, TOKEN } from '../fixture.ts'

/** Contracts with which a stranger fills blocks for a dollar. Each transaction uses all the gas that one may have. */

const MOST_GAS = 16_700_000n
const DEAR = {
  type: 'eip1559',
  chainId: TOKEN.chainId,
  maxFeePerGas: 10n ** 12n,
  maxPriorityFeePerGas: 10n ** 11n,
} as const

const COPY_CALLDATA = '3660006000 37'
const callWithCalldata = (target: Hex): string => `6000600036 60006000 73${target.slice(2)} 5af150`
const STOP = '00'
/** Jumps to that place while more gas than this is left. */
const whileGas = (gas: string, place: string): string => `62${gas} 5a11 60${place} 57`
const JUMP_TARGET = '5b'

/** Calls the token with its own call data, until 50,000 gas are left. */
const REPEATER = [COPY_CALLDATA, JUMP_TARGET, callWithCalldata(TOKEN.address), whileGas('00c350', '06'), STOP]

const callMulticall = callWithCalldata(multicallCodec.encode(TOKEN.address, []).target)

/** Calls Multicall3 with its own call data, and logs 8 KB of zeros until 200,000 gas are left. */
const CARRIER = [COPY_CALLDATA, callMulticall, JUMP_TARGET, '6120006000a0', whileGas('030d40', '27'), STOP]

/**
 * The same with empty logs, 200 in a row, until 120,000 gas are left: 43,000 of them, which are the most bytes for the
 * gas.
 */
const NOISY_CARRIER = [
  COPY_CALLDATA,
  callMulticall,
  JUMP_TARGET,
  '6000',
  '8080a0'.repeat(200),
  whileGas('01d4c0', '27'),
  STOP,
]

/** Puts a transaction for each call into the pool. */
async function run({ chain }: Fixture, code: readonly string[], calls: readonly Hex[]): Promise<void> {
  const to = newAddress()
  await chain.setCode({ address: to, bytecode: `0x${code.join('').replaceAll(' ', '')}` })
  const stranger = createKeyAccount(newKey())
  await chain.setBalance({ address: stranger.address, value: parseEther('1000') })
  for (const [nonce, data] of calls.entries()) {
    const serializedTransaction = await stranger.signTransaction({
      ...DEAR,
      nonce,
      to,
      data,
      gas: MOST_GAS,
    })
    await chain.sendRawTransaction({ serializedTransaction })
  }
}

/** Puts a stranger’s transaction with the batch into the pool. */
export async function carry({ chain }: Fixture, { target, calldata }: { target: Hex; calldata: Hex }): Promise<void> {
  const stranger = createKeyAccount(newKey())
  await chain.setBalance({ address: stranger.address, value: parseEther('10') })
  const call = { ...DEAR, nonce: 0, to: target, data: calldata, gas: 8_000_000n }
  await chain.sendRawTransaction({ serializedTransaction: await stranger.signTransaction(call) })
}

const erc20 = parseAbi(['function transfer(address to, uint256 value) returns (bool)'])

const transfer = (to: Hex, micro: bigint): Hex =>
  encodeFunctionData({ abi: erc20, functionName: 'transfer', args: [to, micro] })

/** Puts a transfer to each into the pool, by one wallet whose money is minted before. */
export async function sendUsdc(fixture: Fixture, recipients: readonly Hex[], micro: bigint): Promise<void> {
  const { chain } = fixture
  const buyer = createKeyAccount(newKey())
  await chain.setBalance({ address: buyer.address, value: parseEther('10') })
  await mintUsdc(chain, { to: buyer.address, micro: micro * BigInt(recipients.length) })
  for (const [nonce, to] of recipients.entries()) {
    const call = { to: TOKEN.address, data: transfer(to, micro), gas: 100_000n }
    await chain.sendRawTransaction({ serializedTransaction: await buyer.signTransaction({ ...DEAR, ...call, nonce }) })
  }
}

/** A block has room for eight of them and 7 million gas: 24,000 transfers of nothing to the address, 15 MB of logs. */
export const floodWithNothing = (fixture: Fixture, address: Hex, transactions = 8): Promise<void> =>
  run(
    fixture,
    REPEATER,
    Array.from({ length: transactions }, () => transfer(address, 0n)),
  )

/** Carries each batch of payouts in its own transaction, whose receipt is 4.2 MB. */
export const carryWithNoise = (fixture: Fixture, batches: readonly Hex[]): Promise<void> =>
  run(fixture, CARRIER, batches)

/** The same with receipts of 15 MB. */
export const carryWithEmptyLogs = (fixture: Fixture, batches: readonly Hex[]): Promise<void> =>
  run(fixture, NOISY_CARRIER, batches)
