import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { newId } from '../../../src/ids.ts'
import { createMoneyWorld, eur, type Made, type MoneyWorld, NOTE } from './money-world.ts'
import { partnerSays, type Refunding } from './partner-says.ts'
import { perform } from './world.ts'

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())
beforeEach(() => world.clearFaults())

/** Two orders have money that goes back, one after the other, and the second refund names none of them. */
describe('refunds of two orders', () => {
  type Two = { readonly id: string; readonly a: string; readonly b: string }
  const PAID = { status: 'paid', received: eur('10000') } as const

  /** What both partners say of their orders, and how they answer a refund. */
  function says(order: Partial<PartnerOrder>, refund: Refunding) {
    const first = partnerSays(world.deps, order, { refund })
    return partnerSays({ ...world.deps, ...first }, order, { refund, partner: 'card_partner' })
  }

  async function two(order: Partial<PartnerOrder>): Promise<Two> {
    const { made, other } = await world.two()
    for (const one of [made, other]) await world.read(one, says(order, 'pending'))
    return { id: made.id, a: made.attemptId, b: other.attemptId }
  }
  /** Two orders of other amounts than were asked for. */
  const misfits = () => two({ ...PAID, amount: eur('15000') })
  const refund = ({ id }: Two, attempt: string | undefined, answer: Refunding, attempts = 1) =>
    perform(
      world.activities(says(PAID, answer)).refundAttempt,
      { paymentId: id, ...NOTE, ...(attempt === undefined ? {} : { attempt }) },
      { attempt: attempts },
    )
  const statuses = async ({ id }: Two) => (await world.state(id)).attempts.map(({ status }) => status)

  test('after one of them has gone back, an unnamed refund is of the other one', async () => {
    const made = await misfits()
    await expect(refund(made, undefined, 'refunded')).rejects.toThrow('Name the attempt')
    await refund(made, made.a, 'refunded')
    expect(await statuses(made)).toEqual(['refunded', 'on_hold'])
    // It was called done, and neither the partner nor a row had heard of it.
    expect(await refund(made, undefined, 'refunded')).toMatchObject({ refunded: true })
    expect(await statuses(made)).toEqual(['refunded', 'refunded'])
    expect(await world.payment(made.id)).toMatchObject({ status: 'refunded' })
    expect(await refund(made, undefined, 'refunded')).toMatchObject({ refunded: true })
  })

  test('an unnamed refund from elsewhere, after one of them has gone back, is of the other one, which the operator has looked at', async () => {
    const made = await misfits()
    await refund(made, made.a, 'refunded')
    const { version } = await world.payment(made.id)
    const order = { paymentId: made.id, decision: 'recordExternalRefund', ...NOTE } as const
    const stale = perform(world.activities().decide, { ...order, version: version - 1 })
    await expect(stale).rejects.toThrow('The payment has changed since you looked at it')
    const recorded = await perform(world.activities().decide, { ...order, version })
    expect(recorded).toMatchObject({ refunded: true, payment: { status: 'refunded' } })
    expect(await statuses(made)).toEqual(['refunded', 'refunded'])
  })

  test('another try of an unnamed refund, whose answer was lost, gives nothing else back', async () => {
    const made = await misfits()
    await refund(made, made.a, 'refunded')
    const before = await world.state(made.id)
    expect(await refund(made, undefined, 'refunded', 2)).toMatchObject({ refunded: false, unsure: true })
    expect(await world.state(made.id)).toEqual(before)
  })

  test('while one of them is being carried out, an unnamed refund in the same words must name its own', async () => {
    const made = await two(PAID)
    await world.decide(made.id, 'hold')
    await refund(made, made.a, 'pending')
    await expect(refund(made, undefined, 'pending')).rejects.toThrow(`${made.a} or ${made.b}`)
    const asked = async () => (await world.state(made.id)).intents.map(({ attemptId }) => attemptId)
    expect(await asked()).toEqual([made.a])
    // The same decision changes nothing more, whatever came meanwhile: what it has stored is carried out by the polls.
    expect(await refund(made, undefined, 'pending', 2)).toMatchObject({ refunded: false, unsure: true })
    expect(await asked()).toEqual([made.a])
    await refund(made, made.b, 'pending')
    expect(await asked()).toEqual([made.a, made.b])
  })

  test('another try in the words of a refund that is being carried out may have meant the other money: nobody is told that it is done', async () => {
    const made = await misfits()
    await refund(made, made.a, 'pending')
    await expect(refund(made, undefined, 'refunded')).rejects.toThrow('Name the attempt')
    expect(await refund(made, undefined, 'refunded', 2)).toMatchObject({ refunded: false, unsure: true })
    expect(await statuses(made)).toEqual(['on_hold', 'on_hold'])
  })
})

