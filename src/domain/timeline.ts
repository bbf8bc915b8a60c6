import { METHOD_LABELS, type MethodName } from './methods.ts'
import type { AttemptStatus, PaymentStatus } from './payment/payment.ts'

/** Every sentence that a payment's timeline can contain, with its actor. No other file writes one. */

export type Actor = 'merchant' | 'buyer' | 'partner' | 'system' | 'operator'

/** `data` has ids and figures, no personal data. */
export type Reason = { readonly actor: Actor; readonly message: string; readonly data?: object }

export type Note = Reason & { readonly kind: string }

const INTERNAL: readonly string[] = ['operator', 'reason', 'proof']

/** Leaves out the name, the reason and the proof of an operator: merchants read the sentence. */
export function dataForMerchant<Value>(data: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  if (!('operator' in data)) return data
  return Object.fromEntries(Object.entries(data).filter(([name]) => !INTERNAL.includes(name)))
}

const MOVES = {
  created: ['merchant', 'The payment was created'],
  opened: ['buyer', 'The buyer opened a partner order'],
  confirming: ['partner', 'The partner is confirming the payment'],
  confirmed: ['partner', 'The partner confirmed the payment'],
  released_by_partner: ['partner', 'The partner released the payment'],
  paid_after_expiry: ['partner', 'The buyer paid after the expiry'],
  paid_after_cancellation: ['partner', 'The buyer paid after the cancellation'],
  paid_after_failure: ['partner', 'Money arrived after the failure'],
  underpaid: ['partner', 'The buyer paid less than was asked'],
  held_by_partner: ['partner', 'The partner withholds the money for a check'],
  misfit: ['partner', 'The partner’s report does not match the order'],
  wrong_asset: ['partner', 'The buyer sent a token other than USDC'],
  withdrawn: ['partner', 'The partner withdrew its confirmation'],
  funds_reversed: ['partner', 'The money went before it was settled: the payout is voided'],
  // The note of the silence has the reason.
  partner_silent: ['system', 'The payment waits for an operator, who asks the partner'],
  check_failed: ['partner', 'The identity check was not passed, and no other method is allowed'],
  reversed: ['partner', 'The partner reversed the payment for good'],
  given_back_by_partner: ['partner', 'The partner returned the money'],
  expired: ['system', 'Nothing was paid in time'],
  gave_way: ['system', 'The buyer did not continue for five minutes, and another buyer took the place of the link'],
  canceled: ['merchant', 'The merchant canceled the payment'],
  canceled_by_suspension: ['operator', 'The payment was canceled because the account is suspended'],
  canceled_before: ['system', 'The merchant had canceled it, and the money that arrived later has been reversed'],
  conversion_stuck: ['system', 'The converter refused the conversion, or has not filled it in time'],
  fill_off_rate: ['system', 'The converter’s fill is too far from the locked rate'],
  handed_to_settlement: ['system', 'Payout queued'],
  payout_resumed: ['system', 'Payout resumed'],
  payout_stopped: ['system', 'The settlement has stopped the payout'],
  payout_voided: ['system', 'The payout can no longer be paid'],
  settled: ['system', 'The USDC is final at the wallet of the merchant'],
  held: ['operator', 'An operator holds the payment'],
  held_money: ['partner', 'Money arrived, and waits because an operator holds the payment'],
  resumed_after_hold: ['operator', 'An operator released the hold'],
  approved: ['operator', 'An operator settles what is there'],
  rejected: ['operator', 'An operator ended it as failed, before any money arrived'],
  written_off: ['operator', 'An operator recorded that it is dealt with'],
  payout_retried: ['operator', 'The payout is tried again'],
  giving_back: ['operator', 'The money goes back to the buyer'],
  refunded_by_merchant: ['merchant', 'The merchant refunds the payment before it is settled'],
  refunded_through_partner: ['operator', 'The money went back to the buyer through the partner'],
  refunded_outside: ['operator', 'The money went back to the buyer outside of the partner'],
} as const satisfies Record<string, readonly [Actor, string]>
export type MoveReason = keyof typeof MOVES

export function because(why: MoveReason, data: object = {}): Reason {
  const [actor, message] = MOVES[why]
  return { actor, message, data }
}

export function moveNote(to: PaymentStatus, reason: Reason): Note {
  return { ...reason, kind: `payment.${to}` }
}

