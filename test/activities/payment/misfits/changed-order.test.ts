import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { snapshotOf } from '../../../../src/domain/payment/snapshot.ts'
import { createMoneyWorld, eur, type Made, type MoneyWorld } from '../money-world.ts'

/** A partner that changes the amount of its order afterwards, and the operator who acknowledges it. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

/** The partner says that so much was asked for, and that it has so much. */
const changed = (minor: string, received: string) => world.says({ amount: eur(minor), received: eur(received) })

async function held(): Promise<Made> {
  const made = await world.paid()
  await world.decide(made.id, 'hold')
  return made
}

const snapshot = async (id: string) => snapshotOf(await world.state(id))
/** What waits, without what the partner said. */
const waiting = async (id: string) => (await world.attention(id)).map((entry) => entry.replace(/^misfit .*/, 'misfit'))
const suspense = async (id: string) => (await world.books(id)).filter((line) => line.startsWith('suspense'))
const misfits = async (id: string) => (await world.checkout.timeline(id, 'payment.misfit')).map(({ data }) => data)

describe('an order of which the amount is changed while an operator holds its payment', () => {
  test('is not understood until it is acknowledged; what was counted stays, and the rest is surplus', async () => {
    const made = await held()
    const partner = changed('15000', '15000')
    expect((await world.read(made, partner)).understood).toBe(false)
    expect(await world.attention(made.id)).toEqual([
      'misfit asked for 15000 EUR, received 15000',
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
    expect(await suspense(made.id)).toEqual(['suspense EUR -5000'])
    expect((await world.decide(made.id, 'release')).payment.status).toBe('processing')
    await world.convert(made.id)
    expect((await world.payment(made.id)).usdc?.gross).toBe('108000000')
    expect(await world.attention(made.id)).toEqual(['surplus 5000 EUR'])
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

  test('… after the conversion: the payout is voided', async () => {
    const made = await world.settling()
    await world.decide(made.id, 'hold')
    const partner = changed('6000', '6000')
    await world.read(made, partner)
    await world.decide(made.id, 'acknowledge')
    await world.read(made, partner)
    expect(await world.payment(made.id)).toMatchObject({ status: 'under_review', parkReason: 'funds_reversed' })
    expect((await world.state(made.id)).intents.map(({ kind }) => kind)).toEqual(['void'])
  })

  test('… after the conversion, with the same money: the payout goes on', async () => {
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
