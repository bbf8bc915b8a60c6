import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import type { Db } from '../../../src/db/db.ts'
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
    expect(await world.attention(first.id)).toEqual(['parked operator_hold', 'surplus 100.00 EUR'])
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
    expect(await world.attention(id)).toEqual(['surplus 100.00 EUR'])
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
      expect(await world.attention(made.id)).toEqual(['surplus 25.00 EUR'])
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

describe('refused refunds', () => {
  /** 100.00 EUR that the payment counts, in two parts, and 25.00 EUR beyond, while an operator holds it. */
  async function heldWithSurplus() {
    const { id, attemptId } = await world.paid('6000')
    for (const receivedMinor of ['10000', '12500']) {
      await world.act(attemptId, { action: 'top_up', receivedMinor })
      await world.read({ id, attemptId })
    }
    await world.decide(id, 'hold')
    return { id, attemptId }
  }

  describe('a refund that the partner refuses', () => {
    test('leaves each part where it was: what was counted is counted, what was surplus is surplus', async () => {
      const { id, attemptId } = await heldWithSurplus()
      await world.fault({ fault: 'refund_refused', attemptId })
      await expect(world.refund(id)).rejects.toMatchObject({
        message: expect.stringContaining('the balance is too low'),
      })
      expect(await world.parts(id)).toEqual(['6000 counted', '4000 counted', '2500 surplus'])
      expect((await world.decide(id, 'release')).payment.status).toBe('processing')
      await world.convert(id)
      expect((await world.payment(id)).usdc?.gross).toBe('108000000')
      expect(await world.attention(id)).toEqual(['surplus 25.00 EUR'])
    })

    test('what the partner took back during a refused refund is taken from the surplus first', async () => {
      const { id, attemptId } = await heldWithSurplus()
      await world.fault({ fault: 'refund_pending', seconds: 600, attemptId })
      await world.refund(id)
      const less = { status: 'paid', received: { minor: '9000', currency: 'EUR' } } as const
      await world.read({ id, attemptId }, world.says(less, { refund: 'refused' }))
      expect(await world.parts(id)).toEqual([
        '6000 counted',
        '4000 counted',
        '2500 surplus',
        '-2500 surplus',
        '-1000 counted',
      ])
      expect(await world.books(id)).toEqual(['merchant_payable EUR -9000', 'partner_receivable EUR 9000'])
    })
  })

  describe('a refund that the partner refuses, of a payment that was stopped', () => {
    const PART = { amount: eur('15000'), received: eur('4000') }
    const WHOLE = { amount: eur('15000'), received: eur('15000') }
    const ON_HOLD = { status: 'on_hold' } as const

    /** The partner answers the refund so, and says this of the order. */
    const says = (refund: Refunding, order: Partial<PartnerOrder> = {}) => world.says(order, { refund })
    const refuse = (made: Made) =>
      expect(world.refund(made.id, {}, says('refused'))).rejects.toThrow('balance is too low')
    const standing = async ({ id }: Made) => {
      const { status, parkReason, held } = await world.payment(id)
      return [status, parkReason, held]
    }
    async function converted(): Promise<Made> {
      const made = await world.paid()
      await world.convert(made.id)
      return made
    }
    async function releasedWhileRefunding(made: Made): Promise<Made> {
      await world.decide(made.id, 'hold')
      await world.refund(made.id, {}, says('pending'))
      await world.decide(made.id, 'release')
      return made
    }

    test.each([
      ['before', () => world.paid()],
      ['after', converted],
    ])('%s its conversion by a hold that was released meanwhile: it goes on', async (_, stopped) => {
      const made = await releasedWhileRefunding(await stopped())
      expect(await world.read(made, says('refused'))).toMatchObject({
        payment: { status: 'processing', parkReason: null },
      })
      expect(await world.attention(made.id)).toEqual([])
    })

    test.each([
      ['has less by now', PART],
      ['the partner holds', ON_HOLD],
    ])('a payment with a refused refund whose order %s waits for the partner’s word', async (_, fields) => {
      for (const stopped of [world.paid(), converted()]) {
        const made = await releasedWhileRefunding(await stopped)
        await world.read(made, says('refused', fields))
        expect(await standing(made)).toEqual(['under_review', 'order_changed', false])
        await world.read(made)
        expect(await standing(made)).toEqual(['processing', null, false])
      }
    })

    test('by the proof that its payout can never be paid: it stays so', async () => {
      const made = await world.settling()
      await world.decide(made.id, 'hold')
      await world.voided(made.id)
      await refuse(made)
      expect(await standing(made)).toEqual(['under_review', 'payout_voided', true])
    })

    test.each([
      ['before', () => world.paid()],
      ['after', converted],
    ])('%s its conversion by a hold that is still there: it is held', async (_, stopped) => {
      const made = await stopped()
      await world.decide(made.id, 'hold')
      await refuse(made)
      // What an operator's decision has led to is read at once.
      await world.read(made)
      expect(await standing(made)).toEqual(['under_review', 'operator_hold', true])
      await world.decide(made.id, 'release')
      expect(await standing(made)).toEqual(['processing', null, false])
    })

    test('a payment whose refund is refused in the reading of an order with all of its money is held', async () => {
      const made = await converted()
      await world.decide(made.id, 'hold')
      await world.refund(made.id, {}, says('pending'))
      await world.read(made, says('refused'))
      expect(await standing(made)).toEqual(['under_review', 'operator_hold', true])
    })

    test.each(['order, hold', 'hold, order'])('by a changed order and a hold (%s): both are kept', async (before) => {
      const made = await converted()
      for (const what of before.split(', '))
        await (what === 'hold' ? world.decide(made.id, 'hold') : world.read(made, says('pending', PART)))
      await refuse(made)
      // A changed order is polled, and a hold is not.
      expect(await standing(made)).toEqual(['under_review', 'order_changed', true])
      await world.decide(made.id, 'release')
      expect(await standing(made)).toEqual(['under_review', 'order_changed', false])
      await world.read(made)
      expect(await standing(made)).toEqual(['processing', null, false])
    })

    // The refusal made a hold of it, and its release had all of the payout paid: 60.00 EUR were lost.
    test('a release after a refused refund pays nothing out without the partner’s word while the partner holds less', async () => {
      const made = await converted()
      await world.read(made, says('pending', PART))
      await world.decide(made.id, 'hold')
      const lessOnHold = { status: 'on_hold', received: eur('4000') } as const
      await world.read(made, says('pending', lessOnHold))
      await expect(world.refund(made.id, {}, says('refused', lessOnHold))).rejects.toThrow('balance is too low')
      await world.read(made, says('pending', lessOnHold))
      await world.decide(made.id, 'release')
      await world.read(made, says('pending', lessOnHold))
      expect(await standing(made)).toEqual(['under_review', 'order_changed', false])
      await world.read(made, says('pending', { received: eur('4000') }))
      expect(await standing(made)).toEqual(['under_review', 'payout_voided', false])
      expect(await world.parts(made.id)).toEqual(['10000 counted', '-6000 counted'])
    })

    test('a payment with a second refused refund and a hold still waits for the partner’s word', async () => {
      const made = await releasedWhileRefunding(await converted())
      await world.read(made, says('refused', ON_HOLD))
      await world.decide(made.id, 'hold')
      await refuse(made)
      await world.decide(made.id, 'release')
      expect(await standing(made)).toEqual(['under_review', 'order_changed', false])
    })

    test('a payment with a refused refund, of which all of the money is there before the release, is held', async () => {
      const made = await converted()
      await world.read(made, says('pending', PART))
      await world.decide(made.id, 'hold')
      await refuse(made)
      await world.read(made)
      expect(await standing(made)).toEqual(['under_review', 'operator_hold', true])
    })

    test('by a changed order that was acknowledged: it does not go on before what is missing is counted', async () => {
      const made = await converted()
      await world.read(made, says('pending', PART))
      await world.decide(made.id, 'acknowledge')
      await refuse(made)
      expect(await standing(made)).toEqual(['under_review', 'order_changed', false])
      await world.read(made, says('pending', PART))
      expect((await world.payment(made.id)).status).toBe('under_review')
      expect(await world.parts(made.id)).toEqual(['10000 counted', '-6000 counted'])
    })

    test('a changed order that was acknowledged during a refund does not continue by an older answer', async () => {
      const made = await converted()
      await world.read(made, says('pending', PART))
      await world.refund(made.id, {}, says('pending'))
      const meanwhile = () => world.decide(made.id, 'acknowledge')
      await world.read(made, world.says(WHOLE, { refund: 'refused', meanwhile }))
      expect(await standing(made)).toEqual(['under_review', 'order_changed', false])
    })
  })

  describe('a refund that was carried out', () => {
    test('asked for again is answered from the rows, and nobody is asked', async () => {
      const { id } = await world.paid('6000')
      await world.refund(id)
      const { version } = await world.payment(id)
      const partners = { ...world.deps.partners, wallet_app: { ...world.deps.partners.wallet_app } }
      partners.wallet_app.refundOrder = () => Promise.reject(new Error('the partner was asked again'))
      let transactions = 0
      const db: Db = {
        ...world.deps.db,
        transaction: (work) => {
          transactions++
          return world.deps.db.transaction(work)
        },
      }
      expect(await world.refund(id, {}, { partners, db })).toMatchObject({ refunded: true, payment: { version } })
      expect(transactions).toBe(1)
    })

    test('leaves what comes after it to another way: the partner’s key is one for the life of the order', async () => {
      const { id, attemptId } = await world.paid('6000')
      await world.decide(id, 'recordExternalRefund')
      await world.act(attemptId, { action: 'top_up', receivedMinor: '7000' })
      await world.read({ id, attemptId })
      await expect(world.refund(id, { attempt: attemptId })).rejects.toMatchObject({
        type: 'DecisionRefused',
        message:
          'wallet_app refunds only whole orders, and money of this one was refunded before: use recordExternalRefund for the rest',
      })
      expect(await world.parts(id)).toEqual(['6000 returned', '-6000 returned', '1000 surplus'])
      await world.decide(id, 'recordExternalRefund', { attempt: attemptId })
      expect(await world.attention(id)).toEqual([])
    })
  })
})

