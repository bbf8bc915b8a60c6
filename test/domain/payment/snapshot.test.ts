import { describe, expect, test } from '@jest/globals'
import type { Attempt, PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import {
  newPaymentSnapshot,
  type PaymentSnapshot,
  toSnapshot,
  unfinishedAttempts,
  whyNotCancelable,
} from '../../../src/domain/payment/snapshot.ts'
import {
  AT,
  after,
  attempt,
  brings,
  createState,
  decides,
  fills,
  GROSS,
  handed,
  handsOver,
  opened,
  pays,
  paysOut,
  type Step,
  says,
  sets,
  setsAttempt,
  settled,
  usdcAttempt,
} from './payment-story.ts'

const HOUR = 3_600_000
const CREATED = Date.UTC(2026, 0, 1)
const EXPIRES = CREATED + 24 * HOUR
const iso = (ms: number): string => new Date(ms).toISOString()
const upi = (fields: Partial<Attempt> = {}) =>
  attempt({ id: 'att_2', provider: 'local_partner', method: 'upi', silentAfterHours: 72, ...fields })
const seen = (state: PaymentWithAttempts, ...steps: readonly Step[]) => toSnapshot(after(state, ...steps))
const one = opened(attempt())

describe('The snapshot of a row', () => {
  test('the snapshot of a new payment is the one that a first run begins with', () => {
    expect(toSnapshot(createState())).toEqual(newPaymentSnapshot('pay_1', EXPIRES))
  })

  test('the snapshot of a settled payment names its attempts, its money and its transfer', () => {
    const transfer = { txHash: '0x1', logIndex: 1, blockNumber: '1', finalizedAt: AT }
    expect(seen(settled, sets({ transfer, version: 9 }))).toMatchObject({
      version: 9,
      status: 'succeeded',
      next: 'done',
      attempts: [{ id: 'att_1', provider: 'wallet_app', method: 'banking_app', status: 'paid' }],
      txHash: '0x1',
      netUsdc: '105.050000',
      hasMoney: true,
      answers: [],
    })
  })

  test('the provider that was paid decides when a settlement is late', () => {
    const both = opened(attempt(), upi())
    expect(seen(both, pays()).delayedAt).toBe(Date.parse(AT) + HOUR / 4)
    expect(seen(both, pays('10000', 'att_2')).delayedAt).toBe(Date.parse(AT) + HOUR)
  })

  test('a settlement that is marked, over, or without money is not late', () => {
    expect(toSnapshot(handed).delayedAt).toBe(Date.parse(AT) + HOUR / 4)
    expect(seen(handed, sets({ delayedAt: AT })).delayedAt).toBeNull()
    expect([toSnapshot(settled).delayedAt, toSnapshot(one).delayedAt]).toEqual([null, null])
  })

  test('the snapshot names the attempt to be given back until its partner was asked', () => {
    const back = after(one, pays(), decides({ say: 'give_back', accountId: 'att_1' }))
    expect(toSnapshot(back)).toMatchObject({ next: 'give_back', nextAttemptId: 'att_1' })
    expect(seen(back, setsAttempt({ back: 'asked' }), fills()).nextAttemptId).toBeNull()
  })

  test('a sale that is filled and not taken yet is a step of selling', () => {
    const selling = after(one, pays())
    const filled = { state: 'filled', fill: GROSS, reference: 'fill' } as const
    expect(toSnapshot({ ...selling, sales: selling.sales.map((sale) => ({ ...sale, ...filled })) }).next).toBe('sell')
  })

  test('a payment that is done accepts no decision, also if it was held', () => {
    expect(seen(settled, sets({ held: true, listenEnded: true }))).toMatchObject({ next: 'done', answers: [] })
  })

  test('dust does not count as money', () => {
    const usdc = opened(usdcAttempt())
    expect([seen(usdc, brings('open', '9999')).hasMoney, seen(usdc, brings('open', '10000')).hasMoney]).toEqual([
      false,
      true,
    ])
  })
})

describe('The orders with scheduled readings', () => {
  test.each<[string, PaymentWithAttempts, readonly string[]]>([
    ['an order that may bring money', one, ['att_1']],
    ['none that is over', after(one, says({ status: 'declined' })), []],
    ['money that may go before the payout', after(one, pays()), ['att_1']],
    ['not the money that was paid out', settled, []],
    ['a second payment', after(opened(attempt(), upi()), pays(), pays('10000', 'att_2')), ['att_1', 'att_2']],
    ['no order that nobody listens to', after(one, sets({ closedAs: 'expired', listenEnded: true })), []],
    [
      'a second payment next to the one that was paid out',
      after(opened(attempt(), upi()), pays(), pays('10000', 'att_2'), fills(), handsOver, paysOut()),
      ['att_2'],
    ],
    ['a give-back that was asked for', after(settled, setsAttempt({ back: 'asked' })), ['att_1']],
  ])('an order has scheduled readings or not: %s', (_what, state, watched) => {
    expect(toSnapshot(state).watched.map(({ id }) => id)).toEqual(watched)
  })
})

test('each order with scheduled readings has the time of its last change', () => {
  const changed = setsAttempt({ updatedAt: iso(CREATED + 2 * HOUR) }, 'att_2')
  expect(seen(opened(attempt(), upi()), changed).watched).toEqual([
    { id: 'att_1', changedAt: CREATED + HOUR / 60 },
    { id: 'att_2', changedAt: CREATED + 2 * HOUR },
  ])
})

describe('A partner that is confirming', () => {
  const confirms = says({ status: 'confirming' })
  const since = (hours: number, id = 'att_1') => setsAttempt({ updatedAt: iso(CREATED + hours * HOUR) }, id)

  test('a confirming partner counts as silent after its time, by the latest of several', () => {
    expect(seen(one, confirms, since(2)).silentAt).toBe(CREATED + 26 * HOUR)
    const both = opened(attempt(), upi())
    expect(seen(both, confirms, since(2), says({ status: 'confirming' }, 'att_2'), since(1, 'att_2')).silentAt).toBe(
      CREATED + 73 * HOUR,
    )
  })

  test('only an order that is being confirmed counts, also while another one has a review', () => {
    const both = opened(attempt(), upi())
    expect(seen(both, confirms, since(2)).silentAt).toBe(CREATED + 26 * HOUR)
    const withheld = after(both, says({ status: 'on_hold' }, 'att_2'), confirms, since(2))
    expect(toSnapshot(withheld)).toMatchObject({ next: 'review', silentAt: CREATED + 26 * HOUR })
  })

  test('a partner is not silent about a payment that has ended', () => {
    expect(seen(one, sets({ closedAs: 'expired' }), confirms)).toMatchObject({ next: 'await_partner', silentAt: null })
  })

  test('a confirming partner is not awaited once it is silent, or other money is there', () => {
    expect(seen(one, confirms, setsAttempt({ silent: true })).silentAt).toBeNull()
    expect(seen(opened(attempt(), upi()), confirms, pays('10000', 'att_2')).silentAt).toBeNull()
    expect(toSnapshot(one).silentAt).toBeNull()
  })
})

describe('The time for late money', () => {
  test.each([
    ['the end of its time', {}, 24],
    ['its failure', { failedAt: iso(CREATED + 2 * HOUR) }, 2],
    ['its cancellation', { canceledAt: iso(CREATED + 3 * HOUR) }, 3],
    ['its success', { succeededAt: iso(CREATED + HOUR) }, 1],
  ])('the time for late money lasts a day from %s', (_what, fields, hours) => {
    expect(seen(one, sets(fields)).listenUntil).toBe(CREATED + (24 + hours) * HOUR)
  })

  test('the time for late money lasts as long as the slowest partner with an unfinished order takes', () => {
    expect(toSnapshot(opened(attempt(), upi())).listenUntil).toBe(EXPIRES + 72 * HOUR)
    expect(toSnapshot(opened(attempt(), upi({ status: 'declined' }))).listenUntil).toBe(EXPIRES + 24 * HOUR)
    expect(toSnapshot(opened(attempt({ status: 'declined' }))).listenUntil).toBeNull()
    expect(seen(one, sets({ listenEnded: true })).listenUntil).toBeNull()
  })

  test('the time for late money restarts for a day after a give-back from elsewhere, also after it had ended', () => {
    const updatedAt = iso(EXPIRES + 100 * HOUR)
    const twice = setsAttempt({ held: '10000', status: 'paid', back: 'asked', outside: '10000', updatedAt })
    const late = sets({ closedAs: 'expired', listenEnded: true })
    expect(seen(opened(attempt(), upi()), late, twice).listenUntil).toBe(EXPIRES + 124 * HOUR)
    expect(seen(one, late, twice, setsAttempt({ back: 'no' })).listenUntil).toBeNull()
  })
})

describe('A cancellation by the merchant', () => {
  test.each<[Partial<PaymentSnapshot>, string | null]>([
    [{ status: 'created' }, null],
    [{ status: 'pending' }, null],
    [{ status: 'pending', hasMoney: true }, 'a part of the price has arrived'],
    [{ status: 'processing' }, 'the buyer’s money has been received or is being confirmed'],
    [{ status: 'settling' }, 'the buyer’s money has been received or is being confirmed'],
    [{ status: 'under_review' }, 'the buyer’s money has been received or is being confirmed'],
    [{ status: 'succeeded' }, 'the payment has already succeeded'],
    [{ status: 'failed' }, 'the payment has already failed'],
    [{ status: 'expired' }, 'the payment has already expired'],
    [{ status: 'canceled' }, 'the payment is already canceled'],
    [{ status: 'refunded' }, 'the payment has already been refunded'],
  ])('a payment with %j is not canceled because: %s', (fields, why) => {
    expect(whyNotCancelable({ ...newPaymentSnapshot('pay_1', 0), ...fields })).toBe(why)
  })

  test('a cancellation cancels the orders that can still be paid', () => {
    const orders = opened(
      attempt({ id: 'a', status: 'declined' }),
      attempt({ id: 'b' }),
      attempt({ id: 'c', status: 'paid' }),
    )
    expect(unfinishedAttempts(toSnapshot(orders)).map(({ id }) => id)).toEqual(['b'])
  })
})