/** Two orders have money, and a refund names neither. */
describe('unnamed refunds', () => {
  /** Whatever was read of the first order, the buyer has paid it, and its partner refunds. */
  const paying = () =>
    world.says({ status: 'paid', received: { minor: '10000', currency: 'EUR' } }, { refund: 'refunded' })

  /**
   * The second order is the payment's, and its surplus was given back from elsewhere; then the first one was paid too. The
   * payment is held between its conversion and its payout.
   */
  async function held() {
    const { made: first, other: second } = await world.two()
    for (const [action, receivedMinor] of [
      ['pay', '10000'],
      ['top_up', '12500'],
    ]) {
      await world.sandbox.act('card_partner', second.attemptId, { action, receivedMinor })
      await world.read(second)
    }
    await world.decide(first.id, 'recordExternalRefund', { attempt: second.attemptId })
    await world.read(first, paying())
    await world.convert(first.id)
    await world.decide(first.id, 'hold')
    expect(await world.attention(first.id)).toEqual(['parked operator_hold', 'surplus 10000 EUR'])
    return { id: first.id, own: second.attemptId, other: first.attemptId }
  }

  test('a refund that could be of the payment’s own money must name whose it is: nothing was changed', async () => {
    const { id, own, other } = await held()
    const before = await world.state(id)
    await expect(world.refund(id, {}, paying())).rejects.toMatchObject({
      type: 'DecisionRefused',
      message: `Name the attempt whose money goes back, as "attempt": ${other} or ${own}`,
    })
    expect(await world.state(id)).toEqual(before)
    expect((await world.refund(id, { attempt: other }, paying())).refunded).toBe(true)
    expect(await world.payment(id)).toMatchObject({ status: 'under_review', parkReason: 'operator_hold' })
    expect((await world.decide(id, 'release')).payment.status).toBe('processing')
  })

  test('a refund that names the payment’s own money ends the payment', async () => {
    const { id, own } = await held()
    await world.decide(id, 'recordExternalRefund', { attempt: own })
    expect(await world.payment(id)).toMatchObject({ status: 'refunded' })
    expect(await world.attention(id)).toEqual(['surplus 10000 EUR'])
  })

  test('a refund through the partner must name whose it is where other money goes back by hand alone', async () => {
    const { id, own, other } = await held()
    await world.sandbox.act('card_partner', own, { action: 'top_up', receivedMinor: '15000' })
    await world.read({ id, attemptId: own })
    await expect(world.refund(id, {}, paying())).rejects.toThrow(`${other} or ${own}`)
  })
})

describe('a silent partner', () => {
  test('a partner that does not answer is not waited for: the refund stays asked for, and a later reading ends it', async () => {
    const { id, attemptId } = await world.paid('6000')
    await world.fault({ fault: 'server_error', operation: 'refund', attemptId })
    await expect(world.refund(id)).rejects.toMatchObject({ type: 'Partner.unknown' })
    const again = await perform(world.activities().refundAttempt, { paymentId: id, ...NOTE }, { attempt: 2 })
    expect(again).toMatchObject({ refunded: false, message: 'no answer yet: the partner is asked again' })
    expect(again.payment).toMatchObject({ status: 'under_review', refunding: [attemptId] })
    expect(await world.parts(id)).toEqual(['6000 returning'])
    await world.clearFaults()
    expect((await world.read({ id, attemptId })).payment).toMatchObject({ status: 'refunded' })
    expect(await world.parts(id)).toEqual(['6000 returned', '-6000 returned'])
    expect(await world.books(id)).toEqual([])
  })

  test('what is not the silence of the partner is tried again', async () => {
    const { id } = await world.paid('6000')
    const real = world.deps.partners.wallet_app
    const wallet_app = { ...real, refundOrder: () => Promise.reject(new Error('a defect of ours')) }
    const activities = world.activities({ partners: { ...world.deps.partners, wallet_app } })
    const trying = perform(activities.refundAttempt, { paymentId: id, ...NOTE }, { attempt: 2 })
    await expect(trying).rejects.toThrow('a defect of ours')
  })
})

