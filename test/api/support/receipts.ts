import type { Db } from '../../../src/db/db.ts'
import { storeReceipts } from '../../../src/db/receipts/receipts.ts'
import type { PaymentReceipt } from '../../../src/domain/settlement/receipt.ts'
import { encodeNonce, forge, pair, signer } from '../../verifier/forge.ts'

/** A receipt for the payment, of an invented block, with the log that it rests on. */
export async function plantReceipt(db: Db, payment: string): Promise<PaymentReceipt> {
  const nonce = encodeNonce(payment)
  const receipt = forge({ logs: pair({ nonce }), claims: { payment, nonce, log_index: await nextLog(db) } })
  const { claims, proof, signature } = receipt
  const unproved = {
    paymentId: payment,
    treasury: claims.treasury,
    recipient: claims.destination,
    microUsdc: '95500000',
    authNonce: nonce,
    txHash: claims.tx_hash,
    logIndex: claims.log_index,
    blockNumber: claims.block_number,
    blockHash: claims.block_hash,
  }
  await db.query(
    `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
       block_number, block_hash, finalized_at, known_as)
     values ($1, $2, $3, $4, $5, 'out', $6, $7, $8, $9, $10, now(), 'payment')`,
    [
      claims.chain_id,
      claims.tx_hash,
      claims.log_index,
      claims.token,
      claims.treasury,
      claims.destination,
      unproved.microUsdc,
      nonce,
      claims.block_number,
      claims.block_hash,
    ],
  )
  const issued = [{ unproved, proof: { ...proof, txIndex: claims.tx_index }, logs: proof.logs, signature }]
  const scope = { livemode: db.livemode, chainId: claims.chain_id, token: claims.token }
  await storeReceipts(db, scope, { key: signer.key, issued })
  return receipt
}

async function nextLog(db: Db): Promise<number> {
  const { rows } = await db.query('select count(*)::int as n from treasury_log')
  return (rows[0] as { n: number }).n + 1
}
