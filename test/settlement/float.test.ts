import { generateKeyPairSync } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import express, { type ErrorRequestHandler } from 'express'
import { pino } from 'pino'
import { Problem } from '../../src/api/http/problems.ts'
import { refillCallbackRouter } from '../../src/api/routes/refill-callbacks.ts'
import { insertRefund } from '../../src/db/refunds/refunds.ts'
import { endRefill, openRefill } from '../../src/db/settlement/float.ts'
import { newId } from '../../src/ids.ts'
import type { Act } from '../../src/operator/payouts.ts'
import { refill } from '../../src/operator/refills.ts'
import { readBridgeCallback } from '../../src/partners/bridge/callback.ts'
import { changeRefund } from '../../src/payments/change-refund.ts'
import { signBridgeEvent } from '../../src/sandbox/bridge/bridge.ts'
import { createRefundHooks } from '../../src/settlement/refund-hook.ts'
import { createFloatFixture, type FloatFixture, HOUR_MS } from './float-fixture.ts'

const RESERVE = 1_000_000_000n
const eur = (minor: string) => ({ minor, currency: 'EUR' as const })

let fixture: FloatFixture
beforeAll(async () => {
  fixture = await createFloatFixture({ reserveMicro: RESERVE.toString(), settlementDays: 3, leastMicro: '100000000' })
  fixture.rates.EUR = '1.08'
})
afterAll(() => fixture.close())

/** The float becomes this much, if it is less. */
async function setFloat(micro: bigint): Promise<void> {
  const { freeMicro } = await fixture.float()
  const missing = micro - BigInt(freeMicro)
  if (missing > 0n) await fixture.arrives(missing)
}

async function endOpenRefills(): Promise<void> {
  for (const { state, id } of await fixture.refills())
    if (state === 'open')
      await fixture.db.transaction((tx) => endRefill(tx, { id, word: 'test', at: new Date().toISOString() }))
}

