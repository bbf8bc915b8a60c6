import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { BEING_REFUNDED } from '../../../src/domain/payment/refund.ts'
import { offeredDecisions, snapshotOf } from '../../../src/domain/payment/snapshot.ts'
import { createMoneyWorld, eur, type Made, type MoneyWorld } from './money-world.ts'
import type { Refunding } from './partner-says.ts'
import { perform } from './world.ts'

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

/** A partner that changes the amount of its order afterwards, and the operator who acknowledges it. */
describe('a changed order', () => {
  /** The partner says that so much was asked for, and that it has so much. */
  const changed = (minor: string, received: string) => world.says({ amount: eur(minor), received: eur(received) })

  async function held(): Promise<Made> {
    const made = await world.paid()
    await world.decide(made.id, 'hold')
    return made
  }

  const snapshot = async (id: string) => snapshotOf(await world.state(id))
  /** What waits, without what the partner said. */
  const waiting = async (id: string) =>
    (await world.attention(id)).map((entry) => entry.replace(/^misfit .*/, 'misfit'))
  const misfits = async (id: string) => (await world.checkout.timeline(id, 'payment.misfit')).map(({ data }) => data)

  describe('an order of which the amount is changed while an operator holds its payment', () => {
    test('is not understood until it is acknowledged; what was counted stays, and the rest is surplus', async () => {
      const made = await held()
      const partner = changed('15000', '15000')
      expect((await world.read(made, partner)).understood).toBe(false)
      expect(await world.attention(made.id)).toEqual([
        'misfit asked for 150.00 EUR, received 150.00 EUR',
        'parked operator_hold',
      ])
      expect(await world.parts(made.id)).toEqual(['10000 counted'])
      expect((await snapshot(made.id)).orderChanged).toBe(true)

      await world.decide(made.id, 'acknowledge')
      expect((await snapshot(made.id)).orderChanged).toBe(false)
      expect((await world.read(made, partner)).understood).toBe(true)
      expect(await world.parts(made.id)).toEqual(['10000 counted', '5000 surplus'])
      expect(await world.payment(made.id)).toMatchObject({
        parkReason: 'operator_hold',
        confirmed: { minor: '10000' },
        exception: 'duplicate_payment',
      })
      expect((await world.decide(made.id, 'release')).payment.status).toBe('processing')
      await world.convert(made.id)
      expect((await world.payment(made.id)).usdc?.gross).toBe('108000000')
      expect(await world.attention(made.id)).toEqual(['surplus 50.00 EUR'])
    })

    test('to a lesser one: what is missing is gone, and the rest is approved or refunded', async () => {
      const made = await held()
      const partner = changed('6000', '6000')
      await world.read(made, partner)
      await world.decide(made.id, 'acknowledge')
      await world.read(made, partner)
      expect(await world.parts(made.id)).toEqual(['10000 counted', '-4000 counted'])
      expect(await world.payment(made.id)).toMatchObject({ exception: 'underpaid', confirmed: { minor: '6000' } })
      // A hold that is lifted is no approval.
      expect((await world.decide(made.id, 'release')).payment).toMatchObject({
        status: 'under_review',
        parkReason: 'underpaid',
        held: false,
      })
      expect((await world.decide(made.id, 'approve')).payment.status).toBe('processing')
    })

    test('an order that is changed to a lesser amount after the conversion has its payout voided', async () => {
      const made = await world.settling()
      await world.decide(made.id, 'hold')
      const partner = changed('6000', '6000')
      await world.read(made, partner)
      await world.decide(made.id, 'acknowledge')
      await world.read(made, partner)
      expect(await world.payment(made.id)).toMatchObject({ status: 'under_review', parkReason: 'funds_reversed' })
      expect((await world.state(made.id)).intents.map(({ kind }) => kind)).toEqual(['void'])
    })

    test('an order that is changed after the conversion, with the same money, lets its payout continue', async () => {
      const made = await world.settling()
      await world.decide(made.id, 'hold')
      const partner = changed('15000', '10000')
      await world.read(made, partner)
      await world.decide(made.id, 'acknowledge')
      expect((await world.read(made, partner)).understood).toBe(true)
      expect((await world.decide(made.id, 'release')).payment.status).toBe('settling')
      await world.settle(made.id)
      expect(await world.attention(made.id)).toEqual([])
    })

    test('is acknowledged as it is: changed once more, it is another misfit', async () => {
      const made = await held()
      await world.read(made, changed('15000', '10000'))
      await world.decide(made.id, 'acknowledge')
      expect((await world.read(made, changed('20000', '20000'))).understood).toBe(false)
      expect(await waiting(made.id)).toEqual(['misfit', 'parked operator_hold'])
      expect(await world.parts(made.id)).toEqual(['10000 counted'])
    })

    test('cannot be acknowledged where anything else does not fit, or nothing was changed', async () => {
      const made = await held()
      const odd = world.says({ account: 'another account', amount: eur('15000') })
      const refusal = { message: expect.stringContaining('there is nothing to acknowledge') }
      await expect(world.decide(made.id, 'acknowledge')).rejects.toMatchObject(refusal)
      await world.read(made, odd)
      expect(await waiting(made.id)).toEqual(['misfit', 'parked operator_hold'])
      expect((await snapshot(made.id)).orderChanged).toBe(false)
      await expect(world.decide(made.id, 'acknowledge')).rejects.toMatchObject(refusal)
    })
  })

  describe('an order of which the amount is changed, and that has less than was paid', () => {
    const stateOf = async (id: string) => {
      const { status, parkReason } = await world.payment(id)
      return [status, parkReason]
    }
    const doubtful = async () => {
      const made = await world.paid()
      const partner = changed('15000', '4000')
      await world.read(made, partner)
      return { made, partner }
    }

    test('is not converted until it is acknowledged, and then is too little', async () => {
      const { made, partner } = await doubtful()
      expect(await stateOf(made.id)).toEqual(['under_review', 'order_changed'])
      await world.decide(made.id, 'acknowledge')
      await world.read(made, partner)
      expect(await stateOf(made.id)).toEqual(['under_review', 'underpaid'])
      expect(await world.parts(made.id)).toEqual(['10000 counted', '-6000 counted'])
    })

    test('goes on when the partner says that all of it is there, and not by an older answer', async () => {
      const made = await world.paid()
      // The answer that fits is on its way while a newer one is read.
      const late = world.says({}, { meanwhile: () => world.read(made, changed('15000', '4000')) })
      expect((await world.read(made, late)).understood).toBe(false)
      expect(await stateOf(made.id)).toEqual(['under_review', 'order_changed'])
      await world.read(made, {})
      expect(await stateOf(made.id)).toEqual(['processing', null])
      expect(await world.attention(made.id)).toEqual([])
    })

    test('is given back with its misfit', async () => {
      const { made } = await doubtful()
      await world.decide(made.id, 'recordExternalRefund')
      expect(await stateOf(made.id)).toEqual(['refunded', null])
      expect(await world.attention(made.id)).toEqual([])
    })

    test('is refunded: neither a word of the partner that lags behind, nor one that takes it back, makes something else of it', async () => {
      const refunding = async (state: 'pending' | 'refunded') => {
        const { made } = await doubtful()
        const says = (refund: 'pending' | 'refunded') => world.says({}, { refund })
        await world.refund(made.id, {}, says('pending'))
        // The order still says that it is paid.
        await world.read(made, says(state))
        return { made, says }
      }
      const { made } = await refunding('refunded')
      expect(await stateOf(made.id)).toEqual(['refunded', null])

      const lagging = await refunding('pending')
      expect(await stateOf(lagging.made.id)).toEqual(['under_review', 'order_changed'])
      await world.read(lagging.made, lagging.says('refunded'))
      expect(await stateOf(lagging.made.id)).toEqual(['refunded', null])
      expect(await world.events(lagging.made.id)).not.toContain('payment.failed')
    })

    test('is not paid out where nobody has sent the payout, and goes its way where somebody has', async () => {
      const waits = await world.settling()
      await world.read(waits, changed('15000', '4000'))
      expect(await stateOf(waits.id)).toEqual(['under_review', 'payout_held'])
      await world.read(waits, {})
      expect((await world.decide(waits.id, 'retry')).payment.status).toBe('settling')

      const sent = await world.settling()
      await world.checkout.db.query("update payout set state = 'mined' where payment_id = $1", [sent.id])
      await world.read(sent, changed('15000', '4000'))
      expect(await stateOf(sent.id)).toEqual(['settling', null])
      expect(await waiting(sent.id)).toEqual(['misfit'])
    })

    test('is not converted where the domain were not asked: the database refuses it', async () => {
      const { made } = await doubtful()
      const free = 'select money_is_free(payment) as free from payment where id = $1'
      expect((await world.checkout.db.query(free, [made.id])).rows).toEqual([{ free: false }])
      await world.read(made, changed('15000', '10000'))
      expect((await world.checkout.db.query(free, [made.id])).rows).toEqual([{ free: true }])
    })
  })

  describe('a misfit that an operator has closed', () => {
    test('stays closed when the order is read again, and opens when the partner says something else', async () => {
      const made = await world.settling()
      await world.settle(made.id)
      const partner = changed('15000', '12000')
      await world.read(made, partner)
      await world.read(made, partner)
      expect(await waiting(made.id)).toEqual(['misfit'])
      await world.decide(made.id, 'approve')
      await world.read(made, partner)
      expect(await world.attention(made.id)).toEqual([])
      expect((await world.payment(made.id)).closedAt).not.toBeNull()

      await world.read(made, changed('15000', '13000'))
      expect(await waiting(made.id)).toEqual(['misfit'])
      await world.decide(made.id, 'approve')
      await world.read(made, partner)
      expect(await waiting(made.id)).toEqual(['misfit'])
      expect(await misfits(made.id)).toMatchObject([
        { why: 'amount', received: { minor: '12000' } },
        { why: 'amount', received: { minor: '13000' } },
        { why: 'amount', received: { minor: '12000' } },
      ])
    })

    test('is the one that the operator saw: an open one takes over what the partner says now', async () => {
      const made = await world.settling()
      await world.settle(made.id)
      await world.read(made, changed('15000', '10000'))
      const partner = changed('15000', '12000')
      await world.read(made, partner)
      expect((await world.state(made.id)).incidents).toMatchObject([{ misfit: { received: { minor: '12000' } } }])
      await world.decide(made.id, 'approve')
      await world.read(made, partner)
      expect(await world.attention(made.id)).toEqual([])
    })
  })
})

