import type { Hex } from '../../domain/payout.ts'
import type { SettlementDeps } from '../context.ts'
import type { Provider, Transaction } from '../provider.ts'

/** How far back the user of a nonce is looked for: what nodes without an archive keep. */
const SEARCHED_BLOCKS = 4096

/** More nonces than this are not explained one by one; the newest tell enough. */
const EXPLAINED_NONCES = 20

const AGGREGATE3 = '0x82ad56cb'

/**
 * Whether nonces that this journal did not use were used by transactions such as our own lanes send: batches of the
 * token, as an engine sent them whose journal was lost, or an empty transfer to the wallet itself. Anything else means
 * that somebody else has the key. What cannot be found is not explained.
 */
export async function areExplained(
  deps: SettlementDeps,
  wallet: Hex,
  range: { nonces: readonly number[]; final: number },
): Promise<boolean> {
  for (const nonce of range.nonces.slice(-EXPLAINED_NONCES)) {
    const found = await deps.rpc
      .any((provider) => findTransaction(provider, wallet, { nonce, final: range.final }))
      .catch(() => null)
    if (found === null || !isLikeOurs(deps, wallet, found)) return false
  }
  return true
}

function isLikeOurs(deps: SettlementDeps, wallet: Hex, transaction: Transaction): boolean {
  const { to, input } = transaction
  if (to === wallet) return input === '0x'
  const { target } = deps.codec.encode(deps.token.address, [])
  return to === target && input.startsWith(AGGREGATE3) && input.includes(deps.token.address.slice(2))
}

/** Finds the transaction by halving: the number of transactions of a wallet only grows from block to block. */
async function findTransaction(
  provider: Provider,
  wallet: Hex,
  target: { nonce: number; final: number },
): Promise<Transaction | null> {
  let low = Math.max(0, target.final - SEARCHED_BLOCKS)
  let high = target.final
  if ((await provider.transactionCount(wallet, low)) > target.nonce) return null
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if ((await provider.transactionCount(wallet, middle)) > target.nonce) high = middle
    else low = middle
  }
  const transactions = await provider.transactions(high)
  return transactions.find(({ from, nonce }) => from === wallet && nonce === target.nonce) ?? null
}
