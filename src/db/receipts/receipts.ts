import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import {
  type PaymentReceipt,
  RECEIPT_FORMAT,
  type ReceiptClaims,
  type ReceiptKey,
  type ReceiptLog,
  type ReceiptSignature,
} from '../../domain/settlement/receipt.ts'
import { type Db, execute, many, maybeOne, type Queryable, sql, type Tenant } from '../db.ts'
import type { SettlementScope } from '../settlement/context.ts'
import { hex } from '../settlement/payouts.ts'

export type Unproved = z.infer<typeof unprovedRow>

const unprovedRow = z
  .object({
    payment_id: z.string(),
    treasury: hex,
    recipient: hex,
    micro_usdc: z.string(),
    auth_nonce: hex,
    tx_hash: hex,
    log_index: z.number(),
    block_number: z.coerce.number(),
    block_hash: hex,
  })
  .transform((row) => ({
    paymentId: row.payment_id,
    treasury: row.treasury,
    recipient: row.recipient,
    microUsdc: row.micro_usdc,
    authNonce: row.auth_nonce,
    txHash: row.tx_hash,
    logIndex: row.log_index,
    blockNumber: row.block_number,
    blockHash: row.block_hash,
  }))

/** Nodes without a proof now might have it later, and the worker that took a payout might have died. */
const RETRY_MINUTES = 10

/** Takes up to `limit` settled payouts to prove, the longest due first. No other worker gets them for ten minutes. */
export function takeUnproved(db: Queryable, scope: SettlementScope, limit: number): Promise<Unproved[]> {
  return many(
    db,
    unprovedRow,
    sql`with due as (
          select l.chain_id, l.tx_hash, l.log_index from treasury_log l join payout p on p.owner_id = l.owner_id
          where l.receipt_due_at <= now() and l.kind = 'out' and l.chain_id = ${scope.chainId} and l.token = ${scope.token}
            and p.livemode = ${scope.livemode}
          order by l.receipt_due_at, l.block_number limit ${limit} for update of l skip locked)
        update treasury_log l set receipt_due_at = now() + ${RETRY_MINUTES} * interval '1 minute'
        from due, payout p
        where (l.chain_id, l.tx_hash, l.log_index) = (due.chain_id, due.tx_hash, due.log_index)
          and p.owner_id = l.owner_id
        returning p.payment_id, l.treasury, p.recipient, p.micro_usdc::text, l.auth_nonce, l.tx_hash, l.log_index,
          l.block_number, l.block_hash`,
  )
}

export type Proof = {
  readonly txIndex: number
  readonly header: Hex
  readonly nodes: readonly Hex[]
}

export type Issued = {
  readonly unproved: Unproved
  readonly proof: Proof
  readonly logs: readonly ReceiptLog[]
  readonly signature: ReceiptSignature
}

const bytes = (value: Hex): Buffer => Buffer.from(value.slice(2), 'hex')

/** Stores receipts of one key. Existing receipts stay as they are. */
export function storeReceipts(
  db: Db,
  { chainId }: SettlementScope,
  { key, issued }: { readonly key: Pick<ReceiptKey, 'kid' | 'x'>; readonly issued: readonly Issued[] },
): Promise<void> {
  const proofs = new Map(issued.map((each) => [`${each.unproved.blockHash}:${each.proof.txIndex}`, each]))
  const rows = issued.map(({ unproved, proof, logs, signature }) => ({
    ...signature,
    payment_id: unproved.paymentId,
    tx_hash: unproved.txHash,
    log_index: unproved.logIndex,
    block_hash: unproved.blockHash,
    tx_index: proof.txIndex,
    logs,
  }))
  return db.transaction(async (tx) => {
    await execute(tx, sql`insert into receipt_key (kid, x) values (${key.kid}, ${key.x}) on conflict do nothing`)
    for (const { unproved, proof } of proofs.values())
      await execute(
        tx,
        sql`insert into receipt_proof (chain_id, block_hash, tx_index, header, nodes)
            values (${chainId}, ${unproved.blockHash}, ${proof.txIndex}, ${bytes(proof.header)}, ${proof.nodes.map(bytes)})
            on conflict do nothing`,
      )
    await execute(
      tx,
      sql`with rows as (
            select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(payment_id text, tx_hash text, log_index int,
              block_hash text, tx_index int, logs jsonb, protected text, payload text, signature text)),
          stored as (
            insert into payment_receipt (payment_id, chain_id, tx_hash, log_index, block_hash, tx_index, logs, protected,
              payload, signature, kid)
            select payment_id, ${chainId}, tx_hash, log_index, block_hash, tx_index, logs, protected, payload, signature,
              ${key.kid} from rows on conflict do nothing)
          update treasury_log l set receipt_due_at = null from rows r
          where (l.chain_id, l.tx_hash, l.log_index) = (${chainId}, r.tx_hash, r.log_index)`,
    )
  })
}

const receiptRow = z.object({
  header: z.instanceof(Buffer),
  nodes: z.array(z.instanceof(Buffer)),
  logs: z.array(z.object({ address: hex, topics: z.array(hex), data: hex })),
  protected: z.string(),
  payload: z.string(),
  signature: z.string(),
})

const toHex = (value: Buffer): Hex => `0x${value.toString('hex')}`

export async function readReceipt(db: Queryable, tenant: Tenant, paymentId: string): Promise<PaymentReceipt | null> {
  const row = await maybeOne(
    db,
    receiptRow,
    sql`select p.header, p.nodes, r.logs, r.protected, r.payload, r.signature
        from payment_receipt r join payment m on m.id = r.payment_id
          join receipt_proof p on (p.chain_id, p.block_hash, p.tx_index) = (r.chain_id, r.block_hash, r.tx_index)
        where r.payment_id = ${paymentId} and m.merchant_id = ${tenant.merchantId} and m.livemode = ${tenant.livemode}`,
  )
  if (row === null) return null
  const { header, nodes, logs, ...signature } = row
  return {
    object: 'payment_receipt',
    format: RECEIPT_FORMAT,
    // Written by this code when it was signed.
    claims: JSON.parse(Buffer.from(row.payload, 'base64url').toString()) as ReceiptClaims,
    proof: { header: toHex(header), nodes: nodes.map(toHex), logs },
    signature,
  }
}

const receiptKeyRow = z.object({ kid: z.string(), x: z.string() })

/** The newest first. */
export async function listReceiptKeys(db: Queryable): Promise<ReceiptKey[]> {
  const rows = await many(db, receiptKeyRow, sql`select kid, x from receipt_key order by first_used_at desc, kid`)
  return rows.map((row) => ({ kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA', ...row }))
}
