import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import { type Act, changePayout, type PayoutChange } from '../../../src/operator/payouts.ts'
import { takeLease } from '../../chain/lead.ts'
import { createMoneyFixture, type MoneyFixture } from './money-fixture.ts'

let fixture: MoneyFixture
beforeAll(async () => {
  fixture = await createMoneyFixture()
})
afterAll(() => fixture.close())
beforeEach(() => fixture.clearFaults())

const ADDRESS = `0x${'7'.repeat(40)}` as const
const PAYOUT = { token: ADDRESS, treasury: ADDRESS, recipient: ADDRESS, microUsdc: '1' } as const

/** The status of the payment and of its payout. */
const both = async (id: string) => [await fixture.standing(id), await fixture.payout(id)]

/** The operator's command about the payout. */
function run(name: PayoutChange, id: string): Promise<number> {
  const signed = { operator: 'anna', reason: 'a drill' }
  const settings = { PUBLIC_URL: 'http://127.0.0.1:9' }
  const act = { db: fixture.checkout.db, settings, hooks: fixture.hooks, dryRun: false, signed, say: () => undefined }
  return changePayout(act as unknown as Act, id, name)
}

describe('A hold by a decision', () => {
  test('a hold that is placed before the money arrives stops it', async () => {
    const made = await fixture.opened()
    await fixture.decide(made.id, 'hold')
    await fixture.act(made.attemptId, { action: 'pay', receivedMinor: '10000' })
    expect((await fixture.read(made)).payment.next).toBe('await_release')
    await fixture.convert(made.id)
    expect([await both(made.id), (await fixture.payment(made.id)).usdc]).toEqual([['under_review held', null], null])
    await fixture.decide(made.id, 'release')
    await fixture.handOver(made.id)
    expect(await both(made.id)).toEqual(['settling', 'queued'])
  })

  test('a hold stops a payout before it is signed, and a release hands it over again', async () => {
    const { id } = await fixture.settling()
    await fixture.decide(id, 'hold')
    expect(await both(id)).toEqual(['under_review held', 'stopped'])
    await fixture.trySettle(id)
    expect(await both(id)).toEqual(['under_review held', 'stopped'])
    await fixture.decide(id, 'release')
    await fixture.handOver(id)
    expect(await both(id)).toEqual(['settling', 'queued'])
  })

  test('a hold of a payout on its way is refused, and nothing is changed', async () => {
    const { id } = await fixture.settling()
    await fixture.checkout.db.query("update payout set state = 'mined' where payment_id = $1", [id])
    const before = await fixture.state(id)
    await expect(fixture.decide(id, 'hold')).rejects.toThrow('can no longer be held')
    expect(await fixture.state(id)).toEqual(before)
    await fixture.checkout.db.query("update payout set state = 'queued' where payment_id = $1", [id])
  })

  test('a hold stays when the rest of the price arrives', async () => {
    const made = await fixture.paid('6000')
    await fixture.decide(made.id, 'hold')
    await fixture.act(made.attemptId, { action: 'top_up', receivedMinor: '10000' })
    await fixture.read(made)
    expect(await fixture.standing(made.id)).toBe('under_review held')
  })
})