describe('A conversion from the float', () => {
  test('a conversion is filled at the locked rate, in the statement that hands the payout over', async () => {
    await setFloat(RESERVE + 108_000_000n)
    const { id } = await fixture.paid(eur('10000'))
    const { version } = (await fixture.state(id)).payment
    expect(await fixture.trySettle(id)).toBe('handed over')
    const { payment, sales } = await fixture.state(id)
    expect(payment).toMatchObject({ status: 'settling', usdc: { gross: '108000000' }, version: version + 1 })
    expect(sales).toMatchObject([{ state: 'filled', fill: 108_000_000n, reference: 'float' }])
    expect(await fixture.differences()).toEqual([])
  })

  test('a conversion that would take of the reserve waits, and its payment stays as it was', async () => {
    const { id } = await fixture.paid(eur('10000'))
    const before = await fixture.state(id)
    expect(await fixture.trySettle(id)).toBe('waits: the float is at its reserve')
    expect(await fixture.state(id)).toEqual(before)
    const late = { ...fixture.deps.context, now: () => fixture.clock() + 2 * HOUR_MS }
    // However long it waits, no operator is asked about the one payment.
    expect(await fixture.trySettle(id, { context: late })).toBe('waits: the float is at its reserve')
    expect((await fixture.state(id)).payment).toMatchObject({ status: 'processing', stuck: null })
    expect((await fixture.float()).waiting.count).toBe(1)
    await fixture.arrives(108_000_000n)
    expect(await fixture.trySettle(id)).toBe('handed over')
  })

  test('conversions at one moment never take of the reserve together', async () => {
    await setFloat(RESERVE + 108_000_000n)
    const spare = await fixture.paid(eur('1'))
    expect(await fixture.trySettle(spare.id)).toBe('handed over')
    const { freeMicro } = await fixture.float()
    // Each needs its gross amount of 21.60 USDC, and promises its merchant the net amount of 20.628.
    const fits = 1 + Number((BigInt(freeMicro) - RESERVE - 21_600_000n) / 20_628_000n)
    const paid = await Promise.all(Array.from({ length: fits + 4 }, () => fixture.paid(eur('2000'))))
    // All of them have begun before the first one commits.
    const tries: Promise<string>[] = []
    await fixture.db.transaction(async (tx) => {
      await tx.query('select 1 from payment for update')
      tries.push(...paid.slice(0, 6).map(({ id }) => fixture.trySettle(id)))
      const waiting = `select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      while (Number((await fixture.db.query(waiting)).rows[0]?.['count']) < 6);
    })
    for (const { id } of paid.slice(6)) tries.push(fixture.trySettle(id))
    const results = await Promise.all(tries)
    expect(results.filter((result) => result === 'handed over')).toHaveLength(fits)
    expect(BigInt((await fixture.float()).freeMicro)).toBeGreaterThanOrEqual(RESERVE)
    expect(await fixture.differences()).toEqual([])
  })

  test('USDC that merchants are owed is not float, also while their payouts are on the way', async () => {
    await setFloat(RESERVE + 200_000_000n)
    const { id } = await fixture.paid(eur('10000'))
    await fixture.trySettle(id)
    // 200 USDC less the net amount of 103.14.
    expect((await fixture.float()).freeMicro).toBe((RESERVE + 96_860_000n).toString())
    await fixture.prove([id])
    expect((await fixture.float()).freeMicro).toBe((RESERVE + 96_860_000n).toString())
  })

  test('a payout that is void gives the float back, and its money is exposed no longer', async () => {
    await setFloat(RESERVE + 300_000_000n)
    const [before, { id }] = [await fixture.float(), await fixture.paid(eur('10000'))]
    await fixture.trySettle(id)
    await fixture.cancelPayout(id)
    expect((await fixture.state(id)).payment.payout).toBe('void')
    const after = await fixture.float()
    expect([after.freeMicro, after.exposures]).toEqual([before.freeMicro, before.exposures])
  })
})

describe('A refill by an operator', () => {
  test('an operator records an exchange, and a transaction is claimed by one refill', async () => {
    await setFloat(RESERVE + 1_000_000_000n)
    fixture.rates.INR = '0.0113'
    for (const amount of [eur('10000'), { minor: '1000000', currency: 'INR' as const }])
      expect(await fixture.trySettle((await fixture.paid(amount)).id)).toBe('handed over')
    const lines: string[] = []
    const act = {
      db: fixture.db,
      settings: { CONVERTER: 'float' },
      signed: { operator: 'ada', reason: 'sold at our bank' },
      say: (line: string) => void lines.push(line),
    } as unknown as Act
    const txHash = await fixture.arrives(107_000_000n)
    expect(await refill(act, { amount: '100.00', currency: 'EUR', txHash })).toBe(0)
    expect(lines.join()).toContain(`claims what ${txHash} brings`)
    const rupees = { amount: '10000.00', currency: 'INR' }
    await expect(refill(act, { ...rupees, txHash })).rejects.toThrow(`or another refill claims ${txHash}`)
    expect(await refill(act, { ...rupees, txHash: await fixture.arrives(110_000_000n) })).toBe(0)
    fixture.advance(HOUR_MS)
    await fixture.refill({ partner: null })
    expect(await fixture.refills()).toMatchObject([
      { state: 'done', currency: 'EUR', units: 10_000n },
      { state: 'done', currency: 'INR', units: 1_000_000n },
    ])
    expect(await fixture.differences()).toEqual([])
  })
})

test('a refill takes a transaction of two transfers when both are booked', async () => {
  await setFloat(RESERVE + 1_000_000_000n)
  expect(await fixture.trySettle((await fixture.paid(eur('10000'))).id)).toBe('handed over')
  const txHash = await fixture.arrives(54_000_000n)
  await fixture.db.query(
    `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, block_number,
       block_hash, finalized_at, known_as, applied_at)
     select chain_id, tx_hash, 1, token, treasury, kind, counterparty, micro_usdc, block_number, block_hash, finalized_at,
       known_as, null
     from treasury_log where tx_hash = $1`,
    [txHash],
  )
  const at = new Date().toISOString()
  const order = { partner: 'operator', currency: 'EUR', settledDay: at.slice(0, 10), minor: '10000' } as const
  await fixture.db.transaction((tx) => openRefill(tx, { ...order, id: 'rfl_1', leastMicro: '0', txHash, at }))
  fixture.advance(HOUR_MS)
  await fixture.refill({ partner: null })
  expect((await fixture.refills()).at(-1)).toMatchObject({ id: 'rfl_1', state: 'open' })
  await fixture.journal.applyPending(100)
  fixture.advance(HOUR_MS)
  await fixture.refill({ partner: null })
  expect((await fixture.db.query(`select state, micro from refill where id = 'rfl_1'`)).rows).toEqual([
    { state: 'done', micro: '108000000' },
  ])
})

describe('A refill', () => {
  beforeEach(async () => {
    await setFloat(RESERVE + 2_000_000_000n)
    await endOpenRefills()
    await sell('20000')
    fixture.advance(4 * 24 * HOUR_MS)
  })

  async function sell(minor: string): Promise<string> {
    const { id } = await fixture.paid(eur(minor))
    expect(await fixture.trySettle(id)).toBe('handed over')
    await fixture.prove([id])
    return id
  }
  /** Bridge is asked, and what follows fails. */
  const afterAsking = (message: string) =>
    fixture.failing(async (ask) => {
      await ask()
      throw new Error(message)
    })
  const open = async () => (await fixture.refills()).filter(({ state }) => state === 'open')
  const known = () => fixture.bridge.transfers().length

  test('a refill takes what partners have settled, and leaves what is younger', async () => {
    await sell('30000')
    const exposed = BigInt((await fixture.float()).exposures[0]!.money.minor)
    await fixture.refill()
    const [refill] = await open()
    expect(refill).toMatchObject({ units: exposed - 30_000n, word: 'awaiting_funds' })
    expect((await fixture.float()).exposures).toMatchObject([{ money: eur('30000'), costMicro: '324000000' }])
    expect(await fixture.differences()).toEqual([])
  })

  test('an answer that is lost leads to no second transfer', async () => {
    const before = known()
    await fixture.bridge.faults.set({ fault: 'timeout_after_effect', operation: 'open', times: 1, mode: 'close' })
    await fixture.refill()
    expect([known() - before, (await open())[0]?.word]).toEqual([1, expect.stringContaining('no answer')])
    fixture.advance(HOUR_MS)
    await fixture.restartBridge()
    await fixture.refill()
    expect([known() - before, (await open())[0]?.word]).toEqual([1, 'awaiting_funds'])
  })

  test('a worker that dies after the request continues with the same transfer', async () => {
    const before = known()
    // It stored the refill and asked; nothing after that reached the database.
    await fixture.refill({ partner: afterAsking('killed') })
    fixture.advance(HOUR_MS)
    await Promise.all([fixture.refill(), fixture.refill()])
    expect([known() - before, (await open()).length]).toEqual([1, 1])
  })

  test('a request that was not answered for a day is looked up, and never repeated', async () => {
    const before = known()
    await fixture.refill({ partner: afterAsking('no answer in time') })
    fixture.advance(30 * HOUR_MS)
    await fixture.refill()
    expect([known() - before, (await open())[0]?.word]).toEqual([1, 'awaiting_funds'])
    const [refill] = await open()
    expect(fixture.bridge.transfers().at(-1)?.clientReference).toBe(refill?.id)
  })

  test('a request that never reached Bridge is not repeated after a day: a person must look', async () => {
    const before = known()
    const dead = fixture.failing(() => Promise.reject(new Error('no connection')))
    await fixture.refill({ partner: dead })
    fixture.advance(30 * HOUR_MS)
    await fixture.refill()
    expect([known() - before, (await open())[0]?.word]).toEqual([
      0,
      expect.stringContaining('lists no transfer for it'),
    ])
  })

  test('two workers open one refill of a currency', async () => {
    const before = known()
    await Promise.all(Array.from({ length: 4 }, () => fixture.refill()))
    expect([(await open()).length, known() - before]).toEqual([1, 1])
  })

  test('USDC that arrives is claimed once, and the spread is what the market gives more', async () => {
    await fixture.refill()
    const [refill] = await open()
    const before = await fixture.ledger()
    fixture.rates.EUR = '1.10'
    const market = refill!.units * 11_000n
    await fixture.deliver('EUR', market - 5_000_000n)
    fixture.advance(HOUR_MS)
    await fixture.refill()
    fixture.advance(HOUR_MS)
    await fixture.refill()
    const after = await fixture.ledger()
    const change = (key: string): bigint => (after[key] ?? 0n) - (before[key] ?? 0n)
    expect([change('spread USDC'), change('exchange USDC'), change('suspense USDC')]).toEqual([
      5_000_000n,
      refill!.cost - market,
      0n,
    ])
    expect((await fixture.refills()).find(({ id }) => id === refill!.id)?.state).toBe('done')
    expect(await fixture.differences()).toEqual([])
    fixture.rates.EUR = '1.08'
  })

  test('what a refund took of its merchant pays for the money that is no longer exposed', async () => {
    const id = await sell('10000')
    const [before] = (await fixture.float()).exposures
    await refundPart(id, { minor: '5000', requiredMicro: '55000001' })
    const [after] = (await fixture.float()).exposures
    expect(BigInt(before!.money.minor) - BigInt(after!.money.minor)).toBe(5_000n)
    expect(BigInt(before!.costMicro) - BigInt(after!.costMicro)).toBe(55_000_001n)
    fixture.advance(4 * 24 * HOUR_MS)
    await fixture.refill()
    expect(await open()).toMatchObject([{ units: BigInt(after!.money.minor), cost: BigInt(after!.costMicro) }])
    expect(await fixture.differences()).toEqual([])
  })

  /** The merchant pays for a refund of a part, and the partner makes it. */
  async function refundPart(paymentId: string, { minor, requiredMicro }: { minor: string; requiredMicro: string }) {
    const { db, deps } = fixture
    const { context } = deps
    const attempt = (await fixture.state(paymentId)).attempts[0]!
    const id = newId('refund')
    const at = new Date(fixture.clock()).toISOString()
    const terms = { rate: '1.1', rateSource: 'test', requiredMicro, createdAt: at, expiresAt: at }
    const order = {
      id,
      paymentId,
      attemptId: attempt.id,
      amount: eur(minor),
      reason: null,
      metadata: null,
      fundFrom: 'wallet' as const,
      paymentVersion: 1,
      request: null,
    }
    await insertRefund(db, { merchantId: 'mer_1', livemode: false }, { ...order, ...terms })
    const [token, sender, txHash] = [`0x${'3'.repeat(40)}`, `0x${'5'.repeat(40)}`, `0x${'f'.repeat(64)}`] as const
    const deposit = {
      paymentId,
      owner: { refundId: id },
      expected: true,
      address: sender,
      token,
      sender,
      txHash,
      logIndex: 0,
      blockNumber: 1,
      blockHash: txHash,
      units: requiredMicro,
    }
    const hooks = createRefundHooks(context, () => undefined)
    await db.transaction((tx) => hooks.onRefundDeposit(tx, id, deposit))
    await changeRefund(db, context, { id, change: ({ setRefund }) => setRefund({ status: 'pending', partnerKey: id }) })
    await changeRefund(db, context, {
      id,
      change: ({ setRefund, payment }) => {
        payment.setAttempt(attempt.id, { held: (BigInt(attempt.held) - BigInt(minor)).toString() })
        setRefund({ status: 'succeeded' })
      },
    })
  }

  test('a transfer that is refunded gives its money back to the exposure', async () => {
    const before = await fixture.float()
    await fixture.refill()
    const transfer = fixture.bridge.transfers().at(-1)!
    await fixture.bridge.move(transfer.id, { state: 'refunded' })
    fixture.advance(HOUR_MS)
    await fixture.refill({ leastMicro: '999999999999' })
    expect([await open(), (await fixture.float()).exposures]).toEqual([[], before.exposures])
    expect(await fixture.differences()).toEqual([])
  })

  test('a state that Bridge has added since waits for a person, and ends nothing', async () => {
    await fixture.refill()
    expect((await fixture.float()).refills).toMatchObject([{ isStuck: false }])
    await fixture.bridge.move(fixture.bridge.transfers().at(-1)!.id, { state: 'sent_to_the_moon' })
    fixture.advance(HOUR_MS)
    await fixture.refill()
    expect(await open()).toMatchObject([{ word: 'sent_to_the_moon' }])
    expect((await fixture.float()).refills).toMatchObject([{ isStuck: true }])
  })
})

// oxlint-disable-next-line max-params -- Express knows an error handler by its four parameters.
const answerProblem: ErrorRequestHandler = (error, _request, response, next) => {
  if (error instanceof Problem) response.status(400).end()
  else next(error)
}

describe('A webhook about a refill', () => {
  const own = generateKeyPairSync('rsa', { modulusLength: 2048 })
  let server: Server
  beforeAll(async () => {
    const router = refillCallbackRouter({
      db: fixture.db,
      readRefillCallback: (callback) => readBridgeCallback([own.publicKey], callback),
      clock: fixture.clock,
      log: pino({ level: 'silent' }),
      limits: { countVisit: () => undefined },
    })
    server = createServer(express().use(router).use(answerProblem))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })

  const post = async (signed: ReturnType<typeof signBridgeEvent>): Promise<number> => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks/bridge`
    return (await fetch(url, { method: 'POST', headers: signed.headers, body: signed.body })).status
  }

  test('an authentic webhook has the transfer read at once, and a forged one changes nothing', async () => {
    await endOpenRefills()
    const { id } = await fixture.paid(eur('20000'))
    await setFloat(RESERVE + 2_000_000_000n)
    await fixture.trySettle(id)
    fixture.advance(4 * 24 * HOUR_MS)
    await fixture.refill()
    const transfer = fixture.bridge.transfers().at(-1)!
    await fixture.bridge.move(transfer.id, { state: 'funds_received' })
    const word = async () => (await fixture.refills()).find((refill) => refill.id === transfer.clientReference)?.word

    const forged = signBridgeEvent(transfer, {
      key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
      now: fixture.clock(),
    })
    expect(await post(forged)).toBe(400)
    await fixture.refill()
    expect(await word()).toBe('awaiting_funds')

    expect(await post(signBridgeEvent(transfer, { key: own.privateKey, now: fixture.clock() }))).toBe(200)
    await fixture.refill()
    expect(await word()).toBe('funds_received')
  })
})
