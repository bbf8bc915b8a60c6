import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import { whyNotThere } from '../../../src/domain/payment/decision.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import type { OpenAttemptRequest } from '../../../src/domain/payment/requests.ts'
import { needsOperator, offeredDecisions, snapshotOf } from '../../../src/domain/payment/snapshot.ts'
import { newId } from '../../../src/ids.ts'
import { createMoneyWorld, eur, type Made, type MoneyWorld, NOTE } from './money-world.ts'
import type { Refunding } from './partner-says.ts'
import { perform } from './world.ts'

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

const PART = { status: 'paid', amount: eur('15000'), received: eur('4000') } as const

const stateOf = async ({ id }: Made) => {
  const { status, parkReason } = await world.payment(id)
  return [status, parkReason]
}

/** Money that fits no order: each report is a fact, and each has somebody who decides about it. */
describe('misfits', () => {
  /** Of an order of another amount, as much as it asks for. */
  const another = (minor: string) => ({ status: 'paid', amount: eur(minor), received: eur(minor) }) as const
  const PAID = { status: 'paid', amount: eur('10000'), received: eur('10000') } as const
  const BACK = { status: 'refunded', amount: eur('10000'), received: null } as const
  const LISTED = (euros: string) => `misfit asked for ${euros} EUR, received ${euros} EUR`

  /** The order is read, and its partner says this of it. */
  function says({ id, attemptId }: Made, fields: Partial<PartnerOrder>) {
    const { partners } = world.deps
    const lying = Object.fromEntries(
      (['wallet_app', 'card_partner', 'local_partner'] as const).map((name) => {
        const readOrder = async (asked: { attemptId: string }, signal: AbortSignal) => {
          const order = await partners[name].readOrder(asked, signal)
          return order === null ? null : { ...order, ...fields }
        }
        const refundOrder = async () => ({ kind: 'refunded' as const })
        return [name, { ...partners[name], readOrder, cancelOrder: readOrder, refundOrder }]
      }),
    )
    const changes: Partial<PaymentDeps> = { partners: { ...partners, ...lying } }
    return world.read({ id, attemptId }, changes)
  }

  /** A payment with two orders, of which the second is open. */
  async function two(): Promise<{ id: string; one: Made; other: Made }> {
    const one = await world.opened()
    return { id: one.id, one, other: await open(one.id, { provider: 'card_partner', method: 'card' }) }
  }

  async function open(id: string, choice: Pick<OpenAttemptRequest, 'provider' | 'method'>): Promise<Made> {
    const attemptId = newId('attempt')
    await perform(world.activities().openPartnerOrder, { paymentId: id, attemptId, ...choice })
    return { id, attemptId }
  }

  const misfits = async (id: string) => (await world.checkout.timeline(id, 'payment.misfit')).map(({ data }) => data)
  const statusOf = async (id: string) => {
    const { status, parkReason, paidAttemptId } = await world.payment(id)
    return [status, parkReason, paidAttemptId]
  }

  describe('a misfit', () => {
    test('says in the list of what waits what the partner said', async () => {
      const made = await world.opened()
      await says(made, another('15000'))
      expect(await world.attention(made.id)).toEqual([LISTED('150.00'), 'parked amount_mismatch'])
      expect(await misfits(made.id)).toMatchObject([{ attempt_id: made.attemptId, received: eur('15000') }])
    })

    test('a misfit of which the partner reports something else while the payment waits is a fact of its own', async () => {
      const made = await world.opened()
      for (const minor of ['15000', '15000', '16000']) await says(made, another(minor))
      expect(await misfits(made.id)).toMatchObject([{ received: eur('15000') }, { received: eur('16000') }])
      expect(await world.attention(made.id)).toEqual([LISTED('160.00'), 'parked amount_mismatch'])
    })

    test('a misfit of another order while the payment waits is a second one, and the last that goes back ends the payment', async () => {
      const { id, one, other } = await two()
      await says(one, another('15000'))
      await says(other, another('20000'))
      expect(await world.attention(id)).toEqual([LISTED('150.00'), LISTED('200.00'), 'parked amount_mismatch'])
      expect(await misfits(id)).toHaveLength(2)
      await expect(world.decide(id, 'recordExternalRefund')).rejects.toMatchObject({
        message: expect.stringContaining('Name the attempt'),
      })
      await world.decide(id, 'recordExternalRefund', { attempt: one.attemptId })
      expect(await world.attention(id)).toEqual([LISTED('200.00'), 'parked amount_mismatch'])
      await world.decide(id, 'recordExternalRefund', { attempt: other.attemptId })
      expect(await statusOf(id)).toEqual(['refunded', null, null])
      // Said again, it is nothing new.
      await says(other, another('20000'))
      expect(await world.attention(id)).toEqual([])
      expect((await world.payment(id)).closedAt).not.toBeNull()
    })

    test('a misfit that is gone and arrives again is new', async () => {
      const made = await world.opened()
      await says(made, another('15000'))
      await says(made, { ...BACK, status: 'declined', amount: eur('15000') })
      expect(await world.attention(made.id)).toEqual(['parked amount_mismatch'])
      await says(made, another('15000'))
      expect(await world.attention(made.id)).toEqual([LISTED('150.00'), 'parked amount_mismatch'])
      await world.decide(made.id, 'reject')
      expect(await statusOf(made.id)).toEqual(['failed', null, null])
      expect(needsOperator(snapshotOf(await world.state(made.id)))).toBe('misfit')
    })

    test('a misfit that the partner corrects becomes the payment’s money', async () => {
      const made = await world.opened()
      await says(made, another('15000'))
      await says(made, PAID)
      expect(await world.attention(made.id)).toEqual(['parked amount_mismatch'])
      await world.decide(made.id, 'approve')
      expect(await statusOf(made.id)).toEqual(['processing', null, made.attemptId])
    })
  })

  describe('a partner that gives the payment’s own money back by itself while a misfit is there', () => {
    async function paidBesideMisfit() {
      const { id, one, other } = await two()
      await says(one, another('15000'))
      await says(other, PAID)
      expect(await statusOf(id)).toEqual(['under_review', 'amount_mismatch', other.attemptId])
      return { id, one, other }
    }

    test.each(['refunded', 'declined'] as const)('(%s) leaves the payment open for it', async (status) => {
      const { id, one, other } = await paidBesideMisfit()
      await says(other, { ...BACK, status })
      expect(await statusOf(id)).toEqual(['under_review', 'amount_mismatch', null])
      expect(await world.books(id)).toEqual([])
      expect(await world.attention(id)).toEqual([LISTED('150.00'), 'parked amount_mismatch'])
      await world.decide(id, 'recordExternalRefund', { attempt: one.attemptId })
      expect(await statusOf(id)).toEqual(['refunded', null, null])
      expect(await world.attention(id)).toEqual([])
    })

    test('by the refund that we had asked for before the misfit came: the same', async () => {
      const { id, one, other } = await two()
      const third = await open(id, { provider: 'local_partner', method: 'bank_transfer' })
      await says(one, another('15000'))
      await says(other, PAID)
      await world.decide(id, 'recordExternalRefund', { attempt: one.attemptId })
      const pending = async () => ({ kind: 'pending' as const })
      const card = { ...world.deps.partners.card_partner, refundOrder: pending }
      await world.refund(id, {}, { partners: { ...world.deps.partners, card_partner: card } })
      await says(third, another('17000'))
      expect(await world.attention(id)).toEqual([LISTED('170.00'), 'parked amount_mismatch'])
      await says(other, PAID)
      // What did not fit of the first one is ours, since the buyer had it from elsewhere.
      const first = ['15000 returned', '-15000 returned']
      expect(await world.parts(id)).toEqual(['10000 returned', ...first, '-10000 returned'])
      expect(await statusOf(id)).toEqual(['under_review', 'amount_mismatch', null])
    })
  })
})

