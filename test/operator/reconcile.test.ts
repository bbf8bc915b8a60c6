import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { INVARIANTS } from '../../src/db/invariants/invariants.ts'
import { runPinrail } from '../../src/operator/command.ts'
import { type BooksFixture, createBooksFixture } from '../db/invariants/books-fixture.ts'

let fixture: BooksFixture
beforeAll(async () => {
  fixture = await createBooksFixture()
})
afterAll(() => fixture.close())

async function run(...args: string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let [out, err] = ['', '']
  const streams = { out: (text: string) => void (out += text), err: (text: string) => void (err += text) }
  const code = await runPinrail({ args, env: { ...TEST_ENVIRONMENT, DATABASE_URL: fixture.url } }, streams)
  return { code, out, err }
}

describe('pinrail reconcile', () => {
  test('pinrail reconcile exits with 0 if everything agrees, and prints how much was compared', async () => {
    await fixture.succeeded()
    await fixture.expired()
    const { code, out } = await run('reconcile')
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('everything agrees') })
    expect(out).toContain(`compared 2 payments by ${INVARIANTS.length} invariants, changed since `)
  })

  test('pinrail reconcile exits with 1 and names invariant, payment and difference; --json has them as fields', async () => {
    const { id } = await fixture.settling()
    await fixture.plant('update payment set fee_micro = fee_micro + 1, net_micro = net_micro - 1 where id = $1', [id])
    const difference = 'gross 108000000, fee 4860001 (4.5 %), net 103139999 of a sale of 108000000'
    const { code, out } = await run('reconcile', id)
    expect(code).toBe(1)
    expect(out).toContain(`fee_is_of_the_gross       ${id}  ${difference}`)
    expect(out).toContain('When the books do not agree')
    const json = JSON.parse((await run('reconcile', '--json')).out)
    expect(json).toMatchObject({ exit_code: 1, unread: [], invariants: INVARIANTS.length })
    expect(json.differences).toContainEqual({ invariant: 'fee_is_of_the_gross', subject: id, difference })
    await fixture.plant('update payment set fee_micro = fee_micro - 1, net_micro = net_micro + 1 where id = $1', [id])
    expect(await run('reconcile', id)).toMatchObject({ code: 0 })
  })

  test('pinrail reconcile skips payments that have not changed since the given time', async () => {
    const { code, out } = await run('reconcile', '--since', '2100-01-01T00:00:00Z')
    expect(code).toBe(0)
    // The payment whose payout is on its way is open.
    expect(out).toContain('compared 1 payment by ')
    expect(await run('reconcile', '--since', 'yesterday')).toMatchObject({ code: 2 })
    expect(await run('reconcile', 'pay_nobody')).toMatchObject({ code: 1, err: 'there is no payment pay_nobody\n' })
  })

  test('pinrail reconcile exits with 3 if an invariant cannot be checked: the result is then unknown', async () => {
    await fixture.db.query('alter table decision rename column proof to proof_away')
    const { code, err } = await run('reconcile')
    await fixture.db.query('alter table decision rename column proof_away to proof')
    expect(code).toBe(3)
    expect(err).toMatch(/^not compared: proof_is_of_one_give_back \(.+\)\n$/)
  })
})

describe('pinrail backup check', () => {
  test('pinrail backup check passes a complete database, and prints up to when it has data', async () => {
    const { code, out } = await run('backup', 'check', '--json')
    expect(code).toBe(0)
    expect(Date.now() - Date.parse(JSON.parse(out).content.newest)).toBeLessThan(60_000)
  })

  test('pinrail backup check refuses a database that lacks an event, although its payment has long ended', async () => {
    const { id } = await fixture.expired()
    const { rows } = await fixture.db.query(
      `delete from event where payment_id = $1 and type = 'payment.expired' returning *`,
      [id],
    )
    const { code, out } = await run('backup', 'check')
    expect(code).toBe(1)
    expect(out).toContain('no event payment.expired')
    expect(out).toContain(`the counter is at ${rows[0].sequence}, and number ${rows[0].sequence} is missing`)
    expect(out).toContain('it is inconsistent: restore another backup')
  })
})

test('pinrail doctor names the invariants that were violated in the last comparison', async () => {
  await fixture.db.query(
    `insert into violation (invariant, subject, difference) values ('one_sale_is_open', 'pay_1', 'sales 1, 2')`,
  )
  const { out } = await run('doctor')
  expect(out).toContain('FAIL  books: they do not agree: 1 one_sale_is_open. See `pinrail reconcile`')
}, 60_000)
