import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { perform } from './fixture.ts'
import { createMoneyFixture, eur, type Made, type MoneyFixture, SIGNED } from './money-fixture.ts'
import type { Refunding } from './partner-says.ts'

let fixture: MoneyFixture
beforeAll(async () => {
  fixture = await createMoneyFixture()
})
afterAll(() => fixture.close())
beforeEach(() => fixture.clearFaults())

const PAID = { status: 'paid', received: eur('10000') } as const
const has = (minor: string): Partial<PartnerOrder> => ({ status: 'paid', received: eur(minor) })
/** The partner reports this state of the order, and answers a refund like this. */
const says = (refund: Refunding, order: Partial<PartnerOrder> = {}) => fixture.says(order, { refund })
const readBack = async ({ id, attemptId }: Made) =>
  (await fixture.state(id)).attempts.find((attempt) => attempt.id === attemptId)?.back

type Wallet = PaymentDeps['partners']['wallet_app']
const walletApp = (changes: Partial<Wallet>): Partial<PaymentDeps> => ({
  partners: { ...fixture.deps.partners, wallet_app: { ...fixture.deps.partners.wallet_app, ...changes } },
})

describe('a give-back through the partner', () => {
  test('the money of a pending give-back stays where it is until a later reading ends it', async () => {
    const made = await fixture.paid('6000')
    const { id, attemptId } = made
    await fixture.fault({ fault: 'refund_pending', seconds: 600, attemptId })
    await fixture.giveBack(made)
    expect(await fixture.standing(id)).toBe('under_review giving_back')
    await expect(fixture.decide(id, 'settle')).rejects.toThrow('settle changes nothing')
    await fixture.checkout.db.query("update attempt set updated_at = now() - interval '2 hours' where id = $1", [
      attemptId,
    ])
    expect(await fixture.attention(id)).toContain('give_back_pending 60.00 EUR')
    fixture.sandbox.advance(601)
    expect((await fixture.read(made)).payment.status).toBe('refunded')
    expect([await fixture.held(id), await fixture.books(id), await fixture.attention(id)]).toEqual([
      ['refunded 0'],
      [],
      [],
    ])
  })

  test('money that arrives while a give-back is pending waits for a decision after it', async () => {
    const made = await fixture.paid('6000')
    await fixture.giveBack(made, says('pending'))
    await fixture.read(made, says('pending', has('10000')))
    await fixture.read(made, says('refunded', has('4000')))
    expect([await fixture.held(made.id), await fixture.attention(made.id)]).toEqual([['paid 4000'], ['review excess']])
    expect(await readBack(made)).toBe('no')
  })

  test('money that arrives while the partner gives money back waits for a decision', async () => {
    const made = await fixture.paid('6000')
    await fixture.giveBack(made, says('refunded', has('4000')))
    expect([await fixture.held(made.id), await fixture.attention(made.id)]).toEqual([['paid 4000'], ['review excess']])
  })

  test('a give-back that was cut off after the partner had done it is carried out once', async () => {
    const made = await fixture.paid('6000')
    const real = fixture.deps.partners.wallet_app
    const keys: string[] = []
    const refundOrder: NonNullable<Wallet['refundOrder']> = async (refund, signal) => {
      keys.push(refund.key)
      await real.refundOrder?.(refund, signal)
      if (keys.length === 1) throw new Error('the process was killed here')
      return { kind: 'refunded' }
    }
    await expect(fixture.giveBack(made, walletApp({ refundOrder }))).rejects.toThrow('killed here')
    expect(await readBack(made)).toBe('asked')
    await expect(fixture.decide(made.id, 'settle')).rejects.toThrow('settle changes nothing')
    await fixture.askBack(made, walletApp({ refundOrder }))
    await fixture.askBack(made, walletApp({ refundOrder }))
    expect(keys).toEqual([`${made.attemptId}:refund`, `${made.attemptId}:refund`])
    expect([await fixture.standing(made.id), await fixture.books(made.id)]).toEqual(['refunded', []])
    expect((await fixture.events(made.id)).filter((type) => type === 'payment.refunded')).toHaveLength(1)
  })

  test('a give-back that was cut off before the partner was asked is done by another run', async () => {
    const made = await fixture.paid('6000')
    await fixture.decide(made.id, 'give_back')
    expect([await readBack(made), (await fixture.read(made)).payment.next]).toEqual(['wanted', 'give_back'])
    await fixture.askBack(made)
    expect(await fixture.standing(made.id)).toBe('refunded')
  })

  test('money that the partner refuses to give back stays, and can be settled', async () => {
    const made = await fixture.paid('6000')
    await fixture.giveBack(made, says('refused'))
    expect([await readBack(made), await fixture.standing(made.id)]).toEqual(['no', 'under_review too_little'])
    expect(await fixture.checkout.timeline(made.id, 'refund.refused')).toMatchObject([
      { data: { reason: 'the balance is too low' } },
    ])
    expect((await fixture.decide(made.id, 'settle')).payment.status).toBe('processing')
  })

  test('a give-back after a refusal has the next key, because a partner repeats its first answer for a key', async () => {
    const made = await fixture.paid('6000')
    const keys: string[] = []
    const real = fixture.deps.partners.wallet_app
    const refuseFirst: Wallet['refundOrder'] = async (refund, signal) => {
      keys.push(refund.key)
      if (keys.length === 1) return { kind: 'refused', reason: 'the balance is too low' }
      return real.refundOrder?.(refund, signal) ?? { kind: 'pending' }
    }
    await fixture.giveBack(made, walletApp({ refundOrder: refuseFirst }))
    await fixture.giveBack(made, walletApp({ refundOrder: refuseFirst }))
    expect(keys).toEqual([`${made.attemptId}:refund`, `${made.attemptId}:refund:2`])
    expect(await fixture.standing(made.id)).toBe('refunded')
  })

  test('a give-back does not wait for a silent partner, and a later reading ends it', async () => {
    const made = await fixture.paid('6000')
    await fixture.fault({ fault: 'server_error', operation: 'refund', attemptId: made.attemptId })
    await expect(fixture.giveBack(made)).rejects.toMatchObject({ type: 'Partner.unknown' })
    const again = { paymentId: made.id, attemptId: made.attemptId }
    const { payment } = await perform(fixture.activities().giveBack, again, { attempt: 2 })
    expect([payment.status, await readBack(made)]).toEqual(['under_review', 'asked'])
    await fixture.clearFaults()
    expect((await fixture.read(made)).payment.status).toBe('refunded')
    expect(await fixture.books(made.id)).toEqual([])
  })

  test('a give-back that its partner never carries out ends when the buyer got the money from elsewhere', async () => {
    const made = await fixture.paid('6000')
    await fixture.giveBack(made, says('pending'))
    await fixture.gaveOutside(made)
    expect([await fixture.standing(made.id), await fixture.attention(made.id)]).toEqual(['refunded', []])
    await fixture.read(made, says('refunded', { status: 'refunded', received: null }))
    expect(await fixture.attention(made.id)).toEqual(['review loss'])
  })

  test('a give-back that fails by a defect of the platform is tried again', async () => {
    const made = await fixture.paid('6000')
    const refundOrder = () => Promise.reject(new Error('a defect of ours'))
    await fixture.decide(made.id, 'give_back')
    const again = { paymentId: made.id, attemptId: made.attemptId }
    const trying = perform(fixture.activities(walletApp({ refundOrder })).giveBack, again, { attempt: 2 })
    await expect(trying).rejects.toThrow('a defect of ours')
  })

  test('a response about a refused give-back does not end the next one', async () => {
    const late: NonNullable<Wallet['refundOrder']> = async () => {
      await fixture.read(made, says('refused'))
      await fixture.giveBack(made, says('pending'))
      return { kind: 'refused', reason: 'the balance is too low' }
    }
    const made = await fixture.paid()
    await fixture.decide(made.id, 'hold')
    await fixture.giveBack(made, walletApp({ refundOrder: late }))
    expect(await readBack(made)).toBe('asked')

    const readOrder: Wallet['readOrder'] = async (asked, signal) => {
      const order = await fixture.deps.partners.wallet_app.readOrder(asked, signal)
      await fixture.read(made, says('refused'))
      await fixture.giveBack(made, says('pending'))
      return order
    }
    const refundOrder: Wallet['refundOrder'] = async () => ({ kind: 'refused', reason: 'the balance is too low' })
    await fixture.read(made, walletApp({ readOrder, refundOrder }))
    expect(await readBack(made)).toBe('asked')
  })

  test('a give-back includes money that arrived while it was carried out, and later money goes back by hand', async () => {
    const made = await fixture.paid('6000')
    await fixture.giveBack(made, says('pending'))
    await fixture.read(made, says('pending', has('10000')))
    expect(await fixture.standing(made.id)).toBe('under_review giving_back')
    await fixture.read(made, says('refunded', { status: 'refunded', received: null }))
    expect([await fixture.standing(made.id), await fixture.books(made.id)]).toEqual(['refunded', []])
    await fixture.read(made, says('refunded', has('2500')))
    expect([await fixture.standing(made.id), await fixture.attention(made.id)]).toEqual(['refunded', ['review excess']])
    await expect(fixture.decide(made.id, 'give_back', { attempt: made.attemptId })).rejects.toThrow('--outside')
    await fixture.gaveOutside(made)
    expect(await fixture.attention(made.id)).toEqual([])
  })

  test('the money that is there after a refused give-back decides the next step', async () => {
    const less = await fixture.paid()
    await fixture.decide(less.id, 'hold')
    await fixture.giveBack(less, says('pending'))
    await fixture.decide(less.id, 'release')
    await fixture.read(less, says('refused', has('4000')))
    expect(await fixture.standing(less.id)).toBe('under_review too_little')

    const more = await fixture.paid('6000')
    await fixture.giveBack(more, says('pending'))
    await fixture.read(more, says('refused', has('10000')))
    expect(await fixture.standing(more.id)).toBe('processing')

    const withheld = await fixture.paid()
    await fixture.giveBack(withheld, says('pending', { status: 'on_hold' }))
    await fixture.read(withheld, says('refused', { status: 'on_hold' }))
    expect(await fixture.standing(withheld.id)).toBe('under_review withheld')
    await fixture.read(withheld)
    expect(await fixture.standing(withheld.id)).toBe('processing')
  })

  test('a give-back is about the named order', async () => {
    const { made, other } = await fixture.two()
    await fixture.read(made, says('pending', PAID))
    await fixture.read(other, fixture.says(PAID, { partner: 'card_partner' }))
    await expect(fixture.decide(made.id, 'give_back')).rejects.toThrow('Name the attempt')
    await fixture.decide(made.id, 'give_back', { attempt: other.attemptId })
    await fixture.askBack(other, fixture.says({}, { partner: 'card_partner', refund: 'refunded' }))
    expect([await fixture.held(made.id), await fixture.standing(made.id)]).toEqual([
      ['paid 10000', 'refunded 0'],
      'processing',
    ])
  })

  test('a give-back of the payment’s own money leaves the payment to the other order', async () => {
    const { made, other } = await fixture.two()
    await fixture.read(made, says('pending', PAID))
    await fixture.read(other, fixture.says(PAID, { partner: 'card_partner' }))
    await fixture.decide(made.id, 'give_back', { attempt: made.attemptId })
    await fixture.askBack(made, says('refunded', PAID))
    expect(await fixture.payment(made.id)).toMatchObject({ status: 'processing', paidAttemptId: other.attemptId })
  })
})

