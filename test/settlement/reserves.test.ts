import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { sumStatement } from '../../src/api/exports/statement.ts'
import { many, sql } from '../../src/db/db.ts'
import { setStatus } from '../../src/db/merchants/agreement.ts'
import { readStatement } from '../../src/db/merchants/statement.ts'
import { setWallet } from '../../src/db/merchants/wallets.ts'
import { acceptDifference, readHeldBack, recordPaidReleases } from '../../src/db/reserves/releases.ts'
import { markRestored } from '../../src/db/settlement/observer/forgotten-payouts.ts'
import { listSettlementAttention } from '../../src/db/settlement/observer/standing.ts'
import { resumePayout } from '../../src/db/settlement/payouts.ts'
import { convertToMicroUsdc, formatUsdc, splitFee, takePercent } from '../../src/domain/money.ts'
import { payoutNonce } from '../../src/evm/payout-nonce.ts'
import { releaseId } from '../../src/evm/release-id.ts'
import { holdBackAgain } from '../../src/settlement/release-round.ts'
import { createFloatFixture, type FloatFixture, HOUR_MS, type Paid } from './float-fixture.ts'

const DAY_MS = 24 * HOUR_MS
const MERCHANT = { merchantId: 'mer_1', livemode: false }
const WALLET = `0x${'7'.repeat(40)}` as const
const RESERVE = { percent: '10.25', days: 90 }
const TREASURY = `0x${'b'.repeat(40)}` as const
const PLACE = { chainId: 31337, token: `0x${'3'.repeat(40)}` as const }

const releaseRow = z.object({ id: z.string(), micro: z.string(), recipient: z.string(), state: z.string() })

let fixture: FloatFixture
beforeEach(async () => {
  fixture = await createFloatFixture({ reserveMicro: '0', settlementDays: 3, leastMicro: '100000000' })
  fixture.rates.EUR = '1.0837'
  await fixture.arrives(10_000_000_000n)
  await setWallet(fixture.db, MERCHANT, WALLET)
}, 120_000)
afterEach(() => fixture.close())

const eur = (minor: number) => ({ minor: String(minor), currency: 'EUR' as const })
const getNet = ({ amount, rate }: Paid): string => splitFee(convertToMicroUsdc(amount, rate), '4.5').net
const getReserve = (paid: Paid): bigint => BigInt(takePercent(getNet(paid), RESERVE.percent))

const releases = () =>
  many(
    fixture.db,
    releaseRow,
    sql`select r.id, r.micro_usdc::text as micro, r.recipient, p.state from reserve_release r
        join payout p on p.owner_id = r.id order by r.due_on`,
  )

/** A payment that is settled now. */
async function settled(minor: number): Promise<Paid> {
  const paid = await fixture.paid(eur(minor), { reserve: RESERVE })
  expect(await fixture.trySettle(paid.id)).toBe('handed over')
  await fixture.prove([paid.id])
  return paid
}

async function proveReleases(): Promise<void> {
  await fixture.prove((await releases()).filter(({ state }) => state !== 'settled').map(({ id }) => id))
}

type Wrong = {
  readonly to?: `0x${string}`
  readonly more?: bigint
  readonly days?: number
  readonly isWithoutWallet?: boolean
}

/** The observer reads a final transfer with the nonce of a release that this database lacks. Another relayer sent it. */
async function readTransfer({
  day,
  micro,
  to = WALLET,
}: {
  day: string
  micro: bigint
  to?: `0x${string}`
}): Promise<void> {
  const authNonce = payoutNonce({ ...PLACE, treasury: TREASURY, ownerId: releaseId({ ...MERCHANT, day }) })
  const lead = await fixture.journal.lead({ owner: 'one', leaseMs: 60_000, wallets: [], treasuries: [] })
  if (lead === null || 'othersMs' in lead) throw new Error('another engine leads')
  const log = { treasury: TREASURY, txHash: authNonce, logIndex: 3, blockNumber: 900, blockHash: authNonce, authNonce }
  await fixture.journal.recordLogs(lead.lease, {
    logs: [{ ...log, kind: 'out', counterparty: to, microUsdc: micro.toString(), gasShare: null }],
    ownTransactions: [],
    treasuries: [TREASURY],
    limits: { maxMicroPerPayout: 10n ** 9n, maxMicroPerDay: 10n ** 9n, fillTolerancePercent: 2 },
    blockTimes: new Map([[authNonce, new Date(fixture.clock())]]),
  })
  await fixture.journal.applyPending(100)
}