/** What of misfits stands before an operator, and what of it can be recorded as given back: once, and only what is there. */
describe('what is listed', () => {
  const has = (minor: string): Partial<PartnerOrder> => ({ status: 'paid', received: eur(minor) })
  const MISFIT = { ...has('10000'), amount: eur('15000') }
  const OTHER_WORDS = { ...MISFIT, amount: eur('20000') }
  const NOTHING = { status: 'refunded', received: null } as const
  const GONE = { ...NOTHING, amount: eur('15000') }
  const GIVEN_BEFORE = 'refunded before'

  const says = (refund: Refunding, order: Partial<PartnerOrder>) => world.says(order, { refund })
  const read = (made: Made, ...said: Parameters<typeof says>) => world.read(made, says(...said))
  const byHand = ({ id, attemptId }: Made) => world.decide(id, 'recordExternalRefund', { attempt: attemptId })
  const close = ({ id }: Made, as: 'expired' | 'listening_ended') =>
    perform(world.activities().closeUnpaid, { paymentId: id, as, expiresAt: 0 })
  const statusOf = async ({ id }: Made) => (await world.payment(id)).status

  const readOther = (other: Made, order: Partial<PartnerOrder>) =>
    world.read(other, world.says(order, { partner: 'card_partner' }))
  async function settle({ id }: Made): Promise<void> {
    await world.handOver(id)
    await world.settle(id)
  }
  /** The other order is paid, and this one came beside it, and was changed then. */
  async function surplusOfChanged(): Promise<Made> {
    const { made, other } = await world.two()
    await readOther(other, has('10000'))
    await read(made, 'pending', has('10000'))
    await read(made, 'pending', MISFIT)
    return made
  }

  describe('the order of a second payment is changed, and has nothing more', () => {
    test('a second payment whose order is changed is listed once', async () => {
      expect(await world.attention((await surplusOfChanged()).id)).toEqual(['surplus 100.00 EUR'])
    })

    test('a second payment whose order is changed goes back by hand once', async () => {
      const made = await surplusOfChanged()
      await byHand(made)
      expect(await world.attention(made.id)).toEqual([])
    })

    test('a second payment whose order is changed, and which the partner gives back, leaves nothing to give back by hand', async () => {
      const made = await surplusOfChanged()
      await read(made, 'pending', { ...MISFIT, received: eur('12500') })
      expect(await world.attention(made.id)).toEqual([
        'misfit asked for 150.00 EUR, received 125.00 EUR',
        'surplus 100.00 EUR',
      ])
      await world.refund(made.id, { attempt: made.attemptId }, says('refunded', MISFIT))
      await settle(made)
      expect(await world.attention(made.id)).toEqual([])
      await expect(byHand(made)).rejects.toThrow('There is no money to refund')
    })

    test('late money whose order is changed goes back by the partner and leaves nothing to give back by hand', async () => {
      const made = await world.opened()
      await close(made, 'expired')
      await close(made, 'listening_ended')
      await read(made, 'pending', has('10000'))
      await read(made, 'pending', { ...MISFIT, received: eur('12500') })
      await world.refund(made.id, { attempt: made.attemptId }, says('refunded', MISFIT))
      expect(await world.attention(made.id)).toEqual([])
    })
  })

  test('the order of a settled payment is changed, and has no more than was paid out: nothing is to be given back', async () => {
    const made = await world.settling()
    await world.settle(made.id)
    await read(made, 'pending', MISFIT)
    expect(await world.attention(made.id)).toEqual([])
    await read(made, 'pending', { ...MISFIT, received: eur('4000') })
    expect(await world.attention(made.id)).toEqual(['misfit asked for 150.00 EUR, received 40.00 EUR'])
  })

  describe('what was given back from elsewhere', () => {
    test('money of an order that its partner held, and that fitted, does not go back through the partner', async () => {
      const { made, other } = await world.two()
      await read(made, 'pending', { status: 'on_hold', received: eur('10000') })
      await readOther(other, MISFIT)
      await byHand(made)
      await read(made, 'pending', has('10000'))
      const refund = world.refund(made.id, { attempt: made.attemptId }, says('refunded', has('10000')))
      await expect(refund).rejects.toThrow(GIVEN_BEFORE)
    })

    test('money of an order that was reported of another account does not go back through the partner', async () => {
      const made = await world.opened()
      await read(made, 'pending', { ...has('10000'), account: 'somebody_else' })
      await byHand(made)
      await read(made, 'pending', has('10000'))
      expect(await world.attention(made.id)).toEqual(['surplus 100.00 EUR'])
      await expect(world.refund(made.id, {}, says('refunded', has('10000')))).rejects.toThrow(GIVEN_BEFORE)
    })

    test('is not listed in other words, and not recorded once more', async () => {
      const made = await world.opened()
      await read(made, 'pending', MISFIT)
      await byHand(made)
      await read(made, 'pending', OTHER_WORDS)
      expect(await world.attention(made.id)).toEqual([])
      await expect(byHand(made)).rejects.toThrow('There is no money to refund')
    })

    test('money that the partner sent back and has again, in the same words, is listed', async () => {
      const made = await world.opened()
      await read(made, 'pending', MISFIT)
      await byHand(made)
      await read(made, 'pending', GONE)
      expect(await world.attention(made.id)).toEqual(['outside_reversed 100.00 EUR'])
      await world.decide(made.id, 'approve')
      await read(made, 'pending', MISFIT)
      expect(await world.attention(made.id)).toEqual(['misfit asked for 150.00 EUR, received 100.00 EUR'])
    })

    test('money of a declined order, given back from elsewhere, was not taken back when the partner repeats its answer', async () => {
      const made = await world.opened()
      const declined = { status: 'declined', received: eur('10000'), failureCode: 'declined' } as const
      await read(made, 'pending', declined)
      await byHand(made)
      for (const order of [declined, { ...declined, status: 'canceled' } as const]) {
        await read(made, 'pending', order)
        expect(await world.attention(made.id)).toEqual([])
      }
    })

    test('with the payment’s own money is all that its order has', async () => {
      const made = await world.paid()
      await world.decide(made.id, 'hold')
      await read(made, 'pending', { ...has('15000'), amount: eur('15000') })
      await byHand(made)
      await read(made, 'pending', has('15000'))
      expect(await statusOf(made)).toBe('refunded')
      expect(await world.attention(made.id)).toEqual([])
      expect(await world.books(made.id)).toEqual(['exchange EUR -15000', 'partner_receivable EUR 15000'])
    })

    test('beside a payment that goes on can be recorded, as is offered', async () => {
      const { made, other } = await world.two()
      await readOther(other, has('10000'))
      await read(made, 'pending', MISFIT)
      expect(offeredDecisions(snapshotOf(await world.state(made.id)))).toContain('recordExternalRefund')
      await byHand(made)
      await read(made, 'pending', has('10000'))
      expect(await world.attention(made.id)).toEqual([])
      expect(await world.parts(made.id)).toEqual(['10000 counted', '10000 returned', '-10000 returned'])
    })

    test('by another operator, who had looked before the partner gave it back, is refused', async () => {
      const made = await world.opened()
      await close(made, 'expired')
      await close(made, 'listening_ended')
      await read(made, 'pending', has('10000'))
      const { version } = await world.payment(made.id)
      await world.refund(made.id, { attempt: made.attemptId }, says('refunded', has('10000')))
      const order = { paymentId: made.id, decision: 'recordExternalRefund', ...NOTE, version } as const
      await expect(perform(world.activities().decide, order)).rejects.toThrow('has changed since you looked')
      // Another try of what was recorded.
      expect(await perform(world.activities().decide, order, { attempt: 2 })).toMatchObject({ refunded: true })
    })

    test('is not what the merchant was paid for, and the partner has again', async () => {
      const made = await world.settling()
      await world.settle(made.id)
      await read(made, 'pending', has('6000'))
      await world.decide(made.id, 'approve')
      await read(made, 'pending', MISFIT)
      await expect(byHand(made)).rejects.toThrow('The payout exists')
    })
  })

  test('what is shown first of two incidents is what an approval deals with, though it was said anew', async () => {
    const { made, other } = await world.two()
    await readOther(other, has('10000'))
    await settle(made)
    await read(made, 'pending', MISFIT)
    await readOther(other, NOTHING)
    const { payment } = await read(made, 'pending', OTHER_WORDS)
    expect(payment.incidents).toEqual(['misfit', 'chargeback'])
    await world.decide(made.id, 'approve')
    expect(await world.attention(made.id)).toEqual(['chargeback'])
  })

  describe('what does not fit goes back by the partner', () => {
    test('a partner that refuses our refund because it has carried it out leaves the payment refunded', async () => {
      const made = await world.opened()
      await read(made, 'pending', MISFIT)
      await world.refund(made.id, {}, says('pending', MISFIT))
      await read(made, 'refused', GONE)
      expect(await statusOf(made)).toBe('refunded')
    })

    test('by itself: the same', async () => {
      const made = await world.opened()
      await read(made, 'pending', MISFIT)
      await read(made, 'pending', GONE)
      expect(await statusOf(made)).toBe('refunded')
      expect(await world.attention(made.id)).toEqual([])
    })
  })

  test('paid money of which the order says in another currency that it is not there is in doubt', async () => {
    const made = await world.paid()
    await read(made, 'pending', { ...NOTHING, amount: { minor: '10000', currency: 'USD' } })
    expect(await world.payment(made.id)).toMatchObject({ status: 'under_review', parkReason: 'order_changed' })
  })
})

