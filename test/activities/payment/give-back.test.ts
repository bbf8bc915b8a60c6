import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { createMoneyWorld, eur, type Made, type MoneyWorld, SIGNED } from './money-world.ts'
import type { Refunding } from './partner-says.ts'
import { perform } from './world.ts'

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())
beforeEach(() => world.clearFaults())

const PAID = { status: 'paid', received: eur('10000') } as const
const has = (minor: string): Partial<PartnerOrder> => ({ status: 'paid', received: eur(minor) })
/** The partner reports this state of the order, and answers a refund like this. */
const says = (refund: Refunding, order: Partial<PartnerOrder> = {}) => world.says(order, { refund })
const readBack = async ({ id, attemptId }: Made) =>
  (await world.state(id)).attempts.find((attempt) => attempt.id === attemptId)?.back

type Wallet = PaymentDeps['partners']['wallet_app']
const walletApp = (changes: Partial<Wallet>): Partial<PaymentDeps> => ({
  partners: { ...world.deps.partners, wallet_app: { ...world.deps.partners.wallet_app, ...changes } },
})

describe('a give-back through the partner', () => {
  test('the money of a pending give-back stays where it is until a later reading ends it', async () => {
    const made = await world.paid('6000')
    const { id, attemptId } = made
    await world.fault({ fault: 'refund_pending', seconds: 600, attemptId })
    await world.giveBack(made)
    expect(await world.standing(id)).toBe('under_review giving_back')
    await expect(world.decide(id, 'settle')).rejects.toThrow('settle changes nothing')
    await world.checkout.db.query("update attempt set updated_at = now() - interval '2 hours' where id = $1", [
      attemptId,
    ])
    expect(await world.attention(id)).toContain('give_back_pending 60.00 EUR')
    world.sandbox.advance(601)
    expect((await world.read(made)).payment.status).toBe('refunded')
    expect([await world.held(id), await world.books(id), await world.attention(id)]).toEqual([['refunded 0'], [], []])
  })

  test('a give-back that was cut off after the partner had done it is carried out once', async () => {
    const made = await world.paid('6000')
    const real = world.deps.partners.wallet_app
    const keys: string[] = []
    const refundOrder: NonNullable<Wallet['refundOrder']> = async (refund, signal) => {
      keys.push(refund.key)
      await real.refundOrder?.(refund, signal)
      if (keys.length === 1) throw new Error('the process was killed here')
      return { kind: 'refunded' }
    }
    await expect(world.giveBack(made, walletApp({ refundOrder }))).rejects.toThrow('killed here')
    expect(await readBack(made)).toBe('asked')
    await expect(world.decide(made.id, 'settle')).rejects.toThrow('settle changes nothing')
    await world.askBack(made, walletApp({ refundOrder }))
    await world.askBack(made, walletApp({ refundOrder }))
    expect(keys).toEqual([`${made.attemptId}:refund`, `${made.attemptId}:refund`])
    expect([await world.standing(made.id), await world.books(made.id)]).toEqual(['refunded', []])
    expect((await world.events(made.id)).filter((type) => type === 'payment.refunded')).toHaveLength(1)
  })

  test('a give-back that was cut off before the partner was asked is done by another run', async () => {
    const made = await world.paid('6000')
    await world.decide(made.id, 'give_back')
    expect([await readBack(made), (await world.read(made)).payment.next]).toEqual(['wanted', 'give_back'])
    await world.askBack(made)
    expect(await world.standing(made.id)).toBe('refunded')
  })

  test('money that the partner refuses to give back stays, and can be settled', async () => {
    const made = await world.paid('6000')
    await world.giveBack(made, says('refused'))
    expect([await readBack(made), await world.standing(made.id)]).toEqual(['no', 'under_review too_little'])
    expect(await world.checkout.timeline(made.id, 'refund.refused')).toMatchObject([
      { data: { reason: 'the balance is too low' } },
    ])
    expect((await world.decide(made.id, 'settle')).payment.status).toBe('processing')
  })

  test('a give-back does not wait for a silent partner, and a later reading ends it', async () => {
    const made = await world.paid('6000')
    await world.fault({ fault: 'server_error', operation: 'refund', attemptId: made.attemptId })
    await expect(world.giveBack(made)).rejects.toMatchObject({ type: 'Partner.unknown' })
    const again = { paymentId: made.id, attemptId: made.attemptId }
    const { payment } = await perform(world.activities().giveBack, again, { attempt: 2 })
    expect([payment.status, await readBack(made)]).toEqual(['under_review', 'asked'])
    await world.clearFaults()
    expect((await world.read(made)).payment.status).toBe('refunded')
    expect(await world.books(made.id)).toEqual([])
  })

  test('a give-back that its partner never carries out ends when the buyer got the money from elsewhere', async () => {
    const made = await world.paid('6000')
    await world.giveBack(made, says('pending'))
    await world.gaveOutside(made)
    expect([await world.standing(made.id), await world.attention(made.id)]).toEqual(['refunded', []])
    await world.read(made, says('refunded', { status: 'refunded', received: null }))
    expect(await world.attention(made.id)).toEqual(['review loss'])
  })

  test('a give-back that fails by a defect of the platform is tried again', async () => {
    const made = await world.paid('6000')
    const refundOrder = () => Promise.reject(new Error('a defect of ours'))
    await world.decide(made.id, 'give_back')
    const again = { paymentId: made.id, attemptId: made.attemptId }
    const trying = perform(world.activities(walletApp({ refundOrder })).giveBack, again, { attempt: 2 })
    await expect(trying).rejects.toThrow('a defect of ours')
  })

  test('a response about a refused give-back does not end the next one', async () => {
    const late: NonNullable<Wallet['refundOrder']> = async () => {
      await world.read(made, says('refused'))
      await world.giveBack(made, says('pending'))
      return { kind: 'refused', reason: 'the balance is too low' }
    }
    const made = await world.paid()
    await world.decide(made.id, 'hold')
    await world.giveBack(made, walletApp({ refundOrder: late }))
    expect(await readBack(made)).toBe('asked')

    const readOrder: Wallet['readOrder'] = async (asked, signal) => {
      const order = await world.deps.partners.wallet_app.readOrder(asked, signal)
      await world.read(made, says('refused'))
      await world.giveBack(made, says('pending'))
      return order
    }
    const refundOrder: Wallet['refundOrder'] = async () => ({ kind: 'refused', reason: 'the balance is too low' })
    await world.read(made, walletApp({ readOrder, refundOrder }))
    expect(await readBack(made)).toBe('asked')
  })

  test('a give-back includes money that arrived while it was carried out, and later money goes back by hand', async () => {
    const made = await world.paid('6000')
    await world.giveBack(made, says('pending'))
    await world.read(made, says('pending', has('10000')))
    expect(await world.standing(made.id)).toBe('under_review giving_back')
    await world.read(made, says('refunded', { status: 'refunded', received: null }))
    expect([await world.standing(made.id), await world.books(made.id)]).toEqual(['refunded', []])
    await world.read(made, says('refunded', has('2500')))
    expect([await world.standing(made.id), await world.attention(made.id)]).toEqual(['refunded', ['review excess']])
    await expect(world.decide(made.id, 'give_back', { attempt: made.attemptId })).rejects.toThrow('--outside')
    await world.gaveOutside(made)
    expect(await world.attention(made.id)).toEqual([])
  })

  test('the money that is there after a refused give-back decides the next step', async () => {
    const less = await world.paid()
    await world.decide(less.id, 'hold')
    await world.giveBack(less, says('pending'))
    await world.decide(less.id, 'release')
    await world.read(less, says('refused', has('4000')))
    expect(await world.standing(less.id)).toBe('under_review too_little')

    const more = await world.paid('6000')
    await world.giveBack(more, says('pending'))
    await world.read(more, says('refused', has('10000')))
    expect(await world.standing(more.id)).toBe('processing')

    const withheld = await world.paid()
    await world.giveBack(withheld, says('pending', { status: 'on_hold' }))
    await world.read(withheld, says('refused', { status: 'on_hold' }))
    expect(await world.standing(withheld.id)).toBe('under_review withheld')
    await world.read(withheld)
    expect(await world.standing(withheld.id)).toBe('processing')
  })

  test('a give-back is about the named order', async () => {
    const { made, other } = await world.two()
    await world.read(made, says('pending', PAID))
    await world.read(other, world.says(PAID, { partner: 'card_partner' }))
    await expect(world.decide(made.id, 'give_back')).rejects.toThrow('Name the attempt')
    await world.decide(made.id, 'give_back', { attempt: other.attemptId })
    await world.askBack(other, world.says(PAID, { partner: 'card_partner', refund: 'refunded' }))
    expect([await world.held(made.id), await world.standing(made.id)]).toEqual([
      ['paid 10000', 'refunded 0'],
      'processing',
    ])
  })

  test('a give-back of the payment’s own money leaves the payment to the other order', async () => {
    const { made, other } = await world.two()
    await world.read(made, says('pending', PAID))
    await world.read(other, world.says(PAID, { partner: 'card_partner' }))
    await world.decide(made.id, 'give_back', { attempt: made.attemptId })
    await world.askBack(made, says('refunded', PAID))
    expect(await world.payment(made.id)).toMatchObject({ status: 'processing', paidAttemptId: other.attemptId })
  })
})

