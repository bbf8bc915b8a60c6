import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import { type Act, changePayout, type PayoutChange } from '../../../src/operator/payouts.ts'
import { takeLease } from '../../chain/lead.ts'
import { createMoneyWorld, type MoneyWorld } from './money-world.ts'

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())
beforeEach(() => world.clearFaults())

const ADDRESS = `0x${'7'.repeat(40)}` as const
const PAYOUT = { token: ADDRESS, treasury: ADDRESS, recipient: ADDRESS, microUsdc: '1' } as const

/** The status of the payment and of its payout. */
const both = async (id: string) => [await world.standing(id), await world.payout(id)]

/** The operator's command about the payout. */
function run(name: PayoutChange, id: string): Promise<number> {
  const signed = { operator: 'anna', reason: 'a drill' }
  const settings = { PUBLIC_URL: 'http://127.0.0.1:9' }
  const act = { db: world.checkout.db, settings, hooks: world.hooks, dryRun: false, signed, say: () => undefined }
  return changePayout(act as unknown as Act, id, name)
}

describe('A hold by a decision', () => {
  test('a hold that is placed before the money arrives stops it', async () => {
    const made = await world.opened()
    await world.decide(made.id, 'hold')
    await world.act(made.attemptId, { action: 'pay', receivedMinor: '10000' })
    expect((await world.read(made)).payment.next).toBe('await_release')
    await world.convert(made.id)
    expect([await both(made.id), (await world.payment(made.id)).usdc]).toEqual([['under_review held', null], null])
    await world.decide(made.id, 'release')
    await world.handOver(made.id)
    expect(await both(made.id)).toEqual(['settling', 'queued'])
  })

  test('a hold stops a payout before it is signed, and a release hands it over again', async () => {
    const { id } = await world.settling()
    await world.decide(id, 'hold')
    expect(await both(id)).toEqual(['under_review held', 'held'])
    await world.trySettle(id)
    expect(await both(id)).toEqual(['under_review held', 'held'])
    await world.decide(id, 'release')
    await world.handOver(id)
    expect(await both(id)).toEqual(['settling', 'queued'])
  })

  test('a hold of a payout on its way is refused, and nothing is changed', async () => {
    const { id } = await world.settling()
    await world.checkout.db.query("update payout set state = 'mined' where payment_id = $1", [id])
    const before = await world.state(id)
    await expect(world.decide(id, 'hold')).rejects.toThrow('can no longer be held')
    expect(await world.state(id)).toEqual(before)
    await world.checkout.db.query("update payout set state = 'queued' where payment_id = $1", [id])
  })

  test('a hold stays when the rest of the price arrives', async () => {
    const made = await world.paid('6000')
    await world.decide(made.id, 'hold')
    await world.act(made.attemptId, { action: 'top_up', receivedMinor: '10000' })
    await world.read(made)
    expect(await world.standing(made.id)).toBe('under_review held')
  })
})

