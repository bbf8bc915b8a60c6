import { createWalletClient, encodeFunctionData, http, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { keccak256, toBytes } from 'viem/utils'
import type { Hex } from '../../../src/domain/hex.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import type { Random } from '../../../test/support/random.ts'
import { newRecipient } from '../../settlement/payouts.ts'
import type { Setup } from '../../settlement/setup.ts'
import { SLOTS_IN_AN_EPOCH } from './chain-faults.ts'

const abi = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function transferFrom(address from, address to, uint256 value) returns (bool)',
])

/** Transfers of strangers: to the treasury, to deposit addresses, in the name of both, and of an unknown token. */
const POISONS = [
  'zeroTransfers',
  'zeroTransfersFrom',
  'dust',
  'depositZeroTransfers',
  'depositZeroTransfersFrom',
  'depositDust',
  'unknownToken',
  // No poison, but money: it must be recorded, and reach the treasury.
  'deposits',
] as const
type Poison = (typeof POISONS)[number]

/** The slot in which the token's proxy stores its implementation. */
const IMPLEMENTATION_SLOT = keccak256(toBytes('org.zeppelinos.proxy.implementation'))

/** A copy of the token that nobody knows. Its transfers of zero leave the same logs. */
const UNKNOWN_TOKEN: Hex = '0x00000000000000000000000000000000000000e5'

export type Strangers = {
  readonly counts: Record<Poison, number>
  poison(): Promise<void>
}

/** A stranger, who sends what the token lets anybody send. */
export async function createStrangers(
  setup: Setup,
  random: Random,
  addressesOfPayments: readonly Hex[],
): Promise<Strangers> {
  const counts = Object.fromEntries(POISONS.map((name) => [name, 0])) as Record<Poison, number>
  const treasury = privateKeyToAccount(setup.treasuryKey).address
  const account = privateKeyToAccount(generatePrivateKey())
  const client = createWalletClient({ account, chain: foundry, transport: http(setup.rpcUrl) })
  await setup.chain.setBalance({ address: account.address, value: 10n ** 24n })
  await mintUsdc(setup.chain, { to: account.address, micro: 10n ** 12n })
  const code = await setup.chain.getCode({ address: setup.token })
  const slot = await setup.chain.getStorageAt({ address: setup.token, slot: IMPLEMENTATION_SLOT })
  await setup.chain.setCode({ address: UNKNOWN_TOKEN, bytecode: code ?? '0x' })
  await setup.chain.setStorageAt({ address: UNKNOWN_TOKEN, index: IMPLEMENTATION_SLOT, value: slot ?? '0x' })
  // No reorganization undoes their first balance.
  await setup.chain.mine({ blocks: 4 * SLOTS_IN_AN_EPOCH })
  const give = (to: Hex, micro: bigint): Hex => encodeFunctionData({ abi, functionName: 'transfer', args: [to, micro] })
  const take = (from: Hex): Hex =>
    encodeFunctionData({ abi, functionName: 'transferFrom', args: [from, newRecipient(), 0n] })
  const anyAddress = (): Hex => random.pick(addressesOfPayments)
  const data: Record<Poison, () => Hex> = {
    zeroTransfers: () => give(treasury, 0n),
    zeroTransfersFrom: () => take(treasury),
    dust: () => give(treasury, 1n),
    depositZeroTransfers: () => give(anyAddress(), 0n),
    depositZeroTransfersFrom: () => take(anyAddress()),
    depositDust: () => give(anyAddress(), 1n),
    unknownToken: () => give(random.chance(0.5) ? treasury : anyAddress(), 0n),
    deposits: () => give(anyAddress(), 1_000_000n),
  }
  return {
    counts,
    async poison() {
      const chosen = random.pick(addressesOfPayments.length === 0 ? POISONS.slice(0, 3) : POISONS)
      await client.sendTransaction({
        to: chosen === 'unknownToken' ? UNKNOWN_TOKEN : setup.token,
        data: data[chosen](),
        gas: 200_000n,
        maxFeePerGas: 400n * 10n ** 9n,
        maxPriorityFeePerGas: 40n * 10n ** 9n,
      })
      counts[chosen] += 1
    },
  }
}