/** What the merchant reads of a payment whose money was there, and has gone before it was sold. */
describe('money that is taken back', () => {
  const close = ({ id }: Made, as: 'canceled' | 'expired') =>
    perform(world.activities().closeUnpaid, { paymentId: id, as, expiresAt: 0 })
  const says = (made: Made, order: Partial<PartnerOrder>) => world.read(made, world.says(order))
  const paid = { status: 'paid', received: eur('10000') } as const
  const takenBack = { status: 'declined', received: null, failureCode: 'reversed' } as const
  const told = async ({ id }: Made) => {
    const { status, exception } = await world.payment(id)
    return { status, exception }
  }

  describe('late money that the partner takes back', () => {
    // It was open again, and could be paid by another order.
    test('leaves a payment canceled that its merchant had canceled', async () => {
      const made = await world.opened()
      await close(made, 'canceled')
      await says(made, paid)
      expect(await told(made)).toEqual({ status: 'processing', exception: 'paid_late' })
      await says(made, takenBack)
      expect(await told(made)).toEqual({ status: 'canceled', exception: null })
      const order = {
        paymentId: made.id,
        attemptId: newId('attempt'),
        provider: 'card_partner',
        method: 'card',
      } as const
      const { answer } = await perform(world.activities().openPartnerOrder, order)
      expect(answer).toEqual({ kind: 'not_payable', status: 'canceled' })
      expect(await world.books(made.id)).toEqual([])
      const ends = (await world.events(made.id)).filter(
        (type) => type === 'payment.canceled' || type === 'payment.processing',
      )
      expect(ends).toEqual(['payment.canceled', 'payment.processing', 'payment.canceled'])
      // It is waited for as after any cancellation.
      await says(made, paid)
      expect(await told(made)).toEqual({ status: 'processing', exception: 'paid_late' })
    })

    test('leaves a payment failed that had failed, and was approved for that money', async () => {
      const made = await world.paid()
      await says(made, { status: 'refunded', received: null })
      expect(await told(made)).toEqual({ status: 'failed', exception: null })
      const other = { id: made.id, attemptId: newId('attempt') }
      await world.checkout.change(made.id, (work) =>
        work.addAttempt({ id: other.attemptId, provider: 'wallet_app', method: 'banking_app', asked: eur('10000') }),
      )
      const order = { attemptId: other.attemptId, reference: 'ref' }
      const wallet = world.deps.partners.wallet_app
      const answers = (said: Partial<PartnerOrder>) => ({
        partners: {
          ...world.deps.partners,
          wallet_app: {
            ...wallet,
            readOrder: async () =>
              ({
                account: world.deps.accounts.wallet_app,
                amount: eur('10000'),
                failureCode: null,
                ...order,
                ...said,
              }) as PartnerOrder,
          },
        },
      })
      await world.read(other, answers(paid))
      await world.decide(made.id, 'approve')
      expect(await told(made)).toEqual({ status: 'processing', exception: null })
      await world.read(other, answers(takenBack))
      expect(await told(made)).toEqual({ status: 'failed', exception: null })
    })
  })

  // It had expired, and was overpaid; it had failed, and its settlement was delayed.
  describe('what was said of the money is said no more', () => {
    test('an exception about too much money that was taken back ends when the payment expires', async () => {
      const made = await world.paid('15000')
      expect(await told(made)).toEqual({ status: 'processing', exception: 'overpaid' })
      await says(made, takenBack)
      await close(made, 'expired')
      expect(await told(made)).toEqual({ status: 'expired', exception: null })
    })

    test.each([
      ['failed', async (made: Made) => says(made, { status: 'refunded', received: null })],
      [
        'refunded',
        async ({ id }: Made) => {
          await world.decide(id, 'hold')
          await world.decide(id, 'recordExternalRefund')
        },
      ],
    ] as const)('an exception about a delay ends when the payment is %s', async (status, end) => {
      const made = await world.paid()
      await perform(world.activities().markDelayed, made.id)
      expect(await told(made)).toEqual({ status: 'processing', exception: 'settlement_delayed' })
      await end(made)
      expect(await told(made)).toEqual({ status, exception: null })
    })
  })
})

