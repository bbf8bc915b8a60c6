import { describe, expect, test } from '@jest/globals'
import type { KnownPayment } from '../../../../src/domain/payment/money/effect.ts'
import type { Intent } from '../../../../src/domain/payment/money/intents.ts'
import { chargeSum, PART_STATES } from '../../../../src/domain/payment/money/parts.ts'
import { ORDER_STATUSES } from '../../../../src/domain/payment/partner.ts'
import { effectOfOrder } from '../../../../src/domain/payment/partner-news.ts'
import {
  ATTEMPT_STATUSES,
  canMove,
  PARK_REASONS,
  PAYMENT_STATUSES,
  type ParkReason,
  type PaymentStatus,
} from '../../../../src/domain/payment/payment.ts'
import { came, context, effect, open, order, paidBy, paidOrder, part, pending, statusesOf } from './order-story.ts'

const asked: Intent = {
  id: '1',
  key: 'k',
  kind: 'refund',
  attemptId: 'att_1',
  state: 'asked',
  operator: 'a',
  reason: 'r',
}

describe('money that is gone', () => {
  test('a confirmation that is withdrawn brings the payment back to the buyer', () => {
    const back = effect(paidBy(), { status: 'confirmed' }, order({ status: 'declined', failureCode: 'reversed' }))
    expect(back).toMatchObject({ attempt: 'declined', money: 'give_back', partsBecome: 'reversed' })
    expect(came(back.parts)).toEqual(['-5000 reversed'])
    expect(statusesOf(back.moves)).toEqual(['pending'])
  })

  test.each([
    ['after the settlement: a chargeback, for an operator', 'succeeded', [], 'chargeback', false],
    ['before the settlement: the payout is voided', 'settling', ['under_review'], null, true],
    ['before the payout: the same', 'processing', ['under_review'], null, true],
  ] as const)('%s', (_when, status, moves, incident, voidsPayout) => {
    const loss = effect(
      paidBy('5000', { status, converted: true }),
      { status: 'confirmed' },
      order({ status: 'refunded' }),
    )
    expect(loss).toMatchObject({ incident, voidsPayout, attempt: 'confirmed', money: 'none' })
    expect(statusesOf(loss.moves)).toEqual(moves)
    expect(loss.park).toBe(voidsPayout ? 'funds_reversed' : null)
  })

  test('when the payout is void already, nothing is left to decide', () => {
    const voided = paidBy('5000', { status: 'under_review', parkReason: 'payout_voided', converted: true })
    const end = effect(voided, { status: 'confirmed' }, order({ status: 'refunded' }))
    expect(statusesOf(end.moves)).toEqual(['refunded'])
  })

  test('a part of it before the conversion: what is left counts, or is too little', () => {
    const enough = effect(paidBy('6000'), { status: 'confirmed' }, paidOrder('5000'))
    expect(enough).toMatchObject({ attempt: 'confirmed', money: 'take', moves: [] })
    expect(came(enough.parts)).toEqual(['-1000 counted'])
    const tooLittle = effect(paidBy('5000'), { status: 'confirmed' }, paidOrder('3000'))
    expect(tooLittle).toMatchObject({ attempt: 'underpaid', money: 'take', park: 'underpaid' })
    expect(statusesOf(tooLittle.moves)).toEqual(['under_review'])
  })

  test('a part of it is taken from the surplus first', () => {
    const parts = [part('5000'), part('1000', { key: 'b', state: 'surplus' })]
    const less = effect(paidBy('5000', { parts }), { status: 'confirmed' }, paidOrder('5400'))
    expect(came(less.parts)).toEqual(['-600 surplus'])
    expect(less).toMatchObject({ money: 'none', moves: [] })
  })

  test('a part of it is taken first from what was returned from elsewhere: that is ours, and the rest is all there', () => {
    const surplus = { state: 'returned' } as const
    const outside = [
      part('1000', { ...surplus, key: 'b' }),
      part('-1000', { ...surplus, key: 'c', kind: 'return_outside' }),
    ]
    const parts = [part('5000'), ...outside]
    for (const converted of [false, true]) {
      const less = effect(paidBy('5000', { parts, converted }), { status: 'confirmed' }, paidOrder('5400'))
      expect(less).toMatchObject({ attempt: 'confirmed', money: 'none', moves: [], park: null, voidsPayout: false })
      expect(less.parts).toMatchObject([
        { kind: 'reversal_outside', chargeMinor: '-600', key: 'att_1:reversal_outside:3' },
      ])
      // Read again, it is nothing new; and what goes now is the payment's.
      const after = paidBy('5000', { parts: [...parts, ...less.parts] })
      expect(effect(after, { status: 'confirmed' }, paidOrder('5400')).parts).toEqual([])
      expect(came(effect(after, { status: 'confirmed' }, paidOrder('3000')).parts)).toEqual([
        '-2000 counted',
        '-400 reversed',
      ])
      expect(came(effect(after, { status: 'confirmed' }, order({ status: 'refunded' })).parts)).toEqual([
        '-5000 reversed',
        '-400 reversed',
      ])
    }
  })

  test.each(['amount_mismatch', 'wrong_asset'] as const)(
    'by the partner itself, while money of another order does not fit (%s): the payment stays open for that',
    (parkReason) => {
      const others = [{ id: 'att_0', status: 'on_hold' as const }]
      const parked = paidBy('5000', { status: 'under_review', parkReason, attempts: others })
      for (const status of ['refunded', 'declined'] as const) {
        const back = effect(parked, { status: 'confirmed' }, order({ status }))
        expect(back).toMatchObject({ attempt: status, money: 'give_back', moves: [], partsBecome: 'reversed' })
        const alone = effect({ ...parked, attempts: [] }, { status: 'confirmed' }, order({ status }))
        expect(statusesOf(alone.moves)).toEqual([status === 'refunded' ? 'refunded' : 'failed'])
      }
    },
  )

  test('by our own refund: returned, not reversed', () => {
    const refund = {
      id: '1',
      key: 'k',
      kind: 'refund',
      attemptId: 'att_1',
      state: 'pending',
      operator: 'a',
      reason: 'r',
    } as const
    const parts = [part('5000', { state: 'returning' })]
    const done = effect(
      paidBy('5000', { status: 'under_review', parkReason: 'underpaid', intents: [refund], parts }),
      { status: 'underpaid' },
      order({ status: 'refunded' }),
    )
    expect(done).toMatchObject({ attempt: 'refunded', partsBecome: 'returned' })
    expect(came(done.parts)).toEqual(['-5000 returned'])
    expect(statusesOf(done.moves)).toEqual(['refunded'])
  })

  test('money that did not fit, by our own refund: the end, unless other money is counted', () => {
    const misfit = { status: 'under_review', parkReason: 'amount_mismatch', intents: [asked] } as const
    const back = (more: Partial<KnownPayment>) =>
      effect({ ...misfit, ...more }, { status: 'on_hold' }, order({ status: 'refunded' }))
    expect(back({})).toMatchObject({ attempt: 'refunded', moves: [{ to: 'refunded' }] })
    const others = { paidAttemptId: 'att_0', parts: [part('5000', { attemptId: 'att_0' })] }
    expect(back(others)).toMatchObject({ attempt: 'refunded', moves: [] })
  })

  test('one order’s decline does not end the waiting for another that is held', () => {
    const held: Partial<KnownPayment> = {
      status: 'under_review',
      parkReason: 'partner_hold',
      attempts: [
        { id: 'att_0', status: 'on_hold' },
        { id: 'att_1', status: 'confirming' },
      ],
    }
    expect(effect(held, { status: 'confirming' }, order({ status: 'declined' })).moves).toEqual([])
    expect(effect({ ...held, attempts: [] }, { status: 'on_hold' }, order({ status: 'declined' })).moves).toMatchObject(
      [{ to: 'failed' }],
    )
  })

  test('confirming, then refunded by the partner: the buyer may pay again', () => {
    const back = effect({ status: 'processing' }, { status: 'confirming' }, order({ status: 'refunded' }))
    expect(back.attempt).toBe('refunded')
    expect(statusesOf(back.moves)).toEqual(['pending'])
  })
})