/** A refund that the partner refuses in the end, and of which it took a part back while it was being carried out. */
describe('a refused refund of an order with less', () => {
  const LESS = { received: eur('4000') }
  const A_LITTLE_LESS = { received: eur('9950') }
  const CHANGED = { amount: eur('15000'), received: eur('4000') }
  const ON_HOLD = { status: 'on_hold' } as const

  /** The partner answers the refund so, and says this of the order. */
  const says = (refund: Refunding, order: Partial<PartnerOrder> = {}) => world.says(order, { refund })
  const read = (made: Made, ...said: Parameters<typeof says>) => world.read(made, says(...said))
  const standing = async ({ id }: Made) => {
    const { payment, attempts } = await world.state(id)
    const { status, parkReason, held, confirmed } = payment
    return [status, parkReason, held, attempts[0]?.status, confirmed?.minor]
  }
  const TOO_LITTLE = ['under_review', 'underpaid', false, 'underpaid', '4000']

  /** Its refund is being carried out, while it waits for this word of its partner. */
  async function refundingAt(said: Partial<PartnerOrder>): Promise<Made> {
    const made = await world.paid()
    await read(made, 'pending', said)
    await world.refund(made.id, {}, says('pending', said))
    return made
  }
  async function refundingAfterHold(): Promise<Made> {
    const made = await world.paid()
    await world.decide(made.id, 'hold')
    await world.refund(made.id, {}, says('pending'))
    return made
  }

  /** The order for what was confirmed before is ended first. */
  async function isSold(id: string): Promise<void> {
    for (const _ of ['ended', 'asked for anew'])
      await perform(world.activities().convertToUsdc, { paymentId: id, last: false })
    expect((await world.payment(id)).usdc).not.toBeNull()
  }

  describe('what is left is too little, and waits for an operator who can decide', () => {
    test.each([
      ['a changed order', CHANGED],
      ['what the partner held', ON_HOLD],
    ])('%s', async (_, said) => {
      const made = await refundingAt(said)
      await read(made, 'refused', LESS)
      expect(await standing(made)).toEqual(TOO_LITTLE)
      expect(await world.parts(made.id)).toEqual(['10000 counted', '-6000 counted'])
      expect(await world.attention(made.id)).toEqual(['parked underpaid'])
      expect((await world.payment(made.id)).exception).toBe('underpaid')
      // The partner's word does not make it enough, and all of it does.
      await read(made, 'refused', LESS)
      expect(await standing(made)).toEqual(TOO_LITTLE)
      await read(made, 'refused')
      expect(await standing(made)).toEqual(['processing', null, false, 'confirmed', '10000'])
    })

    test('a payment of which too little is left is approved or refunded', async () => {
      const made = await refundingAt(ON_HOLD)
      await read(made, 'refused', LESS)
      expect((await world.decide(made.id, 'approve')).payment.status).toBe('processing')
      await isSold(made.id)

      const other = await refundingAt(ON_HOLD)
      await read(other, 'refused', LESS)
      await world.decide(other.id, 'recordExternalRefund')
      expect((await world.payment(other.id)).status).toBe('refunded')
      expect(await world.books(other.id)).toEqual(['exchange EUR -4000', 'partner_receivable EUR 4000'])
    })

    test('too little is left when the answer to the operator’s own decision refuses the refund', async () => {
      const made = await refundingAt(ON_HOLD)
      await read(made, 'pending', LESS)
      expect((await standing(made))[1]).toBe('partner_hold')
      await expect(world.refund(made.id, {}, says('refused'))).rejects.toThrow('balance is too low')
      expect(await standing(made)).toEqual(TOO_LITTLE)
      expect(await world.checkout.timeline(made.id, 'attempt.underpaid')).toHaveLength(1)
    })

    test('too little is left after a hold was released during the refund', async () => {
      const made = await refundingAfterHold()
      await world.decide(made.id, 'release')
      await read(made, 'refused', LESS)
      expect(await standing(made)).toEqual(TOO_LITTLE)
    })

    test('too little is left when a hold is released after the refusal', async () => {
      const made = await refundingAfterHold()
      await read(made, 'refused', LESS)
      expect(await standing(made)).toEqual(['under_review', 'operator_hold', true, 'underpaid', '4000'])
      await world.decide(made.id, 'release')
      expect(await standing(made)).toEqual(TOO_LITTLE)
    })

    // It waited for a word that makes nothing of too little, and no decision approves what waits for a partner.
    test.each([
      ['fits again', {}],
      ['has all of it by another amount', { amount: eur('15000') }],
    ])('too little is left of a doubtful payment with a hold, once its order %s', async (_, again) => {
      const made = await world.paid()
      await world.decide(made.id, 'hold')
      await read(made, 'pending', LESS)
      await read(made, 'pending', { amount: eur('15000'), received: eur('3000') })
      await expect(world.refund(made.id, {}, says('refused', LESS))).rejects.toThrow('balance is too low')
      expect((await standing(made))[1]).toBe('order_changed')
      await read(made, 'pending', { ...LESS, ...again })
      expect(await standing(made)).toEqual(['under_review', 'underpaid', true, 'underpaid', '4000'])
      await world.decide(made.id, 'release')
      expect(await standing(made)).toEqual(TOO_LITTLE)
      expect((await world.decide(made.id, 'approve')).payment.status).toBe('processing')
    })

    test('an underpaid payment is approved with less after a refused refund', async () => {
      const made = await world.paid('6000')
      await world.refund(made.id, {}, says('pending'))
      await read(made, 'refused', LESS)
      expect(await standing(made)).toEqual(TOO_LITTLE)
      expect((await world.decide(made.id, 'approve')).payment.status).toBe('processing')
    })
  })

  describe('what is left is enough, and goes on', () => {
    test('where a hold was released meanwhile, by the answer that came with the refusal', async () => {
      const made = await refundingAfterHold()
      await world.decide(made.id, 'release')
      await read(made, 'refused', A_LITTLE_LESS)
      expect(await standing(made)).toEqual(['processing', null, false, 'confirmed', '9950'])
    })

    test('where the partner held it, by its next word', async () => {
      const made = await refundingAt(ON_HOLD)
      await read(made, 'refused', A_LITTLE_LESS)
      await read(made, 'refused', A_LITTLE_LESS)
      expect(await standing(made)).toEqual(['processing', null, false, 'confirmed', '9950'])
      await isSold(made.id)
    })
  })
})

