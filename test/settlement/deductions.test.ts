import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { until } from '../../scripts/test/until.ts'
import { createRefundActivities } from '../../src/activities/refund/refund.ts'
import { sumStatement } from '../../src/api/exports/statement.ts'
import { many, sql } from '../../src/db/db.ts'
import { readStatement } from '../../src/db/merchants/statement.ts'
import { setWallet } from '../../src/db/merchants/wallets.ts'
import { lockClaims, setDeductionLimit } from '../../src/db/refunds/deductions.ts'
import { insertRefund, loadRefund } from '../../src/db/refunds/refunds.ts'
import { markRestored } from '../../src/db/settlement/observer/forgotten-payouts.ts'
import { listSettlementAttention } from '../../src/db/settlement/observer/standing.ts'
import { hex } from '../../src/db/settlement/payouts.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { convertToMicroUsdc, splitFee } from '../../src/domain/money.ts'
import { DEDUCTION_DAYS, LEAST_PAYOUT_MICRO } from '../../src/domain/refund/deduction.ts'
import { payoutNonce } from '../../src/evm/payout-nonce.ts'
import { releaseId } from '../../src/evm/release-id.ts'
import { newId } from '../../src/ids.ts'
import { holdBackAgain } from '../../src/settlement/release-round.ts'
import { perform } from '../activities/payment/fixture.ts'
import { createFloatFixture, type FloatFixture, HOUR_MS, type Paid } from './float-fixture.ts'

/** Refunds that the next payouts pay for. Each test compares payments, books, releases and the chain to the micro-USDC. */

const DAY_MS = 24 * HOUR_MS
const MERCHANT = { merchantId: 'mer_1', livemode: false }
const WALLET = `0x${'7'.repeat(40)}` as const
const FLOAT = 10_000_000_000n
const RATE = '1.08'

let fixture: FloatFixture
/** The sum that the merchant is owed over all payments, in micro-USDC. */
let owed: bigint
beforeEach(async () => {
  fixture = await createFloatFixture({ reserveMicro: '0', settlementDays: 3, leastMicro: '100000000' })
  fixture.rates.EUR = RATE
  await fixture.arrives(FLOAT)
  await setWallet(fixture.db, MERCHANT, WALLET)
  await setDeductionLimit(fixture.db, 'mer_1', '500000000')
  owed = 0n
}, 120_000)
afterEach(async () => {
  expect(await fixture.differences()).toEqual([])
  await fixture.close()
})

const eur = (minor: number) => ({ minor: String(minor), currency: 'EUR' as const })
const getNet = ({ amount, rate }: Paid): bigint => BigInt(splitFee(convertToMicroUsdc(amount, rate), '4.5').net)

async function paid(minor: number, terms: Parameters<FloatFixture['paid']>[1] = {}): Promise<Paid> {
  const made = await fixture.paid(eur(minor), terms)
  owed += getNet(made)
  return made
}

async function handOver(payment: Paid): Promise<void> {
  expect(await fixture.trySettle(payment.id)).toBe('handed over')
}

async function settled(minor: number, terms: Parameters<FloatFixture['paid']>[1] = {}): Promise<Paid> {
  const made = await paid(minor, terms)
  await handOver(made)
  await fixture.prove([made.id])
  return made
}

const activities = () => createRefundActivities({ ...fixture.deps, addresses: null })

const insert = (payment: Paid, minor: number, requiredMicro: bigint) => {
  const createdAt = new Date(fixture.clock()).toISOString()
  return insertRefund(fixture.db, MERCHANT, {
    id: newId('refund'),
    paymentId: payment.id,
    attemptId: payment.attemptId,
    amount: eur(minor),
    reason: null,
    metadata: null,
    fundFrom: 'next_payouts',
    paymentVersion: 1,
    rate: RATE,
    rateSource: 'test',
    requiredMicro: requiredMicro.toString(),
    request: null,
    createdAt,
    expiresAt: new Date(fixture.clock() + DEDUCTION_DAYS * DAY_MS).toISOString(),
  })
}

async function opened(payment: Paid, minor: number): Promise<string> {
  const made = await insert(payment, minor, toMicro(minor))
  if (typeof made === 'string') throw new Error(`the refund was refused: ${made}`)
  await perform(activities().openRefund, made.id)
  return made.id
}

const toMicro = (minor: number): bigint => (BigInt(minor) * 108n * 10_000n) / 100n

const refund = (id: string) => loadRefund(fixture.db, id)

/** Does what the workflow does after a message. */
async function wake(id: string) {
  const { refund: read } = await perform(activities().loadRefund, id)
  if (read.status === 'funded' || read.status === 'pending') await perform(activities().askRefund, id)
  return refund(id)
}

