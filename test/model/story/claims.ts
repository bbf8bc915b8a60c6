import { newPayment } from '../../../scripts/test/new-payment.ts'
import { newId } from '../../../src/ids.ts'
import { CHAIN } from '../fixture/chain.ts'
import type { TestPayment } from '../fixture/payment.ts'

/** Refunds of other payments of the merchant, which the payout of the story pays for. They need more than it has. */

const REQUIRED_MICRO = 9_000_000_000_000n
const CLAIM_DAYS = 7

/** Opens a refund of a payment that was settled before. Its workflow wakes when a payout that it deducts is final. */
export async function claimPayout({ db, system, timeline, testServices }: TestPayment): Promise<void> {
  const [paymentId, attemptId, id] = [newId('payment'), newId('attempt'), newId('refund')]
  const [createdAt, expiresAt] = [0, CLAIM_DAYS * 86_400_000].map((ms) => new Date(timeline.now() + ms).toISOString())
  const payment = newPayment({ id: paymentId, createdAt: createdAt as string, token: CHAIN.token })
  const { tenant } = testServices
  await system.insertPayment(db, tenant, { payment, claim: null, publicUrl: 'http://127.0.0.1:9' })
  await db.query(
    `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, held, created_at, updated_at)
     values ($1, $2, 'wallet_app', 'banking_app', 'paid', 4999, 'EUR', 4999, $3, $3)`,
    [attemptId, paymentId, createdAt],
  )
  await db.query(
    `update payment set payout = 'paid', status = 'succeeded', provider_used = 'wallet_app', paid_attempt_id = $2,
       charge_currency = 'EUR', confirmed_minor = 4999, closed_at = now() where id = $1`,
    [paymentId, attemptId],
  )
  await db.query('delete from outbox where subject = $1', [paymentId])
  await db.query('update merchant set deduction_limit_micro = $2 where id = $1', [
    tenant.merchantId,
    (10n * REQUIRED_MICRO).toString(),
  ])
  const made = await system.insertRefund(db, tenant, {
    id,
    paymentId,
    attemptId,
    amount: { minor: '1000', currency: 'EUR' },
    reason: null,
    metadata: null,
    fundFrom: 'next_payouts',
    paymentVersion: 1,
    rate: '1.08',
    rateSource: 'model',
    requiredMicro: REQUIRED_MICRO.toString(),
    request: null,
    createdAt: createdAt as string,
    expiresAt: expiresAt as string,
  })
  if (typeof made === 'string') throw new Error(`the claim was refused: ${made}`)
  await db.query(`update refund set opened_at = $2, due_at = 'infinity' where id = $1`, [id, createdAt])
}

/** The merchant cancels the oldest of them. */
export async function dropClaim(testPayment: TestPayment): Promise<void> {
  const [claim] = await listClaims(testPayment)
  if (claim !== undefined) testPayment.ask('drop a claim', 'cancelRefund', { who: 'outside', refundId: claim.id })
}

type Claim = { readonly id: string; readonly status: string; readonly received: string; readonly deducted: string }

/** Lists the refunds that the payout of the story can pay for, the oldest first. */
export async function listClaims({ db, testServices, paymentId }: TestPayment): Promise<Claim[]> {
  const { rows } = await db.query(
    `select id, status, received_micro::text as received,
       (select coalesce(sum(deducted_micro), 0)::text from payment where deducted_for = refund.id) as deducted
     from refund where merchant_id = $1 and fund_from = 'next_payouts' and id > $2 order by id`,
    [testServices.tenant.merchantId, paymentId.replace(/^pay/, 're')],
  )
  return rows as Claim[]
}

/** Compares the deduction of the payout with what its refund has once it is final. A payout that is void lacks nothing. */
export async function checkClaims(testPayment: TestPayment): Promise<string[]> {
  const { payment } = await testPayment.system.loadPayment(testPayment.db, testPayment.paymentId)
  const { deduction, payout } = payment
  const wrong: string[] = []
  if (payout === 'void' && deduction !== null) wrong.push('a void payout is deducted')
  for (const { id, status, received, deducted } of await listClaims(testPayment)) {
    const mine = deduction?.refundId === id ? deduction.micro : '0'
    if (deducted !== mine) wrong.push(`${deducted} are deducted for a refund, and ${mine} of the payout`)
    const isCounted = payout === 'paid' && status !== 'canceled'
    if (isCounted && received !== mine)
      wrong.push(`${mine} of a final payout are deducted, and the refund has ${received}`)
    if (payout !== 'paid' && received !== '0') wrong.push(`a refund has ${received} of a payout that is ${payout}`)
  }
  return wrong
}

/** No later story pays for them. */
export async function endClaims({ db }: Pick<TestPayment, 'db'>): Promise<void> {
  await db.query(
    `update refund set status = 'canceled', due_at = null where fund_from = 'next_payouts' and status = 'awaiting_funds'`,
  )
}
