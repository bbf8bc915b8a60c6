import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Queryable } from '../../../src/db/db.ts'
import { dropBytes, ENVELOPES_AT_ONCE } from '../../../src/db/settlement/observer/retention.ts'
import { verifyReceipt } from '../../../src/verifier/verifier.js'
import { createRetention } from '../../../src/worker/retention.ts'
import { createFixture, type Fixture, type Queued, TOKEN } from '../../chain/fixture.ts'
import { createIssuer, readKeys, readPaymentReceipt } from '../../chain/receipts/receipted.ts'

/** Sent bytes are kept as long as they may have to be sent again; logs and proofs stay for good. */

const scope = { chainId: TOKEN.chainId, token: TOKEN.address }
const DAY_MS = 86_400_000

let fixture: Fixture
let settled: Queued[]
beforeAll(async () => {
  fixture = await createFixture()
  settled = await fixture.queue([{}, {}])
  await fixture.finalize(fixture.runner(), 3)
  await createIssuer(fixture)()
})
afterAll(() => fixture.stop())

const rows = async <T>(text: string): Promise<T[]> => (await fixture.db.query(text)).rows as T[]
const kept = async () =>
  (
    await rows<object>(`select (select count(*)::int from lane_tx where calldata <> '') as calldata,
      (select count(*)::int from lane_tx_attempt where raw <> '') as raw, (select count(*)::int from lane_tx_item) as items,
      (select count(*)::int from payout_signature) as signatures`)
  )[0]
const everything = { calldata: 1, raw: 1, items: 2, signatures: 2 }
const drop = (daysLater: number, days = 7) =>
  dropBytes(fixture.db, scope, { now: new Date(Date.now() + daysLater * DAY_MS).toISOString(), days })

/** The chain has this number of further blocks, and they are read. */
const readOn = (blocks: number) =>
  fixture.db.query('update chain_cursor set scanned_number = scanned_number + $1', [blocks])

test('bytes are not dropped before their time, nor while a repair of finality could revert them', async () => {
  expect(await kept()).toEqual(everything)
  // Many days pass, and the chain stalls.
  expect(await drop(300)).toBe(0)
  await readOn(17_000)
  expect(await drop(300)).toBe(0)
  await readOn(3000)
  expect(await drop(6.9)).toBe(0)
  expect(await drop(0.9, 1)).toBe(0)
  expect(await kept()).toEqual(everything)
})

test('bytes of a payout on its way are never dropped, however old they are', async () => {
  await readOn(-20_000)
  const [waiting] = await fixture.queue([{}])
  await fixture.runner().tick()
  await readOn(20_000)
  await fixture.db.query(`update lane_tx set created_at = now() - interval '1 year' where ended_at is null`)
  expect(await drop(300)).toBe(1)
  expect(await kept()).toEqual({ calldata: 1, raw: 1, items: 1, signatures: 1 })
  expect((await fixture.payout(waiting!.paymentId)).state).toBe('broadcast')
  await readOn(-20_000)
  await fixture.finalize(fixture.runner(), 3)
  expect((await fixture.payout(waiting!.paymentId)).state).toBe('settled')
})

test('hash, price, log and proof of a settled payout stay when its bytes are dropped', async () => {
  for (const { paymentId } of settled) {
    const payout = await fixture.payout(paymentId)
    expect(payout).toMatchObject({ state: 'settled', proof: { blockHash: expect.stringMatching(/^0x/) } })
    const [won] = await rows<object>(
      `select a.tx_hash, t.gas_used::text as gas, t.dropped_at is not null as dropped from lane_tx t
       join lane_tx_attempt a using (chain_id, wallet, nonce) where a.tx_hash = '${payout.proof!.txHash}'`,
    )
    expect(won).toEqual({ tx_hash: payout.proof!.txHash, gas: expect.stringMatching(/^[1-9]/), dropped: true })
  }
})

test('a receipt that was issued before the bytes were dropped verifies, and so does one that is issued after', async () => {
  const [before, after] = settled
  await fixture.db.query('delete from payment_receipt where payment_id = $1', [after!.paymentId])
  await fixture.db.query('update treasury_log set receipt_due_at = now() where owner_id = $1', [after!.paymentId])
  await createIssuer(fixture)()
  for (const { paymentId } of [before!, after!]) {
    const receipt = await readPaymentReceipt(fixture, paymentId)
    const trusted = { keys: await readKeys(fixture), blockHash: receipt!.claims.block_hash }
    const { checks } = await verifyReceipt(JSON.stringify(receipt), trusted)
    // Everything except the network: this is not Polygon.
    expect(checks.filter(({ result }) => result !== 'holds').map(({ check }) => check)).toEqual(['network'])
  }
})

test('dropping continues in batches until nothing is left', async () => {
  const wallet = `0x${'5'.repeat(40)}`
  const envelopes = 2 * ENVELOPES_AT_ONCE + 7
  await fixture.db.query(`insert into lane (chain_id, wallet, next_nonce) values (31337, '${wallet}', ${envelopes})`)
  await fixture.db.query(
    `insert into lane_tx (chain_id, wallet, nonce, kind, target, calldata, gas_limit, state, block_number, ended_at)
     select 31337, '${wallet}', n, 'batch', '${wallet}', '\\x01', 1, 'finalized', 1, now() from generate_series(0, ${envelopes - 1}) n`,
  )
  await fixture.db.query('update chain_cursor set scanned_number = scanned_number + 20000')
  const batches: number[] = []
  const counted: Queryable = {
    ...fixture.db,
    async query(text: string, values?: unknown[]) {
      const answer = await fixture.db.query(text, values)
      const [first] = answer.rows as { count?: string }[]
      if (text.includes('dropped as (')) batches.push(Number(first?.count))
      return answer
    },
  }
  const now = (): number => Date.now() + 30 * DAY_MS
  const prune = createRetention({ db: counted, now, scope, bytesDays: 7 })
  let rounds = 1
  while ((await prune()) > 0) rounds += 1
  expect(rounds).toBe(3)
  expect(Math.max(...batches)).toBe(ENVELOPES_AT_ONCE)
  expect(await rows(`select 1 from lane_tx where ended_at is not null and dropped_at is null`)).toHaveLength(0)
})

test('a part that cannot be pruned is reported, and the others are still pruned', async () => {
  await fixture.db.query(`update lane_tx set dropped_at = null, calldata = '\\x01' where nonce = 0`)
  const failing: Queryable = {
    ...fixture.db,
    query: (text: string, values?: unknown[]) =>
      text.includes('delivery_attempt') ? Promise.reject(new Error('locked')) : fixture.db.query(text, values),
  }
  const prune = createRetention({ db: failing, now: () => Date.now() + 30 * DAY_MS, scope, bytesDays: 7 })
  await expect(prune()).rejects.toThrow('locked')
  expect(await rows(`select 1 from lane_tx where ended_at is not null and dropped_at is null`)).toHaveLength(0)
})
