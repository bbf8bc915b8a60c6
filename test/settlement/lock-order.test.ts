import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { until } from '../../scripts/test/until.ts'
import { lockPayment } from '../../src/db/payments/payments.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import { readPayout, requestVoid } from '../../src/db/settlement/payouts.ts'
import { takeOver } from '../../src/db/settlement/signing/takeover.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { changeOf, changePayout } from '../../src/operator/payouts.ts'
import { createMoneyWorld, type MoneyWorld } from '../activities/payment/money-world.ts'

/** A decision locks the payment and then its payout. Who begins with the payout would wait for one that waits for it. */

let world: MoneyWorld
let db: MoneyWorld['checkout']['db']
beforeAll(async () => {
  world = await createMoneyWorld()
  db = world.checkout.db
})
afterAll(() => world.close())

const HASH: Hex = `0x${'2'.repeat(64)}`
const TREASURY: Hex = `0x${'7'.repeat(40)}`
const NEW_TREASURY: Hex = `0x${'6'.repeat(40)}`

async function journalOf(id: string) {
  const { rows } = await db.query('select chain_id, token from payout where payment_id = $1', [id])
  const scope = { livemode: false, chainId: rows[0].chain_id as number, token: rows[0].token as Hex }
  const context = { db, scope, hooks: world.hooks }
  return { ...createSettlementJournal(context), takeOver: bound(context) }
}
type Journal = Awaited<ReturnType<typeof journalOf>>
const bound = (context: Parameters<typeof takeOver>[0]) => (moving: Parameters<typeof takeOver>[1]) =>
  takeOver(context, moving)

const set = (id: string, state: string, reason: string | null = null) =>
  db.query('update payout set state = $2, hold_reason = $3 where payment_id = $1', [id, state, reason])

/** How many connections wait for a lock. */
const waiting = async (): Promise<number> => {
  const { rows } = await db.query(
    `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows.length
}

/** What the engine or an operator at the command line does to a payout and tells its payment. */
const TOLD: Readonly<Record<string, (id: string, journal: Journal) => Promise<unknown>>> = {
  'a signature after a hold': async (id, journal) => {
    const signature = {
      kind: 'transfer' as const,
      validBefore: 4_000_000_000,
      signature: `0x${'1'.repeat(130)}` as Hex,
    }
    const failed = await journal.storeSignatures([{ paymentId: id, treasury: TREASURY, signature }], {
      maxMicroPerDay: 10n ** 18n,
    })
    expect(failed).toEqual([])
  },
  'a void that is proved by its time': async (id, journal) => {
    const lease = await journal.leaseObserver({ owner: id, leaseMs: 60_000, start: { number: 1, hash: HASH } })
    const block = { number: 9, hash: HASH, timestamp: 2, at: new Date() }
    const unused = [{ paymentId: id, treasury: TREASURY, authNonce: HASH, validBefore: 1 }]
    const failed = await journal.voidExpired(lease!, { block, unused })
    await journal.releaseLeases(id)
    expect(failed).toEqual([])
  },
  'another treasury': async (id, journal) => {
    const authNonce = (await readPayout(db, id))!.authNonce
    const proof = { number: 9, hash: HASH, time: 9, dead: 1 }
    const payouts = [{ paymentId: id, treasury: TREASURY, authNonce }]
    expect(await journal.takeOver({ payouts, to: NEW_TREASURY, proof })).toMatchObject({ failed: [] })
  },
  'a hold at the command line': (id) => {
    const operation = { db, hooks: world.hooks, dryRun: false, say: () => undefined } as never
    return changePayout(operation, id, changeOf('hold', operation))
  },
}

describe('while the money of a payment is taken back, which voids its payout,', () => {
  test.each([
    ['a signature after a hold', 'held', 'funds'],
    ['a void that is proved by its time', 'voiding', null],
    ['another treasury', 'held', 'policy'],
    ['a hold at the command line', 'queued', null],
  ])('%s waits for its turn, and neither is cut off as a deadlock', async (what, state, reason) => {
    const { id } = await world.settling()
    const journal = await journalOf(id)
    await set(id, state, reason)
    let told: Promise<unknown> = Promise.resolve()
    await db.transaction(async (tx) => {
      await lockPayment(tx, id)
      told = TOLD[what]!(id, journal)
      told.catch(() => undefined)
      await until(waiting, (count) => count === 1)
      await requestVoid(tx, id)
    })
    await told
    // What was held or queued is to be voided, and stays so; the proof has ended its own void.
    expect((await readPayout(db, id))?.state).toBe(state === 'voiding' ? 'voided' : 'voiding')
  })
})

test('two deposits that are recorded at the same moment wait for each other in one order', async () => {
  const { id, attemptId } = await world.opened()
  const deposit = (place: number) => ({
    paymentId: id,
    attemptId,
    address: TREASURY,
    token: NEW_TREASURY,
    sender: TREASURY,
    units: '5',
    expected: true,
    txHash: `0x${String(place).repeat(64)}` as Hex,
    logIndex: place,
    blockNumber: 1,
    blockHash: HASH,
  })
  let both: Promise<unknown> = Promise.resolve()
  await db.transaction(async (tx) => {
    await lockPayment(tx, id)
    both = Promise.all([3, 4].map((place) => db.transaction((other) => world.hooks.onDeposit(other, deposit(place)))))
    both.catch(() => undefined)
    await until(waiting, (count) => count === 2)
  })
  await both
  expect((await world.books(id)).join()).toContain('USDC 10')
})