/** Answers that were on their way while something newer was heard of the payment's own money. */
describe('older answers', () => {
  const WHOLE = { amount: eur('15000'), received: eur('15000') }
  const PART = { amount: eur('15000'), received: eur('4000') }
  const HELD = { status: 'on_hold' } as const

  /** The partner says this of the order; `meanwhile` happens after it has answered, and before the answer is applied. */
  const says = (order: Partial<PartnerOrder>, meanwhile?: () => Promise<unknown>) =>
    world.says(order, meanwhile && { meanwhile })
  const read = (made: Made, ...said: Parameters<typeof says>) => world.read(made, says(...said))
  const stateOf = async ({ id }: Made) => {
    const { status, parkReason } = await world.payment(id)
    return [status, parkReason]
  }

  describe('an order that was changed, and has less than was paid, does not go on by an answer that was asked for before', () => {
    test.each([
      ['of another amount, with all of the money', WHOLE],
      ['that fits', {}],
    ])('%s', async (_, older) => {
      const made = await world.paid()
      expect((await read(made, older, () => read(made, PART))).understood).toBe(false)
      expect(await stateOf(made)).toEqual(['under_review', 'order_changed'])
      expect(await world.attention(made.id)).toContain('misfit asked for 150.00 EUR, received 40.00 EUR')
      await read(made, older)
      expect(await stateOf(made)).toEqual(['processing', null])
    })

    test('an older answer lets nothing continue after the doubt had gone and returned in the same words', async () => {
      const made = await world.paid()
      await read(made, PART)
      const again = async () => {
        await read(made, WHOLE)
        await read(made, PART)
      }
      for (const older of [WHOLE, {}]) {
        await read(made, older, again)
        expect(await stateOf(made)).toEqual(['under_review', 'order_changed'])
      }
    })

    test('an older answer lets nothing continue when the change was acknowledged and the missing money is not counted yet', async () => {
      const made = await world.paid()
      await read(made, {}, async () => {
        await read(made, PART)
        await world.decide(made.id, 'acknowledge')
      })
      expect(await stateOf(made)).toEqual(['under_review', 'order_changed'])
      await read(made, PART)
      expect(await stateOf(made)).toEqual(['under_review', 'underpaid'])
    })

    test('an older answer lets no release through while an operator holds the payment', async () => {
      const made = await world.paid()
      await world.decide(made.id, 'hold')
      await read(made, WHOLE, () => read(made, PART))
      await world.decide(made.id, 'release')
      expect((await world.payment(made.id)).status).toBe('under_review')
    })
  })

  test('counted money that its partner holds is not let go by an answer that was asked for before', async () => {
    const made = await world.paid()
    expect((await read(made, {}, () => read(made, HELD))).understood).toBe(false)
    expect(await stateOf(made)).toEqual(['under_review', 'partner_hold'])
    await read(made, {})
    expect(await stateOf(made)).toEqual(['processing', null])
  })
})

