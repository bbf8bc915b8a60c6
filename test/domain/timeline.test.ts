import { describe, expect, test } from '@jest/globals'
import {
  type Actor,
  attemptNote,
  because,
  createNote,
  dataForMerchant,
  type MoveReason,
  moveNote,
  type NoteReason,
  observedSentence,
  offerNote,
} from '../../src/domain/timeline.ts'

/** The actor of each entry: a merchant’s timeline must not attribute the system’s actions to a person. */
const MOVES: Record<Actor, readonly MoveReason[]> = {
  merchant: ['created', 'canceled'],
  buyer: ['opened'],
  partner: [
    'confirming',
    'confirmed',
    'released_by_partner',
    'paid_after_expiry',
    'paid_after_cancellation',
    'paid_after_failure',
    'underpaid',
    'held_by_partner',
    'misfit',
    'wrong_asset',
    'withdrawn',
    'funds_reversed',
    'check_failed',
    'reversed',
    'given_back_by_partner',
    'held_money',
  ],
  system: [
    'partner_silent',
    'expired',
    'gave_way',
    'canceled_before',
    'conversion_stuck',
    'fill_off_rate',
    'handed_to_settlement',
    'payout_resumed',
    'payout_stopped',
    'payout_voided',
    'settled',
  ],
  operator: [
    'held',
    'resumed_after_hold',
    'approved',
    'rejected',
    'written_off',
    'payout_retried',
    'giving_back',
    'refunded_through_partner',
    'refunded_outside',
  ],
}

const NOTES: Record<Exclude<Actor, 'merchant'>, readonly NoteReason[]> = {
  system: [
    'payment.rate_locked',
    'payment.converted',
    'payment.sold',
    'payment.conversion_ended',
    'payment.settlement_delayed',
    'payment.expiry_postponed',
    'payment.listening_ended',
    'payment.silent',
    'payment.payout_voided',
    'payment.void_asked',
    'payment.transfer_replaced',
    'payment.reserve_released',
    'deposit.received',
    'deposit.other_token',
    'deposit.surplus',
    'refund.requested',
  ],
  buyer: ['payment.expiry_extended', 'attempt.sent'],
  partner: [
    'payment.money_came',
    'payment.money_went',
    'payment.misfit',
    'refund.refused',
    'payment.chargeback',
    'payment.chargeback_won',
    'attempt.refused',
  ],
  operator: [
    'decision.settle',
    'decision.give_back',
    'decision.give_back_outside',
    'decision.write_off',
    'decision.hold',
    'decision.release',
    'payment.reserve_held_again',
  ],
}

/** A capital letter, some words, and no full stop: the page adds it. */
const SENTENCE = /^[A-Z][\w ,:;’-]{8,}[\w]$/
const byActor = <T>(table: Readonly<Record<string, readonly T[]>>) =>
  Object.entries(table).flatMap(([actor, reasons]) => reasons.map((reason) => [reason, actor] as const))

describe('The data of an entry as a merchant sees it', () => {
  test('a merchant does not see who decided, why, and by which proof', () => {
    const data = { operator: 'ada', reason: 'asked at the bank', proof: 'bank 7', attempt: 'att_1', units: '5' }
    expect(dataForMerchant(data)).toEqual({ attempt: 'att_1', units: '5' })
  })

  test('a merchant sees the reason of an entry that no operator made', () => {
    expect(dataForMerchant({ reason: 'declined', units: '5' })).toEqual({ reason: 'declined', units: '5' })
  })
})

describe('The timeline’s texts', () => {
  test.each(byActor(MOVES))('the timeline names the actor of a move that is %s: %s', (reason, actor) => {
    const data = { figure: '1' }
    expect(because(reason, data)).toEqual({ actor, message: expect.stringMatching(SENTENCE), data })
    expect(because(reason).data).toEqual({})
  })

  test.each(byActor(NOTES))('the timeline names the actor of %s: %s', (reason, actor) => {
    const data = { figure: '1' }
    expect(createNote(reason, data)).toMatchObject({
      actor,
      message: expect.stringMatching(/^[A-Z][\w ,:;.’-]{8,}\w$/),
      data,
    })
    expect(createNote(reason).data).toEqual({})
  })

  test('the timeline keeps the kinds by which stored entries are found', () => {
    expect(createNote('payment.converted').kind).toBe('payment.converted')
    expect(createNote('attempt.sent').kind).toBe('attempt.open')
    expect(createNote('attempt.refused').kind).toBe('attempt.declined')
    expect(createNote('decision.give_back_outside').kind).toBe('decision.give_back')
    expect(createNote('decision.give_back_by_merchant').kind).toBe('decision.give_back')
    expect(createNote('deposit.other_token').kind).toBe('deposit.received')
    expect(moveNote('settling', because('payout_resumed'))).toEqual({
      kind: 'payment.settling',
      actor: 'system',
      message: 'Payout resumed',
      data: {},
    })
  })

  test.each([
    ['verification_required', true, 'The partner asks the buyer for a one-time identity check'],
    ['declined', true, 'The attempt was declined; the buyer may try again'],
    ['declined', false, 'The partner reports: declined'],
    ['on_hold', true, 'The partner reports: on hold'],
    ['canceled', true, 'The partner reports: canceled'],
  ] as const)('the timeline shows an attempt that is %s (payable: %s) as “%s”', (status, isPayable, message) => {
    const data = { attempt: 'att_1' }
    expect(attemptNote(status, isPayable, data)).toEqual({ kind: `attempt.${status}`, actor: 'partner', message, data })
  })

  test('the timeline shows the chosen method, or why the pinned one was not offered', () => {
    const data = { country: 'BR' }
    const pinned = { provider: 'card_partner', reason: 'country', fallback: 'picker' }
    const chosen = { provider: 'local_partner', method: 'card' } as const
    expect(offerNote({ country: 'BR', chosen, pinned, data })).toEqual({
      kind: 'checkout.route',
      actor: 'buyer',
      message: 'Buyer chose Card (BR)',
      data,
    })
    expect(offerNote({ country: 'BR', chosen: null, pinned, data })).toEqual({
      kind: 'checkout.route',
      actor: 'system',
      message: 'card_partner is not offered to a buyer in BR (country); shown: picker',
      data,
    })
    expect(offerNote({ country: null, chosen, pinned, data }).message).toBe('Buyer chose Card (country unknown)')
    expect(offerNote({ country: null, chosen: null, pinned, data }).message).toContain('a buyer in an unknown country')
    expect(offerNote({ country: 'BR', chosen: null, pinned: { ...pinned, reason: 'down' }, data }).message).toBe(
      'card_partner is not responding at the moment; shown: picker',
    )
  })

  test.each([
    [200, null, 'The webhook endpoint accepted the event'],
    [299, null, 'The webhook endpoint accepted the event'],
    [199, null, 'The webhook endpoint did not accept the event (199)'],
    [300, null, 'The webhook endpoint did not accept the event (300)'],
    [null, 'timeout', 'The webhook endpoint did not accept the event (timeout)'],
    [null, null, 'The webhook endpoint did not accept the event (no response)'],
  ])('the timeline shows a try with the response %s (%s)', (status, error, sentence) => {
    expect(observedSentence({ kind: 'webhook.attempt', status, error })).toBe(sentence)
  })

  test('the timeline shows that an event was recorded', () => {
    expect(observedSentence({ kind: 'event.recorded', type: 'payment.failed' })).toBe('payment.failed was recorded')
  })
})
