import { type Hex, parseEther } from 'viem'
import type { LocalAccount } from 'viem/accounts'
import { encodeFunctionData } from 'viem/utils'
import { createKeyAccount } from '../../../src/chain/keys/private-key.ts'
import { mintUsdc, usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { type Fixture, newAddress, newKey, TOKEN } from '../fixture.ts'

/** Transactions that are sent again on another chain, and that chain. */

/** The transactions of a sender that pay USDC, as bytes to send again. */
export async function signTransfers(
  { chain }: Fixture,
  payments: readonly { to: Hex; micro: bigint }[],
  payer: LocalAccount = createKeyAccount(newKey()),
): Promise<Hex[]> {
  const { address } = payer
  await chain.setBalance({ address, value: parseEther('1') })
  await mintUsdc(chain, { to: address, micro: payments.reduce((sum, { micro }) => sum + micro, 0n) })
  await chain.mine({ blocks: 1 })
  const first = await chain.getTransactionCount({ address })
  return Promise.all(
    payments.map(({ to, micro }, index) =>
      payer.signTransaction({
        type: 'eip1559',
        chainId: TOKEN.chainId,
        nonce: first + index,
        to: TOKEN.address,
        data: encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [to, micro] }),
        gas: 300_000n,
        maxFeePerGas: 10n ** 12n,
        maxPriorityFeePerGas: 10n ** 11n,
      }),
    ),
  )
}

/** A transaction of strangers: mined before others in their block, it shifts their log indexes by one. */
export const signStranger = async (fixture: Fixture): Promise<Hex> =>
  (await signTransfers(fixture, [{ to: newAddress(), micro: 1n }]))[0] as Hex

/** The chain without the last blocks, with these transactions in one of their places, the first or a later one. */
export async function reorganize(
  { chain }: Fixture,
  depth: number,
  mined: readonly Hex[] | { readonly raw: readonly Hex[]; readonly later: number },
): Promise<void> {
  const { raw, later } = 'raw' in mined ? mined : { raw: mined, later: 0 }
  const transactions = raw.map((bytes) => [bytes, 1 + later])
  await chain.request({ method: 'anvil_reorg' as never, params: [depth, transactions] as never })
  await chain.mine({ blocks: 6 })
}
