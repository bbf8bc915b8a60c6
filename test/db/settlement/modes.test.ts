import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createTestDatabase, type TestDatabase } from '../../../scripts/test/services/databases.ts'
import { createDb, type Db } from '../../../src/db/db.ts'
import type { SettlementHooks } from '../../../src/db/settlement/context.ts'
import { finishSweep } from '../../../src/db/settlement/deposits.ts'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import { holdPayout, queuePayout, readPayout, releasePayout, requestVoid } from '../../../src/db/settlement/payouts.ts'
import { listOwing, listTreasuries } from '../../../src/db/settlement/rebuild.ts'
import { readQueue } from '../../../src/db/settlement/watch/standing.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { payoutNonce } from '../../../src/evm/payout-nonce.ts'
import { newId } from '../../../src/ids.ts'
import { DESTINATION, type Planted, plant, storedOf } from '../../deps/two-modes.ts'

/** A payout of test mode and one of live mode with the same chain, token and treasury, in a test deployment. */

const TOKEN: Hex = '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359'
const TREASURY: Hex = `0x${'b'.repeat(40)}`
const FOREIGN_TREASURY: Hex = `0x${'d'.repeat(40)}`
const RECIPIENT: Hex = `0x${'c'.repeat(40)}`
const hash = (digit: number | string): Hex => `0x${String(digit).repeat(64)}`
const SCOPE = { livemode: false, chainId: 31337, token: TOKEN }

let database: TestDatabase
let db: Db
let own: Planted
let other: Planted
let stored: string
const heard: string[] = []
const hooks: SettlementHooks = {
  onSettled: async (_tx, settlements) => void heard.push(...settlements.map(({ paymentId }) => paymentId)),
  onHeld: async (_tx, { paymentId }) => void heard.push(paymentId),
  onReleased: async (_tx, { paymentId }) => void heard.push(paymentId),
  onVoided: async (_tx, { paymentId }) => void heard.push(paymentId),
  onDeposit: async () => undefined,
  onTreasuryMovement: async () => undefined,
  onGas: async () => undefined,
}

const payoutOf = ({ id }: Planted, livemode: boolean, treasury = TREASURY) =>
  ({ paymentId: id, ...SCOPE, livemode, treasury, recipient: RECIPIENT, microUsdc: '1000000' }) as const
const nonceOf = ({ id }: Planted): Hex => payoutNonce({ ...SCOPE, treasury: TREASURY, paymentId: id })
const stateOf = async ({ id }: Planted) =>
  (await db.query('select state from payout where payment_id = $1', [id])).rows[0]?.state
const journal = () => createSettlementJournal({ db, scope: SCOPE, hooks })
const start = { number: 0, hash: hash(0) }

beforeEach(async () => {
  heard.length = 0
  database = await createTestDatabase()
  db = createDb({ url: database.url, livemode: false, pool: 4 })
  const tenant = { merchantId: newId('merchant'), livemode: false }
  await db.query("insert into merchant (id, name) values ($1, 'Shop')", [tenant.merchantId])
  own = await plant(db, tenant)
  other = await plant(db, { ...tenant, livemode: true })
  await db.transaction((tx) => queuePayout(tx, payoutOf(own, false)))
  await db.transaction((tx) => queuePayout({ ...tx, livemode: true }, payoutOf(other, true)))
  stored = await storedOf(db, other)
})
afterEach(async () => {
  await db?.close()
  await database?.drop()
})

const untouched = async (): Promise<void> => expect(await storedOf(db, other)).toBe(stored)