describe('a payout that the engine or a command has stopped', () => {
  test('the command resumes no payout while an operator holds the payment', async () => {
    const { id } = await fixture.settling()
    await fixture.decide(id, 'hold')
    await expect(run('resume', id)).rejects.toThrow('An operator holds the payment')
    expect(await both(id)).toEqual(['under_review held', 'stopped'])
  })

  test('a stopped payout that is also held needs the release and another try', async () => {
    const { id } = await fixture.settling()
    expect(await run('stop', id)).toBe(0)
    expect(await both(id)).toEqual(['under_review payout_stopped', 'stopped'])
    await fixture.decide(id, 'hold')
    await expect(run('resume', id)).rejects.toThrow('An operator holds the payment')
    await fixture.decide(id, 'release')
    expect(await both(id)).toEqual(['under_review payout_stopped', 'stopped'])
    await fixture.decide(id, 'settle')
    await fixture.handOver(id)
    expect(await both(id)).toEqual(['settling', 'queued'])
  })

  // It was paid out although the partner had taken the money back, if the callback about it was lost.
  test('the command resumes no stopped payout before the partner is asked for the money', async () => {
    const made = await fixture.settling()
    expect(await run('stop', made.id)).toBe(0)
    await fixture.act(made.attemptId, { action: 'reverse' })
    await expect(run('resume', made.id)).rejects.toThrow(`pinrail payments decide ${made.id} settle`)
    expect(await both(made.id)).toEqual(['under_review payout_stopped', 'stopped'])
    await fixture.read(made)
    expect(await both(made.id)).toEqual(['under_review voiding', 'voiding'])
  })

  /** The engine has proved that the payout, which was to be voided, can never be paid. */
  async function proveVoid(id: string): Promise<void> {
    await fixture.checkout.db.query(
      `insert into void_proof (owner_id, block_number, block_hash, block_time, valid_before)
       values ($1, 1, '0x' || repeat('2', 64), 2, 1)`,
      [id],
    )
    await fixture.checkout.db.query(`update payout set state = 'voided' where payment_id = $1`, [id])
    await fixture.voided(id)
  }

  test('a void payout is not tried again, and its money goes to the buyer', async () => {
    const made = await fixture.settling()
    expect([await run('stop', made.id), await run('void', made.id)]).toEqual([0, 0])
    await proveVoid(made.id)
    expect(await both(made.id)).toEqual(['under_review excess', 'voided'])
    await expect(fixture.decide(made.id, 'settle')).rejects.toThrow('settle changes nothing')
    await fixture.trySettle(made.id)
    expect((await fixture.giveBack(made)).payment.status).toBe('refunded')
    expect(await fixture.attention(made.id)).toEqual([])
  })

  /** The policy of the treasury refuses the payout; then its key is lost, and another treasury takes it over. */
  async function takenOver(id: string, meanwhile: () => Promise<unknown>): Promise<string> {
    const { rows } = await fixture.checkout.db.query('select * from payout where payment_id = $1', [id])
    const { chain_id: chainId, token, treasury, auth_nonce: authNonce } = rows[0]
    const context = { db: fixture.checkout.db, scope: { livemode: false, chainId, token }, hooks: fixture.hooks }
    const journal = createSettlementJournal(context)
    await journal.stop({ ownerId: id, reason: 'policy', detail: 'above the limit' })
    await meanwhile()
    const to = `0x${'9'.repeat(40)}` as const
    const block = { number: 1, hash: `0x${'8'.repeat(64)}` as const, timestamp: 2 }
    const lease = await takeLease(journal, { owner: id })
    const payout = { ownerId: id, treasury, authNonce, isVoid: false, isStolen: false, successor: to, validBefore: 1 }
    const moved = await journal.moveDead(lease, { block, dead: [{ ...payout, to, toNonce: authNonce }] })
    await journal.releaseLead(id)
    expect(moved).toBe(1)
    return to
  }

  test('a take-over releases no stopped payout before the partner is asked for the money', async () => {
    const made = await fixture.settling()
    await takenOver(made.id, () => fixture.act(made.attemptId, { action: 'reverse' }))
    expect(await both(made.id)).toEqual(['under_review payout_stopped', 'stopped'])
    await fixture.read(made)
    expect(await both(made.id)).toEqual(['under_review voiding', 'voiding'])
  })

  test('a payout that another treasury took over is paid by that treasury', async () => {
    const { id } = await fixture.settling()
    const to = await takenOver(id, async () => undefined)
    await fixture.decide(id, 'settle')
    await fixture.handOver(id)
    expect(await both(id)).toEqual(['settling', 'queued'])
    const { rows } = await fixture.checkout.db.query('select treasury from payout where payment_id = $1', [id])
    expect(rows).toEqual([{ treasury: to }])
  })
})

/**
 * The database's own guard behind the rules of the domain, which would not take the sale and would not hand over the
 * payout.
 */