describe('a give-back of money that was sold', () => {
  test('a payout that was not handed over is never paid, and its USDC belongs to the platform', async () => {
    for (const outside of [false, true]) {
      const made = await fixture.paid()
      await fixture.convert(made.id)
      await fixture.decide(made.id, 'hold')
      await (outside ? fixture.gaveOutside(made) : fixture.giveBack(made))
      expect([await fixture.standing(made.id), await fixture.payout(made.id)]).toEqual(['refunded', null])
      expect((await fixture.books(made.id)).filter((line) => /payable|fee/.test(line))).toEqual([])
    }
  })

  test('the partner is asked only when the payout can never be paid', async () => {
    const made = await fixture.settling()
    const never = walletApp({ refundOrder: () => Promise.reject(new Error('the partner was asked')) })
    await fixture.giveBack(made, never)
    expect([await fixture.standing(made.id), await fixture.payout(made.id)]).toEqual([
      'under_review voiding',
      'voiding',
    ])
    expect(await readBack(made)).toBe('wanted')
    await fixture.voided(made.id)
    await fixture.askBack(made)
    expect(await fixture.standing(made.id)).toBe('refunded')
  })

  test('nothing is given back if the transfer was faster than the void', async () => {
    const made = await fixture.settling()
    await fixture.decide(made.id, 'give_back')
    await fixture.settle(made.id)
    expect([await fixture.standing(made.id), await readBack(made)]).toEqual(['succeeded', 'no'])
    await fixture.askBack(made)
    expect(await fixture.held(made.id)).toEqual(['paid 10000'])
    await expect(fixture.decide(made.id, 'give_back')).rejects.toThrow('There is nothing to decide')
  })

  test('a give-back waits for the void of a payout that a restored backup has forgotten', async () => {
    const made = await fixture.paid()
    const voids: string[] = []
    const payouts = {
      ...fixture.payouts,
      open: async () => ({ treasury: `0x${'7'.repeat(40)}`, microUsdc: '1', state: 'forgotten' }) as never,
      void: async (_tx: unknown, id: string) => {
        voids.push(id)
        return 'voiding' as const
      },
    }
    await fixture.decide(made.id, 'give_back')
    const forgetting = { payouts, ...walletApp({ refundOrder: () => Promise.reject(new Error('asked')) }) }
    expect((await fixture.askBack(made, forgetting)).payment.next).toBe('await_payout')
    expect([voids, await fixture.standing(made.id), await readBack(made)]).toEqual([
      [made.id],
      'under_review voiding',
      'wanted',
    ])
    await fixture.voided(made.id)
    await fixture.askBack(made)
    expect(await fixture.standing(made.id)).toBe('refunded')
  })
})