/** The partner refuses a refund, and it is asked for again by the same key: what is still on its way was said of the first one. */
describe('a refund that is asked for again', () => {
  type Wallet = PaymentDeps['partners']['wallet_app']
  const answers = (changes: Partial<Wallet>): Partial<PaymentDeps> => {
    const { wallet_app, ...others } = world.deps.partners
    return { partners: { ...others, wallet_app: { ...wallet_app, ...changes } } }
  }
  const pending: Partial<Wallet> = { refundOrder: async () => ({ kind: 'pending' }) }
  const refused: Partial<Wallet> = { refundOrder: async () => ({ kind: 'refused', reason: 'the balance is too low' }) }
  async function refunding() {
    const made = await world.paid()
    await world.decide(made.id, 'hold')
    await world.refund(made.id, {}, answers(pending))
    return made
  }
  const isStillAsked = async (id: string) => {
    expect((await world.state(id)).intents).toMatchObject([{ kind: 'refund', state: 'pending' }])
    expect(await world.parts(id)).toEqual(['10000 returning'])
    await world.decide(id, 'release')
    expect((await world.payment(id)).status).toBe('under_review')
  }

  describe('a refund that is asked for again after the partner refused it', () => {
    test('is not taken back by a reading that heard of the first one', async () => {
      const made = await refunding()
      const { wallet_app } = world.deps.partners
      const late: Wallet['readOrder'] = async (asked, signal) => {
        const order = await wallet_app.readOrder(asked, signal)
        await world.read(made, answers(refused))
        await world.refund(made.id, {}, answers(pending))
        return order
      }
      await world.read(made, answers({ ...refused, readOrder: late }))
      await isStillAsked(made.id)
      await world.read(made, answers({ refundOrder: async () => ({ kind: 'refunded' }) }))
      expect(await world.payment(made.id)).toMatchObject({ status: 'refunded' })
    })

    test('a refund that is asked for again is not taken back by the answer to the decision that asked for the first one', async () => {
      const made = await world.paid()
      await world.decide(made.id, 'hold')
      const late: NonNullable<Wallet['refundOrder']> = async () => {
        await world.read(made, answers(refused))
        await world.refund(made.id, {}, answers(pending))
        return { kind: 'refused', reason: 'the balance is too low' }
      }
      expect(await world.refund(made.id, {}, answers({ refundOrder: late }))).toMatchObject({ refunded: false })
      await isStillAsked(made.id)
    })

    // The late money was called given back, and its workflow ended.
    test('a refund that is asked for again is not reported as done by the answer to the first decision', async () => {
      const made = await world.paid()
      await world.decide(made.id, 'hold')
      const late: NonNullable<Wallet['refundOrder']> = async () => {
        await world.read(made, answers(refused))
        await world.refund(made.id, {}, answers(pending))
        return { kind: 'refunded' }
      }
      expect(await world.refund(made.id, {}, answers({ refundOrder: late }))).toMatchObject({ refunded: false })
      await isStillAsked(made.id)
    })

    test('a refund of late money that is asked for again is not taken back by an answer to the first one', async () => {
      const made = await world.opened()
      await perform(world.activities().closeUnpaid, { paymentId: made.id, as: 'expired', expiresAt: 0 })
      await world.checkout.db.query('update payment set listen_ended = true where id = $1', [made.id])
      const { wallet_app } = world.deps.partners
      const paid = async (...asked: Parameters<Wallet['readOrder']>) => {
        const order = await wallet_app.readOrder(...asked)
        return order === null ? null : { ...order, status: 'paid' as const, received: order.amount }
      }
      await world.read(made, answers({ readOrder: paid }))
      expect(await world.parts(made.id)).toEqual(['10000 late'])
      await world.refund(made.id, { attempt: made.attemptId }, answers(pending))
      const late: Wallet['readOrder'] = async (asked, signal) => {
        await world.read(made, answers({ ...refused, readOrder: paid }))
        await world.refund(made.id, { attempt: made.attemptId }, answers(pending))
        return paid(asked, signal)
      }
      await world.read(made, answers({ ...refused, readOrder: late }))
      expect(await world.parts(made.id)).toEqual(['10000 returning'])
    })
  })
})
