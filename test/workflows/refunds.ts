import { z } from 'zod'
import { until } from '../../scripts/test/until.ts'
import { loadRefund } from '../../src/db/refunds/refunds.ts'
import { insertDeposits } from '../../src/db/settlement/deposits.ts'
import { applyPending } from '../../src/db/settlement/observer/pending-logs.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { fixture, open, settled } from './story.ts'

/** Refunds of settled payments on the server that skips time. The test itself is the chain. */

export const call = async (path: string, body?: object, headers: Record<string, string> = {}) => {
  const response = await fetch(`${fixture.api}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${fixture.secretKey}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: z.record(z.string(), z.any()).parse(await response.json()) }
}

/** A payment of 49.99 EUR that is settled. */
export async function settledPayment() {
  const paymentId = await fixture.createPayment()
  const attemptId = await open(paymentId)
  await fixture.pay('wallet_app', attemptId)
  await settled(paymentId)
  return { paymentId, attemptId }
}

export async function createRefund(paymentId: string, amount?: string): Promise<string> {
  const { status, body } = await call(`/v1/payments/${paymentId}/refunds`, amount === undefined ? {} : { amount })
  if (status !== 201) throw new Error(`the refund was refused: ${JSON.stringify(body)}`)
  await until(
    () => refund(body['id']),
    ({ place }) => place !== null,
  )
  return body['id']
}

export const refund = (id: string) => loadRefund(fixture.db, id)
export const untilRefund = (id: string, status: string) =>
  until(
    () => refund(id),
    (row) => row.status === status,
  )

let transfers = 0

/** USDC becomes final at the address of the refund, by default the required amount, and the run learns it. */
export async function fund(id: string, micro?: string): Promise<void> {
  await arrive(id, micro)
  await fixture.relay.wakeRefunds()
}

export async function arrive(id: string, micro?: string): Promise<void> {
  const { place, token, requiredMicro, wallet, chainId } = await refund(id)
  transfers += 1
  const log = {
    address: place?.address as Hex,
    token,
    sender: wallet,
    units: micro ?? requiredMicro,
    txHash: `0xf${transfers.toString(16).padStart(63, '0')}` as Hex,
    logIndex: 0,
    blockNumber: 1000 + transfers,
    blockHash: `0x${'e'.repeat(64)}` as Hex,
  }
  const { db, hooks } = fixture
  const context = { db, hooks, scope: { livemode: false, chainId, token } }
  await db.transaction((tx) =>
    insertDeposits(tx, context, { logs: [log], blockTimes: new Map([[log.blockHash, new Date()]]) }),
  )
  const { failed } = await applyPending(context, 100)
  if (failed[0] !== undefined) throw failed[0].error
}

/** As if a scan of the chain after a restored backup had found that the USDC of the refund is back. */
export async function findReturned(id: string): Promise<void> {
  const { paymentId, requiredMicro: micro } = await refund(id)
  const txHash = `0xb${'0'.repeat(63)}` as Hex
  await fixture.db.transaction(async (tx) => {
    await tx.query(
      `insert into deposit_sweep (owner_id, idx, chain_id, token, sender, recipient, micro_usdc, auth_nonce, state, tx_hash,
         returned_block, returned_block_hash)
       select owner_id, 0, chain_id, token, address, return_to, $2, $3, 'done', $3, 1, $3 from deposit where owner_id = $1`,
      [id, micro, txHash],
    )
    await tx.query('update deposit set unswept_micro = 0 where owner_id = $1', [id])
    await fixture.hooks.onReturned(tx, { refundId: id, paymentId, index: 0, micro, txHash })
  })
}

/** Reads the decision about the USDC at the address: the treasury's part, and what is there. */
export async function decided(id: string) {
  const { rows } = await fixture.db.query(
    'select treasury_micro::text as treasury, unswept_micro::text as there, return_to from deposit where refund_id = $1',
    [id],
  )
  return rows[0] as { treasury: string | null; there: string; return_to: string }
}

/** As if Temporal had lost the run: the relay starts another one from the row. */
export async function loseRun(id: string): Promise<void> {
  const run = fixture.client.workflow.getHandle(id)
  // A run that ends in the middle of a task would stop the time of the server: it must wait for its timer.
  await until(
    async () => (await run.fetchHistory()).events?.at(-1)?.timerStartedEventAttributes ?? null,
    (timer) => timer !== null,
  )
  await run.terminate('lost')
}

/** Seconds until the relay wakes the run, by the clock of the database. */
export async function secondsUntilWake(id: string): Promise<number> {
  const { rows } = await fixture.db.query(
    'select extract(epoch from due_at - now())::float as seconds from refund where id = $1',
    [id],
  )
  return rows[0].seconds
}

/** As if the time until the relay wakes the run had passed. */
export async function passUntilWake(id: string): Promise<void> {
  await fixture.db.query('update refund set due_at = now() where id = $1', [id])
}
