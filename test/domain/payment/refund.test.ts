import { describe, expect, test } from '@jest/globals'
import type { PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import {
  BEING_REFUNDED,
  endsWith,
  givenBack,
  MISFIT_LEFT,
  NAME_IT,
  NO_MONEY,
  PAID_FORGOTTEN,
  PAYOUT_EXISTS,
  refundable,
  whyForgotten,
  whyPartnerCannotRefund,
} from '../../../src/domain/payment/refund.ts'
import { attempt, note, part, refund, stateOf, usdc } from './decided-payment.ts'

describe('money that goes back', () => {
  const surplus = part({ key: 'b', attemptId: 'att_2', state: 'surplus' })
  const late = part({ key: 'c', attemptId: 'att_3', state: 'late' })
  const attempts = [attempt({}), attempt({ id: 'att_2', status: 'surplus' }), attempt({ id: 'att_3', status: 'late' })]
  const underpaid = { status: 'under_review', parkReason: 'underpaid', paidAttemptId: 'att_1' } as const
  const meant = (state: PaymentWithAttempts, named?: string, through: 'partner' | 'outside' = 'outside') => {
    const claim = refundable(state, { named, through })
    return 'refused' in claim ? claim.refused : `${claim.attempt.id} ${claim.states.join('+')} ${claim.endsPayment}`
  }

  test('is the only money that may go back', () => {
    expect(meant(stateOf(underpaid, { attempts: [attempt({})] }))).toBe('att_1 counted+surplus+late true')
    expect(meant(stateOf({}, { attempts, parts: [surplus] }))).toBe('att_2 surplus+late false')
    const misfit = { status: 'under_review', parkReason: 'amount_mismatch' } as const
    expect(meant(stateOf(misfit, { attempts: [attempt({ status: 'on_hold' })] }))).toBe('att_1  true')
    expect(meant(stateOf({}, { attempts: [attempt({ status: 'declined' })] }))).toBe('There is no money to refund')
  })

  test('that does not fit ends the payment only where no other money is counted', () => {
    const misfit = { status: 'under_review', parkReason: 'amount_mismatch' } as const
    const both = [attempt({}), attempt({ id: 'att_2', status: 'on_hold' })]
    const paid = stateOf({ ...misfit, paidAttemptId: 'att_1' }, { attempts: both })
    expect(meant(paid, 'att_2')).toBe('att_2  false')
    // Its own money neither, while the other is there.
    expect([endsWith(paid, 'att_2'), endsWith(paid, 'att_1')]).toEqual([false, false])
    expect(meant(stateOf(misfit, { attempts: both, parts: [part({})] }), 'att_2')).toBe('att_2  false')
    const dust = part({ asset: 'USDC', units: '9', chargeMinor: '0' })
    expect(meant(stateOf(misfit, { attempts: both, parts: [dust] }), 'att_2')).toBe('att_2  true')
    expect(endsWith(stateOf(misfit, { attempts: both }), 'att_2')).toBe(true)
  })

  test('ends no payment while money of another attempt that does not match is still there', () => {
    const misfit = { status: 'under_review', parkReason: 'amount_mismatch' } as const
    const [own, one, two] = [
      attempt({}),
      attempt({ id: 'att_2', status: 'on_hold' }),
      attempt({ id: 'att_3', status: 'on_hold' }),
    ]
    const paid = stateOf({ ...misfit, paidAttemptId: 'att_1' }, { attempts: [own, one] })
    for (const through of ['partner', 'outside'] as const) expect(meant(paid, 'att_1', through)).toBe(MISFIT_LEFT.why)
    const part1 = stateOf(misfit, { attempts: [own, one], parts: [part({})] })
    expect(meant(part1, 'att_1')).toBe(MISFIT_LEFT.why)
    const back = stateOf({ ...misfit, paidAttemptId: 'att_1' }, { attempts: [own, { ...one, status: 'refunded' }] })
    expect(meant(back, 'att_1')).toBe('att_1 counted+surplus+late true')
    // Of two that do not fit the last one ends it.
    const both = stateOf(misfit, { attempts: [one, two] })
    expect([meant(both, 'att_2'), endsWith(both, 'att_2')]).toEqual(['att_2  false', false])
    const last = stateOf(misfit, { attempts: [{ ...one, status: 'refunded' }, two] })
    expect([meant(last, 'att_3'), endsWith(last, 'att_3')]).toEqual(['att_3  true', true])
  })

  test('must be named where it could be two attempts’', () => {
    const both = stateOf(underpaid, { attempts, parts: [part({}), surplus, late] })
    expect(meant(both)).toBe('Name the attempt whose money goes back, as "attempt": att_1 or att_2 or att_3')
    expect(meant(both, 'att_3')).toBe('att_3 surplus+late false')
    expect(meant(both, 'att_1')).toBe('att_1 counted+surplus+late true')
  })

  test('is refused beside a payout that is not voided', () => {
    for (const status of ['settling', 'succeeded', 'under_review'] as const)
      expect(meant(stateOf({ ...underpaid, status, usdc }, { attempts: [attempt({})] }))).toContain('void it first')
    const voided = { ...underpaid, usdc, parkReason: 'payout_voided' } as const
    expect(meant(stateOf(voided, { attempts: [attempt({})] }))).toBe('att_1 counted+surplus+late true')
    // The money of another attempt is not what is paid out.
    expect(meant(stateOf({ ...underpaid, usdc }, { attempts, parts: [part({}), surplus] }))).toBe(
      'att_2 surplus+late false',
    )
  })

  test('of an order that is partly settled goes back outside of the partner, and only the rest of it', () => {
    const more = part({ key: 'b', state: 'surplus' })
    const state = stateOf(
      { ...underpaid, status: 'succeeded', usdc },
      { attempts: [attempt({})], parts: [part({}), more] },
    )
    expect(meant(state, undefined, 'partner')).toContain('refunds only whole orders')
    expect(meant(state)).toBe('att_1 surplus+late false')
  })

  test('may be the payment’s own only while the payment waits for somebody', () => {
    for (const status of ['processing', 'settling', 'succeeded', 'refunded'] as const) {
      const own = stateOf({ ...underpaid, status, parkReason: null }, { attempts: [attempt({})] })
      expect(meant(own)).toContain('void it first')
      const counted = stateOf({ status, parkReason: null }, { attempts: [attempt({})], parts: [part({})] })
      expect(meant(counted)).toBe('There is no money to refund')
      const misfit = stateOf({ status, parkReason: 'wrong_asset' }, { attempts: [attempt({ status: 'on_hold' })] })
      expect([meant(misfit), endsWith(misfit, 'att_1')]).toEqual(['att_1  false', false])
    }
    const counted = stateOf({ ...underpaid, paidAttemptId: null }, { attempts: [attempt({})], parts: [part({})] })
    expect(meant(counted)).toBe('att_1 counted true')
    // Of a payment that was paid with another order's money it is no part.
    const beside = { attempts, parts: [part({}), part({ key: 'd', attemptId: 'att_2' })] }
    expect(meant(stateOf(underpaid, beside), 'att_2')).toBe('There is no money to refund')
  })

  test('that is held and fits is nothing that may go back by hand', () => {
    const held = stateOf({ ...underpaid, paidAttemptId: null }, { attempts: [attempt({ status: 'on_hold' })] })
    expect(meant(held)).toBe('There is no money to refund')
    const open = stateOf(
      { status: 'under_review', parkReason: 'wrong_asset' },
      { attempts: [attempt({ status: 'open' })] },
    )
    expect(meant(open)).toBe('There is no money to refund')
  })

  test('of an order of which money went back before goes back outside of the partner: its refund has one key for life', () => {
    for (const kind of ['return', 'return_outside'] as const) {
      const back = part({ key: 'r', kind, units: '-10', chargeMinor: '-10', state: 'returned' })
      const again = stateOf(underpaid, { attempts: [attempt({})], parts: [part({}), back] })
      expect(meant(again, undefined, 'partner')).toBe(
        'wallet_app refunds only whole orders, and money of this one was refunded before: use recordExternalRefund for the rest',
      )
      expect(meant(again)).toBe('att_1 counted+surplus+late true')
      const more = part({ key: 'm', state: 'surplus' })
      expect(meant(stateOf({}, { attempts: [attempt({})], parts: [more, back] }), undefined, 'partner')).toContain(
        'was refunded before',
      )
      // Of what went back whole nothing is left to refuse; and what went back of another order is no matter.
      const all = stateOf({ status: 'refunded' }, { attempts: [attempt({})], parts: [back] })
      expect(meant(all, undefined, 'partner')).toBe('There is no money to refund')
      const other = { ...back, attemptId: 'att_2' }
      const own = stateOf(underpaid, { attempts: [attempt({})], parts: [part({}), other] })
      expect(meant(own, undefined, 'partner')).toBe('att_1 counted+surplus+late true')
    }
    const reversed = part({ key: 'r', kind: 'reversal', units: '-10', chargeMinor: '-10', state: 'reversed' })
    const less = stateOf(underpaid, { attempts: [attempt({})], parts: [part({}), reversed] })
    expect(meant(less, undefined, 'partner')).toBe('att_1 counted+surplus+late true')
  })

  test('is told with who gave it back, and how', () => {
    for (const [through, kind, message] of [
      ['partner', 'return', 'The money went back to the buyer through the partner'],
      ['outside', 'return_outside', 'The money went back to the buyer outside of the partner'],
    ] as const) {
      const state = stateOf(underpaid, { attempts: [attempt({})] })
      const claim = refundable(state, { named: undefined, through })
      if ('refused' in claim) throw new Error(claim.refused)
      const { parts, reason } = givenBack(state, claim, { note, through })
      expect(parts.map((one) => [one.kind, one.units])).toEqual([[kind, '-4999']])
      expect(reason).toMatchObject({ message, data: { ...note, attempt_id: 'att_1' } })
      // What a refund that was asked has set aside goes back with it.
      const aside = stateOf(underpaid, { attempts: [attempt({})], parts: [part({ state: 'returning' })] })
      expect(givenBack(aside, claim, { note, through }).parts.map((one) => one.units)).toEqual(['-4999'])
    }
    expect(whyPartnerCannotRefund('wallet_app')).toBe('wallet_app cannot refund: use recordExternalRefund')
  })

  test('is refused by the reason of the order that has it, whatever other orders there are', () => {
    const state = stateOf(
      { ...underpaid, status: 'succeeded', usdc },
      { attempts: [attempt({ id: 'att_0', status: 'declined' }), attempt({})] },
    )
    expect(meant(state)).toContain('void it first')
    expect(endsWith(stateOf(underpaid), 'att_1')).toBe(true)
    expect(endsWith(stateOf(underpaid), 'att_2')).toBe(false)
  })

  test('is refused with what is to be done', () => {
    const refusals = [NO_MONEY, PAYOUT_EXISTS, NAME_IT, MISFIT_LEFT, BEING_REFUNDED]
    for (const { when, why } of refusals) expect([when, why]).not.toContain('')
    expect(MISFIT_LEFT).toMatchObject({ when: expect.any(String), why: expect.stringContaining('refund it first') })
  })

  test('is refused while it is going back already', () => {
    expect(meant(stateOf(underpaid, { attempts: [attempt({})], intents: [refund] }))).toContain('is in progress')
  })

  test('is refused while a restored backup may have forgotten its payout: with the transfer, or the void that comes first', () => {
    expect(whyForgotten({ kind: 'paid', txHash: '0xab' })).toContain('been paid for this payment by 0xab. Nothing')
    expect(whyForgotten({ kind: 'unsure' })).toMatch(/now canceled on chain\. Refund again when it is voided/)
    for (const text of [PAID_FORGOTTEN.when, PAID_FORGOTTEN.why]) expect(text).toContain('database was restored')
  })
})
