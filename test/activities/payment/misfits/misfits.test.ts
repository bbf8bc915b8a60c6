import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { PaymentDeps } from '../../../../src/activities/payment/payment-deps.ts'
import type { PartnerOrder } from '../../../../src/domain/payment/partner.ts'
import type { OpenAttemptRequest } from '../../../../src/domain/payment/requests.ts'
import { needsOperator, snapshotOf } from '../../../../src/domain/payment/snapshot.ts'
import { newId } from '../../../../src/ids.ts'
import { createMoneyWorld, eur, type Made, type MoneyWorld } from '../money-world.ts'
import { perform } from '../world.ts'

/** Money that fits no order: each report is a fact, and each has somebody who decides about it. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

/** Of an order of another amount, as much as it asks for. */
const another = (minor: string) => ({ status: 'paid', amount: eur(minor), received: eur(minor) }) as const
const PAID = { status: 'paid', amount: eur('10000'), received: eur('10000') } as const
const BACK = { status: 'refunded', amount: eur('10000'), received: null } as const
const LISTED = (minor: string) => `misfit asked for ${minor} EUR, received ${minor}`

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
    expect(await world.attention(made.id)).toEqual([LISTED('15000'), 'parked amount_mismatch'])
    expect(await misfits(made.id)).toMatchObject([{ attempt_id: made.attemptId, received: eur('15000') }])
  })

  test('of which the partner says something else while the payment waits is a fact of its own', async () => {
    const made = await world.opened()
    for (const minor of ['15000', '15000', '16000']) await says(made, another(minor))
    expect(await misfits(made.id)).toMatchObject([{ received: eur('15000') }, { received: eur('16000') }])
    expect(await world.attention(made.id)).toEqual([LISTED('16000'), 'parked amount_mismatch'])
  })

  test('of another order while the payment waits is another one, and the last that goes back ends the payment', async () => {
    const { id, one, other } = await two()
    await says(one, another('15000'))
    await says(other, another('20000'))
    expect(await world.attention(id)).toEqual([LISTED('15000'), LISTED('20000'), 'parked amount_mismatch'])
    expect(await misfits(id)).toHaveLength(2)
    await expect(world.decide(id, 'recordExternalRefund')).rejects.toMatchObject({
      message: expect.stringContaining('Name the attempt'),
    })
    await world.decide(id, 'recordExternalRefund', { attempt: one.attemptId })
    expect(await world.attention(id)).toEqual([LISTED('20000'), 'parked amount_mismatch'])
    await world.decide(id, 'recordExternalRefund', { attempt: other.attemptId })
    expect(await statusOf(id)).toEqual(['refunded', null, null])
    // Said again, it is nothing new.
    await says(other, another('20000'))
    expect(await world.attention(id)).toEqual([])
    expect((await world.payment(id)).closedAt).not.toBeNull()
  })

  test('that is gone and comes again is new', async () => {
    const made = await world.opened()
    await says(made, another('15000'))
    await says(made, { ...BACK, status: 'declined', amount: eur('15000') })
    expect(await world.attention(made.id)).toEqual(['parked amount_mismatch'])
    await says(made, another('15000'))
    expect(await world.attention(made.id)).toEqual([LISTED('15000'), 'parked amount_mismatch'])
    await world.decide(made.id, 'reject')
    expect(await statusOf(made.id)).toEqual(['failed', null, null])
    expect(needsOperator(snapshotOf(await world.state(made.id)))).toBe('misfit')
  })

  test('that the partner corrects is the payment’s money', async () => {
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
    expect(await world.attention(id)).toEqual([LISTED('15000'), 'parked amount_mismatch'])
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
    expect(await world.attention(id)).toEqual([LISTED('17000'), 'parked amount_mismatch'])
    await says(other, PAID)
    // What did not fit of the first one is ours, since the buyer had it from elsewhere.
    const first = ['15000 returned', '-15000 returned']
    expect(await world.parts(id)).toEqual(['10000 returned', ...first, '-10000 returned'])
    expect(await statusOf(id)).toEqual(['under_review', 'amount_mismatch', null])
  })
})