describe('a give-back of money that was sold', () => {
  test('a payout that was not handed over is never paid, and its USDC belongs to the platform', async () => {
    for (const outside of [false, true]) {
      const made = await world.paid()
      await world.convert(made.id)
      await world.decide(made.id, 'hold')
      await (outside ? world.gaveOutside(made) : world.giveBack(made))
      expect([await world.standing(made.id), await world.payout(made.id)]).toEqual(['refunded', null])
      expect((await world.books(made.id)).filter((line) => /payable|fee/.test(line))).toEqual([])
    }
  })

  test('the partner is asked only when the payout can never be paid', async () => {
    const made = await world.settling()
    const never = walletApp({ refundOrder: () => Promise.reject(new Error('the partner was asked')) })
    await world.giveBack(made, never)
    expect([await world.standing(made.id), await world.payout(made.id)]).toEqual(['under_review voiding', 'voiding'])
    expect(await readBack(made)).toBe('wanted')
    await world.voided(made.id)
    await world.askBack(made)
    expect(await world.standing(made.id)).toBe('refunded')
  })

  test('nothing is given back if the transfer was faster than the void', async () => {
    const made = await world.settling()
    await world.decide(made.id, 'give_back')
    await world.settle(made.id)
    expect([await world.standing(made.id), await readBack(made)]).toEqual(['succeeded', 'no'])
    await world.askBack(made)
    expect(await world.held(made.id)).toEqual(['paid 10000'])
    await expect(world.decide(made.id, 'give_back')).rejects.toThrow('There is nothing to decide')
  })

  test('a give-back waits for the void of a payout that a restored backup has forgotten', async () => {
    const made = await world.paid()
    const voids: string[] = []
    const payouts = {
      ...world.payouts,
      open: async () => ({ treasury: `0x${'7'.repeat(40)}`, microUsdc: '1', state: 'forgotten' }) as never,
      void: async (_tx: unknown, id: string) => {
        voids.push(id)
        return 'voiding' as const
      },
    }
    await world.decide(made.id, 'give_back')
    const forgetting = { payouts, ...walletApp({ refundOrder: () => Promise.reject(new Error('asked')) }) }
    expect((await world.askBack(made, forgetting)).payment.next).toBe('await_payout')
    expect([voids, await world.standing(made.id), await readBack(made)]).toEqual([
      [made.id],
      'under_review voiding',
      'wanted',
    ])
    await world.voided(made.id)
    await world.askBack(made)
    expect(await world.standing(made.id)).toBe('refunded')
  })
})

