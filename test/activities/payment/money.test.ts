import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { createMoneyWorld, type Made, type MoneyWorld, NOTE } from './money-world.ts'

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
        await expect(world.decide(id, decision)).rejects.toMatchObject(refused('carried out'))
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
      const second = await secondPayment(id, attemptId)
      await expect(world.refund(id)).rejects.toMatchObject(refused('Name the attempt'))
      expect(await world.refund(id, { attempt: second })).toMatchObject({
        refunded: true,
        payment: { status: 'under_review' },
      })
      expect(await world.parts(id)).toEqual(['6000 counted', '10000 returned', '-10000 returned'])
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
      // The USDC that was bought is ours, and makes up for the euros.
      expect(await world.books(id)).toEqual(['conversion USDC 108000000', 'exchange USDC -108000000'])
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
      expect(await world.books(id)).toEqual(['conversion USDC 108000000', 'exchange USDC -108000000'])
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
      expect(await world.attention(id)).toEqual(['surplus 2500 EUR'])
      await expect(world.refund(id)).rejects.toMatchObject(refused('gives back a whole order'))
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
      expect(await world.attention(id)).toEqual(['misfit asked for 10000 EUR, received 10000'])
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
      await expect(world.decide(id, 'hold')).rejects.toMatchObject(refused('cannot be held any more'))
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
  async function secondPayment(id: string, first: string): Promise<string> {
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
    await world.act(second, { action: 'pay' })
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
        attention: ['surplus 500 EUR'],
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
      expect(await world.books(made.id)).toEqual(['conversion USDC 108000000', 'exchange USDC -108000000'])
      expect(await world.attention(made.id)).toEqual([])
    })
  })

  test('what comes again once the payout is void is the buyer’s', async () => {
    made = await world.settling()
    await has('4000')
    await world.voided(made.id)
    await has('10000')
    expect(await seen()).toMatchObject({ attention: expect.arrayContaining(['surplus 6000 EUR']) })
  })
})