const deduction = async ({ id }: Paid) => (await fixture.state(id)).payment.deduction

const releaseRow = z.object({ id: z.string(), micro: z.string(), recipient: z.string(), state: z.string() })
const releases = () =>
  many(
    fixture.db,
    releaseRow,
    sql`select r.id, r.micro_usdc::text as micro, r.recipient, p.state from reserve_release r
        join payout p on p.owner_id = r.id order by r.due_on, r.created_at`,
  )

async function release(): Promise<void> {
  await fixture.release()
  await fixture.prove((await releases()).filter(({ state }) => state === 'queued').map(({ id }) => id))
}

const paidOut = async (): Promise<bigint> => {
  const rows = await many(
    fixture.db,
    z.object({ micro: z.string() }),
    sql`select coalesce(sum(micro_usdc), 0)::text as micro from treasury_log where kind = 'out'`,
  )
  return BigInt(rows[0]?.micro ?? 0)
}

/** The merchant has got all but what refunds have taken, and the ledger, the chain and the statement agree. */
async function expectSettled(takenMicro: bigint): Promise<void> {
  expect(await paidOut()).toBe(owed - takenMicro)
  const ledger = await fixture.ledger()
  expect([ledger['reserve USDC'], ledger['merchant_payable USDC'], ledger['suspense USDC']]).toEqual([
    undefined,
    undefined,
    -FLOAT,
  ])
  expect(ledger['treasury USDC']).toBe(FLOAT - (owed - takenMicro))
  const span = { from: '2020-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z', by: 'day' } as const
  const sum = sumStatement(await readStatement(fixture.db, MERCHANT, span))
  expect(BigInt(sum.received_micro)).toBe(owed - takenMicro)
  expect(BigInt(sum.deducted_micro) - BigInt(sum.released_micro)).toBe(takenMicro)
  expect(sum.refunds_micro).toBe('0')
}

