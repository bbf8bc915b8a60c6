import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import { closeMisfit, type PaymentWork } from '../../../src/db/payments/payment-changes.ts'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import type { OperatorDecision } from '../../../src/domain/payment/requests.ts'
import { type Act, changePayout } from '../../../src/operator/payouts.ts'
import { takeLease } from '../../chain/lead.ts'
import { createMoneyWorld, eur, type Made, type MoneyWorld, NOTE } from './money-world.ts'
import { perform } from './world.ts'

/** 100.00 EUR were sold, and nothing of it is paid out. */
const SOLD_FOR_US = [
  'conversion EUR -10000',
  'conversion USDC 108000000',
  'exchange EUR 10000',
  'exchange USDC -108000000',
]

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())
beforeEach(() => world.clearFaults())

/** Short stories that lost, doubled or stranded money before it came in parts, with an owner each. */
describe('stories about money', () => {
  const refused = (message: string) => ({ type: 'DecisionRefused', message: expect.stringContaining(message) })

  describe('a refund is an intent until the partner has carried it out', () => {
    test('answered pending: nothing else is done with the money, and a later reading ends it', async () => {
      const { id, attemptId } = await world.paid('6000')
      await world.fault({ fault: 'refund_pending', seconds: 600, attemptId })
      expect(await world.refund(id)).toMatchObject({ refunded: false, message: 'the partner is working on the refund' })
      expect(await world.parts(id)).toEqual(['6000 returning'])
      for (const decision of ['approve', 'retry', 'recordExternalRefund'] as const)
        await expect(world.decide(id, decision)).rejects.toMatchObject(refused('in progress'))
      await expect(world.refund(id, { attempt: attemptId })).resolves.toMatchObject({ refunded: false })
      world.sandbox.advance(601)
      expect((await world.read({ id, attemptId })).payment).toMatchObject({ status: 'refunded' })
      expect(await world.parts(id)).toEqual(['6000 returned', '-6000 returned'])
      expect(await world.books(id)).toEqual([])
    })

    test('cut off after the partner had done it: the same refund goes on, once', async () => {
      const { id, attemptId } = await world.paid('6000')
      const real = world.deps.partners.wallet_app
      const lost = {
        ...real,
        refundOrder: async (...call: Parameters<NonNullable<typeof real.refundOrder>>) => {
          await real.refundOrder?.(...call)
          throw new Error('the process was killed here')
        },
      }
      const partners = { ...world.deps.partners, wallet_app: lost }
      await expect(world.refund(id, {}, { partners })).rejects.toThrow('killed here')
      await expect(world.decide(id, 'approve')).rejects.toMatchObject(refused('A refund or a void'))
      expect((await world.state(id)).intents).toMatchObject([
        { kind: 'refund', state: 'asked', operator: NOTE.operator },
      ])
      expect(await world.refund(id)).toMatchObject({ refunded: true })
      expect(await world.refund(id)).toMatchObject({ refunded: true })
      expect((await world.read({ id, attemptId })).payment).toMatchObject({ status: 'refunded' })
      expect(await world.parts(id)).toEqual(['6000 returned', '-6000 returned'])
      expect(await world.books(id)).toEqual([])
    })

    test('refused by the partner: the money is where it was, and may be settled', async () => {
      const { id, attemptId } = await world.paid('6000')
      await world.fault({ fault: 'refund_refused', attemptId })
      await expect(world.refund(id)).rejects.toMatchObject(refused('the balance is too low'))
      expect(await world.parts(id)).toEqual(['6000 counted'])
      expect((await world.decide(id, 'approve')).payment).toMatchObject({ status: 'processing' })
    })

    test('with two attempts that could be meant, the attempt must be named', async () => {
      const { id, attemptId } = await world.paid('6000')
      const second = await secondPayment(id, attemptId, '5000')
      await expect(world.refund(id)).rejects.toMatchObject(refused('Name the attempt'))
      expect(await world.refund(id, { attempt: second })).toMatchObject({
        refunded: true,
        payment: { status: 'under_review' },
      })
      expect(await world.parts(id)).toEqual(['6000 counted', '5000 returned', '-5000 returned'])
      expect((await world.decide(id, 'approve')).payment.status).toBe('processing')
    })
  })

  describe('money that is taken back', () => {
    test('while the payout is held: the payout is voided, nothing is paid, and the payment ends as refunded', async () => {
      const { id, attemptId } = await world.settling()
      await world.checkout.db.transaction((tx) =>
        world.hooks.onHeld(tx, { paymentId: id, reason: 'blacklisted', detail: 'on the list' }),
      )
      await world.act(attemptId, { action: 'reverse' })
      expect((await world.read({ id, attemptId })).payment).toMatchObject({
        status: 'under_review',
        parkReason: 'funds_reversed',
      })
      await expect(world.decide(id, 'retry')).rejects.toMatchObject(refused('A refund or a void'))
      await world.voided(id)
      expect(await world.payment(id)).toMatchObject({ status: 'refunded', parkReason: null })
      // What was sold stays sold: the USDC that was bought belongs to the platform.
      expect(await world.books(id)).toEqual(SOLD_FOR_US)
      expect(await world.attention(id)).toEqual([])
    })

    test('while the transfer was faster than the void: settled, with a chargeback for an operator and for the merchant', async () => {
      const { id, attemptId } = await world.settling()
      await world.act(attemptId, { action: 'reverse' })
      await world.read({ id, attemptId })
      await world.settle(id)
      expect(await world.payment(id)).toMatchObject({ status: 'succeeded', parkReason: null })
      expect(await world.attention(id)).toEqual(['chargeback'])
      const { payment } = await world.decide(id, 'approve')
      expect(payment.incidents).toEqual([])
      expect(await world.attention(id)).toEqual([])
    })

    test('after the settlement: our loss, in the books once, and somebody is told', async () => {
      const { id, attemptId } = await world.settling()
      await world.settle(id)
      await world.act(attemptId, { action: 'reverse' })
      for (let reading = 0; reading < 2; reading++) await world.read({ id, attemptId })
      expect(await world.payment(id)).toMatchObject({ status: 'succeeded', closedAt: null })
      expect(await world.books(id)).toEqual(
        expect.arrayContaining(['chargeback_loss EUR 10000', 'treasury USDC -103140000']),
      )
      expect((await world.books(id)).filter((line) => line.startsWith('partner_receivable'))).toEqual([])
      expect(await world.attention(id)).toEqual(['chargeback'])
    })

    test('after the payout was voided: the payment has an end', async () => {
      const { id, attemptId } = await world.settling()
      await world.voided(id)
      expect(await world.payment(id)).toMatchObject({ status: 'under_review', parkReason: 'payout_voided' })
      await world.act(attemptId, { action: 'reverse' })
      expect((await world.read({ id, attemptId })).payment.status).toBe('refunded')
      expect(await world.books(id)).toEqual(SOLD_FOR_US)
    })

    test('a part of it before the conversion: what is left is settled, or is too little', async () => {
      const { id, attemptId } = await world.paid('15000')
      await world.act(attemptId, { action: 'reverse', receivedMinor: '10000' })
      await world.read({ id, attemptId })
      expect(await world.payment(id)).toMatchObject({ status: 'processing', confirmed: { minor: '10000' } })
      await world.act(attemptId, { action: 'reverse', receivedMinor: '2000' })
      await world.read({ id, attemptId })
      expect(await world.payment(id)).toMatchObject({
        status: 'under_review',
        parkReason: 'underpaid',
        confirmed: { minor: '2000' },
      })
      expect(await world.books(id)).toEqual(['merchant_payable EUR -2000', 'partner_receivable EUR 2000'])
    })

    test('by an answer that is older than what is known: it is not believed, and stays unread', async () => {
      const { id, attemptId } = await world.paid('6000')
      const real = world.deps.partners.wallet_app
      const before = await real.readOrder({ attemptId }, AbortSignal.timeout(5000))
      const overtaken = {
        ...real,
        readOrder: async () => {
          await world.act(attemptId, { action: 'top_up', receivedMinor: '10000' })
          await world.read({ id, attemptId })
          return before
        },
      }
      const partners = { ...world.deps.partners, wallet_app: overtaken }
      expect((await world.read({ id, attemptId }, { partners })).understood).toBe(false)
      expect(await world.parts(id)).toEqual(['6000 counted', '4000 counted'])
    })
  })

  describe('a refund that was made outside of the partner', () => {
    test('is no reason to count the same report again; what the partner still has is ours until it gives it back', async () => {
      const { id, attemptId } = await world.paid('6000')
      await world.decide(id, 'recordExternalRefund')
      for (let reading = 0; reading < 2; reading++) await world.read({ id, attemptId })
      expect(await world.parts(id)).toEqual(['6000 returned', '-6000 returned'])
      expect(await world.books(id)).toEqual(['exchange EUR -6000', 'partner_receivable EUR 6000'])
      await world.act(attemptId, { action: 'top_up', receivedMinor: '7000' })
      await world.read({ id, attemptId })
      expect(await world.parts(id)).toEqual(['6000 returned', '-6000 returned', '1000 surplus'])
      await world.act(attemptId, { action: 'reverse' })
      for (let reading = 0; reading < 2; reading++) await world.read({ id, attemptId })
      expect(await world.parts(id)).toEqual([
        '6000 returned',
        '-6000 returned',
        '1000 reversed',
        '-1000 reversed',
        '-6000 reversed',
      ])
      expect(await world.books(id)).toEqual([])
    })
  })

  describe('money in parts', () => {
    test('the rest of too little continues the payment; what comes after it is surplus, and only the counted is settled', async () => {
      const { id, attemptId } = await world.paid('6000')
      await world.act(attemptId, { action: 'top_up', receivedMinor: '10000' })
      expect((await world.read({ id, attemptId })).payment).toMatchObject({ status: 'processing' })
      await world.act(attemptId, { action: 'top_up', receivedMinor: '12500' })
      await world.read({ id, attemptId })
      expect(await world.parts(id)).toEqual(['6000 counted', '4000 counted', '2500 surplus'])
      await world.convert(id)
      expect((await world.payment(id)).usdc).toEqual({ gross: '108000000', fee: '4860000', net: '103140000' })
      expect(await world.attention(id)).toEqual(['surplus 25.00 EUR'])
      await expect(world.refund(id)).rejects.toMatchObject(refused('refunds only whole orders'))
      await world.decide(id, 'recordExternalRefund')
      expect(await world.parts(id)).toEqual(['6000 counted', '4000 counted', '2500 returned', '-2500 returned'])
      expect((await world.state(id)).attempts[0]?.status).toBe('confirmed')
      expect((await world.books(id)).filter((line) => line.startsWith('suspense'))).toEqual([])
    })

    test('a hold is not passed by when the rest comes', async () => {
      const { id, attemptId } = await world.paid('6000')
      await world.decide(id, 'hold')
      await world.act(attemptId, { action: 'top_up', receivedMinor: '10000' })
      expect((await world.read({ id, attemptId })).payment).toMatchObject({
        status: 'under_review',
        parkReason: 'operator_hold',
      })
    })

    test('a misfit of a payment that is over is seen', async () => {
      const { id, attemptId } = await world.settling()
      await world.settle(id)
      const real = world.deps.partners.wallet_app
      const order = await real.readOrder({ attemptId }, AbortSignal.timeout(5000))
      if (order === null) throw new Error('no order')
      const odd = { ...real, readOrder: async () => ({ ...order, account: 'another account' }) }
      await world.read({ id, attemptId }, { partners: { ...world.deps.partners, wallet_app: odd } })
      expect(await world.attention(id)).toEqual(['misfit asked for 100.00 EUR, received 100.00 EUR'])
    })

    test('a settlement that nobody expected of a payment that is over is seen', async () => {
      const { id } = await world.settling()
      await world.voided(id)
      await world.refund(id)
      await world.settle(id)
      expect(await world.payment(id)).toMatchObject({ status: 'refunded', closedAt: null })
      expect(await world.attention(id)).toEqual(['unexpected_settlement'])
    })
  })

  describe('a hold', () => {
    test('before the payout is signed stops it; released, it goes on', async () => {
      const { id } = await world.settling()
      expect((await world.decide(id, 'hold')).payment).toMatchObject({
        status: 'under_review',
        parkReason: 'operator_hold',
      })
      const payout = async () =>
        (await world.checkout.db.query('select state from payout where payment_id = $1', [id])).rows
      expect(await payout()).toEqual([{ state: 'held' }])
      await expect(world.decide(id, 'retry')).rejects.toMatchObject(refused('release it first'))
      expect((await world.decide(id, 'release')).payment).toMatchObject({ status: 'settling' })
      expect(await payout()).toEqual([{ state: 'queued' }])
    })

    test('when the payout is on its way is answered with why not, and nothing is changed', async () => {
      const { id } = await world.settling()
      await world.checkout.db.query("update payout set state = 'voiding' where payment_id = $1", [id])
      await expect(world.decide(id, 'hold')).rejects.toMatchObject(refused('can no longer be held'))
      expect(await world.payment(id)).toMatchObject({ status: 'settling', held: false })
    })
  })

  test('the wall behind the guard: the database itself hands nothing in for money that is not free', async () => {
    const { id, attemptId } = await world.paid()
    await world.convert(id)
    const { db } = world.checkout
    const free = async () =>
      (await db.query('select money_is_free(p) as free from payment p where id = $1', [id])).rows[0].free
    expect(await free()).toBe(true)
    const toSettling = () =>
      world.checkout.change(id, (work) => work.move('settling', { actor: 'system', message: 'past the guard' }))
    await db.query("update part set state = 'reversed' where attempt_id = $1", [attemptId])
    await expect(toSettling()).rejects.toThrow('expected one row, got none')
    await db.query("update part set state = 'counted' where attempt_id = $1", [attemptId])
    await db.query('update payment set held = true where id = $1', [id])
    await expect(toSettling()).rejects.toThrow('expected one row, got none')
    await db.query('update payment set held = false where id = $1', [id])
    await db.query(
      `insert into intent (payment_id, attempt_id, kind, key, state, operator, reason, asked_at)
     values ($1, $2, 'refund', $2 || ':refund', 'pending', 'ada', 'x', now())`,
      [id, attemptId],
    )
    await expect(toSettling()).rejects.toThrow('expected one row, got none')
    await db.query("update intent set state = 'refused'")
    await toSettling()
    expect((await world.payment(id)).status).toBe('settling')
    await expect(db.query('update part set units = 1')).rejects.toThrow('only its owner state may change')
    await expect(db.query('delete from part')).rejects.toThrow('only its owner state may change')
  })

  /** Another order of the same payment is paid too. */
  async function secondPayment(id: string, first: string, receivedMinor = '10000'): Promise<string> {
    const second = `${first.slice(0, -1)}${first.endsWith('0') ? '1' : '0'}`
    await world.checkout.change(id, (work) =>
      work.addAttempt({
        id: second,
        provider: 'wallet_app',
        method: 'banking_app',
        asked: { minor: '10000', currency: 'EUR' },
      }),
    )
    const order = world.sandbox.newOrder('wallet_app', {
      attemptId: second,
      amount: { minor: '10000', currency: 'EUR' },
    })
    await world.sandbox.partners().wallet_app.openOrder(order, AbortSignal.timeout(5000))
    await world.act(second, { action: 'pay', receivedMinor })
    await world.read({ id, attemptId: second })
    return second
  }
})

