import { describe, expect, test } from '@jest/globals'
import { DECISIONS, whyNoteRefused, whyRefused } from '../../../src/domain/payment/decision.ts'
import { effectOfDecision, type RecordedDecision } from '../../../src/domain/payment/money/decided.ts'
import { canMove, PARK_REASONS, PAYMENT_STATUSES, type ParkReason } from '../../../src/domain/payment/payment.ts'
import type { Attempt, Payment, PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import { MISFIT_LEFT } from '../../../src/domain/payment/refund.ts'
import { OPERATOR_DECISIONS } from '../../../src/domain/payment/requests.ts'
import { offeredDecisions } from '../../../src/domain/payment/snapshot.ts'
import {
  attempt,
  confirmedMoney,
  fresh,
  note,
  parkedFor,
  part,
  refund,
  stateOf,
  transfer,
  usdc,
} from './decided-payment.ts'

/** With the version of the payments that are made here. */
const looked = { ...note, version: 1 }

describe('a decision is refused', () => {
  test.each([undefined, {}, { operator: 'ada' }, { operator: ' ', reason: 'x' }, { operator: 'ada', reason: ' ' }])(
    'without a name and a reason: %j',
    (incomplete) => {
      expect(whyNoteRefused(incomplete as typeof note)).toContain('Give {"operator"')
    },
  )

  test.each([{ operator: 'a\0' }, { reason: 'x\0' }, { reason: '\ud83d' }, { attempt: 'att_\0' }])(
    'with a text that cannot be stored: %j',
    (part) => {
      for (const payment of [parkedFor('underpaid'), null])
        expect(whyRefused('approve', { ...looked, ...part }, payment)).toContain('without NUL')
    },
  )

  test.each(OPERATOR_DECISIONS.filter((decision) => decision !== 'hold' && decision !== 'acknowledge'))(
    'where nobody is waited for: %s',
    (decision) => {
      expect(whyRefused(decision, note, fresh)).toBe('The payment is created and does not wait for an operator')
    },
  )

  test('when the reason for the waiting does not offer it, and allowed when it does', () => {
    for (const [reason, { decisions }] of Object.entries(PARK_REASONS) as [
      ParkReason,
      { decisions: readonly string[] },
    ][]) {
      const offered = offeredDecisions(parkedFor(reason))
      const ways = decisions.length === 0 ? 'ends automatically' : `decide with ${offered.join(', ')}`
      for (const decision of OPERATOR_DECISIONS.filter((name) => name !== 'hold' && name !== 'acknowledge')) {
        const why = whyRefused(decision, looked, parkedFor(reason))
        expect([reason, decision, why === null]).toEqual([reason, decision, decisions.includes(decision)])
        if (why !== null) expect(why).toContain(ways)
      }
    }
  })

  test('which accepts what is there, without saying which version was looked at, or with one that is over', () => {
    for (const decision of OPERATOR_DECISIONS) {
      const waits = { ...parkedFor('underpaid'), orderChanged: true, version: 7, held: decision === 'release' }
      const why = (version?: unknown) => whyRefused(decision, { ...note, version } as typeof looked, waits)
      const accepts = ['approve', 'acknowledge', 'release', 'recordExternalRefund'].includes(decision)
      for (const strange of [undefined, null, '7', 6.5]) {
        if (accepts) expect(why(strange)).toContain('Add "version"')
        else expect(why(strange)).toBe(why(7))
      }
      if (accepts) expect(why(6)).toContain('has changed since you looked at it')
      // The row may be newer than what the run knows: then the row decides.
      if (accepts) expect([why(7), why(8)]).toEqual([null, null])
      // Of a run that has not read its row the same is asked, or it would accept what nobody has looked at.
      const unread = (version?: unknown) => whyRefused(decision, { ...note, version } as typeof looked, null)
      if (accepts) expect(unread()).toContain('Add "version"')
      expect(unread(7)).toBeNull()
      expect(whyRefused(decision, { ...looked, operator: ' ' }, null)).toContain('Give {"operator"')
    }
  })

  test('an acknowledgement of an order that was not changed; one that was is acknowledged whatever the payment waits for', () => {
    for (const reason of Object.keys(PARK_REASONS) as ParkReason[]) {
      expect(whyRefused('acknowledge', looked, parkedFor(reason))).toContain('there is nothing to acknowledge')
      expect(whyRefused('acknowledge', looked, { ...parkedFor(reason), orderChanged: true, held: true })).toBeNull()
    }
    const changed = { ...parkedFor('operator_hold'), orderChanged: true }
    expect(whyRefused('approve', note, changed)).toBe(
      'Parked for operator_hold: decide with release, refund, recordExternalRefund, acknowledge',
    )
  })

  test.each(PAYMENT_STATUSES)('a hold of a payment that is %s: only once it has ended', (status) => {
    const ended = ['succeeded', 'failed', 'expired', 'canceled', 'refunded'].includes(status)
    expect(whyRefused('hold', note, { ...fresh, status })).toBe(
      ended ? `A ${status} payment cannot be held here` : null,
    )
  })

  test('a release of what is not held; what is held is released in any state', () => {
    expect(whyRefused('release', looked, { ...fresh, held: true, status: 'pending' })).toBeNull()
    expect(whyRefused('release', looked, parkedFor('operator_hold'))).toBeNull()
    expect(whyRefused('release', note, parkedFor('underpaid'))).toContain('underpaid')
  })

  test('to let money go on that an operator holds, whatever else it waits for: release it first', () => {
    for (const [reason, decision] of [
      ['underpaid', 'approve'],
      ['money_after_failure', 'approve'],
      ['conversion', 'retry'],
      ['payout_held', 'retry'],
    ] as const) {
      expect(whyRefused(decision, note, { ...parkedFor(reason), held: true })).toBe(
        'An operator holds the payment: release it first',
      )
      expect(whyRefused('refund', note, { ...parkedFor('underpaid'), held: true })).toBeNull()
    }
    // Of what is proved on chain only the record is decided.
    const proved = { ...parkedFor('unexpected_settlement'), held: true, txHash: '0x1' }
    expect(whyRefused('approve', looked, proved)).toBeNull()
  })

  test('each has a row for the runbook', () => {
    for (const decision of OPERATOR_DECISIONS) {
      expect(DECISIONS[decision].does).not.toBe('')
      expect(DECISIONS[decision].rule.when).not.toBe('')
    }
  })
})

describe('what a decision leads to', () => {
  const effect = (decision: RecordedDecision, fields: Partial<Payment>, attempts: Attempt[] = []) =>
    effectOfDecision(decision, stateOf(fields, { attempts }), note)

  test('every move is one of the transition table, from every state', () => {
    const decisions = OPERATOR_DECISIONS.filter((name) => name !== 'refund' && name !== 'recordExternalRefund')
    const rows: Partial<Payment>[] = [
      {},
      { paidAttemptId: 'att_1' },
      { usdc },
      { transfer },
      { parkReason: 'operator_hold' },
    ]
    const cases = decisions.flatMap((decision) =>
      PAYMENT_STATUSES.flatMap((status) => rows.map((row) => ({ decision, status, row: { ...row, status } }))),
    )
    const moves = cases.flatMap(({ decision, status, row }) => {
      const found = effect(decision, row, [attempt({})])
      return 'refused' in found || found.move === null ? [] : [{ decision, status, to: found.move.to }]
    })
    expect(moves.filter(({ status, to }) => !canMove(status, to))).toEqual([])
    expect(moves.length).toBeGreaterThan(10)
  })

  test('approve settles too little money as if it were enough, and refuses without any', () => {
    const underpaid = { status: 'under_review', parkReason: 'underpaid', paidAttemptId: 'att_1' } as const
    expect(effect('approve', underpaid, [attempt({ status: 'underpaid' })])).toMatchObject({
      confirmedAttemptId: 'att_1',
      move: { to: 'processing', fields: { parkReason: null } },
    })
    expect(effect('approve', { status: 'under_review' })).toMatchObject({
      refused: expect.stringContaining('No money'),
    })
  })

  test('approve goes on with the money that fits once what does not is given back', () => {
    const misfit = { ...confirmedMoney, status: 'under_review', parkReason: 'amount_mismatch' } as const
    const other = attempt({ id: 'att_2', status: 'on_hold' })
    expect(effect('approve', misfit, [attempt({}), other])).toEqual({ refused: MISFIT_LEFT.why })
    expect(effect('approve', misfit, [attempt({}), { ...other, status: 'refunded' }])).toMatchObject({
      move: { to: 'processing' },
    })
    expect(whyRefused('approve', looked, parkedFor('amount_mismatch'))).toBeNull()
  })

  test('approve accepts a fill only where the payment waits because of it', () => {
    const waits = { status: 'under_review', paidAttemptId: 'att_1' } as const
    const fieldsFor = (parkReason: ParkReason) => effect('approve', { ...waits, parkReason }, [attempt({})])
    expect(fieldsFor('fill_off_rate')).toMatchObject({
      move: { to: 'processing', fields: { parkReason: null, statusReason: null, agreed: true } },
    })
    expect(fieldsFor('money_after_failure')).toMatchObject({
      move: { to: 'processing', fields: { parkReason: null, statusReason: null } },
    })
    expect(JSON.stringify(fieldsFor('money_after_failure'))).not.toContain('fillAccepted')
  })

  test('approve of a transfer that is proved on chain records the success', () => {
    expect(effect('approve', { status: 'under_review', transfer })).toMatchObject({ move: { to: 'succeeded' } })
  })

  test('retry goes back to where the payment stood: before the conversion, or to its payout', () => {
    const waits = { status: 'under_review', paidAttemptId: 'att_1' } as const
    expect(effect('retry', waits)).toMatchObject({ payout: null, move: { to: 'processing' } })
    expect(effect('retry', { ...waits, usdc })).toMatchObject({ payout: 'release', move: { to: 'settling' } })
  })

  test('a hold that came in between is not passed by', () => {
    const held = { status: 'under_review', held: true, paidAttemptId: 'att_1', usdc } as const
    for (const decision of ['approve', 'retry'] as const)
      expect(effect(decision, held, [attempt({})])).toEqual({ refused: expect.stringContaining('release it first') })
    expect(effect('release', { ...held, parkReason: 'underpaid' })).toMatchObject({
      change: { fields: { held: false } },
      move: null,
    })
  })

  test('a payment that has moved on meanwhile is left alone', () => {
    for (const decision of ['approve', 'retry'] as const)
      expect(effect(decision, { status: 'succeeded', usdc })).toMatchObject({ change: null, move: null })
  })

  test('reject of what has ended is done already where it was rejected, and refused elsewhere', () => {
    expect(effect('reject', { status: 'failed' })).toMatchObject({ change: null, move: null })
    for (const status of ['pending', 'expired', 'canceled', 'succeeded'] as const)
      expect(effect('reject', { status })).toEqual({
        refused: `The payment is ${status} and does not wait for an operator`,
      })
  })

  test('reject is refused once money was confirmed', () => {
    expect(effect('reject', { status: 'under_review', paidAttemptId: 'att_1' })).toMatchObject({
      refused: 'Money was confirmed: refund it',
    })
  })
})

describe('money that is not free does not go on', () => {
  const waits = { status: 'under_review', paidAttemptId: 'att_1' } as const
  const decided = (decision: RecordedDecision, fields: Partial<Payment>, money: Partial<PaymentWithAttempts>) =>
    effectOfDecision(decision, stateOf({ ...waits, ...fields }, { attempts: [attempt({})], ...money }), note)

  test.each([
    ['its refund is in progress', { intents: [refund] }, 'A refund or a void'],
    ['its payout is being voided', { intents: [{ ...refund, kind: 'void', attemptId: null }] }, 'A refund or a void'],
    [
      'a part of it is gone',
      { parts: [part({}), part({ key: 'b', units: '-1', chargeMinor: '-1' })] },
      'no longer matches what was',
    ],
    ['all of it is gone', { parts: [part({ state: 'reversed' })] }, 'no longer matches what was'],
    ['more was counted than was confirmed', { parts: [part({}), part({ key: 'b' })] }, 'no longer matches what was'],
  ] as const)('%s', (_why, money, told) => {
    for (const fields of [{}, { usdc }])
      for (const decision of ['approve', 'retry'] as const)
        expect(decided(decision, fields, money as Partial<PaymentWithAttempts>)).toEqual({
          refused: expect.stringContaining(told),
        })
    // The hold is lifted, and the money stays where it is.
    const lifted = decided(
      'release',
      { held: true, parkReason: 'operator_hold' },
      money as Partial<PaymentWithAttempts>,
    )
    expect(lifted).toMatchObject({ change: { fields: { held: false } }, move: null })
  })

  test('a refund of other money is none of its business', () => {
    const other = { intents: [{ ...refund, attemptId: 'att_2' }] }
    expect(decided('approve', {}, other)).toMatchObject({ move: { to: 'processing' } })
  })
})

describe('a hold', () => {
  test('before the conversion and before the payout parks the payment; later it is a flag', () => {
    const paid = { paidAttemptId: 'att_1' } as const
    expect(effectOfDecision('hold', stateOf({ ...paid, status: 'processing' }), note)).toMatchObject({
      payout: null,
      move: { to: 'under_review', fields: { parkReason: 'operator_hold' } },
    })
    expect(effectOfDecision('hold', stateOf({ ...paid, status: 'settling', usdc }), note)).toMatchObject({
      payout: 'hold',
      move: { to: 'under_review', fields: { parkReason: 'operator_hold' } },
    })
    expect(effectOfDecision('hold', stateOf({ status: 'pending' }), note)).toMatchObject({ payout: null, move: null })
  })

  test('of a payout is lifted with the payout', () => {
    const held = {
      status: 'under_review',
      paidAttemptId: 'att_1',
      usdc,
      held: true,
      parkReason: 'operator_hold',
    } as const
    expect(effectOfDecision('release', stateOf(held), note)).toMatchObject({
      payout: 'release',
      move: { to: 'settling' },
    })
  })
})

test('an incident of a payment that is over is dealt with by approve', () => {
  const state = stateOf({ status: 'succeeded' }, { incidents: [{ kind: 'chargeback', attemptId: 'att_1' }] })
  expect(effectOfDecision('approve', state, note)).toMatchObject({
    closes: { kind: 'chargeback', attemptId: 'att_1' },
    move: null,
  })
})