describe('money that the buyer got from elsewhere', () => {
  test('money that the buyer got from elsewhere belongs to the platform until the partner takes it back', async () => {
    const made = await world.paid('6000')
    await world.gaveOutside(made)
    for (let reading = 0; reading < 2; reading++) await world.read(made)
    expect([await world.standing(made.id), await world.attention(made.id)]).toEqual(['refunded', []])
    expect(await world.books(made.id)).toEqual(['exchange EUR -6000', 'partner_receivable EUR 6000'])
    await world.act(made.attemptId, { action: 'top_up', receivedMinor: '7000' })
    await world.read(made)
    expect(await world.attention(made.id)).toEqual(['review excess'])
    await world.gaveOutside(made)
    await world.act(made.attemptId, { action: 'reverse' })
    for (let reading = 0; reading < 2; reading++) await world.read(made)
    // The buyer has it twice.
    expect(await world.attention(made.id)).toEqual(['review loss'])
    await world.decide(made.id, 'write_off')
    expect([await world.books(made.id), await world.attention(made.id)]).toEqual([[], []])
  })

  test('the excess that the buyer got from elsewhere leaves the payment settled', async () => {
    const made = await world.settling()
    await world.settle(made.id)
    await world.read(made, world.says(has('12500')))
    await expect(world.decide(made.id, 'give_back', { attempt: made.attemptId })).rejects.toThrow('--outside')
    await world.gaveOutside(made)
    expect([await world.standing(made.id), await world.attention(made.id)]).toEqual(['succeeded', []])
    expect((await world.books(made.id)).filter((line) => /suspense|loss/.test(line))).toEqual([])
    await world.read(made, world.says(has('10000')))
    expect(await world.attention(made.id)).toEqual(['review loss'])
  })

  test('a proof is recorded for one give-back only', async () => {
    const [one, other] = [await world.paid(), await world.paid()]
    await world.gaveOutside(one, { proof: `bank ${one.id}` })
    await expect(world.gaveOutside(other, { proof: `bank ${one.id}` })).rejects.toThrow('This proof was recorded')
    expect(await world.standing(other.id)).toBe('processing')
    await world.gaveOutside(other, { proof: `bank ${other.id}` })
    expect(await world.standing(other.id)).toBe('refunded')
  })

  test('money that has arrived since the operator looked is not recorded as given back', async () => {
    const made = await world.paid('6000')
    const { version } = await world.payment(made.id)
    await world.act(made.attemptId, { action: 'top_up', receivedMinor: '7500' })
    await world.read(made)
    const order = { paymentId: made.id, say: 'give_back', outside: true, version, ...SIGNED } as const
    await expect(perform(world.activities().decide, order)).rejects.toThrow('has changed since you looked at it')
    // Another try does not know if the first one was carried out.
    expect(await perform(world.activities().decide, order, { attempt: 2 })).toMatchObject({ unsure: true })
    expect(await world.standing(made.id)).toBe('under_review too_little')

    const now = { ...order, version: (await world.payment(made.id)).version }
    for (const attempt of [1, 2])
      expect(await perform(world.activities().decide, now, { attempt })).toMatchObject({
        message: 'give_back: recorded',
        payment: { status: 'refunded' },
      })
    expect(await world.books(made.id)).toEqual(['exchange EUR -7500', 'partner_receivable EUR 7500'])
  })
})