/** Money of an order that comes while its refund is being carried out, which the partner refuses in the end, or does not. */
describe('money that comes during a refund', () => {
  const has = (minor: string): Partial<PartnerOrder> => ({ status: 'paid', received: { minor, currency: 'EUR' } })
  const CHANGED = { ...has('4000'), amount: { minor: '15000', currency: 'EUR' } } as const

  const says = (refund: Refunding, order: Partial<PartnerOrder>) => world.says(order, { refund })
  const read = (made: Made, ...said: Parameters<typeof says>) => world.read(made, says(...said))
  const standing = async ({ id }: Made) => {
    const { payment, attempts } = await world.state(id)
    const { status, parkReason, exception, confirmed } = payment
    return [status, parkReason, exception, attempts[0]?.status, confirmed?.minor]
  }

  /** Its order was changed, and its refund is being carried out; then the partner had less, and then so much. */
  async function refundingWith(minor: string, isSold = false): Promise<Made> {
    const made = await world.paid()
    if (isSold) await world.convert(made.id)
    await read(made, 'pending', CHANGED)
    await world.refund(made.id, {}, says('pending', CHANGED))
    await read(made, 'pending', has('4000'))
    await read(made, 'pending', has(minor))
    return made
  }
  /** Too little was paid, and its refund is being carried out; then the partner had so much. */
  async function completedWhileRefunding(minor: string): Promise<Made> {
    const made = await world.paid('6000')
    await world.refund(made.id, {}, says('pending', has('6000')))
    await read(made, 'pending', has(minor))
    return made
  }

  describe('a refund that is refused, of an order that has all of the money by then', () => {
    // 40.00 EUR were confirmed, and the other 60.00 were nobody's: the whole price could not be settled any more.
    test('a payment whose order had less during a refused refund goes on', async () => {
      const made = await refundingWith('10000')
      await read(made, 'refused', has('10000'))
      expect(await standing(made)).toEqual(['processing', null, null, 'confirmed', '10000'])
      expect(await world.parts(made.id)).toEqual(['10000 counted', '-6000 counted', '6000 counted'])
      expect(await world.attention(made.id)).toEqual([])
    })

    test('a converted payment whose order had less during a refused refund goes on, and nothing is lost', async () => {
      const made = await refundingWith('10000', true)
      await read(made, 'refused', has('10000'))
      expect(await standing(made)).toEqual(['processing', null, null, 'confirmed', '10000'])
      expect((await world.books(made.id)).filter((line) => line.startsWith('chargeback_loss'))).toEqual([])
    })

    test('a payment whose order has more than the price after a refused refund has the rest as surplus', async () => {
      const made = await refundingWith('12500')
      await read(made, 'refused', has('12500'))
      expect(await standing(made)).toEqual(['processing', null, 'duplicate_payment', 'confirmed', '10000'])
      expect(await world.attention(made.id)).toEqual(['surplus 2500 EUR'])
    })

    test('a payment whose order had too little before a refused refund is completed and goes on', async () => {
      const made = await completedWhileRefunding('10000')
      await read(made, 'refused', has('10000'))
      expect(await standing(made)).toEqual(['processing', null, null, 'confirmed', '10000'])
      expect(await world.attention(made.id)).toEqual([])
    })

    test('a payment that is completed during a refund, refused in the answer to the operator, waits for the partner’s word', async () => {
      const made = await completedWhileRefunding('12000')
      await expect(world.refund(made.id, {}, says('refused', has('12000')))).rejects.toThrow('balance is too low')
      expect(await standing(made)).toEqual(['under_review', 'order_changed', 'overpaid', 'confirmed', '12000'])
      await read(made, 'refused', has('12000'))
      expect(await standing(made)).toEqual(['processing', null, 'overpaid', 'confirmed', '12000'])
    })

    test('a payment that has less than the price after a refused refund can be approved', async () => {
      const made = await completedWhileRefunding('8000')
      await read(made, 'refused', has('8000'))
      expect(await standing(made)).toEqual(['under_review', 'underpaid', 'underpaid', 'underpaid', '8000'])
      expect((await world.decide(made.id, 'approve')).payment.status).toBe('processing')
    })
  })

  test.each([
    ['what was too little', () => completedWhileRefunding('10000')],
    ['what was confirmed', () => refundingWith('10000')],
    ['what was sold', () => refundingWith('10000', true)],
  ])('a refund that is carried out takes with it what came meanwhile: %s', async (_, refunding) => {
    const made = await refunding()
    await read(made, 'refunded', { status: 'refunded', received: null })
    expect((await world.payment(made.id)).status).toBe('refunded')
    expect(await world.attention(made.id)).toEqual([])
    expect((await world.books(made.id)).filter((line) => line.startsWith('partner_receivable'))).toEqual([])
  })
})
