/**
 * What a node's answer to `eth_sendRawTransaction` means. Matched by text first, because the codes differ: geth and
 * Bor say -32000, anvil -32003, some nodes -32603. Whatever is not listed is unknown, never a failure: the bytes may
 * be in a pool, and sending the same bytes again is always safe.
 */
export type SendOutcome =
  /** The bytes are in that node's pool. */
  | 'accepted'
  /** Something with this nonce is mined, ours or not: only finalized data decides. */
  | 'nonce_used'
  /** Another attempt for this nonce sits in the pool and pays almost as much. */
  | 'underpriced_replacement'
  /** Below the node's or the block's fee floor. */
  | 'underpriced'
  /** The relayer has no gas money. */
  | 'no_gas_money'
  /** The relayer's account carries an EIP-7702 delegation. */
  | 'delegated'
  | 'unknown'

const TABLE: readonly (readonly [RegExp, SendOutcome])[] = [
  [/already known|transaction already imported|(?<!un)known transaction|same hash was already imported/i, 'accepted'],
  [/nonce (is )?too low|nonce has already been used|invalid transaction nonce.*too low/i, 'nonce_used'],
  [/replacement transaction underpriced|replacement fee too low/i, 'underpriced_replacement'],
  [
    /transaction underpriced|gas price below minimum|fee cap less than block base fee|max fee per gas less than block base fee|tip.* below|gas tip cap .*minimum|priority fee.*(too low|below)/i,
    'underpriced',
  ],
  [/insufficient funds/i, 'no_gas_money'],
  [/in-flight transaction limit reached for delegated accounts|delegated account/i, 'delegated'],
]

export function classifySendError(message: string): SendOutcome {
  return TABLE.find(([pattern]) => pattern.test(message))?.[1] ?? 'unknown'
}