describe('a payout that the engine or a command has stopped', () => {
  test('the command releases no payout while an operator holds the payment', async () => {
    const { id } = await world.settling()
    await world.decide(id, 'hold')
    await expect(run('release', id)).rejects.toThrow('An operator holds the payment')
    expect(await both(id)).toEqual(['under_review held', 'held'])
  })

  test('a stopped payout that is also held needs the release and another try', async () => {
    const { id } = await world.settling()
    expect(await run('hold', id)).toBe(0)
    expect(await both(id)).toEqual(['under_review payout_stopped', 'held'])
    await world.decide(id, 'hold')
    await expect(run('release', id)).rejects.toThrow('An operator holds the payment')
    await world.decide(id, 'release')
    expect(await both(id)).toEqual(['under_review payout_stopped', 'held'])
    await world.decide(id, 'settle')
    await world.handOver(id)
    expect(await both(id)).toEqual(['settling', 'queued'])
  })

  // It was paid out although the partner had taken the money back, if the callback about it was lost.
  test('the command releases no stopped payout before the partner is asked for the money', async () => {
    const made = await world.settling()
    expect(await run('hold', made.id)).toBe(0)
    await world.act(made.attemptId, { action: 'reverse' })
    await expect(run('release', made.id)).rejects.toThrow(`pinrail payments decide ${made.id} settle`)
    expect(await both(made.id)).toEqual(['under_review payout_stopped', 'held'])
    await world.read(made)
    expect(await both(made.id)).toEqual(['under_review voiding', 'voiding'])
  })

  /** The engine has proved that the payout, which was to be voided, can never be paid. */
  async function proveVoid(id: string): Promise<void> {
    await world.checkout.db.query(
      `insert into void_proof (payment_id, block_number, block_hash, block_time, valid_before)
       values ($1, 1, '0x' || repeat('2', 64), 2, 1)`,
      [id],
    )
    await world.checkout.db.query(`update payout set state = 'voided' where payment_id = $1`, [id])
    await world.voided(id)
  }

  test('a void payout is not tried again, and its money goes to the buyer', async () => {
    const made = await world.settling()
    expect([await run('hold', made.id), await run('void', made.id)]).toEqual([0, 0])
    await proveVoid(made.id)
    expect(await both(made.id)).toEqual(['under_review excess', 'voided'])
    await expect(world.decide(made.id, 'settle')).rejects.toThrow('settle changes nothing')
    await world.trySettle(made.id)
    expect((await world.giveBack(made)).payment.status).toBe('refunded')
    expect(await world.attention(made.id)).toEqual([])
  })

  /** The policy of the treasury refuses the payout; then its key is lost, and another treasury takes it over. */
  async function takenOver(id: string, meanwhile: () => Promise<unknown>): Promise<string> {
    const { rows } = await world.checkout.db.query('select * from payout where payment_id = $1', [id])
    const { chain_id: chainId, token, treasury, auth_nonce: authNonce } = rows[0]
    const context = { db: world.checkout.db, scope: { livemode: false, chainId, token }, hooks: world.hooks }
    const journal = createSettlementJournal(context)
    await journal.hold({ paymentId: id, reason: 'policy', detail: 'above the limit' })
    await meanwhile()
    const to = `0x${'9'.repeat(40)}` as const
    const block = { number: 1, hash: `0x${'8'.repeat(64)}` as const, timestamp: 2 }
    const lease = await takeLease(journal, { owner: id })
    const payout = { paymentId: id, treasury, authNonce, isVoid: false, isStolen: false, successor: to, validBefore: 1 }
    const moved = await journal.moveDead(lease, { block, dead: [{ ...payout, to, toNonce: authNonce }] })
    await journal.releaseLead(id)
    expect(moved).toBe(1)
    return to
  }

  test('a take-over releases no stopped payout before the partner is asked for the money', async () => {
    const made = await world.settling()
    await takenOver(made.id, () => world.act(made.attemptId, { action: 'reverse' }))
    expect(await both(made.id)).toEqual(['under_review payout_stopped', 'held'])
    await world.read(made)
    expect(await both(made.id)).toEqual(['under_review voiding', 'voiding'])
  })

  test('a payout that another treasury took over is paid by that treasury', async () => {
    const { id } = await world.settling()
    const to = await takenOver(id, async () => undefined)
    await world.decide(id, 'settle')
    await world.handOver(id)
    expect(await both(id)).toEqual(['settling', 'queued'])
    const { rows } = await world.checkout.db.query('select treasury from payout where payment_id = $1', [id])
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
    ;({ id } = await world.paid())
    await world.convert(id)
  })

  /** Returns the error of the statement after these facts were written, and rolls back. */
  const tries = (statement: string, facts: readonly string[]): Promise<string> =>
    world.checkout.db
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
    await world.checkout.db.query('update payment set held = true where id = $1', [id])
    const before = await world.state(id)
    const handOver = world.checkout.change(id, (work) => {
      work.set({ payout: 'handed' })
      work.also(world.payouts.queue({ ...before.payment, ...PAYOUT, paymentId: id }))
    })
    await expect(handOver).rejects.toThrow(refused())
    expect([await world.state(id), await world.payout(id)]).toEqual([before, null])
    await world.checkout.db.query('update payment set held = false where id = $1', [id])
  })

  test('the database changes and deletes no reading', async () => {
    await expect(world.checkout.db.query('update reading set held = 1')).rejects.toThrow('a reading is a fact')
    await expect(world.checkout.db.query('delete from reading')).rejects.toThrow('a reading is a fact')
  })
})
