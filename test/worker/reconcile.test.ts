import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { INVARIANTS } from '../../src/db/invariants/invariants.ts'
import { countViolations, readAge } from '../../src/db/invariants/violations.ts'
import { createReconciliation } from '../../src/worker/reconcile.ts'
import { type BooksFixture, createBooksFixture } from '../db/invariants/books-fixture.ts'

let fixture: BooksFixture
beforeAll(async () => {
  fixture = await createBooksFixture()
})
afterAll(() => fixture.close())

const log = pino({ level: 'silent' })
const run = (): Promise<number | null> => createReconciliation({ db: fixture.db, log, now: Date.now })()
const anHourLater = () => fixture.db.query('update reconciliation set due_at = now()')
const broken = async () => (await countViolations(fixture.db)).filter(({ count }) => count > 0)

describe('The hourly comparison', () => {
  test('the hourly comparison is made by one of the workers that start at the same moment', async () => {
    await fixture.succeeded()
    const runs = await Promise.all([run(), run(), run()])
    expect(runs.toSorted()).toEqual([0, null, null])
    expect(await run()).toBeNull()
    await anHourLater()
    expect(await run()).toBe(0)
  })

  test('the hourly comparison keeps a violation until it is gone, however long the payment has not changed', async () => {
    const { id } = await fixture.succeeded()
    await fixture.plant('delete from treasury_log where owner_id = $1', [id])
    await anHourLater()
    expect(await run()).toBe(2)
    // The payment is old now, and closed: only its stored violation brings it up again.
    await fixture.plant(`update timeline_entry set at = at - interval '9 days' where payment_id = $1`, [id])
    await fixture.plant(
      `update ledger_transaction set booked_at = booked_at - interval '9 days' where payment_id = $1`,
      [id],
    )
    await anHourLater()
    expect(await run()).toBe(2)
    expect(await broken()).toEqual([
      { invariant: 'settled_payout_has_its_log', count: 1 },
      { invariant: 'succeeded_has_its_transfer', count: 1 },
    ])
    expect(await countViolations(fixture.db)).toHaveLength(INVARIANTS.length)
    await fixture.plant(`update payment set status = 'failed', payout = 'none', tx_hash = null where id = $1`, [id])
    await fixture.plant('delete from payout where payment_id = $1', [id])
    await anHourLater()
    await run()
    expect((await broken()).map(({ invariant }) => invariant)).not.toContain('succeeded_has_its_transfer')
  })

  test('the hourly comparison does not count if an invariant could not be checked, and keeps its earlier violations', async () => {
    await fixture.db.query('delete from violation')
    await fixture.db.query(
      `insert into violation (invariant, subject, difference) values ('proof_is_of_one_give_back', 'pay_1', 'twice'),
         ('one_sale_is_open', 'pay_1', 'sales 1, 2 are open')`,
    )
    await fixture.db.query(`update reconciliation set due_at = now(), done_at = now() - interval '2 hours'`)
    await fixture.db.query('alter table decision rename column proof to proof_away')
    await run()
    await fixture.db.query('alter table decision rename column proof_away to proof')
    expect((await readAge(fixture.db)).age_seconds).toBeGreaterThan(7000)
    const names = (await broken()).map(({ invariant }) => invariant)
    expect(names).toContain('proof_is_of_one_give_back')
    expect(names).not.toContain('one_sale_is_open')
  })

  test('the hourly comparison changes no payment and writes only its violations', async () => {
    const { id } = await fixture.succeeded()
    const before = await fixture.state(id)
    await anHourLater()
    await run()
    expect(await fixture.state(id)).toEqual(before)
  })
})