/** Money of another amount than was asked for is given back, and meanwhile, or afterwards, the partner corrects its order. */
describe('money that was given back', () => {
  const has = (minor: string): Partial<PartnerOrder> => ({ status: 'paid', received: eur(minor) })
  const MISFIT = { ...has('10000'), amount: eur('15000') }
  const NOTHING = { status: 'refunded', received: null } as const
  const LISTED = 'misfit asked for 150.00 EUR, received 100.00 EUR'

  const says = (refund: Refunding, order: Partial<PartnerOrder>) => world.says(order, { refund })
  const read = (made: Made, ...said: Parameters<typeof says>) => world.read(made, says(...said))
  const stateOf = async ({ id }: Made) => {
    const { payment, attempts } = await world.state(id)
    return [payment.status, payment.parkReason, attempts[0]?.status]
  }
  const back = async ({ id }: Made) => {
    const parts = await world.parts(id)
    return { parts, books: await world.books(id), attention: await world.attention(id), events: await world.events(id) }
  }
  /** Nothing is anybody's, and the merchant was told that the money went back. */
  const ALL_BACK = { books: [], attention: [], events: ['payment.created', 'payment.under_review', 'payment.refunded'] }

  async function misfit(): Promise<Made> {
    const made = await world.opened()
    await read(made, 'pending', MISFIT)
    return made
  }
  async function refunding(): Promise<Made> {
    const made = await misfit()
    await world.refund(made.id, {}, says('pending', MISFIT))
    return made
  }

  describe('an order that fits again while its refund is being carried out', () => {
    test('is refunded with all that it has, by the partner’s word', async () => {
      const made = await refunding()
      await read(made, 'pending', has('10000'))
      expect(await world.parts(made.id)).toEqual(['10000 returning'])
      for (let reading = 0; reading < 2; reading++) await read(made, 'pending', has('12500'))
      expect(await world.parts(made.id)).toEqual(['10000 returning', '2500 returning'])
      await read(made, 'refunded', NOTHING)
      expect(await stateOf(made)).toEqual(['refunded', null, 'refunded'])
      expect(await back(made)).toMatchObject(ALL_BACK)
    })

    test('an order that fits again is refunded by the answer to an operator who asks once more', async () => {
      const made = await refunding()
      await read(made, 'pending', has('10000'))
      expect((await world.refund(made.id, {}, says('refunded', has('10000')))).refunded).toBe(true)
      expect(await stateOf(made)).toEqual(['refunded', null, 'refunded'])
      expect(await back(made)).toMatchObject(ALL_BACK)
    })

    test('an order that fits again must be approved if the partner refuses its refund', async () => {
      const made = await refunding()
      await read(made, 'pending', has('10000'))
      await read(made, 'refused', has('10000'))
      expect(await stateOf(made)).toEqual(['under_review', 'amount_mismatch', 'confirmed'])
      expect(await back(made)).toMatchObject({ parts: ['10000 counted'], attention: ['parked amount_mismatch'] })
      expect((await world.decide(made.id, 'approve')).payment.status).toBe('processing')
    })

    test('an order that fits again is a second payment if another order was paid during its refund', async () => {
      const { made, other } = await world.two()
      await read(made, 'pending', MISFIT)
      await world.refund(made.id, {}, says('pending', MISFIT))
      await read(made, 'pending', has('10000'))
      await payOther(other)
      await read(made, 'refused', has('10000'))
      expect(await back(made)).toMatchObject({
        books: ['merchant_payable EUR -10000', 'partner_receivable EUR 20000', 'suspense EUR -10000'],
        attention: ['parked amount_mismatch', 'surplus 100.00 EUR'],
      })
      const { payment } = await world.decide(made.id, 'approve')
      expect(payment).toMatchObject({ status: 'processing', paidAttemptId: other.attemptId })
      // Whatever becomes of the other one's money, this is no loss of it.
      await world.convert(made.id)
      await world.refund(made.id, {}, says('refunded', has('10000')))
      const suspended = (await world.books(made.id)).filter((line) => /suspense|merchant_payable EUR|loss/.test(line))
      expect(suspended).toEqual([])
    })

    test('cannot be rejected meanwhile, and that is not offered', async () => {
      const made = await refunding()
      expect(offeredDecisions(snapshotOf(await world.state(made.id)))).not.toContain('reject')
      await expect(world.decide(made.id, 'reject')).rejects.toThrow(BEING_REFUNDED.why)
    })
  })

  test('more money of a held order comes while its refund is being carried out: it goes back with the rest', async () => {
    const made = await world.paid()
    await world.decide(made.id, 'hold')
    await world.refund(made.id, {}, says('pending', has('10000')))
    await read(made, 'pending', has('12500'))
    expect((await world.refund(made.id, {}, says('refunded', has('12500')))).refunded).toBe(true)
    expect(await stateOf(made)).toEqual(['refunded', null, 'refunded'])
    expect(await back(made)).toMatchObject({ books: [], attention: [] })
  })

  test('more money of a second payment comes while its refund is being carried out: it goes back with the rest', async () => {
    const { made, other } = await world.two()
    await payOther(other)
    await read(made, 'pending', has('10000'))
    await world.refund(made.id, {}, says('pending', has('10000')))
    await read(made, 'pending', has('12500'))
    await world.refund(made.id, {}, says('refunded', has('12500')))
    expect(await world.attention(made.id)).toEqual([])
    expect((await world.payment(made.id)).status).toBe('processing')
  })

  async function payOther(other: Made): Promise<void> {
    await world.sandbox.act('card_partner', other.attemptId, { action: 'pay', receivedMinor: '10000' })
    await world.read(other)
  }

  describe('what was given back from elsewhere', () => {
    test('is no money that comes when the partner corrects its order', async () => {
      const made = await misfit()
      await world.decide(made.id, 'recordExternalRefund')
      const OURS = ['exchange EUR -10000', 'partner_receivable EUR 10000']
      for (const order of [MISFIT, has('10000')]) {
        await read(made, 'refunded', order)
        expect(await stateOf(made)).toEqual(['refunded', null, 'refunded'])
        expect(await back(made)).toMatchObject({
          parts: ['10000 returned', '-10000 returned'],
          books: OURS,
          attention: [],
        })
      }
      // What comes beyond it goes back by hand as well: the partner gives back a whole order.
      await read(made, 'refunded', has('12500'))
      expect(await world.attention(made.id)).toEqual(['surplus 25.00 EUR'])
      await expect(world.refund(made.id, {}, says('refunded', has('12500')))).rejects.toThrow('refunded before')
      await world.decide(made.id, 'recordExternalRefund')
      // The buyer has it twice.
      await read(made, 'refunded', NOTHING)
      expect(await back(made)).toMatchObject({ books: [], attention: ['outside_reversed 125.00 EUR'] })
    })

    test('a sum that nobody has reported, given back from elsewhere, goes back by hand alone once the partner reports it', async () => {
      const made = await world.opened()
      await read(made, 'pending', { ...MISFIT, received: null })
      await world.decide(made.id, 'recordExternalRefund')
      await read(made, 'refunded', has('10000'))
      expect(await world.attention(made.id)).toEqual(['surplus 100.00 EUR'])
      await expect(world.refund(made.id, {}, says('refunded', has('10000')))).rejects.toThrow('refunded before')
      await world.decide(made.id, 'recordExternalRefund')
      expect(await world.attention(made.id)).toEqual([])
    })

    test('money of an ended payment that was given back from elsewhere is not paid out when the partner corrects its order', async () => {
      const made = await world.opened()
      await perform(world.activities().closeUnpaid, { paymentId: made.id, as: 'expired', expiresAt: 0 })
      await read(made, 'pending', MISFIT)
      expect(await world.attention(made.id)).toEqual([LISTED])
      await world.decide(made.id, 'recordExternalRefund')
      for (const order of [MISFIT, has('10000')]) {
        await read(made, 'refunded', order)
        expect((await world.payment(made.id)).status).toBe('expired')
        expect(await back(made)).toMatchObject({ parts: ['10000 returned', '-10000 returned'], attention: [] })
      }
    })

    test('what an ended payment has beyond its payout, given back from elsewhere, is not paid out when the partner corrects its order', async () => {
      const made = await world.settling()
      await world.settle(made.id)
      await read(made, 'pending', { ...MISFIT, received: eur('15000') })
      await world.decide(made.id, 'recordExternalRefund')
      await read(made, 'refunded', has('15000'))
      expect(await world.attention(made.id)).toEqual([])
      expect(await stateOf(made)).toEqual(['succeeded', null, 'confirmed'])
      expect(await world.parts(made.id)).toEqual(['10000 counted', '5000 returned', '-5000 returned'])
    })
  })

  test.each([
    ['is held by its partner', { status: 'on_hold', received: eur('10000') }],
    ['is being confirmed for too long', { status: 'confirming', received: null }],
  ] as const)('another amount of an order that %s: it can be given back', async (_, before) => {
    const made = await world.opened()
    await read(made, 'pending', before)
    if (before.status === 'confirming') await silentForTooLong(made)
    await read(made, 'pending', MISFIT)
    expect(await stateOf(made)).toEqual(['under_review', 'amount_mismatch', 'on_hold'])
    await world.refund(made.id, {}, says('refunded', MISFIT))
    expect(await stateOf(made)).toEqual(['refunded', null, 'refunded'])
  })

  test('an answer that was asked for before a refund was over opens no misfit after it', async () => {
    const made = await misfit()
    await world.read(made, world.says(MISFIT, { meanwhile: () => world.refund(made.id, {}, says('refunded', MISFIT)) }))
    expect(await stateOf(made)).toEqual(['refunded', null, 'refunded'])
    expect(await world.attention(made.id)).toEqual([])
  })

  async function silentForTooLong({ id }: Made): Promise<void> {
    const now = () => world.deps.context.now() + 72 * 3_600_000
    await perform(world.activities({ context: { ...world.deps.context, now } }).parkSilent, id)
  }
})

