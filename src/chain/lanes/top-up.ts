import type { LocalAccount } from 'viem/accounts'
import type { Hex } from '../../domain/payout.ts'
import type { SettlementDeps } from '../context.ts'
import { chooseFees } from './fees.ts'
import { advanceLane } from './lane.ts'
import { type ChainView, TRANSFER_GAS } from './sender.ts'

/** A wallet with the chain's own coin from which the relayers get their gas money. It holds no USDC. */
export type Funding = {
  readonly account: LocalAccount
  /** Wei that are sent at a time. */
  readonly wei: bigint
}

/** To one relayer within 24 hours: more is not used up by payouts, but by a fault or by a thief. */
const TOP_UPS_PER_DAY = 6

/**
 * Sends gas money to each relayer that could not pay for as many full batches as it may have in flight. The funding wallet is
 * a lane like the others, so that a lost answer or a crash never sends it twice.
 */
export async function topUpLanes(deps: SettlementDeps, view: ChainView): Promise<void> {
  const { funding, relayers, codec, rpc, options } = deps
  if (funding === null) return
  const oneMore = (maxFee: bigint): bigint => funding.wei + TRANSFER_GAS * maxFee
  const lane = await advanceLane(deps, { account: funding.account, oneMore }, view)
  if (lane === null) return
  const { maxFee } = chooseFees(view.fees, options.maxFeeWei)
  const low = codec.gasLimit(codec.maxItems) * maxFee * BigInt(options.maxInFlight + 1)
  const wallets = relayers.map(({ address }) => address.toLowerCase() as Hex)
  const balances = await rpc.any((provider) => Promise.all(wallets.map((wallet) => provider.balance(wallet))))
  for (const [index, wallet] of wallets.entries()) {
    if ((balances[index] ?? low) >= low) continue
    if (lane.free() > 0) await lane.topUp(wallet, { wei: funding.wei, perDay: TOP_UPS_PER_DAY })
  }
}
