import type { SettlementLog } from '../../chain/context.ts'
import { asTopic } from '../../chain/observer/facts.ts'
import { type InclusionProof, proveInBlock } from '../../chain/receipts/block-proofs.ts'
import type { Rpc } from '../../chain/rpc/rpc.ts'
import { TOPICS } from '../../chain/token/contracts.ts'
import type { Db } from '../../db/db.ts'
import { type Issued, storeReceipts, takeUnproved, type Unproved } from '../../db/receipts/receipts.ts'
import type { SettlementScope } from '../../db/settlement/context.ts'
import type { Hex } from '../../domain/hex.ts'
import { formatUsdc } from '../../domain/money.ts'
import type { ReceiptClaims, ReceiptLog } from '../../domain/settlement/receipt.ts'
import type { ReceiptSigner } from './sign.ts'

export type ReceiptIssuerDeps = {
  readonly db: Db
  readonly scope: SettlementScope
  /** A dedicated one: large answers that arrive late must not count against the nodes of the settlement. */
  readonly rpc: Rpc
  readonly signer: ReceiptSigner
  readonly issuer: string
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly log: Pick<SettlementLog, 'warn'>
}

/** Payouts of one round: some full batches, which are often of one block. */
const PER_ROUND = 500

/**
 * Proves settled payouts and issues their receipts. A payout that cannot be proved now is tried again later, so no
 * proof delays a payment. Returns the number of receipts issued.
 */
export function createReceiptIssuer(deps: ReceiptIssuerDeps): () => Promise<number> {
  const { db, scope, log } = deps
  return async function issueReceipts() {
    let issued = 0
    for (;;) {
      const taken = await takeUnproved(db, scope, PER_ROUND)
      for (const hash of new Set(taken.map(({ blockHash }) => blockHash))) {
        const payouts = taken.filter(({ blockHash }) => blockHash === hash)
        issued += await issueBlock(deps, payouts).catch((error: unknown) => {
          log.warn({ err: error, block: payouts[0]?.blockNumber }, 'receipts cannot be proved yet; tried again later')
          return 0
        })
      }
      if (taken.length < PER_ROUND) return issued
    }
  }
}

async function issueBlock(deps: ReceiptIssuerDeps, payouts: readonly Unproved[]): Promise<number> {
  const [first] = payouts
  if (first === undefined) return 0
  const block = { number: first.blockNumber, hash: first.blockHash }
  const proofs = await proveInBlock(deps.rpc, block, new Set(payouts.map(({ txHash }) => txHash)))
  const byHash = new Map(proofs.map((proof) => [proof.txHash, proof]))
  const issued = payouts.flatMap((unproved): Issued[] => {
    const proof = byHash.get(unproved.txHash)
    const logs = proof === undefined ? null : logPair(proof, unproved, deps.scope.token)
    return proof === undefined || logs === null ? [] : [issue(deps, unproved, { proof, logs })]
  })
  await storeReceipts(deps.db, deps.scope, { key: deps.signer.key, issued })
  if (issued.length < payouts.length)
    throw new Error(`${payouts.length - issued.length} payouts are not in the receipts of block ${block.number}`)
  return issued.length
}

/**
 * Returns the authorization's log and the transfer's, which follows it directly. The treasury must match too: whoever
 * carries the payout may have used the same nonce for a transfer from another wallet before it.
 */
function logPair({ logs }: InclusionProof, { treasury, authNonce }: Unproved, token: Hex): ReceiptLog[] | null {
  const used = [TOPICS.authorizationUsed, asTopic(treasury), authNonce].join()
  const at = logs.findIndex(({ address, topics }) => address === token && topics.join() === used)
  return at === -1 ? null : logs.slice(at, at + 2)
}

function issue(
  { scope, signer, issuer, clock }: ReceiptIssuerDeps,
  unproved: Unproved,
  { proof, logs }: { readonly proof: InclusionProof; readonly logs: readonly ReceiptLog[] },
): Issued {
  const claims: ReceiptClaims = {
    payment: unproved.paymentId,
    livemode: scope.livemode,
    chain_id: scope.chainId,
    token: scope.token,
    treasury: unproved.treasury,
    destination: unproved.recipient,
    net_usdc: formatUsdc(unproved.microUsdc),
    nonce: unproved.authNonce,
    block_number: unproved.blockNumber,
    block_hash: unproved.blockHash,
    block_time: new Date(proof.timestamp * 1000).toISOString(),
    tx_hash: unproved.txHash,
    tx_index: proof.txIndex,
    log_index: unproved.logIndex,
    issuer,
    issued_at: new Date(clock()).toISOString(),
  }
  return { unproved, proof, logs, signature: signer.sign(claims) }
}