describe('Refunds that the next payouts pay for', () => {
  test('the next payout lacks what a refund needs, and the buyer gets the money back once it is final', async () => {
    const sold = await settled(10_000)
    const id = await opened(sold, 2_000)
    const next = await paid(10_000)
    await handOver(next)
    expect(await deduction(next)).toEqual({ refundId: id, micro: '21600000', releaseId: null })
    expect((await wake(id)).status).toBe('awaiting_funds')
    await fixture.prove([next.id])
    expect((await fixture.state(next.id)).payment.status).toBe('succeeded')
    expect(await wake(id)).toMatchObject({ status: 'succeeded', receivedMicro: '21600000', partnerKey: id })
    expect(fixture.refundKeys()).toEqual([id])
    await release()
    await expectSettled(21_600_000n)
  })

  test('several payouts pay for a refund, and at least one USDC of each is left', async () => {
    const sold = await settled(10_000)
    const id = await opened(sold, 9_000)
    const parts = [await settled(300), await settled(80), await settled(5_000), await settled(20_000)]
    const taken = await Promise.all(parts.map(async (part) => BigInt((await deduction(part))?.micro ?? '0')))
    expect(taken.slice(0, 3)).toEqual([
      getNet(parts[0]!) - LEAST_PAYOUT_MICRO,
      0n,
      getNet(parts[2]!) - LEAST_PAYOUT_MICRO,
    ])
    expect(taken.reduce((sum, one) => sum + one, 0n)).toBe(toMicro(9_000))
    expect((await wake(id)).status).toBe('succeeded')
    await expectSettled(toMicro(9_000))
  })

  test('a payout pays for one refund, the oldest that needs USDC', async () => {
    const sold = await settled(20_000)
    const [first, second] = [await opened(sold, 5_000), await opened(sold, 5_000)]
    const parts = [await settled(3_000), await settled(30_000), await settled(30_000)]
    expect(await Promise.all(parts.map(async (part) => (await deduction(part))?.refundId))).toEqual([
      first,
      first,
      second,
    ])
    expect([(await wake(first)).status, (await wake(second)).status]).toEqual(['succeeded', 'succeeded'])
    await expectSettled(2n * toMicro(5_000))
  })

  test('payouts that are handed over at the same moment lack together no more than a refund needs', async () => {
    const sold = await settled(10_000)
    const id = await opened(sold, 9_000)
    const parts = await Promise.all([6_000, 6_000, 6_000, 6_000].map((minor) => paid(minor)))
    await Promise.all(parts.map(handOver))
    await fixture.prove(parts.map((part) => part.id))
    expect(await wake(id)).toMatchObject({ status: 'succeeded', receivedMicro: toMicro(9_000).toString() })
    await expectSettled(toMicro(9_000))
  })

  test('a refund that is opened while a payout waits for another refund is not deducted by it', async () => {
    const [first, second] = [await settled(10_000), await settled(10_000)]
    const [ending, late] = [await opened(first, 1000), await insert(second, 1000, toMicro(1000))]
    if (typeof late === 'string') throw new Error(`the refund was refused: ${late}`)
    const { chainId, token } = (await fixture.state(first.id)).payment
    const payee = { ...MERCHANT, chainId, token }
    const now = new Date(fixture.clock()).toISOString()
    let found: Promise<unknown> | undefined
    await fixture.db.transaction(async (tx) => {
      await tx.query('select 1 from refund where id = $1 for update', [ending])
      found = fixture.db.transaction((other) => lockClaims(other, payee, now))
      await until(
        async () => (await fixture.db.query(`select 1 from pg_stat_activity where wait_event_type = 'Lock'`)).rowCount,
        (waiting) => waiting === 1,
      )
      await perform(activities().openRefund, late.id)
      await tx.query(`update refund set status = 'canceled', due_at = null where id = $1`, [ending])
    })
    expect(await found).toEqual([])
  })

  test('a cancellation releases what was deducted, once, to the wallet of that moment', async () => {
    const sold = await settled(10_000)
    const id = await opened(sold, 9_000)
    await settled(3_000)
    // This payout is on its way.
    const last = await paid(2_000)
    await handOver(last)
    await setWallet(fixture.db, MERCHANT, `0x${'8'.repeat(40)}`)
    await perform(activities().cancelRefund, id)
    expect((await refund(id)).status).toBe('canceled')
    await Promise.all([fixture.release(), fixture.release()])
    await release()
    await fixture.prove([last.id])
    // One release a day.
    await release()
    expect(await releases()).toHaveLength(1)
    fixture.advance(DAY_MS)
    await Promise.all([fixture.release(), fixture.release()])
    await release()
    expect((await releases()).map(({ recipient }) => recipient)).toEqual([`0x${'8'.repeat(40)}`, `0x${'8'.repeat(40)}`])
    expect(fixture.refundKeys()).toEqual([])
    await expectSettled(0n)
  })

  test('a refund that lacks USDC until its expiry is expired, and what was deducted is released', async () => {
    const sold = await settled(10_000)
    const id = await opened(sold, 9_000)
    await settled(3_000)
    expect(await wake(id)).toMatchObject({ status: 'awaiting_funds' })
    fixture.advance(DEDUCTION_DAYS * DAY_MS)
    const late = await settled(3_000)
    expect(await deduction(late)).toBeNull()
    await perform(activities().expireRefund, { id, now: fixture.clock() + HOUR_MS })
    expect((await refund(id)).status).toBe('expired')
    await release()
    await expectSettled(0n)
  })

  test('a refund whose payouts are final when it is canceled continues', async () => {
    const sold = await settled(10_000)
    const id = await opened(sold, 2_000)
    await settled(3_000)
    await perform(activities().cancelRefund, id)
    expect((await refund(id)).status).toBe('funded')
    expect((await wake(id)).status).toBe('succeeded')
    await expectSettled(toMicro(2_000))
  })

  test('a refund that the partner refuses releases what was deducted', async () => {
    const sold = await settled(10_000)
    const id = await opened(sold, 2_000)
    await settled(10_000)
    fixture.answerRefunds({ kind: 'pending' })
    expect((await wake(id)).status).toBe('pending')
    await release()
    expect(await releases()).toEqual([])
    fixture.answerRefunds({ kind: 'refused', reason: 'no' })
    expect(await wake(id)).toMatchObject({ status: 'failed', statusReason: 'refused' })
    await release()
    await expectSettled(0n)
  })

  test('a refund of a payment that was charged back fails, and what was deducted is released', async () => {
    const sold = await settled(10_000)
    const id = await opened(sold, 2_000)
    await settled(10_000)
    await fixture.reverse(sold, '0')
    expect(await wake(id)).toMatchObject({ status: 'failed', statusReason: 'money_gone' })
    await release()
    await expectSettled(0n)
  })

  test('a chargeback of the payment that pays for a refund takes its reserve, and not what was deducted', async () => {
    const sold = await settled(10_000)
    const id = await opened(sold, 2_000)
    const next = await settled(10_000, { reserve: { percent: '10', days: 1 } })
    await fixture.reverse(next, '0')
    expect((await fixture.state(next.id)).payment.reservedMicro).toBe('0')
    expect((await wake(id)).status).toBe('succeeded')
    const reserve = getNet(next) / 10n
    expect(await paidOut()).toBe(owed - toMicro(2_000) - reserve)
    expect((await fixture.ledger())['reserve USDC']).toBeUndefined()
  })

  test('a refund looks for another payout if one is void', async () => {
    const sold = await settled(10_000)
    const id = await opened(sold, 2_000)
    const next = await paid(10_000)
    await handOver(next)
    await fixture.cancelPayout(next.id)
    owed -= getNet(next)
    expect(await deduction(next)).toBeNull()
    expect((await wake(id)).status).toBe('awaiting_funds')
    const other = await settled(3_000)
    expect(await deduction(other)).toMatchObject({ refundId: id, micro: toMicro(2_000).toString() })
    expect((await wake(id)).status).toBe('succeeded')
    expect(await paidOut()).toBe(owed - toMicro(2_000))
  })

  test('a deduction is released with a reserve of the same day in one transfer, and after a void under another day', async () => {
    const sold = await settled(10_000, { reserve: { percent: '10', days: 1 } })
    const id = await opened(sold, 2_000)
    await settled(10_000)
    fixture.advance(2 * DAY_MS)
    fixture.answerRefunds({ kind: 'refused', reason: 'no' })
    expect((await wake(id)).status).toBe('failed')
    await fixture.release()
    const [made] = await releases()
    expect(BigInt(made!.micro)).toBe(getNet(sold) / 10n + toMicro(2_000))
    await fixture.db.query(
      `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, auth_nonce, block_number, block_hash,
         finalized_at, known_as, applied_at)
       select chain_id, auth_nonce, 3, token, treasury, 'cancel', auth_nonce, 901, auth_nonce, now(), 'payout', now() from payout
       where owner_id = $1`,
      [made!.id],
    )
    await fixture.journal.applyProven(100)
    expect(await listSettlementAttention(fixture.db)).toMatchObject([{ kind: 'release_voided', subject: made!.id }])
    expect(await fixture.db.transaction((tx) => holdBackAgain(tx, fixture.deps.context, made!.id))).toBe(true)
    fixture.advance(DAY_MS)
    await release()
    await release()
    expect((await releases()).map(({ state }) => state)).toEqual(['voided', 'settled'])
    expect(await paidOut()).toBe(owed)
  })

  test('a restored backup that has forgotten a release does not pay for a refund what the merchant has', async () => {
    const sold = await settled(10_000)
    const id = await opened(sold, 2_000)
    await settled(10_000)
    const day = new Date(fixture.clock()).toISOString().slice(0, 10)
    await forgotRelease(day, toMicro(2_000))
    await expect(wake(id)).rejects.toThrow('what the restored backup lacks')
    expect(fixture.refundKeys()).toEqual([])
    await fixture.db.query(`update chain_cursor set restored_at = now() - interval '3 hours'`)
    expect(await wake(id)).toMatchObject({ status: 'failed', statusReason: 'usdc_returned' })
    await fixture.release()
    await fixture.journal.applyProven(100)
    expect((await releases()).map(({ state }) => state)).toEqual(['settled'])
    await expectSettled(0n)
  })

  /** The chain has paid a release that the backup lacks. */
  async function forgotRelease(day: string, micro: bigint): Promise<void> {
    const [{ chainId, token, treasury }] = (await many(
      fixture.db,
      z.object({ chainId: z.number(), token: hex, treasury: hex }),
      sql`select chain_id as "chainId", token, treasury from payout limit 1`,
    )) as [{ chainId: number; token: Hex; treasury: Hex }]
    const nonce = payoutNonce({ chainId, token, treasury, ownerId: releaseId({ ...MERCHANT, day }) })
    await fixture.db.query(
      `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
         block_number, block_hash, finalized_at, known_as, applied_at)
       values ($1, $2, 3, $3, $4, 'out', $5, $6, $2, 900, $2, now(), 'release', null)`,
      [chainId, nonce, token, treasury, WALLET, micro.toString()],
    )
    await fixture.journal.applyPending(100)
    await markRestored(fixture.db, { livemode: false, chainId, token })
  }

  test('a refund beyond the limit is refused, also if two requests come at the same moment, and any without a limit', async () => {
    const sold = await settled(100_000)
    const answers = await Promise.all([1, 2, 3].map(() => insert(sold, 20_000, toMicro(20_000))))
    expect(answers.filter((one) => one === 'beyond_limit')).toHaveLength(1)
    await setDeductionLimit(fixture.db, 'mer_1', null)
    expect(await insert(sold, 100, toMicro(100))).toBe('beyond_limit')
    for (const made of answers) if (typeof made !== 'string') await perform(activities().cancelRefund, made.id)
    await setDeductionLimit(fixture.db, 'mer_1', '500000000')
    expect(await insert(sold, 100, toMicro(100))).toMatchObject({ status: 'awaiting_funds' })
  })
})