/** What a partner took back of a payment that was paid out was our loss. When it comes again it is ours, and nobody's else. */
describe('a chargeback that is won', () => {
  let made: Made

  /** The partner says of the order that it has so much of it. */
  async function has(minor: string | null): Promise<void> {
    const partner = world.deps.partners.wallet_app
    const order = await partner.readOrder({ attemptId: made.attemptId }, AbortSignal.timeout(5000))
    if (order === null) throw new Error('the partner does not know the order')
    const says: PartnerOrder =
      minor === null
        ? { ...order, status: 'declined', received: null, failureCode: 'reversed' }
        : { ...order, status: 'paid', received: { minor, currency: 'EUR' }, failureCode: null }
    const partners: PaymentDeps['partners'] = {
      ...world.deps.partners,
      wallet_app: { ...partner, readOrder: async () => says },
    }
    await world.read(made, { partners })
  }

  const seen = async () => ({
    books: (await world.books(made.id)).filter((line) => line.includes(' EUR ')),
    attention: await world.attention(made.id),
    exception: (await world.payment(made.id)).exception,
  })
  const PAID_OUT = { books: ['conversion EUR -10000', 'partner_receivable EUR 10000'], attention: [], exception: null }

  describe('money that was taken back after the payout, and comes again', () => {
    beforeEach(async () => {
      made = await world.settling()
      await world.settle(made.id)
    })

    test('is our loss no more, and leaves nothing for an operator to give back', async () => {
      expect(await seen()).toEqual(PAID_OUT)
      await has(null)
      expect(await seen()).toEqual({
        books: ['chargeback_loss EUR 10000', 'conversion EUR -10000'],
        attention: ['chargeback'],
        exception: null,
      })
      for (let reading = 0; reading < 2; reading++) await has('10000')
      expect(await seen()).toEqual(PAID_OUT)
      await expect(world.refund(made.id)).rejects.toThrow()
      const events = await world.events(made.id)
      expect(events.filter((type) => type === 'payment.chargeback')).toHaveLength(1)
      expect((await world.payment(made.id)).status).toBe('succeeded')
    })

    test('in parts, is a chargeback until all of it is there', async () => {
      await has('4000')
      await has('7000')
      expect(await seen()).toEqual({
        books: ['chargeback_loss EUR 3000', 'conversion EUR -10000', 'partner_receivable EUR 7000'],
        attention: ['chargeback'],
        exception: null,
      })
      await has('10000')
      expect(await seen()).toEqual(PAID_OUT)
    })

    test('with more than was lost, is the buyer’s for the rest', async () => {
      await has('4000')
      await has('10500')
      expect(await seen()).toEqual({
        books: ['conversion EUR -10000', 'partner_receivable EUR 10500', 'suspense EUR -500'],
        attention: ['surplus 5.00 EUR'],
        exception: 'duplicate_payment',
      })
    })

    test('after an operator has seen the loss, opens nothing; taken back once more, it is lost again', async () => {
      await has(null)
      await world.decide(made.id, 'approve')
      await has('10000')
      expect(await seen()).toEqual(PAID_OUT)
      await has(null)
      expect(await seen()).toMatchObject({
        attention: ['chargeback'],
        books: ['chargeback_loss EUR 10000', expect.any(String)],
      })
    })
  })

  describe('money that was taken back and comes again before its payout is paid or void', () => {
    beforeEach(async () => {
      made = await world.settling()
      await has(null)
      await has('10000')
      expect((await world.payment(made.id)).parkReason).toBe('funds_reversed')
    })

    test('is no chargeback and no second payment where the transfer is faster than the void', async () => {
      await world.settle(made.id)
      expect(await seen()).toEqual(PAID_OUT)
      const events = await world.events(made.id)
      expect(events).toContain('payment.succeeded')
      expect(events).not.toContain('payment.chargeback')
    })

    test('goes back to the buyer by an operator’s decision where the payout is void', async () => {
      await world.voided(made.id)
      expect((await world.payment(made.id)).parkReason).toBe('payout_voided')
      expect(await world.refund(made.id)).toMatchObject({ refunded: true, payment: { status: 'refunded' } })
      expect(await world.books(made.id)).toEqual(SOLD_FOR_US)
      expect(await world.attention(made.id)).toEqual([])
    })
  })

  test('what comes again once the payout is void is the buyer’s', async () => {
    made = await world.settling()
    await has('4000')
    await world.voided(made.id)
    await has('10000')
    expect(await seen()).toMatchObject({ attention: expect.arrayContaining(['surplus 60.00 EUR']) })
  })
})

