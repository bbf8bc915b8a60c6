import type { DepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import type { Db } from '../../../src/db/db.ts'
import { openDeposit } from '../../../src/db/payments/deposits.ts'
import { insertPayments, newAddress, TOKEN } from '../fixture.ts'

/** Payments at whose addresses 5 USDC are awaited. */

export const awaitDeposit = (db: Db, { deriveAddress }: Pick<DepositKeys, 'deriveAddress'>, attemptId: string) =>
  openDeposit(db, {
    attemptId,
    deriveAddress,
    chainId: TOKEN.chainId,
    token: TOKEN.address,
    askedMicro: '5000000',
    rate: { rate: '1', source: 'test', asOf: new Date().toISOString() },
    expiresAt: Math.floor(Date.now() / 1000) + 3600,
    watchSeconds: 3600,
  })

/** A payment `pay_NAME` with its attempt `att_NAME`. */
export async function addAwaited(db: Db, keys: Pick<DepositKeys, 'deriveAddress'>, name: string) {
  const paymentId = `pay_${name}`
  await insertPayments(db, [{ paymentId, recipient: newAddress() }])
  await db.query(
    `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, created_at, updated_at)
     values ($1, $2, 'crypto', 'usdc', 'open', 500, 'USD', now(), now())`,
    [`att_${name}`, paymentId],
  )
  await awaitDeposit(db, keys, `att_${name}`)
  return { paymentId, address: keys.deriveAddress(paymentId) }
}