/** A doubt that holds a payout ends when the partner says what is there, and by no word that says less. */
describe('a doubt that is lifted', () => {
  const ON_HOLD = { status: 'on_hold', received: eur('4000') } as const
  const WITHHELD = expect.stringContaining('The partner withholds the money of this order')

  const read = (made: Made, said: Partial<PartnerOrder>) => world.read(made, world.says(said))
  /** What a decision that sets money going is told, which has the order read first. */
  const told = async (made: Made, said: Partial<PartnerOrder>) =>
    whyNotThere(await read(made, said), { orderChanged: false })

  async function doubtful(): Promise<Made> {
    const made = await world.settling()
    await read(made, PART)
    expect(await stateOf(made)).toEqual(['under_review', 'payout_held'])
    return made
  }
  const acknowledged = async (made: Made) => void (await world.decide(made.id, 'acknowledge'))

  describe.each([
    ['has it on hold, with less', ON_HOLD, async () => {}],
    ['says that nothing has come', { status: 'open', received: null } as const, async () => {}],
    ['has it on hold, and the change is acknowledged', { ...ON_HOLD, amount: eur('15000') }, acknowledged],
  ])('a payout that is held for a doubt, whose order fits again, and the partner %s', (_, said, decided) => {
    const withheld = async () => {
      const made = await doubtful()
      await decided(made)
      expect(await told(made, said)).toEqual(WITHHELD)
      return made
    }

    // Its doubt was gone, and it was paid out: the partner had 40.00 EUR of 100.00.
    test('is not paid out, and an operator sees why', async () => {
      const made = await withheld()
      expect(await world.attention(made.id)).toEqual([
        'misfit asked for 150.00 EUR, received 40.00 EUR',
        'parked payout_held',
      ])
      await expect(world.decide(made.id, 'retry')).rejects.toThrow('and wait until the partner reports what is there')
      expect(await stateOf(made)).toEqual(['under_review', 'payout_held'])
    })

    test('a payout held for a doubt is voided when the partner reports less', async () => {
      const made = await withheld()
      await read(made, { status: 'paid', received: eur('4000') })
      expect(await stateOf(made)).toEqual(['under_review', 'funds_reversed'])
      expect(await world.attention(made.id)).toEqual(['parked funds_reversed'])
    })

    test('a payout held for a doubt is paid out when the partner reports all of the money', async () => {
      const made = await withheld()
      expect(await told(made, { status: 'paid', received: eur('10000') })).toBeNull()
      expect(await world.attention(made.id)).toEqual(['parked payout_held'])
      expect((await world.decide(made.id, 'retry')).payment.status).toBe('settling')
    })
  })

  test('a change that was acknowledged before the partner said what is there is not to be acknowledged again', async () => {
    const made = await doubtful()
    await acknowledged(made)
    expect(offeredDecisions(snapshotOf(await world.state(made.id)))).toEqual(['retry'])
    const { version } = await world.payment(made.id)
    await acknowledged(made)
    expect((await world.payment(made.id)).version).toBe(version)
  })

  test('a hold that came before the doubt is not lifted while the partner has the money on hold', async () => {
    const made = await world.settling()
    await world.decide(made.id, 'hold')
    await read(made, PART)
    expect(await told(made, ON_HOLD)).toEqual(WITHHELD)
    expect(await told(made, { status: 'paid', received: eur('10000') })).toBeNull()
    expect((await world.decide(made.id, 'release')).payment.status).toBe('settling')
  })

  test('money that is on hold after its sale, without a doubt, stops nothing', async () => {
    const made = await world.settling()
    await world.decide(made.id, 'hold')
    expect(await told(made, ON_HOLD)).toBeNull()
    expect((await world.decide(made.id, 'release')).payment.status).toBe('settling')
  })
})