/** A hold by an operator's decision, and the operator's command about its payout: neither is a way around the other. */
describe('a payout that is held', () => {
  function run(name: 'hold' | 'release' | 'void', id: string): Promise<number> {
    const signed = { operator: 'anna', reason: 'a drill' }
    const act = { db: world.checkout.db, hooks: world.hooks, dryRun: false, signed, say: () => undefined }
    return changePayout(act as unknown as Act, id, name)
  }

  const payout = async (id: string) => {
    const { rows } = await world.checkout.db.query('select state from payout where payment_id = $1', [id])
    return (rows[0] as { state: string }).state
  }

  // the payout was queued, and paid, while the hold stood
  test('the command does not release the payout of a payment that an operator holds', async () => {
    const { id } = await world.settling()
    await world.decide(id, 'hold')
    await expect(run('release', id)).rejects.toThrow('An operator holds the payment')
    expect([await payout(id), (await world.payment(id)).parkReason]).toEqual(['held', 'operator_hold'])
    await world.decide(id, 'release')
    expect([await payout(id), (await world.payment(id)).status]).toEqual(['queued', 'settling'])
  })

  test('the command does not release the payout that it held before an operator held the payment', async () => {
    const { id } = await world.settling()
    expect(await run('hold', id)).toBe(0)
    expect((await world.payment(id)).parkReason).toBe('payout_held')
    await world.decide(id, 'hold')
    await expect(run('release', id)).rejects.toThrow('An operator holds the payment')
    expect(await payout(id)).toBe('held')
    // The hold is lifted by its decision, and the payout by another try.
    await world.decide(id, 'release')
    expect(await payout(id)).toBe('held')
    await world.decide(id, 'retry')
    expect([await payout(id), (await world.payment(id)).status]).toEqual(['queued', 'settling'])
  })

  // it was paid out although the partner had taken the money back, where the callback that says so was lost
  test('the command sets no payout going that has waited for a decision: before that the partner is asked for the money', async () => {
    const { id, attemptId } = await world.settling()
    expect(await run('hold', id)).toBe(0)
    await world.act(attemptId, { action: 'reverse' })
    await expect(run('release', id)).rejects.toThrow(`pinrail payments decide ${id} retry`)
    expect([await payout(id), (await world.payment(id)).parkReason]).toEqual(['held', 'payout_held'])
    expect((await world.read({ id, attemptId })).payment.parkReason).toBe('funds_reversed')
    expect(await payout(id)).toBe('voiding')
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

  // it settled for ever: nothing of it was left to pay, and no decision and no command changed it
  test('a payout that is released while it is being voided is not waited for: its payment stands before an operator', async () => {
    const { id } = await world.settling()
    await world.decide(id, 'hold')
    expect(await run('void', id)).toBe(0)
    await world.decide(id, 'release')
    expect([await payout(id), (await world.payment(id)).status]).toEqual(['voiding', 'processing'])
    await proveVoid(id)
    await perform(world.activities().transferUsdc, id)
    expect(await world.attention(id)).toEqual(['parked payout_voided'])
    expect(await world.refund(id)).toMatchObject({ refunded: true })
    expect((await world.payment(id)).status).toBe('refunded')
  })

  test('a payout whose release is tried again after its void was proved is not waited for', async () => {
    const { id } = await world.settling()
    expect([await run('hold', id), await run('void', id)]).toEqual([0, 0])
    await proveVoid(id)
    await expect(world.decide(id, 'retry')).rejects.toThrow('The payout is void and can never be paid')
    expect(await world.attention(id)).toEqual(['parked payout_voided'])
  })

  /** The policy of the treasury refuses the payout, so it is held; then its key is lost, and another treasury takes it over. */
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

  // it was paid out although the partner had taken the money back
  test('a take-over sets no payout going that has waited for a decision: before that the partner is asked for the money', async () => {
    const { id, attemptId } = await world.settling()
    await takenOver(id, () => world.act(attemptId, { action: 'reverse' }))
    expect([await payout(id), (await world.payment(id)).parkReason]).toEqual(['held', 'payout_held'])
    expect((await world.read({ id, attemptId })).payment.parkReason).toBe('funds_reversed')
    expect(await payout(id)).toBe('voiding')
  })

  test('another try of a take-over has the new treasury pay once the partner has the money', async () => {
    const { id } = await world.settling()
    const to = await takenOver(id, async () => undefined)
    await world.decide(id, 'retry')
    expect([await payout(id), (await world.payment(id)).status]).toEqual(['queued', 'settling'])
    const { rows } = await world.checkout.db.query('select treasury from payout where payment_id = $1', [id])
    expect(rows).toEqual([{ treasury: to }])
  })

  // neither a refund nor a void was possible: there was no payout, and it was not void
  test('a payment that is held between its conversion and its payout is refunded, and its USDC is ours', async () => {
    for (const outside of [false, true]) {
      const { id } = await world.paid()
      await world.convert(id)
      await world.decide(id, 'hold')
      if (outside) await world.decide(id, 'recordExternalRefund')
      else await world.refund(id)
      expect(await world.payment(id)).toMatchObject({ status: 'refunded', parkReason: null })
      expect(await world.checkout.timeline(id, 'payment.payout_never_made')).toHaveLength(1)
      expect((await world.books(id)).filter((line) => /payable|fee/.test(line))).toEqual([])
    }
  })

  test('a payment that is held after its payout was handed in is not refunded', async () => {
    const { id } = await world.settling()
    await world.decide(id, 'hold')
    await expect(world.refund(id)).rejects.toThrow('The payout exists and is not voided')
    expect(await payout(id)).toBe('held')
  })
})

/** A partner that holds the money for a check of its own, to its end. */
describe('a partner that holds the money', () => {
  async function heldThere(receivedMinor?: string) {
    const made = await world.opened()
    await world.act(made.attemptId, { action: 'hold', ...(receivedMinor === undefined ? {} : { receivedMinor }) })
    expect((await world.read(made)).payment).toMatchObject({ status: 'under_review', parkReason: 'partner_hold' })
    // What the partner only holds is nobody's yet.
    expect([await world.parts(made.id), await world.books(made.id)]).toEqual([[], []])
    return made
  }

  test('released, the money is counted, and goes on by itself', async () => {
    const made = await heldThere()
    await world.act(made.attemptId, { action: 'release' })
    expect((await world.read(made)).payment).toMatchObject({ status: 'processing', parkReason: null })
    expect(await world.parts(made.id)).toEqual(['10000 counted'])
    expect(await world.books(made.id)).toEqual(['merchant_payable EUR -10000', 'partner_receivable EUR 10000'])
    await world.convert(made.id)
    expect((await world.payment(made.id)).usdc).toEqual({ gross: '108000000', fee: '4860000', net: '103140000' })
  })

  test('released with too little, it waits as underpaid', async () => {
    const made = await heldThere('6000')
    await world.act(made.attemptId, { action: 'release' })
    expect((await world.read(made)).payment).toMatchObject({
      status: 'under_review',
      parkReason: 'underpaid',
      exception: 'underpaid',
    })
    expect(await world.parts(made.id)).toEqual(['6000 counted'])
  })

  test('not released, it fails with nothing in the books', async () => {
    const made = await heldThere()
    await world.act(made.attemptId, { action: 'reverse' })
    expect((await world.read(made)).payment.status).toBe('failed')
    expect([await world.parts(made.id), await world.books(made.id)]).toEqual([[], []])
    expect(await world.attention(made.id)).toEqual([])
  })

  describe('held after it had been counted, it goes on by itself', () => {
    const ON_HOLD = { status: 'on_hold' } as const
    async function heldAfterwards() {
      const made = await world.paid()
      await world.read(made, world.says(ON_HOLD))
      expect((await world.payment(made.id)).parkReason).toBe('partner_hold')
      return made
    }

    // It waited for the next poll, up to 6 hours.
    test('when its refund is refused, by the answer that came with the refusal', async () => {
      const made = await heldAfterwards()
      await world.refund(made.id, {}, world.says(ON_HOLD, { refund: 'pending' }))
      await world.read(made, world.says({}, { refund: 'refused' }))
      expect(await world.payment(made.id)).toMatchObject({ status: 'processing', parkReason: null })
    })

    test('counted money that its partner held stays held if an operator holds it too', async () => {
      const made = await heldAfterwards()
      await world.decide(made.id, 'hold')
      await world.refund(made.id, {}, world.says(ON_HOLD, { refund: 'pending' }))
      await world.read(made, world.says({}, { refund: 'refused' }))
      expect(await world.payment(made.id)).toMatchObject({ status: 'under_review', parkReason: 'operator_hold' })
    })

    test('when the partner lets go all of it under another amount, of which an operator is told', async () => {
      const made = await heldAfterwards()
      await world.read(made, world.says({ amount: eur('15000'), received: eur('15000') }))
      expect(await world.payment(made.id)).toMatchObject({ status: 'processing', parkReason: null })
      expect(await world.attention(made.id)).toEqual(['misfit asked for 150.00 EUR, received 150.00 EUR'])
    })

    test('counted money that its partner held does not continue when the partner releases less of it', async () => {
      const made = await heldAfterwards()
      await world.read(made, world.says({ amount: eur('15000'), received: eur('9000') }))
      expect(await world.payment(made.id)).toMatchObject({ status: 'under_review', parkReason: 'partner_hold' })
    })
  })
})

/** Two operators who decide at the same moment: each decision waits for the lock of the row, and is judged by what it finds. */
describe('decisions that cross', () => {
  const carryOut = (id: string, decision: OperatorDecision) =>
    decision === 'refund' ? world.refund(id) : world.decide(id, decision)

  async function underpaid(): Promise<string> {
    return (await world.paid('6000')).id
  }

  async function held(): Promise<string> {
    const { id } = await world.paid()
    await world.decide(id, 'hold')
    return id
  }

  const PAID = ['merchant_payable EUR', 'partner_receivable EUR']
  const GOES_ON: readonly string[] = ['processing']

  test.each<[() => Promise<string>, OperatorDecision, OperatorDecision]>([
    [underpaid, 'approve', 'refund'],
    [underpaid, 'approve', 'recordExternalRefund'],
    [underpaid, 'refund', 'recordExternalRefund'],
    [held, 'release', 'refund'],
    [held, 'release', 'recordExternalRefund'],
  ])(
    '%p: of %s and %s at the same moment one is carried out, and the money is where it says',
    async (made, one, other) => {
      for (let round = 0; round < 3; round++) {
        const id = await made()
        const answers = await Promise.allSettled([carryOut(id, one), carryOut(id, other)])
        const done = answers.filter(({ status }) => status === 'fulfilled').length
        const { payment, parts, intents } = await world.state(id)
        const returns = parts.filter(({ kind }) => kind === 'return' || kind === 'return_outside').length
        expect(intents).toEqual([])
        expect([1, 2]).toContain(done)
        const books = (await world.books(id)).map((line) => line.replace(/ -?\d+$/, ''))
        if (GOES_ON.includes(payment.status)) expect([returns, books]).toEqual([0, PAID])
        else expect([payment.status, returns, books.includes('merchant_payable EUR')]).toEqual(['refunded', 1, false])
      }
    },
  )

  test('two refunds at the same moment ask the partner for one, and book it once', async () => {
    const id = await underpaid()
    await Promise.allSettled([world.refund(id), world.refund(id)])
    expect(await world.payment(id)).toMatchObject({ status: 'refunded' })
    expect(await world.parts(id)).toEqual(['6000 returned', '-6000 returned'])
    expect(await world.books(id)).toEqual([])
  })

  test('a release that is sent again lifts no hold that somebody else has placed meanwhile', async () => {
    const id = await held()
    const { version } = await world.payment(id)
    const release = (attempt: number) =>
      perform(world.activities().decide, { paymentId: id, decision: 'release', version, ...NOTE }, { attempt })
    expect((await release(1)).payment.status).toBe('processing')
    await world.decide(id, 'hold')
    await expect(release(1)).rejects.toMatchObject({
      message: expect.stringContaining('has changed since you looked at it'),
    })
    expect(await release(2)).toMatchObject({ unsure: true })
    expect(await world.payment(id)).toMatchObject({ held: true, status: 'under_review' })
  })

  test('a release and a hold at the same moment leave either, never a payment that goes on although it is held', async () => {
    const id = await held()
    await Promise.allSettled([world.decide(id, 'release'), world.decide(id, 'hold')])
    const { held: isHeld, status, parkReason } = await world.payment(id)
    expect(isHeld ? [status, parkReason] : [status]).toEqual(
      isHeld ? ['under_review', 'operator_hold'] : ['processing'],
    )
  })

  test('an approval whose answer was lost closes no incident that nobody has looked at', async () => {
    const { id, attemptId } = await world.paid('6000')
    await world.checkout.change(id, (work) => work.openIncident({ kind: 'chargeback', attemptId }))
    const { version } = await world.payment(id)
    const order = { paymentId: id, decision: 'approve', version, ...NOTE } as const
    const approve = (attempt: number, on = order) => perform(world.activities().decide, on, { attempt })
    // The first try was cut off before it did anything.
    expect(await approve(2)).toMatchObject({ payment: { status: 'processing' }, message: 'approve: recorded' })
    for (const attempt of [2, 3])
      expect(await approve(attempt)).toMatchObject({
        message: 'approve: tried before, and the payment has changed since: its timeline says whether it was recorded',
        unsure: true,
      })
    expect(await world.attention(id)).toEqual(['chargeback'])

    const now = { ...order, version: (await world.payment(id)).version }
    await approve(1, now)
    await world.checkout.change(id, (work) => work.openIncident({ kind: 'outside_reversed', attemptId }))
    await approve(2, now)
    expect(await world.attention(id)).toEqual(['outside_reversed'])
  })

  describe('a refund that an operator made elsewhere is of the money that was looked at', () => {
    const record = (id: string, version: number, attempt = 1) =>
      perform(
        world.activities().decide,
        { paymentId: id, decision: 'recordExternalRefund', version, ...NOTE },
        { attempt },
      )
    const more = async (of: { id: string; attemptId: string }, receivedMinor: string) => {
      await world.act(of.attemptId, { action: 'top_up', receivedMinor })
      await world.read(of)
    }

    test('what has come since is not booked as returned, and stands before the operator', async () => {
      const made = await world.paid('6000')
      const seen = (await world.payment(made.id)).version
      await more(made, '7500')
      await expect(record(made.id, seen)).rejects.toMatchObject({
        message: expect.stringContaining('has changed since you looked at it'),
      })
      expect(await world.parts(made.id)).toEqual(['6000 counted', '1500 counted'])
      const now = (await world.payment(made.id)).version
      expect(await record(made.id, now)).toMatchObject({ refunded: true, message: 'recordExternalRefund: recorded' })
      expect(await world.payment(made.id)).toMatchObject({ status: 'refunded' })
      // Its answer was lost: it is another try, and nothing is booked once more.
      expect(await record(made.id, now, 2)).toMatchObject({ refunded: true, message: 'recordExternalRefund: recorded' })
      expect(await world.parts(made.id)).toEqual(['6000 returned', '1500 returned', '-7500 returned'])
    })

    test('another try that finds the payment changed, with money, does not say that it went back', async () => {
      const made = await world.paid('6000')
      const seen = (await world.payment(made.id)).version
      await more(made, '7500')
      const answer = await record(made.id, seen, 2)
      expect(answer).toMatchObject({ refunded: false, unsure: true, payment: { status: 'under_review' } })
      expect(await world.parts(made.id)).toEqual(['6000 counted', '1500 counted'])
    })
  })

  describe('whatever comes before an operator changes the version that an approval must name', () => {
    const refused = { message: expect.stringContaining('has changed since you looked at it') }
    const approve = async (id: string, version: number) =>
      perform(world.activities().decide, { paymentId: id, decision: 'approve', version, ...NOTE })
    const chargeback = (attemptId: string) => (work: PaymentWork) =>
      work.openIncident({ kind: 'chargeback', attemptId })
    const misfit = (attemptId: string, received: string) => (work: PaymentWork) =>
      work.openIncident({
        kind: 'misfit',
        attemptId,
        misfit: {
          why: 'currency',
          status: 'paid',
          amount: { minor: '1', currency: 'USD' },
          received: { minor: received, currency: 'USD' },
        },
      })

    test.each([
      ['another incident', 'chargeback', 'misfit'],
      ['another amount of the same misfit', 'misfit', 'more'],
      ['an incident that goes by itself', 'misfit', 'gone'],
    ] as const)('%s', async (_name, first, then) => {
      const { id, attemptId } = await world.settling()
      await world.settle(id)
      const changes = {
        chargeback: chargeback(attemptId),
        misfit: misfit(attemptId, '5'),
        more: misfit(attemptId, '9'),
        gone: (work: PaymentWork) => closeMisfit(work, attemptId, 'gone'),
      }
      await world.checkout.change(id, changes[first])
      const seen = (await world.payment(id)).version
      await world.checkout.change(id, changes[then])
      const before = await world.attention(id)
      await expect(approve(id, seen)).rejects.toMatchObject(refused)
      expect(await world.attention(id)).toEqual(before)
      // What changes nothing does not stop it.
      const now = (await world.payment(id)).version
      await world.checkout.change(id, changes[then])
      expect((await world.payment(id)).version).toBe(now)
    })
  })
})