describe('money that the buyer got from elsewhere', () => {
  test('money that the buyer got from elsewhere belongs to the platform until the partner takes it back', async () => {
    const made = await fixture.paid('6000')
    await fixture.gaveOutside(made)
    for (let reading = 0; reading < 2; reading++) await fixture.read(made)
    expect([await fixture.standing(made.id), await fixture.attention(made.id)]).toEqual(['refunded', []])
    expect(await fixture.books(made.id)).toEqual(['exchange EUR -6000', 'partner_receivable EUR 6000'])
    await fixture.act(made.attemptId, { action: 'top_up', receivedMinor: '7000' })
    await fixture.read(made)
    expect(await fixture.attention(made.id)).toEqual(['review excess'])
    await fixture.gaveOutside(made)
    await fixture.act(made.attemptId, { action: 'reverse' })
    for (let reading = 0; reading < 2; reading++) await fixture.read(made)
    // The buyer has it twice.
    expect(await fixture.attention(made.id)).toEqual(['review loss'])
    await fixture.decide(made.id, 'write_off')
    expect([await fixture.books(made.id), await fixture.attention(made.id)]).toEqual([[], []])
  })

  test('the excess that the buyer got from elsewhere leaves the payment settled', async () => {
    const made = await fixture.settling()
    await fixture.settle(made.id)
    await fixture.read(made, fixture.says(has('12500')))
    await expect(fixture.decide(made.id, 'give_back', { attempt: made.attemptId })).rejects.toThrow('--outside')
    await fixture.gaveOutside(made)
    expect([await fixture.standing(made.id), await fixture.attention(made.id)]).toEqual(['succeeded', []])
    expect((await fixture.books(made.id)).filter((line) => /suspense|loss/.test(line))).toEqual([])
    await fixture.read(made, fixture.says(has('10000')))
    expect(await fixture.attention(made.id)).toEqual(['review loss'])
  })

  test('a proof is recorded for one give-back only', async () => {
    const [one, other] = [await fixture.paid(), await fixture.paid()]
    await fixture.gaveOutside(one, { proof: `bank ${one.id}` })
    await expect(fixture.gaveOutside(other, { proof: `bank ${one.id}` })).rejects.toThrow('This proof was recorded')
    expect(await fixture.standing(other.id)).toBe('processing')
    await fixture.gaveOutside(other, { proof: `bank ${other.id}` })
    expect(await fixture.standing(other.id)).toBe('refunded')
  })

  test('money that has arrived since the operator looked is not recorded as given back', async () => {
    const made = await fixture.paid('6000')
    const { version } = await fixture.payment(made.id)
    await fixture.act(made.attemptId, { action: 'top_up', receivedMinor: '7500' })
    await fixture.read(made)
    const order = { paymentId: made.id, say: 'give_back', outside: true, version, ...SIGNED } as const
    await expect(perform(fixture.activities().decide, order)).rejects.toThrow('has changed since you looked at it')
    // Another try does not know if the first one was carried out.
    expect(await perform(fixture.activities().decide, order, { attempt: 2 })).toMatchObject({ unsure: true })
    expect(await fixture.standing(made.id)).toBe('under_review too_little')

    const now = { ...order, version: (await fixture.payment(made.id)).version }
    for (const attempt of [1, 2])
      expect(await perform(fixture.activities().decide, now, { attempt })).toMatchObject({
        message: 'give_back: recorded',
        payment: { status: 'refunded' },
      })
    expect(await fixture.books(made.id)).toEqual(['exchange EUR -7500', 'partner_receivable EUR 7500'])
  })
})