describe('a partner’s hold', () => {
  const hold = order({ status: 'on_hold', received: { minor: '5000', currency: 'EUR' } })

  test('before the money counts parks the payment, and its release lets it go on', () => {
    expect(effect({}, {}, hold)).toMatchObject({ attempt: 'on_hold', park: 'partner_hold', parts: [] })
    const held = { status: 'under_review', parkReason: 'partner_hold' } as const
    expect(effect(held, { status: 'on_hold' }, paidOrder()).moves).toMatchObject([{ to: 'processing' }])
  })

  test('of money that was counted keeps it from being sold, and its release lets it go on', () => {
    const held = effect(paidBy(), { status: 'confirmed' }, hold)
    expect(held).toMatchObject({ attempt: 'confirmed', park: 'partner_hold', parts: [] })
    expect(statusesOf(held.moves)).toEqual(['under_review'])
    const parked = paidBy('5000', { status: 'under_review', parkReason: 'partner_hold' })
    expect(effect(parked, { status: 'confirmed' }, paidOrder()).moves).toMatchObject([{ to: 'processing' }])
    expect(effect(paidBy('5000', { converted: true }), { status: 'confirmed' }, hold).moves).toEqual([])
  })

  test('and so does its word that all of it is there, where a changed order had put that in doubt', () => {
    const parked = paidBy('5000', { status: 'under_review', parkReason: 'order_changed' })
    expect(effect(parked, { status: 'confirmed' }, paidOrder()).moves).toEqual([
      { to: 'processing', why: 'released_by_partner' },
    ])
    expect(effect(parked, { status: 'confirmed' }, paidOrder('1000'))).toMatchObject({ moves: [], park: 'underpaid' })
  })
})

