/**
 * The meaning of a node's answer to `eth_sendRawTransaction`. Matched by text first, because codes differ: geth and Bor
 * send -32000, anvil -32003, some nodes -32603. Anything not listed is unknown, never a failure: the transaction may be
 * in a pool, and sending the same bytes again is always safe.
 */
export type SendOutcome =
  | 'accepted'
  /** A transaction with this nonce is mined, the platform's or another: only finalized blocks decide which. */
  | 'nonce_used'
  /** Another transaction with this nonce is in the pool and pays almost as much. */
  | 'underpriced_replacement'
  /** The fees are below the minimum of the node or the block. */
  | 'underpriced'
  | 'no_gas_money'
  /** Gas limit times price is more than the node takes for one transaction (`rpc.txfeecap`, 1 POL unless set). */
  | 'too_expensive'
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
  [/tx ?fee .*exceeds the config\w+ cap/i, 'too_expensive'],
  [/in-flight transaction limit reached for delegated accounts|delegated account/i, 'delegated'],
]

export function classifySendError(message: string): SendOutcome {
  return TABLE.find(([pattern]) => pattern.test(message))?.[1] ?? 'unknown'
}
