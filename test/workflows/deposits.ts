import { readDeposit } from '../../src/db/payments/deposits.ts'
import type { DepositLog, RecordedDeposit } from '../../src/domain/settlement/deposit.ts'
import { world } from './story.ts'

/** USDC that buyers send to addresses of payments, on the server whose time is skipped. */

let transfers = 0

export async function openAddress(body: Record<string, unknown> = {}) {
  const paymentId = await world.createPayment({ provider: undefined, ...body })
  const answer = await world.openAttempt(paymentId, 'crypto', 'usdc')
  if (answer.kind !== 'redirect') throw new Error(`expected a redirect, got ${answer.kind}`)
  return { paymentId, attemptId: answer.attemptId, deposit: await depositOf(answer.attemptId) }
}

export async function depositOf(attemptId: string) {
  const deposit = await readDeposit(world.db, attemptId)
  if (deposit === null) throw new Error('no address was opened')
  return deposit
}

/** What the observer of the chain does with a final transfer, and then the relay. */
export async function send(attemptId: string, units: string, token?: `0x${string}`): Promise<void> {
  const deposit = await depositOf(attemptId)
  transfers += 1
  const log: DepositLog = {
    address: deposit.address,
    token: token ?? deposit.token,
    sender: `0x${'5'.repeat(40)}`,
    units,
    txHash: `0x${transfers.toString(16).padStart(64, '0')}`,
    logIndex: 0,
    blockNumber: 100 + transfers,
    blockHash: `0x${'b'.repeat(64)}`,
  }
  const { paymentId } = deposit
  const recorded: RecordedDeposit = { ...log, paymentId, attemptId, expected: log.token === deposit.token }
  await world.db.transaction(async (tx) => {
    await tx.query(
      `insert into deposit_log (chain_id, tx_hash, log_index, payment_id, token, sender, units, block_number, block_hash, finalized_at)
       values ($1, $2, 0, $3, $4, $5, $6, $7, $8, now())`,
      [deposit.chainId, log.txHash, paymentId, log.token, log.sender, units, log.blockNumber, log.blockHash],
    )
    await world.hooks.onDeposit(tx, recorded)
  })
  await world.relay.tellPartnerNews()
}