describe('The guard of the database', () => {
  const HAND_OVER = "update payment set payout = 'handed' where id = $1"
  const TAKE = 'update payment set taken_sale = 1 where id = $1'
  const attempt = (fields: string) => `update attempt set ${fields} where payment_id = $1`
  const sale = (fields: string) => `update sale set ${fields} where payment_id = $1`
  const MISFIT = `{"why": "amount", "status": "paid", "amount": {"minor": "1", "currency": "EUR"}, "received": null}`

  let id = ''
  beforeAll(async () => {
    ;({ id } = await fixture.paid())
    await fixture.convert(id)
  })

  /** Returns the error of the statement after these facts were written, and rolls back. */
  const tries = (statement: string, facts: readonly string[]): Promise<string> =>
    fixture.checkout.db
      .transaction(async (tx) => {
        if (statement === TAKE) await tx.query('update payment set taken_sale = null where id = $1', [id])
        for (const fact of facts) await tx.query(fact, [id])
        await tx.query(statement, [id])
        throw new Error('it is free')
      })
      .catch((error: Error) => error.message)
  const refused = () => `the money of payment ${id} is not free`

  test.each<[string, string]>([
    ['is not all there', attempt('held = 9999')],
    ['was given back from elsewhere in part', attempt('outside = 1')],
    ['is withheld', attempt("status = 'on_hold'")],
    ['is being confirmed', attempt("status = 'confirming'")],
    ['is to be given back', attempt("back = 'wanted'")],
    ['is being given back', attempt("back = 'asked'")],
    ['was returned', attempt('returned = true')],
    ['is odd, and not accepted', attempt(`misfit = '${MISFIT}'`)],
    ['is being sold', sale("state = 'asked', fill_micro = null")],
    ['was not sold', sale("state = 'ended', fill_micro = null")],
    ['was sold for another number', sale('number = 2')],
  ])('the database takes no sale and hands nothing over if the money %s', async (_what, fact) => {
    expect([await tries(TAKE, [fact]), await tries(HAND_OVER, [fact])]).toEqual([refused(), refused()])
  })

  test('the database hands nothing over while an operator holds the payment, and takes its sale', async () => {
    const held = ['update payment set held = true where id = $1']
    expect([await tries(TAKE, held), await tries(HAND_OVER, held)]).toEqual(['it is free', refused()])
  })

  test('the database hands nothing over without a taken sale', async () => {
    expect(await tries(HAND_OVER, ['update payment set taken_sale = null where id = $1'])).toBe(refused())
  })

  test.each<[string, string[]]>([
    ['is free', []],
    ['is more than was sold', [attempt('held = 10001')]],
    ['is odd, and accepted', [attempt(`misfit = '${MISFIT}', misfit_answer = 'accepted'`)]],
    ['came with other tokens', [attempt(`misfit = '{"why": "token"}'`)]],
  ])('the database takes the sale and hands the payout over if the money %s', async (_what, facts) => {
    expect([await tries(TAKE, facts), await tries(HAND_OVER, facts)]).toEqual(['it is free', 'it is free'])
  })

  test('the database writes nothing of a change whose money is not free', async () => {
    await fixture.checkout.db.query('update payment set held = true where id = $1', [id])
    const before = await fixture.state(id)
    const handOver = fixture.checkout.change(id, (draft) => {
      draft.setPayment({ payout: 'handed' })
      draft.addStatement(fixture.payouts.queue({ ...before.payment, ...PAYOUT, paymentId: id }))
    })
    await expect(handOver).rejects.toThrow(refused())
    expect([await fixture.state(id), await fixture.payout(id)]).toEqual([before, null])
    await fixture.checkout.db.query('update payment set held = false where id = $1', [id])
  })

  test('the database changes and deletes no reading', async () => {
    await expect(fixture.checkout.db.query('update reading set held = 1')).rejects.toThrow('a reading is a fact')
    await expect(fixture.checkout.db.query('delete from reading')).rejects.toThrow('a reading is a fact')
  })
})