const NOTES = {
  'payment.rate_locked': ['system', 'The rate was locked later: no rate was available when the money arrived'],
  'payment.converted': ['system', 'Converted to USDC'],
  'payment.sold': ['system', 'The converter has filled the order'],
  'payment.conversion_ended': ['system', 'The converter has not filled the order, and never will'],
  'payment.settlement_delayed': ['system', 'The settlement is taking longer than it should'],
  'payment.expiry_postponed': ['system', 'An identity check is running: the expiry was moved by 24 hours'],
  'payment.expiry_extended': ['buyer', 'The buyer asked for more time: the expiry was moved by 15 minutes'],
  'payment.listening_ended': ['system', 'Late money is no longer expected'],
  'payment.money_came': ['partner', 'More money arrived'],
  'payment.money_went': ['partner', 'The partner reversed money'],
  'decision.settle': ['operator', 'An operator settles what is there'],
  'decision.give_back': ['operator', 'An operator gives money back to the buyer'],
  'decision.give_back_outside': ['operator', 'The buyer got money back from elsewhere'],
  'decision.give_back_by_merchant': ['merchant', 'The merchant refunds the payment before it is settled'],
  'decision.refund_succeeded': ['operator', 'An operator recorded that the partner has refunded the buyer'],
  'decision.refund_failed': ['operator', 'An operator recorded that the partner does not refund the buyer'],
  'decision.write_off': ['operator', 'An operator recorded that it is dealt with'],
  'decision.hold': ['operator', 'An operator holds the payment'],
  'decision.release': ['operator', 'An operator released the hold'],
  'payment.silent': ['system', 'The partner has been confirming the payment for too long'],
  'payment.misfit': ['partner', 'The partner’s report does not match the order'],
  'payment.payout_voided': ['system', 'The payout was voided, with proof that it can no longer be paid'],
  'payment.void_asked': ['system', 'A void of the payout was requested'],
  'refund.refused': ['partner', 'The partner refused the refund: it still has the money'],
  'payment.chargeback': ['partner', 'The partner reversed the money after the conversion'],
  'payment.chargeback_won': ['partner', 'Money that the partner had reversed is there again: the loss is booked back'],
  'payment.reserve_released': ['system', 'The reserve was released'],
  'payment.reserve_held_again': ['operator', 'The release of the reserve was void, so it is held back again'],
  'payment.deducted': ['system', 'A part of the payout pays for a refund of another payment'],
  'payment.deduction_released': ['system', 'The refund has not taken what was deducted for it: it was released'],
  'payment.deduction_held_again': ['operator', 'The release of the deduction was void, so it is held back again'],
  'payment.transfer_replaced': [
    'system',
    'The block of the transfer was replaced; the transfer is final in another block',
  ],
  'refund.requested': ['system', 'A refund was requested from the partner'],
  'refund.created': ['merchant', 'A refund was created: it waits for USDC of the merchant'],
  'refund.signed': ['merchant', 'The merchant signed the transfer that pays for the refund'],
  'refund.received': ['system', 'USDC arrived at the address of the refund'],
  'refund.deducted': ['system', 'USDC for the refund was deducted from payouts that are final'],
  'refund.funded': ['system', 'The USDC for the refund is final'],
  'refund.asked': ['system', 'The partner was asked to refund the buyer'],
  'refund.succeeded': ['partner', 'The partner has refunded the buyer'],
  'refund.failed': [
    'system',
    'The refund has failed. USDC that was sent for it goes back to the wallet of the merchant',
  ],
  'refund.canceled': ['merchant', 'The refund was canceled'],
  'refund.expired': ['system', 'The USDC for the refund did not arrive in time'],
  'refund.returned': ['system', 'USDC of the refund is final at the wallet of the merchant'],
  'attempt.sent': ['buyer', 'The buyer was sent to the partner'],
  'attempt.refused': ['partner', 'The partner declined the order'],
  'deposit.received': ['system', 'USDC arrived at the payment’s address'],
  'deposit.other_token': ['system', 'A token other than USDC arrived at the address'],
  'deposit.surplus': [
    'system',
    'More USDC arrived at the payment’s address after its money was counted. It is not settled',
  ],
} as const satisfies Record<string, readonly [Actor, string]>
export type NoteReason = keyof typeof NOTES

/** Kinds of entries whose sentence has another name. Stored entries are found by their kind. */
const KINDS: Partial<Record<NoteReason, string>> = {
  'attempt.sent': 'attempt.open',
  'attempt.refused': 'attempt.declined',
  'deposit.other_token': 'deposit.received',
  'decision.give_back_outside': 'decision.give_back',
  'decision.give_back_by_merchant': 'decision.give_back',
}

export function createNote(reason: NoteReason, data: object = {}): Note {
  const [actor, message] = NOTES[reason]
  return { kind: KINDS[reason] ?? reason, actor, message, data }
}

/** For a report that does not move the payment. `isPayable`: the buyer can pay with another attempt. */
export function attemptNote(status: AttemptStatus, isPayable: boolean, data: object): Note {
  return { kind: `attempt.${status}`, actor: 'partner', message: attemptSentence(status, isPayable), data }
}

function attemptSentence(status: AttemptStatus, isPayable: boolean): string {
  if (status === 'verification_required') return 'The partner asks the buyer for a one-time identity check'
  if (status === 'declined' && isPayable) return 'The attempt was declined; the buyer may try again'
  return `The partner reports: ${status.replace('_', ' ')}`
}

export function offerNote(decision: {
  /** ISO 3166 alpha-2; null: unknown. */
  readonly country: string | null
  readonly chosen: { readonly provider: string; readonly method: MethodName } | null
  readonly pinned: { readonly provider: string | null; readonly reason: string | undefined; readonly fallback: string }
  readonly data: object
}): Note {
  const { country, chosen, pinned, data } = decision
  if (chosen !== null) {
    const message = `Buyer chose ${METHOD_LABELS[chosen.method]} (${country ?? 'country unknown'})`
    return { kind: 'checkout.route', actor: 'buyer', message, data }
  }
  const why =
    pinned.reason === 'down'
      ? 'is not responding at the moment'
      : `is not offered to a buyer in ${country ?? 'an unknown country'} (${pinned.reason})`
  const message = `${pinned.provider} ${why}; shown: ${pinned.fallback}`
  return { kind: 'checkout.route', actor: 'system', message, data }
}

/** Entries that are stored elsewhere: the event about a move, and the tries to deliver it. */
export type Observed =
  | { readonly kind: 'event.recorded'; readonly type: string }
  | { readonly kind: 'webhook.attempt'; readonly status: number | null; readonly error: string | null }

export function observedSentence(seen: Observed): string {
  if (seen.kind === 'event.recorded') return `${seen.type} was recorded`
  const { status, error } = seen
  if (status !== null && status >= 200 && status <= 299) return 'The webhook endpoint accepted the event'
  return `The webhook endpoint did not accept the event (${status ?? error ?? 'no response'})`
}
