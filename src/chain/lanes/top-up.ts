import type { Hex } from '../../domain/hex.ts'
import type { SettlementDeps } from '../context.ts'
import { createBlockMemo } from './block-memo.ts'
import { atMost, chooseFees } from './fees.ts'
import { advanceLane, createLaneWallet } from './lane.ts'
import { type ChainView, TRANSFER_GAS } from './sender.ts'

/**
 * Sends POL to each relayer that could not pay for as many full batches as it may have in flight. It sends less if gas
 * is so expensive that the wallet has less, or if the limit of a day is lower. The funding wallet is a lane like the
 * others, so a lost answer or a crash never sends a top-up twice. The next top-up waits until the last one is in the
 * balance, not until it is final: finality may take hours, and payouts continue during that time. Memory contains only
 * the warnings that were logged.
 */
export function createTopUp(deps: SettlementDeps) {
  const { funding, relayers, codec, rpc, options, log } = deps
  const wallets = relayers.map(({ address }) => address.toLowerCase() as Hex)
  const refusedBefore = new Set<Hex>()
  const readBalances = createBlockMemo<bigint[]>()
  // At the highest price to which it may be raised.
  const gas = TRANSFER_GAS * options.maxFeeWei
  const oneMore = (): bigint => (funding?.wei ?? 0n) + gas
  const lender = funding === null ? null : createLaneWallet(deps, { account: funding.account, oneMore })

  return async function topUpLanes(view: ChainView): Promise<void> {
    if (funding === null || lender === null) return
    const { wei, maxWeiPerDay } = funding
    const lane = await advanceLane(deps, lender, view)
    const { maxFee } = chooseFees(view.fees, options.maxFeeWei)
    const low = codec.gasLimit(codec.maxItems) * maxFee * BigInt(options.maxInFlight + 1)
    const balances = await readBalances(view.head.hash, () =>
      rpc.demand('how much gas money the relayers have', (node) =>
        Promise.all(wallets.map((wallet) => node.balance(wallet, view.head.number))),
      ),
    )
    for (const [index, target] of wallets.entries()) {
      const missing = low - (balances[index] ?? low)
      // No node takes a transaction that the wallet cannot pay, and its nonce would block everything after it forever.
      const payable = lane.spare() - gas
      if (missing <= 0n || lane.free() === 0 || payable < wei) continue
      const asked = atMost(missing, payable)
      const refused = await lane.topUp({ target, wei: asked > wei ? asked : wei, least: wei, maxWeiPerDay })
      if (refused === null) refusedBefore.delete(target)
      if (refused === null || refused === 'pending' || refused === 'paused' || refusedBefore.has(target)) continue
      refusedBefore.add(target)
      log.error({ wallet: target, refused, maxWeiPerDay }, 'a lane gets no gas money: look where it goes')
    }
  }
}