/** Money that was returned to the buyer from elsewhere: what the partner still has of it is ours, until it takes it back. */
describe('money that was returned from elsewhere', () => {
  const TAKEN = 'outside_reversed'

  /** The partner says that it has so much of the order. */
  async function has({ attemptId }: Made, received: string): Promise<Partial<PaymentDeps>> {
    const real = world.deps.partners.wallet_app
    const order = await real.readOrder({ attemptId }, AbortSignal.timeout(5000))
    if (order === null) throw new Error('no order')
    const now = { ...order, received: { minor: received, currency: 'EUR' as const } }
    return { partners: { ...world.deps.partners, wallet_app: { ...real, readOrder: async () => now } } }
  }

  async function returnedOutside(): Promise<Made> {
    const made = await world.paid('6000')
    await world.decide(made.id, 'recordExternalRefund')
    return made
  }

  describe('a partner that takes back what was returned from elsewhere', () => {
    test('in part: the books follow, once, and an operator sees that the buyer may have it twice', async () => {
      const made = await returnedOutside()
      const less = await has(made, '4000')
      for (let reading = 0; reading < 2; reading++) expect((await world.read(made, less)).understood).toBe(true)
      expect(await world.books(made.id)).toEqual(['exchange EUR -4000', 'partner_receivable EUR 4000'])
      expect(await world.attention(made.id)).toEqual([`${TAKEN} 20.00 EUR`])
      expect((await world.payment(made.id)).closedAt).toBeNull()

      await world.decide(made.id, 'approve')
      expect(await world.attention(made.id)).toEqual([])
      expect((await world.payment(made.id)).closedAt).not.toBeNull()

      await world.read(made, await has(made, '1000'))
      expect(await world.books(made.id)).toEqual(['exchange EUR -1000', 'partner_receivable EUR 1000'])
      expect(await world.attention(made.id)).toEqual([`${TAKEN} 50.00 EUR`])
    })

    test('as a whole: the same', async () => {
      const made = await returnedOutside()
      await world.act(made.attemptId, { action: 'reverse' })
      for (let reading = 0; reading < 2; reading++) await world.read(made)
      expect(await world.books(made.id)).toEqual([])
      expect(await world.attention(made.id)).toEqual([`${TAKEN} 60.00 EUR`])
      await world.decide(made.id, 'approve')
      await world.read(made)
      expect(await world.attention(made.id)).toEqual([])
    })

    test('a partner that takes back what was returned from elsewhere, and receives it again, leaves money for an operator', async () => {
      const made = await returnedOutside()
      await world.read(made, await has(made, '4000'))
      await world.read(made, await has(made, '6000'))
      expect(await world.parts(made.id)).toContain('2000 surplus')
      expect(await world.attention(made.id)).toEqual([`${TAKEN} 20.00 EUR`, 'surplus 20.00 EUR'])
      expect(await world.books(made.id)).toEqual([
        'exchange EUR -4000',
        'merchant_payable EUR -2000',
        'partner_receivable EUR 6000',
      ])
    })

    test('beside the payment’s own money: that is still there, and goes on', async () => {
      const made = await world.paid('10000')
      await world.act(made.attemptId, { action: 'top_up', receivedMinor: '12000' })
      await world.read(made)
      await world.decide(made.id, 'recordExternalRefund')
      await world.read(made, await has(made, '10000'))
      expect(await world.payment(made.id)).toMatchObject({ status: 'processing', confirmed: { minor: '10000' } })
      expect(await world.books(made.id)).toEqual(['merchant_payable EUR -10000', 'partner_receivable EUR 10000'])
      expect(await world.attention(made.id)).toEqual([`${TAKEN} 20.00 EUR`])
      // More than that is the payment's.
      await world.read(made, await has(made, '7000'))
      expect(await world.payment(made.id)).toMatchObject({ status: 'under_review', parkReason: 'underpaid' })
      expect(await world.books(made.id)).toEqual(['merchant_payable EUR -7000', 'partner_receivable EUR 7000'])
    })
  })
})