describe('whatever a partner says, in whatever state', () => {
  const rows = {
    // The first attempt and `pending` are written together: a created payment has none.
    status: PAYMENT_STATUSES.filter((status) => status !== 'created'),
    attemptStatus: ATTEMPT_STATUSES,
    mine: [false, true],
    counted: ['0', '4000', '5000'],
    surplus: ['0', '700'],
    converted: [false, true],
    refunding: [false, true],
    parkReason: [null, ...(Object.keys(PARK_REASONS) as ParkReason[])],
    other: [false, true],
  } as const
  const reports = {
    orderStatus: ORDER_STATUSES,
    listenEnded: [false, true],
    received: [null, '0', '4000', '5000', '9000'],
  } as const
  type OneOf<T extends Record<string, readonly unknown[]>> = { readonly [Name in keyof T]: T[Name][number] }
  type Rows = OneOf<typeof rows>
  type Facts = Rows & OneOf<typeof reports>

  /** One value of each. */
  function everyOneOf<T extends Record<string, readonly unknown[]>>(values: T): OneOf<T>[] {
    let all: object[] = [{}]
    for (const [name, some] of Object.entries(values))
      all = all.flatMap((facts) => some.map((value) => ({ ...facts, [name]: value })))
    return all as OneOf<T>[]
  }

  /** What the rows may say together: a payment has the money of an attempt that had some, and what had none is no surplus. */
  function isPossible(facts: Rows): boolean {
    const { mine, other, status, attemptStatus, counted, surplus, converted, refunding, parkReason } = facts
    const isOwn = attemptStatus === 'confirmed' || attemptStatus === 'underpaid'
    if ((parkReason !== null) !== (status === 'under_review')) return false
    if (parkReason === 'order_changed' && !mine && !other) return false
    if (mine && (other || !isOwn || status === 'pending' || counted === '0')) return false
    if (!mine && (isOwn || counted !== '0')) return false
    if (!mine && (attemptStatus === 'surplus' || attemptStatus === 'late') !== (surplus !== '0')) return false
    if (attemptStatus === 'underpaid' && (counted === '5000' || converted || status !== 'under_review')) return false
    if ((status === 'settling' || status === 'succeeded') && !converted) return false
    return !refunding || status === 'under_review' || surplus !== '0'
  }

  function knownOf(facts: Facts): KnownPayment {
    const paidAttemptId = facts.mine ? 'att_1' : facts.other ? 'att_0' : null
    const parts = [part(facts.counted), part(facts.surplus, { key: 'b', state: 'surplus' })].filter(
      ({ chargeMinor }) => chargeMinor !== '0',
    )
    return {
      ...pending,
      status: facts.status,
      parkReason: facts.parkReason,
      paidAttemptId,
      converted: facts.converted && paidAttemptId !== null,
      listenEnded: facts.listenEnded,
      parts,
      intents: facts.refunding ? [asked] : [],
    }
  }

  /** What is wrong with what becomes of it; null: nothing. Not by `expect`, which would take minutes for all of them. */
  function wrongIn(facts: Facts): string | null {
    const known = knownOf(facts)
    const received = facts.received === null ? null : { minor: facts.received, currency: 'EUR' as const }
    const news = order({ status: facts.orderStatus, received })
    const first = effectOfOrder(known, { ...open, status: facts.attemptStatus }, { order: news, context })
    let at: PaymentStatus = facts.status
    for (const { to } of first.moves) {
      if (!canMove(at, to)) return `moves from ${at} to ${to}`
      at = to
    }
    const { partsBecome } = first
    const was = partsBecome === null ? known.parts : known.parts.map((one) => ({ ...one, state: partsBecome }))
    const after = [...was, ...first.parts]
    const overdrawn = PART_STATES.filter((state) => BigInt(chargeSum(after, { states: [state] })) < 0n)
    if (overdrawn.length > 0) return `overdraws ${overdrawn.join()}`
    if (chargeSum(after, { states: ['returned', 'reversed'] }) !== '0') return 'gives back what never came'
    const then: KnownPayment = {
      ...known,
      status: at,
      parkReason: at === 'under_review' ? (first.park ?? known.parkReason) : null,
      parts: after,
      intents: partsBecome !== null || first.attempt === 'refunded' ? [] : known.intents,
      paidAttemptId: first.money === 'take' ? 'att_1' : first.money === 'give_back' ? null : known.paidAttemptId,
    }
    const second = effectOfOrder(then, { ...open, status: first.attempt }, { order: news, context })
    const isSame = second.parts.length === 0 && second.money === 'none' && second.moves.length === 0
    return isSame && second.attempt === first.attempt ? null : 'changes something when it is read again'
  }

  test('only moves of the table; no pool is overdrawn; and reading it twice changes nothing more', () => {
    const news = everyOneOf(reports)
    const facts = everyOneOf(rows)
      .filter(isPossible)
      .flatMap((some) => news.map((report) => ({ ...some, ...report })))
    const wrong = facts.flatMap((one) => {
      const why = wrongIn(one)
      return why === null ? [] : [{ why, ...one }]
    })
    expect(wrong.slice(0, 3)).toEqual([])
    expect(facts.length).toBeGreaterThan(200_000)
  })
})
