import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { INVARIANTS } from '../../src/db/invariants/invariants.ts'
import { countViolations, readAge } from '../../src/db/invariants/violations.ts'
import { createReconciliation } from '../../src/worker/reconcile.ts'
import { type BooksWorld, createBooksWorld } from '../db/invariants/books-world.ts'

let world: BooksWorld
beforeAll(async () => {
  world = await createBooksWorld()
})
afterAll(() => world.close())

const log = pino({ level: 'silent' })
const run = (): Promise<number | null> => createReconciliation({ db: world.db, log, now: Date.now })()
const anHourLater = () => world.db.query('update reconciliation set due_at = now()')
const broken = async () => (await countViolations(world.db)).filter(({ count }) => count > 0)

describe('The hourly comparison', () => {
  test('the hourly comparison is made by one of the workers that start at the same moment', async () => {
    await world.succeeded()
    const runs = await Promise.all([run(), run(), run()])
    expect(runs.toSorted()).toEqual([0, null, null])
    expect(await run()).toBeNull()
    await anHourLater()
    expect(await run()).toBe(0)
  })

  test('the hourly comparison keeps a violation until it is gone, however long the payment has not changed', async () => {
    const { id } = await world.succeeded()
    await world.plant('delete from treasury_log where payment_id = $1', [id])
    await anHourLater()
    expect(await run()).toBe(2)
    // The payment is old now, and closed: only its stored violation brings it up again.
    await world.plant(`update timeline_entry set at = at - interval '9 days' where payment_id = $1`, [id])
    await world.plant(`update ledger_transaction set booked_at = booked_at - interval '9 days' where payment_id = $1`, [
      id,
    ])
    await anHourLater()
    expect(await run()).toBe(2)
    expect(await broken()).toEqual([
      { invariant: 'settled_payout_has_its_log', count: 1 },
      { invariant: 'succeeded_has_its_transfer', count: 1 },
    ])
    expect(await countViolations(world.db)).toHaveLength(INVARIANTS.length)
    await world.plant(`update payment set status = 'failed', payout = 'none', tx_hash = null where id = $1`, [id])
    await world.plant('delete from payout where payment_id = $1', [id])
    await anHourLater()
    await run()
    expect((await broken()).map(({ invariant }) => invariant)).not.toContain('succeeded_has_its_transfer')
  })

  test('the hourly comparison does not count if an invariant could not be checked, and keeps its earlier violations', async () => {
    await world.db.query('delete from violation')
    await world.db.query(
      `insert into violation (invariant, subject, difference) values ('proof_is_of_one_give_back', 'pay_1', 'twice'),
         ('one_sale_is_open', 'pay_1', 'sales 1, 2 are open')`,
    )
    await world.db.query(`update reconciliation set due_at = now(), done_at = now() - interval '2 hours'`)
    await world.db.query('alter table decision rename column proof to proof_away')
    await run()
    await world.db.query('alter table decision rename column proof_away to proof')
    expect((await readAge(world.db)).age_seconds).toBeGreaterThan(7000)
    const names = (await broken()).map(({ invariant }) => invariant)
    expect(names).toContain('proof_is_of_one_give_back')
    expect(names).not.toContain('one_sale_is_open')
  })

  test('the hourly comparison changes no payment and writes only its violations', async () => {
    const { id } = await world.succeeded()
    const before = await world.state(id)
    await anHourLater()
    await run()
    expect(await world.state(id)).toEqual(before)
  })
})
