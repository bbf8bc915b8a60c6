import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { many, sql } from '../../src/db/db.ts'
import { setWallet } from '../../src/db/merchants/wallets.ts'
import { readHeldBack } from '../../src/db/reserves/releases.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { convertToMicroUsdc, splitFee, takePercent } from '../../src/domain/money.ts'
import { createSettlementHooks } from '../../src/settlement/hooks.ts'
import { newAddress, TOKEN, useFixture } from '../chain/fixture.ts'
import { createFloatFixture, HOUR_MS, type Paid } from './float-fixture.ts'

const DAY_MS = 24 * HOUR_MS
const MERCHANT = { merchantId: 'mer_1', livemode: false }
const RESERVE = { percent: '10.25', days: 90 }
const CAPITAL = 10_000_000_000n
const PAYMENTS = 12

const chain = useFixture({ micro: CAPITAL })

const eur = (minor: number) => ({ minor: String(minor), currency: 'EUR' as const })
const getNet = ({ amount, rate }: Paid): bigint => BigInt(splitFee(convertToMicroUsdc(amount, rate), '4.5').net)
const getReserve = (paid: Paid): bigint => BigInt(takePercent(getNet(paid).toString(), RESERVE.percent))

const releaseRow = z.object({ micro: z.string().transform(BigInt), due_on: z.string(), state: z.string() })
const dueRow = z.object({ due_on: z.string() })

test('a chain pays what merchants are owed at once, and the reserves 90 days later, to the micro-USDC', async () => {
  const treasury = chain.treasury.address.toLowerCase() as Hex
  const place = { token: TOKEN.address, treasury }
  const float = await createFloatFixture({ reserveMicro: '0', settlementDays: 3, leastMicro: '100000000', place })
  try {
    const hooks = createSettlementHooks(float.deps.context, { hasFloat: true })
    const runner = chain.runner({ db: float.db, hooks })
    const engine = async () => {
      chain.clock.now = new Date(float.clock())
      await chain.finalize(runner)
    }
    const nextDay = async () => {
      float.advance(DAY_MS)
      await chain.chain.increaseTime({ seconds: DAY_MS / 1000 })
      // Signatures are valid for less than a day after the newest block.
      await chain.chain.mine({ blocks: 1 })
    }
    const wallet = newAddress()
    await setWallet(float.db, MERCHANT, wallet)
    float.rates.EUR = '1.0837'
    await engine()

    const sold: Paid[] = []
    const dueOn = new Map<string, bigint>()
    for (let day = 0; day < PAYMENTS; day += 1) {
      const paid = await float.paid(eur(4999 + 137 * day), { reserve: RESERVE, destination: wallet })
      expect(await float.trySettle(paid.id)).toBe('handed over')
      await engine()
      const [due] = await many(
        float.db,
        dueRow,
        sql`select reserve_due_on(finalized_at, reserve_days)::text as due_on from payment where id = ${paid.id}`,
      )
      sold.push(paid)
      dueOn.set(due!.due_on, (dueOn.get(due!.due_on) ?? 0n) + getReserve(paid))
      await nextDay()
    }
    const owed = sold.reduce((sum, paid) => sum + getNet(paid), 0n)
    const held = sold.reduce((sum, paid) => sum + getReserve(paid), 0n)
    expect(await chain.balance(wallet)).toBe(owed - held)

    const [whole, won] = sold as [Paid, Paid]
    await float.reverse(whole, '0')
    await float.reverse(won, '0')
    await float.reverse(won, won.amount.minor)
    const taken = getReserve(whole)
    const [firstDay] = dueOn.keys()
    dueOn.set(firstDay!, dueOn.get(firstDay!)! - taken)

    let paidOnDay = await chain.balance(wallet)
    for (let day = PAYMENTS; day <= PAYMENTS + RESERVE.days + 1; day += 1) {
      const today = new Date(float.clock()).toISOString().slice(0, 10)
      // Two workers, at the same moment.
      await Promise.all([float.release(), float.release()])
      await engine()
      const balance = await chain.balance(wallet)
      expect([today, balance - paidOnDay]).toEqual([today, dueOn.get(today) ?? 0n])
      paidOnDay = balance
      await nextDay()
    }
    expect(await chain.balance(wallet)).toBe(owed - taken)
    expect(await chain.balance(treasury)).toBe(CAPITAL - (owed - taken))
    const releases = await many(
      float.db,
      releaseRow,
      sql`select r.micro_usdc::text as micro, r.due_on::text, p.state from reserve_release r
          join payout p on p.owner_id = r.id order by r.due_on`,
    )
    expect(releases).toEqual(
      [...dueOn].flatMap(([day, micro]) => (micro === 0n ? [] : { micro, due_on: day, state: 'settled' })),
    )
    const ledger = await float.ledger()
    expect(ledger['treasury USDC']).toBe(CAPITAL - (owed - taken))
    expect([ledger['reserve USDC'], ledger['merchant_payable USDC']]).toEqual([undefined, undefined])
    expect(await readHeldBack(float.db, MERCHANT)).toEqual({ micro: '0', nextOn: null })
    expect((await float.db.query('select pause from chain_cursor')).rows).toEqual([{ pause: null }])
    expect(await float.differences()).toEqual([])
  } finally {
    await float.close()
  }
}, 600_000)