const readUnclaimed = async () => {
  const { rows } = await fixture.db.query(
    `select known_as, paused_reason from treasury_log cross join chain_cursor where kind = 'out' and owner_id is null`,
  )
  return rows
}

const paidOut = async (): Promise<bigint> => {
  const rows = await many(
    fixture.db,
    z.object({ micro: z.string() }),
    sql`select coalesce(sum(micro_usdc), 0)::text as micro from treasury_log where kind = 'out'`,
  )
  return BigInt(rows[0]?.micro ?? 0)
}

describe('The reserve of a merchant', () => {
  test('a reserve is released over 90 days to the micro-USDC, less what chargebacks have taken', async () => {
    const sold: Paid[] = []
    /** The sum that the merchant must have got in the end, and its part by the day of its release. */
    let due = 0n
    const dueOn = new Map<string, bigint>()
    for (let day = 0; day < 12; day += 1) {
      const paid = await settled(4999 + 137 * day)
      sold.push(paid)
      due += BigInt(getNet(paid))
      const on = new Date(fixture.clock() + (RESERVE.days + 1) * DAY_MS).toISOString().slice(0, 10)
      dueOn.set(on, (dueOn.get(on) ?? 0n) + getReserve(paid))
      fixture.advance(DAY_MS)
    }
    const held = sold.reduce((sum, paid) => sum + getReserve(paid), 0n)
    expect(await paidOut()).toBe(due - held)
    expect((await fixture.ledger())['reserve USDC']).toBe(-held)
    const [firstDay] = dueOn.keys()
    expect(await readHeldBack(fixture.db, MERCHANT)).toEqual({ micro: held.toString(), nextOn: firstDay })

    // One is charged back as a whole, one in part, and one is won again.
    const [whole, part, won] = sold as [Paid, Paid, Paid]
    await fixture.reverse(whole, '0')
    await fixture.reverse(part, String(Number(part.amount.minor) - 250))
    await fixture.reverse(won, '0')
    const lostPart = BigInt(convertToMicroUsdc(eur(250), part.rate))
    expect(await fixture.ledger()).toMatchObject({
      'reserve USDC': -(held - getReserve(whole) - lostPart - getReserve(won)),
      'chargeback_loss USDC': -(getReserve(whole) + lostPart + getReserve(won)),
    })
    await fixture.reverse(won, won.amount.minor)
    const taken = getReserve(whole) + lostPart
    const days = [...dueOn.keys()]
    dueOn.set(days[0]!, dueOn.get(days[0]!)! - getReserve(whole))
    dueOn.set(days[1]!, dueOn.get(days[1]!)! - lostPart)

    for (let day = 12; day <= 12 + RESERVE.days + 1; day += 1) {
      // Two workers, at the same moment.
      await Promise.all([fixture.release(), fixture.release()])
      await proveReleases()
      fixture.advance(DAY_MS)
    }
    const made = await releases()
    expect(made.map(({ micro }) => BigInt(micro))).toEqual([...dueOn.values()].filter((micro) => micro > 0n))
    expect(await paidOut()).toBe(due - taken)
    const ledger = await fixture.ledger()
    expect([ledger['reserve USDC'], ledger['merchant_payable USDC']]).toEqual([undefined, undefined])
    expect(ledger['treasury USDC']).toBe(10_000_000_000n - (due - taken))
    expect(await fixture.differences()).toEqual([])
    expect(await readHeldBack(fixture.db, MERCHANT)).toEqual({ micro: '0', nextOn: null })
    const span = { from: '2020-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z', by: 'day' } as const
    const sum = sumStatement(await readStatement(fixture.db, MERCHANT, span))
    const { reserved_micro, released_micro, charged_back_micro, received_micro } = sum
    expect([reserved_micro, released_micro, charged_back_micro, received_micro].map(BigInt)).toEqual([
      held,
      held - taken,
      taken,
      due - taken,
    ])

    // What is lost after the release is a loss of the platform.
    await fixture.reverse(sold[5]!, '0')
    expect((await fixture.ledger())['chargeback_loss USDC']).toBe(-taken)
    expect(await fixture.differences()).toEqual([])
  }, 600_000)

  test('a reserve is released neither before its day nor while the payouts of its merchant are held', async () => {
    await settled(10_000)
    const status = (holdsPayouts: boolean) =>
      fixture.db.transaction((tx) =>
        setStatus(tx, MERCHANT.merchantId, {
          status: holdsPayouts ? 'suspended' : 'approved',
          message: null,
          holdsPayouts,
        }),
      )
    fixture.advance(RESERVE.days * DAY_MS)
    expect(await fixture.release()).toBe(0)
    fixture.advance(DAY_MS)
    await status(true)
    expect(await fixture.release()).toBe(0)
    await status(false)
    // The wallet of today is paid, and not the one that the payment named.
    const wallet = `0x${'8'.repeat(40)}`
    await setWallet(fixture.db, MERCHANT, wallet)
    expect(await fixture.release()).toBe(1)
    expect(await fixture.release()).toBe(0)
    expect(await releases()).toMatchObject([{ recipient: wallet, state: 'queued' }])
  })

  test('a reserve waits for a merchant that has no wallet', async () => {
    await settled(10_000)
    fixture.advance((RESERVE.days + 1) * DAY_MS)
    await fixture.db.query('delete from wallet')
    expect(await fixture.release()).toBe(0)
    await setWallet(fixture.db, MERCHANT, WALLET)
    expect(await fixture.release()).toBe(1)
  })

  test('two workers that find the same reserves at one moment release them once', async () => {
    const paid = await settled(10_000)
    // So late that the merchant could have another release.
    fixture.advance((RESERVE.days + 3) * DAY_MS)
    const rounds: Promise<number>[] = []
    await fixture.db.transaction(async (tx) => {
      await tx.query('select 1 from payment for update')
      rounds.push(fixture.release(), fixture.release())
      const waiting = `select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      while ((await fixture.db.query(waiting)).rows[0]?.['count'] < 2);
    })
    expect((await Promise.all(rounds)).reduce((sum, released) => sum + released)).toBe(1)
    await proveReleases()
    expect(await releases()).toMatchObject([{ micro: getReserve(paid).toString(), state: 'settled' }])
    expect((await fixture.state(paid.id)).payment.reserveReleasedMicro).toBe(getReserve(paid).toString())
    expect(await fixture.differences()).toEqual([])
  })

  test('a worker that dies between the payout and the payments leaves nothing, and the next one releases once', async () => {
    const paid = await settled(10_000)
    fixture.advance((RESERVE.days + 1) * DAY_MS)
    await fixture.db.query(`create function die() returns trigger language plpgsql as $$ begin raise exception 'killed'; end $$;
      create trigger die before update of reserve_released_micro on payment for each row
        when (new.reserve_released_micro is not null) execute function die()`)
    expect(await fixture.release()).toBe(0)
    expect(await releases()).toEqual([])
    await fixture.db.query('drop trigger die on payment')
    expect(await fixture.release()).toBe(1)
    await proveReleases()
    expect(await releases()).toMatchObject([{ micro: getReserve(paid).toString(), state: 'settled' }])
    expect(await fixture.differences()).toEqual([])
  })

  test('a release that a restored backup has forgotten is not paid again: the transfer on chain becomes its payout', async () => {
    const paid = await settled(10_000)
    fixture.advance((RESERVE.days + 1) * DAY_MS)
    const day = new Date(fixture.clock()).toISOString().slice(0, 10)
    const ownerId = releaseId({ ...MERCHANT, day })
    await readTransfer({ day, micro: getReserve(paid) })
    expect(await readUnclaimed()).toEqual([{ known_as: 'release', paused_reason: null }])
    await markRestored(fixture.db, { ...PLACE, livemode: false })
    expect(await fixture.release()).toBe(0)
    await fixture.db.query(`update chain_cursor set restored_at = now() - interval '3 hours'`)
    expect(await fixture.release()).toBe(1)
    await fixture.journal.applyProven(100)
    expect(await releases()).toMatchObject([{ id: ownerId, state: 'settled' }])
    expect(await paidOut()).toBe(BigInt(getNet(paid)))
    expect(await fixture.differences()).toEqual([])
  })

  test.each([
    ['goes to another wallet', { to: `0x${'9'.repeat(40)}` as const }],
    ['is of more than was due', { more: 1n }],
    ['is of a day that had not begun', { days: 1 }],
    ['is of a merchant without a wallet', { isWithoutWallet: true }],
  ])(
    'a transfer with the nonce of a release that %s pauses the lanes',
    async (_why, { to = WALLET, more = 0n, days = 0, isWithoutWallet = false }: Wrong) => {
      const paid = await settled(10_000)
      fixture.advance((RESERVE.days + 1) * DAY_MS)
      const day = new Date(fixture.clock() + days * DAY_MS).toISOString().slice(0, 10)
      if (isWithoutWallet) await fixture.db.query('delete from wallet')
      await readTransfer({ day, micro: getReserve(paid) + more, to })
      expect(await readUnclaimed()).toEqual([
        { known_as: null, paused_reason: expect.stringMatching(/^unknown transfer of /) },
      ])
    },
  )

  const attention = async () =>
    (await listSettlementAttention(fixture.db)).filter(({ kind }) => kind.startsWith('release_'))

  const resume = (id: string) =>
    fixture.db.transaction(async (tx) => (await holdBackAgain(tx, fixture.deps.context, id)) || resumePayout(tx, id))

  test('a release that was canceled on chain is listed, and an operator has its reserves released once more under another day', async () => {
    const paid = await settled(10_000)
    fixture.advance((RESERVE.days + 2) * DAY_MS)
    expect(await fixture.release()).toBe(1)
    const [voided] = await releases()
    const id = voided!.id
    await fixture.db.query(
      `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, auth_nonce, block_number, block_hash,
         finalized_at, known_as, applied_at)
       select chain_id, auth_nonce, 3, token, treasury, 'cancel', auth_nonce, 901, auth_nonce, now(), 'payout', now() from payout
       where owner_id = $1`,
      [id],
    )
    await fixture.journal.applyProven(100)
    expect(await attention()).toMatchObject([{ kind: 'release_voided', subject: id }])
    expect(await fixture.differences()).toEqual([])
    expect(await fixture.release()).toBe(0)

    expect(await resume(id)).toBe(true)
    expect(await resume(id)).toBe(false)
    expect(await attention()).toEqual([])
    expect((await fixture.ledger())['reserve USDC']).toBe(-getReserve(paid))
    expect(await fixture.differences()).toEqual([])

    expect(await fixture.release()).toBe(1)
    expect(await fixture.release()).toBe(0)
    await fixture.prove([(await releases())[1]!.id])
    expect(await releases()).toMatchObject([
      { id, state: 'voided' },
      { micro: getReserve(paid).toString(), state: 'settled' },
    ])
    expect(await paidOut()).toBe(BigInt(getNet(paid)))
    expect((await fixture.ledger())['merchant_payable USDC']).toBeUndefined()
    expect(await fixture.differences()).toEqual([])
  })

  test('a final release sends its event once, with its amount and transfer', async () => {
    const sold = [await settled(10_000), await settled(5_000)]
    fixture.advance((RESERVE.days + 1) * DAY_MS)
    expect(await fixture.release()).toBe(1)
    const events = async () =>
      (
        await fixture.db.query(
          `select payment_id, convert_from(body, 'UTF8')::jsonb -> 'data' -> 'object' as object from event where type = 'reserve.released'`,
        )
      ).rows
    expect(await events()).toEqual([])
    await proveReleases()
    const [made] = await releases()
    const { rows } = await fixture.db.query('select * from treasury_log where owner_id = $1', [made!.id])
    const { tx_hash: txHash, finalized_at: finalizedAt } = rows[0] as { tx_hash: `0x${string}`; finalized_at: Date }
    const micro = sold.reduce((sum, paid) => sum + getReserve(paid), 0n)
    expect(await events()).toEqual([
      {
        payment_id: null,
        object: {
          id: made!.id,
          object: 'reserve_release',
          livemode: false,
          due_on: new Date(fixture.clock()).toISOString().slice(0, 10),
          payments: 2,
          amount_usdc: formatUsdc(micro.toString()),
          wallet: WALLET,
          chain_id: PLACE.chainId,
          token: PLACE.token,
          tx_hash: txHash,
          finalized_at: finalizedAt.toISOString(),
          created_at: expect.stringMatching(/Z$/),
        },
      },
    ])
    // The transfer is final in another block.
    const again = { ownerId: made!.id, txHash, finalizedAt }
    expect(await fixture.db.transaction((tx) => recordPaidReleases(tx, [again]))).toEqual([])
  })

  test('a void release that an unknown signature has paid is not released once more', async () => {
    const paid = await settled(10_000)
    fixture.advance((RESERVE.days + 2) * DAY_MS)
    expect(await fixture.release()).toBe(1)
    const [made] = await releases()
    await fixture.db.query(
      `with proof as (insert into void_proof (owner_id, block_number, block_hash, block_time, valid_before)
         select owner_id, 901, auth_nonce, 2, 1 from payout where owner_id = $1 returning owner_id)
       update payout set state = 'voiding' where owner_id = (select owner_id from proof)`,
      [made!.id],
    )
    await fixture.db.query(`update payout set state = 'voided' where owner_id = $1`, [made!.id])
    expect(await attention()).toMatchObject([{ kind: 'release_voided', subject: made!.id }])
    await proveReleases()
    expect(await releases()).toMatchObject([{ id: made!.id, state: 'voided' }])
    expect(await attention()).toEqual([])
    expect(await resume(made!.id)).toBe(false)
    expect(await fixture.release()).toBe(0)
    expect(await paidOut()).toBe(BigInt(getNet(paid)))
    expect((await fixture.ledger())['merchant_payable USDC']).toBeUndefined()
    expect(await fixture.differences()).toEqual([])
  })

  test('a release above the limit of one payout is listed with the reason until an operator resumes it', async () => {
    await settled(10_000)
    fixture.advance((RESERVE.days + 1) * DAY_MS)
    expect(await fixture.release()).toBe(1)
    const [made] = await releases()
    const stopped = { ownerId: made!.id, reason: 'policy' as const, detail: 'a payout must be at most 5.000000 USDC' }
    expect(await fixture.journal.stop(stopped)).toBe('stopped')
    expect(await attention()).toEqual([
      { kind: 'release_stopped', subject: made!.id, detail: `policy: ${stopped.detail}` },
    ])
    expect(await fixture.differences()).toEqual([])
    expect(await resume(made!.id)).toBe(true)
    expect(await attention()).toEqual([])
    expect(await releases()).toMatchObject([{ id: made!.id, state: 'queued' }])
  })

  test('reserves that were due two days ago are listed, and three days later the books report them', async () => {
    const paid = await settled(10_000)
    const due = (days: number) =>
      fixture.db.query(
        `update payment set updated_at = now() - interval '4 hours', finalized_at = date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - ($1 + reserve_days + 1) * interval '1 day'`,
        [days],
      )
    const late = async () => [(await attention()).map(({ kind }) => kind), (await fixture.differences()).length > 0]
    await due(1)
    expect(await late()).toEqual([[], false])
    await due(2)
    expect(await late()).toEqual([['release_overdue'], false])
    await due(4)
    expect(await late()).toEqual([['release_overdue'], true])
    expect(await fixture.release()).toBe(1)
    expect(await late()).toEqual([[], false])
    expect((await fixture.state(paid.id)).payment.reservedMicro).toBe('0')
  })

  test('what is won back after the release is released as well, in the next round', async () => {
    const paid = await settled(10_000)
    const reserve = getReserve(paid)
    await fixture.reverse(paid, String(10_000 - 250))
    fixture.advance((RESERVE.days + 1) * DAY_MS)
    expect(await fixture.release()).toBe(1)
    await proveReleases()
    const lost = BigInt(convertToMicroUsdc(eur(250), paid.rate))
    expect(await fixture.ledger()).toMatchObject({ 'chargeback_loss USDC': -lost })
    fixture.advance(40 * DAY_MS)
    await fixture.reverse(paid, '10000')
    expect(await readHeldBack(fixture.db, MERCHANT)).toMatchObject({ micro: lost.toString() })
    expect(await fixture.differences()).toEqual([])
    expect(await fixture.release()).toBe(1)
    expect(await fixture.release()).toBe(0)
    await proveReleases()
    expect((await releases()).map(({ micro }) => BigInt(micro))).toEqual([reserve - lost, lost])
    expect((await fixture.state(paid.id)).payment).toMatchObject({
      reservedMicro: '0',
      reserveReleasedMicro: reserve.toString(),
    })
    const ledger = await fixture.ledger()
    for (const account of ['reserve', 'merchant_payable', 'chargeback_loss'])
      expect(ledger[`${account} USDC`]).toBeUndefined()
    expect(await paidOut()).toBe(BigInt(getNet(paid)))
    expect(await fixture.differences()).toEqual([])
  })

  test('a reserve that a chargeback takes as a whole is released once the chargeback is won', async () => {
    const paid = await settled(10_000)
    await fixture.reverse(paid, '0')
    fixture.advance((RESERVE.days + 1) * DAY_MS)
    expect(await fixture.release()).toBe(0)
    expect((await fixture.ledger())['chargeback_loss USDC']).toBe(-getReserve(paid))
    await fixture.reverse(paid, paid.amount.minor)
    expect(await fixture.release()).toBe(1)
    await proveReleases()
    expect(await paidOut()).toBe(BigInt(getNet(paid)))
    expect((await fixture.ledger())['chargeback_loss USDC']).toBeUndefined()
    expect(await fixture.differences()).toEqual([])
  })

  test('a release after a chargeback that the backup has forgotten waits for an operator', async () => {
    const paid = await settled(10_000)
    fixture.advance((RESERVE.days + 1) * DAY_MS)
    const day = new Date(fixture.clock()).toISOString().slice(0, 10)
    await readTransfer({ day, micro: getReserve(paid) - 1n })
    expect(await fixture.release()).toBe(0)
    expect(await releases()).toEqual([])
    expect(await attention()).toMatchObject([{ kind: 'release_differs' }])
    // The dispute is read again, and takes as much as before.
    await fixture.db.query(
      `update treasury_log set micro_usdc = micro_usdc + 1 where owner_id is null and kind = 'out'`,
    )
    expect(await fixture.release()).toBe(1)
    expect(await attention()).toEqual([])
  })

  const accept = (id: string) => fixture.db.transaction((tx) => acceptDifference(tx, PLACE, id))

  test('an accepted release of less than is due is stored as it was paid, and the rest is released under another day', async () => {
    const sold = [await settled(10_000), await settled(5_000)]
    fixture.advance((RESERVE.days + 1) * DAY_MS)
    const day = new Date(fixture.clock()).toISOString().slice(0, 10)
    const id = releaseId({ ...MERCHANT, day })
    expect(await accept(id)).toBe(false)
    const all = sold.reduce((sum, paid) => sum + getReserve(paid), 0n)
    await readTransfer({ day, micro: all - 1_000_000n })
    expect(await fixture.release()).toBe(0)
    expect(await accept(id)).toBe(true)
    expect(await fixture.release()).toBe(1)
    await fixture.journal.applyProven(100)
    expect(await attention()).toEqual([])
    expect(await readHeldBack(fixture.db, MERCHANT)).toMatchObject({ micro: '1000000' })
    expect(await fixture.differences()).toEqual([])
    expect(await fixture.release()).toBe(0)
    fixture.advance(DAY_MS)
    expect(await fixture.release()).toBe(1)
    await proveReleases()
    expect((await releases()).map(({ micro }) => BigInt(micro))).toEqual([all - 1_000_000n, 1_000_000n])
    expect((await fixture.ledger())['merchant_payable USDC']).toBeUndefined()
    expect(await fixture.differences()).toEqual([])
  })

  test('an accepted release of more than is due now is stored with what chargebacks have taken since as a loss', async () => {
    const sold = [await settled(10_000), await settled(5_000)]
    const all = sold.reduce((sum, paid) => sum + getReserve(paid), 0n)
    await fixture.reverse(sold[0]!, '0')
    fixture.advance((RESERVE.days + 1) * DAY_MS)
    const day = new Date(fixture.clock()).toISOString().slice(0, 10)
    const id = releaseId({ ...MERCHANT, day })
    await readTransfer({ day, micro: all })
    expect(await fixture.release()).toBe(0)
    expect(await accept(id)).toBe(true)
    expect(await fixture.release()).toBe(1)
    await fixture.journal.applyProven(100)
    expect(await attention()).toEqual([])
    const ledger = await fixture.ledger()
    for (const account of ['reserve', 'merchant_payable', 'chargeback_loss'])
      expect(ledger[`${account} USDC`]).toBeUndefined()
    expect(await fixture.differences()).toEqual([])
  })

  test('an accepted release of more than all reserves of its day remains listed', async () => {
    const paid = await settled(10_000)
    fixture.advance((RESERVE.days + 1) * DAY_MS)
    const day = new Date(fixture.clock()).toISOString().slice(0, 10)
    await readTransfer({ day, micro: getReserve(paid) })
    await fixture.db.query(
      `update treasury_log set micro_usdc = micro_usdc + 1 where owner_id is null and kind = 'out'`,
    )
    expect(await fixture.release()).toBe(0)
    expect(await accept(releaseId({ ...MERCHANT, day }))).toBe(true)
    expect(await fixture.release()).toBe(0)
    expect(await attention()).toMatchObject([{ kind: 'release_differs' }])
  })
})