describe('a payout of the other mode', () => {
  test('is not queued: its payment is unknown', async () => {
    const third = await plant(db, { merchantId: await merchant(), livemode: true })
    const ask = payoutOf(third, true)
    for (const livemode of [true, false]) {
      const queued = db.transaction((tx) => queuePayout(tx, { ...ask, livemode }))
      await expect(queued).rejects.toThrow(`no payment ${third.id}`)
    }
    await db.query("update payment set status = 'refunded' where id = $1", [third.id])
    await db.query(
      `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
         block_number, block_hash, finalized_at, known_as, nonce_of)
       values ($1, $2, 0, $3, $4, 'out', $5, 1000000, $6, 1, $2, now(), 'payment', $7)`,
      [SCOPE.chainId, hash(8), TOKEN, TREASURY, RECIPIENT, nonceOf(third), third.id],
    )
    expect(await journal().queueForgotten()).toBe(0)
    expect(await stateOf(third)).toBeUndefined()
  })

  test('is neither signed nor sent', async () => {
    const signature = { kind: 'transfer', validBefore: 4_000_000_000, signature: `0x${'1b'.repeat(65)}` } as const
    const { payouts } = await journal().readPayable({ limit: 10, after: null })
    expect(payouts.map(({ paymentId }) => paymentId)).toEqual([own.id])
    const signed = [own, other].map(({ id: paymentId }) => ({ paymentId, treasury: TREASURY, signature }))
    await journal().storeSignatures(signed, { maxMicroPerDay: 10n ** 12n })
    expect([await stateOf(own), await stateOf(other)]).toEqual(['authorized', 'queued'])
    const assignable = await journal().readAssignable(10)
    expect(assignable.map(({ paymentId }) => paymentId)).toEqual([own.id])

    await db.query("update payout set state = 'authorized' where payment_id = $1", [other.id])
    const lane = await journal().leaseLane(RECIPIENT, { owner: 'me', leaseMs: 60_000, firstNonce: 0 })
    const carried = assignable.flatMap((payout) => [payout, { ...payout, paymentId: other.id }])
    const encode = () => ({ target: TOKEN, calldata: '0x' as const, gasLimit: 1n })
    expect(await journal().reserve(lane!, { payouts: carried, encode })).toMatchObject({ items: 1 })
    expect([await stateOf(own), await stateOf(other)]).toEqual(['assigned', 'authorized'])
    await journal().requeue([other.id])
    expect(await stateOf(other)).toBe('authorized')
  })

  test('is not held, released or voided, by the engine or by an operator', async () => {
    await journal().hold({ paymentId: other.id, reason: 'policy', detail: '' })
    await untouched()
    const changes = [
      (id: string) => db.transaction((tx) => holdPayout(tx, id, 'why')),
      (id: string) => db.transaction((tx) => releasePayout(tx, id)),
      (id: string) => db.transaction((tx) => requestVoid(tx, id)),
    ]
    for (const change of changes) expect([await change(other.id), await change(own.id)]).toEqual([false, true])
    await db.query("update payout set state = 'held', hold_reason = 'operator' where payment_id = $1", [other.id])
    expect(await db.transaction((tx) => releasePayout(tx, other.id))).toBe(false)
    expect(await readPayout(db, other.id)).toBeNull()
    expect(heard).toEqual([])
  })

  test('does not end by what the chain shows', async () => {
    await db.query(
      `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
         block_number, block_hash, finalized_at)
       select 31337, $1, n.place, $2, $3, 'out', $4, 1000000, n.nonce, 1, $1, now()
       from unnest($5::text[]) with ordinality as n(nonce, place)`,
      [hash(1), TOKEN, TREASURY, RECIPIENT, [nonceOf(own), nonceOf(other)]],
    )
    expect(await journal().applyProven(10)).toEqual({ ended: 1, failed: [] })
    expect(heard).toEqual([own.id])
    await untouched()
  })

  test('does not become mined, and one that was does not go back', async () => {
    const lease = await journal().leaseObserver({ owner: 'me', leaseMs: 60_000, start })
    const unseen = { above: 0, upTo: 0, from: 99 }
    for (const [index, { id }] of [own, other].entries())
      await db.query(
        `insert into lane_tx_item (chain_id, wallet, nonce, idx, payment_id, kind) values ($1, $2, 0, $3, $4, 'transfer')`,
        [SCOPE.chainId, RECIPIENT, index, id],
      )
    const seen = [own, other].map((of) => ({ authNonce: nonceOf(of), blockNumber: 1, blockHash: hash(1) }))
    expect(await journal().markMined(lease!, { seen, chain: [hash(1)], unseen })).toEqual({ mined: 1, reverted: 0 })
    await untouched()
    await db.query("update payout set state = 'mined', mined_number = 1, mined_hash = $2 where payment_id = $1", [
      other.id,
      hash(1),
    ])
    expect(await journal().markMined(lease!, { seen: [], chain: [hash(2)], unseen })).toEqual({ mined: 0, reverted: 1 })
    expect(await stateOf(other)).toBe('mined')
  })

  test('makes a transfer out of our treasury unknown, which pauses the lanes, with a payout and without', async () => {
    const third = await plant(db, { merchantId: await merchant(), livemode: true })
    const mine = await plant(db, { merchantId: await merchant(), livemode: false })
    const place = { kind: 'out', treasury: TREASURY, txHash: hash(1), blockNumber: 1, blockHash: hash(1) } as const
    const sum = { counterparty: RECIPIENT, microUsdc: '1000000', gasShare: null }
    const logs = [own, other, third, mine].map((of, logIndex) => ({
      ...place,
      ...sum,
      logIndex,
      authNonce: nonceOf(of),
      ...(of === mine && { counterparty: DESTINATION }),
    }))
    const unknown = await journal().findUnknown({ logs, ownTransactions: [], treasuries: [TREASURY] })
    expect(unknown.map(({ authNonce }) => authNonce)).toEqual([nonceOf(other), nonceOf(third)])
  })

  test('is not counted, and its treasury is not ours, when settlements are rebuilt', async () => {
    await db.query('delete from payout where payment_id = $1', [other.id])
    await db.transaction((tx) => queuePayout({ ...tx, livemode: true }, payoutOf(other, true, FOREIGN_TREASURY)))
    const owing: string[] = []
    for await (const { paymentId } of listOwing(db, SCOPE)) owing.push(paymentId)
    expect(owing).toEqual([own.id])
    expect(await listTreasuries(db, SCOPE)).toEqual([TREASURY])
    expect(await readQueue(db, SCOPE)).toEqual([
      { state: 'queued', reason: null, count: 1, micro: '1000000', oldestSeconds: expect.any(Number) },
    ])
  })

  test('a deposit address of the other mode is neither watched nor swept', async () => {
    const [mine, theirs]: Hex[] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
    await db.query(
      `insert into deposit (payment_id, attempt_id, livemode, chain_id, token, address, asked_micro, rate, rate_source,
         rate_as_of, expires_at, watch_until, unswept_micro)
       select d.id, d.attempt, d.livemode, 31337, $1, d.address, 1, '1', 't', '', now(), now() + interval '1 day', 1000000
       from (values ($2, $3, false, $4), ($5, $6, true, $7)) as d(id, attempt, livemode, address)`,
      [TOKEN, own.id, own.attemptId, mine, other.id, other.attemptId, theirs],
    )
    const before = await storedOf(db, other)
    expect(await journal().readWatchedDeposits(null)).toEqual([mine])
    expect((await journal().readUnswept({ after: '', limit: 10 })).map(({ paymentId }) => paymentId)).toEqual([own.id])
    const movement = { chainId: 31337, direction: 'in', micro: '1000000', treasury: TREASURY } as const
    const from = (counterparty: Hex) => ({ ...movement, counterparty, txHash: hash(1), logIndex: 0, blockNumber: 1 })
    expect(await db.transaction((tx) => finishSweep(tx, from(theirs!)))).toBeNull()
    expect(await db.transaction((tx) => finishSweep(tx, from(mine!)))).toBe(own.id)
    expect(await storedOf(db, other)).toBe(before)

    for (const { id: paymentId } of [own, other]) {
      const sweep = { paymentId, index: 1, micro: '1', treasury: TREASURY, authNonce: hash(1), address: mine! }
      await journal().storeSweep({ ...sweep, validBefore: 4_000_000_000, signature: `0x${'1b'.repeat(65)}` })
    }
    const sendable = await journal().readSendableSweeps({ treasury: TREASURY, validAt: 1, limit: 10 })
    expect(sendable.map(({ paymentId }) => paymentId)).toEqual([own.id])
    const lane = await journal().leaseLane(RECIPIENT, { owner: 'me', leaseMs: 60_000, firstNonce: 0 })
    const encode = () => ({ target: TOKEN, calldata: '0x' as const, gasLimit: 1n })
    const reserved = await journal().reserveSweeps(lane!, { paymentIds: [own.id, other.id], encode })
    expect(reserved).toMatchObject({ items: 1 })
  })
})

async function merchant(): Promise<string> {
  const id = newId('merchant')
  await db.query("insert into merchant (id, name) values ($1, 'Shop')", [id])
  return id
}
