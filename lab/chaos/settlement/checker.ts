import type { Owed } from '../../settlement/payouts.ts'
import { readTokenBalance, readTransfers } from './chain-facts.ts'

export type Verdict = {
  readonly owed: number
  readonly once: number
  readonly doubled: number
  readonly unpaid: number
  readonly wrongAmount: number
  /** Micro-USDC that left in addition to what was owed. */
  readonly overpaid: bigint
  /** Recipients to whom nothing is owed, except the thief. */
  readonly strangers: number
  /** `agree` if the sum of the recipients' balances is the sum of the transfers. */
  readonly balances: 'agree' | 'differ'
}

/** Compares what was owed with what the chain shows: each recipient is owed one payment. */
export async function judge(
  owed: readonly Owed[],
  chain: {
    readonly rpcUrl: string
    readonly token: string
    readonly payers: readonly string[]
    readonly thief: string
  },
): Promise<Verdict> {
  const transfers = await readTransfers(chain.rpcUrl, { token: chain.token, from: chain.payers })
  const received = new Map<string, bigint[]>()
  // Anybody can move zero USDC in the name of anybody.
  for (const { to, micro } of transfers.filter((transfer) => transfer.micro > 0n))
    received.set(to, [...(received.get(to) ?? []), micro])
  received.delete(chain.thief)
  const verdict = { owed: owed.length, once: 0, doubled: 0, unpaid: 0, wrongAmount: 0, overpaid: 0n }
  let balance = 0n
  for (const { recipient, micro } of owed) {
    const amounts = received.get(recipient) ?? []
    received.delete(recipient)
    const sum = amounts.reduce((total, amount) => total + amount, 0n)
    balance += (await readTokenBalance(chain.rpcUrl, { token: chain.token, wallet: recipient })) - sum
    if (amounts.length === 0) verdict.unpaid += 1
    else if (amounts.length > 1) verdict.doubled += 1
    else if (sum !== micro) verdict.wrongAmount += 1
    else verdict.once += 1
    if (sum > micro) verdict.overpaid += sum - micro
  }
  return { ...verdict, strangers: received.size, balances: balance === 0n ? 'agree' : 'differ' }
}