/** What an operator has closed once, before the order fitted and its money was the payment's; then it is said again. */
describe('words that are said again', () => {
  const FITS = { status: 'paid', received: eur('10000') } as const
  const WHOLE = { status: 'paid', amount: eur('15000'), received: eur('15000') } as const
  const LISTED = 'misfit asked for 150.00 EUR, received 40.00 EUR'

  /** The partner says this of the order, and answers a refund so. */
  const says = (order: Partial<PartnerOrder>, refund: Refunding = 'pending') => world.says(order, { refund })
  const read = (made: Made, ...said: Parameters<typeof says>) => world.read(made, says(...said))
  const expire = ({ id }: Made) =>
    perform(world.activities().closeUnpaid, { paymentId: id, as: 'expired', expiresAt: 0 })

  /** It expired, an operator closed what was said of its order, and then the order fitted and was paid. */
  async function paidAfter(said: Partial<PartnerOrder>): Promise<Made> {
    const made = await world.opened()
    await expire(made)
    await read(made, said)
    await world.decide(made.id, 'approve')
    expect(await world.attention(made.id)).toEqual([])
    await read(made, FITS)
    expect(await stateOf(made)).toEqual(['processing', null])
    return made
  }

  async function settling(made: Made): Promise<Made> {
    await world.handOver(made.id)
    expect(await stateOf(made)).toEqual(['settling', null])
    return made
  }

  describe('an order that has less money, in words that an operator closed before it fitted', () => {
    test('is not converted', async () => {
      const made = await paidAfter(PART)
      expect(await read(made, PART)).not.toMatchObject({ whole: true })
      expect(await stateOf(made)).toEqual(['under_review', 'order_changed'])
      expect(await world.attention(made.id)).toEqual([LISTED, 'parked order_changed'])
      await read(made, FITS)
      expect(await stateOf(made)).toEqual(['processing', null])
    })

    test('is not paid out', async () => {
      const made = await settling(await paidAfter(PART))
      await read(made, PART)
      expect(await stateOf(made)).toEqual(['under_review', 'payout_held'])
      expect(await world.attention(made.id)).toEqual([LISTED, 'parked payout_held'])
    })

    test('an order with less money, of a payment that the operator had rejected, is not paid out', async () => {
      const made = await world.opened()
      await read(made, PART)
      await world.decide(made.id, 'reject')
      await world.decide(made.id, 'approve')
      await read(made, FITS)
      await world.decide(made.id, 'approve')
      await settling(made)
      await read(made, PART)
      expect(await stateOf(made)).toEqual(['under_review', 'payout_held'])
    })

    test('does not go on after a refused refund', async () => {
      const made = await paidAfter(PART)
      await world.decide(made.id, 'hold')
      await world.refund(made.id, {}, says(FITS))
      await world.decide(made.id, 'release')
      await read(made, { ...FITS, status: 'on_hold' }, 'refused')
      expect(await stateOf(made)).toEqual(['under_review', 'order_changed'])
      await read(made, PART)
      expect(await stateOf(made)).toEqual(['under_review', 'order_changed'])
      expect(await world.attention(made.id)).toEqual([LISTED, 'parked order_changed'])
    })
  })

  // Each decision was refused because of the words, and acknowledging them because there was nothing to acknowledge.
  test('an order that has all of the money, in words that were closed before, goes on, and can be acknowledged', async () => {
    const made = await paidAfter(WHOLE)
    expect(await read(made, WHOLE)).toMatchObject({ understood: false, whole: true })
    expect(await stateOf(made)).toEqual(['processing', null])
    expect(await world.attention(made.id)).toEqual(['misfit asked for 150.00 EUR, received 150.00 EUR'])
    await world.decide(made.id, 'acknowledge')
    expect(await world.attention(made.id)).toEqual([])
  })

  describe('what stops nothing stays closed when it is said again', () => {
    test('because the payment has no money', async () => {
      const made = await world.opened()
      await expire(made)
      await read(made, PART)
      await world.decide(made.id, 'approve')
      await read(made, PART)
      expect(await world.attention(made.id)).toEqual([])
    })

    test('because the payment has money of another order', async () => {
      const { made, other } = await world.two()
      const { id, attemptId } = other
      await expire(made)
      await read(made, PART)
      await world.decide(id, 'approve')
      await world.read(other, world.says(FITS, { partner: 'card_partner' }))
      expect(await world.payment(id)).toMatchObject({ status: 'processing', paidAttemptId: attemptId })
      await read(made, PART)
      expect(await world.attention(id)).toEqual([])
    })

    test('because the payment is over', async () => {
      const made = await settling(await paidAfter(PART))
      await world.settle(made.id)
      await read(made, PART)
      expect(await world.attention(made.id)).toEqual([])
      expect((await world.payment(made.id)).closedAt).not.toBeNull()
    })
  })
})
