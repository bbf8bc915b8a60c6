import { createWalletClient, encodeFunctionData, http, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import type { Hex } from '../../../src/domain/hex.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import type { Random } from '../../../test/support/random.ts'
import { newRecipient } from '../../settlement/payouts.ts'
import type { Stage } from '../../settlement/stage.ts'
import { SLOTS_IN_AN_EPOCH } from './weather.ts'

const abi = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function transferFrom(address from, address to, uint256 value) returns (bool)',
])

export type Strangers = {
  readonly counts: { zeroTransfers: number; zeroTransfersFrom: number; dust: number }
  /** Sends one transfer that means nothing to the treasury, or in its name. */
  poison(): Promise<void>
}

/** Anybody, who sends what the token lets anybody send. */
export async function createStrangers(stage: Stage, random: Random): Promise<Strangers> {
  const counts = { zeroTransfers: 0, zeroTransfersFrom: 0, dust: 0 }
  const treasury = privateKeyToAccount(stage.treasuryKey).address
  const account = privateKeyToAccount(generatePrivateKey())
  const client = createWalletClient({ account, chain: foundry, transport: http(stage.rpcUrl) })
  await stage.chain.setBalance({ address: account.address, value: 10n ** 24n })
  await mintUsdc(stage.chain, { to: account.address, micro: 1_000_000n })
  // No reorganization takes their money back.
  await stage.chain.mine({ blocks: 4 * SLOTS_IN_AN_EPOCH })
  const poisons: { readonly name: keyof typeof counts; readonly data: () => Hex }[] = [
    { name: 'zeroTransfers', data: () => encodeFunctionData({ abi, functionName: 'transfer', args: [treasury, 0n] }) },
    {
      name: 'zeroTransfersFrom',
      data: () => encodeFunctionData({ abi, functionName: 'transferFrom', args: [treasury, newRecipient(), 0n] }),
    },
    { name: 'dust', data: () => encodeFunctionData({ abi, functionName: 'transfer', args: [treasury, 1n] }) },
  ]
  return {
    counts,
    async poison() {
      const chosen = poisons[random.below(poisons.length)]
      if (chosen === undefined) return
      await client.sendTransaction({
        to: stage.token,
        data: chosen.data(),
        gas: 200_000n,
        maxFeePerGas: 400n * 10n ** 9n,
        maxPriorityFeePerGas: 40n * 10n ** 9n,
      })
      counts[chosen.name] += 1
    },
  }
}
