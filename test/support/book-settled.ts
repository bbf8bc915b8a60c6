import { bookAll } from '../../src/db/ledger.ts'
import type { SettlementHooks } from '../../src/db/settlement/context.ts'
import { listBookings } from '../../src/settlement/settled-hook.ts'

/** Books settled payouts that belong to no payment of the test: the treasury has less, and the merchant is paid. */
export const bookSettled: SettlementHooks['onSettled'] = (tx, settlements) => {
  const paid = settlements.map(({ ownerId, microUsdc }) => ({
    kind: 'payment.succeeded',
    reference: ownerId,
    paymentId: ownerId,
    lines: [
      { account: 'merchant_payable' as const, asset: 'USDC', amount: microUsdc },
      { account: 'treasury' as const, asset: 'USDC', amount: `-${microUsdc}` },
    ],
  }))
  return bookAll(tx, [...paid, ...settlements.flatMap(listBookings)], new Date().toISOString())
}
