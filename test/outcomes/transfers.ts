import type { PaymentFixture } from '../../scripts/histories/payment-fixture.ts'
import { readDeposit } from '../../src/db/payments/deposits.ts'
import type { DepositLog, RecordedDeposit } from '../../src/domain/settlement/deposit.ts'

/** USDC that buyers send to the addresses of payments, without a chain. */

let transfers = 0

export async function depositAt({ db }: Pick<PaymentFixture, 'db'>, attemptId: string) {
  const deposit = await readDeposit(db, attemptId)
  if (deposit === null) throw new Error('no address was opened')
  return deposit
}

/** Does what the observer of the chain does with a final transfer, and then the relay. */
export async function sendTo(
  { db, hooks, relay }: Pick<PaymentFixture, 'db' | 'hooks' | 'relay'>,
  attemptId: string,
  { units, token }: { readonly units: string; readonly token?: `0x${string}` },
): Promise<void> {
  const deposit = await depositAt({ db }, attemptId)
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
  const recorded: RecordedDeposit = { ...log, paymentId, owner: { attemptId }, expected: log.token === deposit.token }
  await db.transaction(async (tx) => {
    await tx.query(
      `insert into deposit_log (chain_id, tx_hash, log_index, owner_id, token, sender, units, block_number, block_hash, finalized_at)
       values ($1, $2, 0, $3, $4, $5, $6, $7, $8, now())`,
      [deposit.chainId, log.txHash, paymentId, log.token, log.sender, units, log.blockNumber, log.blockHash],
    )
    await hooks.onDeposit(tx, recorded)
  })
  await relay.relayCallbacks()
}
