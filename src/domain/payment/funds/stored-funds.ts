import type { Booking } from '../../ledger.ts'
import { convertToMicroUsdc } from '../../money.ts'
import { openRefund } from '../money/intents.ts'
import { atPartner, chargeSum, type Part, returnedOutside, unitSum } from '../money/parts.ts'
import type { Attempt, PaymentWithAttempts, StoredSale } from '../payment-object.ts'
import type { Account, Word } from './account.ts'
import type { Funds, PayoutState, TakenSale } from './funds.ts'
import { computePositions, listLinesBetween } from './positions.ts'

/** The funds of a payment as its rows have them. Whose money is the payment's is what the rows say. */
export function toFunds(state: PaymentWithAttempts): Funds {
  const { payment, attempts, sales } = state
  const { status, listenEnded, held, agreed } = payment
  return {
    accounts: attempts.map((attempt) => toAccount(state, attempt)),
    sales,
    taken: toTaken(state),
    payout: toPayoutState(state),
    paidOut: BigInt(payment.paidMicro ?? '0'),
    closed: status === 'expired' || status === 'canceled' || status === 'failed' ? status : null,
    listens: !listenEnded || payment.paidAttemptId !== null,
    hold: held,
    stuck: payment.parkReason === 'conversion',
    agreed,
    // The rows have compared it already.
    tolerancePercent: 100n,
  }
}

function toTaken({ payment: { takenSale, usdc }, sales }: PaymentWithAttempts): TakenSale | null {
  const sale = sales.find(({ number }) => number === takenSale)
  return sale === undefined || usdc === null ? null : { ...sale, gross: BigInt(usdc.gross), fee: BigInt(usdc.fee) }
}

function toAccount(state: PaymentWithAttempts, attempt: Attempt): Account {
  const { payment, intents } = state
  const parts = state.parts.filter(({ attemptId }) => attemptId === attempt.id)
  const isUsdc = attempt.provider === 'crypto'
  const isOwn = payment.paidAttemptId === attempt.id
  return {
    id: attempt.id,
    asset: isUsdc ? 'USDC' : attempt.asked.currency,
    asked: BigInt(attempt.asked.minor),
    word: isOwn ? 'paid' : WORDS_OF_OTHERS[attempt.status],
    held: isUsdc ? sumUnits(parts, ['receipt', 'reversal']) : BigInt(atPartner(parts, attempt.id)),
    outside: isUsdc ? -sumUnits(parts, ['return_outside']) : BigInt(returnedOutside(parts, attempt.id)),
    odd: false,
    accepted: false,
    back: openRefund(intents, attempt.id) === null ? 'no' : 'asked',
    writtenOff: 0n,
  }
}

const sumUnits = (parts: readonly Part[], kinds: readonly Part['kind'][]): bigint =>
  parts.filter(({ kind }) => kinds.includes(kind)).reduce((sum, { units }) => sum + BigInt(units), 0n)

/** Money of an attempt that is not the payment's own is never sellable. */
const WORDS_OF_OTHERS: Readonly<Record<Attempt['status'], Word>> = {
  opening: 'open',
  open: 'open',
  verification_required: 'open',
  confirming: 'confirming',
  on_hold: 'withheld',
  confirmed: 'confirming',
  underpaid: 'confirming',
  surplus: 'confirming',
  late: 'confirming',
  declined: 'over',
  canceled: 'over',
  expired: 'over',
  refunded: 'over',
}

function toPayoutState({ payment, intents }: PaymentWithAttempts): PayoutState {
  const { status, parkReason, transfer, takenSale } = payment
  if (transfer !== null) return 'paid'
  if (takenSale !== null && (status === 'refunded' || parkReason === 'payout_voided')) return 'void'
  if (intents.some(({ kind }) => kind === 'void')) return 'voiding'
  if (parkReason === 'payout_held') return 'stopped'
  return status === 'settling' ? 'handed' : 'none'
}

/** The units of the payment's own money that are to be sold, in the smallest unit of its asset. */
export function unitsToSell({ payment, parts }: PaymentWithAttempts): bigint {
  const own = { attemptId: payment.paidAttemptId, states: ['counted'] } as const
  return BigInt(payment.providerUsed === 'crypto' ? unitSum(parts, own) : chargeSum(parts, own))
}

/** Micro-USDC that the locked rate gives for the payment's own money; null without money or rate. */
export function grossToSell({ payment: { confirmed, rate } }: PaymentWithAttempts): bigint | null {
  return confirmed === null || rate === null ? null : BigInt(convertToMicroUsdc(confirmed, rate.rate))
}

/** True if the sale is of exactly the payment's own money, at the locked rate. */
export function isOfOwnMoney(state: PaymentWithAttempts, sale: StoredSale): boolean {
  const isSame = sale.accountId === state.payment.paidAttemptId && sale.units === unitsToSell(state)
  return isSame && sale.gross === grossToSell(state)
}

export const findOpenSale = ({ sales }: Pick<PaymentWithAttempts, 'sales'>): StoredSale | null =>
  sales.find(({ state }) => state === 'asked') ?? null

/** The filled sale of exactly the payment's own money; null: it must be sold first. */
export const findOwnSale = (state: PaymentWithAttempts): StoredSale | null =>
  state.sales.find((sale) => sale.state === 'filled' && isOfOwnMoney(state, sale)) ?? null

/**
 * The sale that must be on record now, because the converter may be asked for it next; null: none. USDC needs no converter.
 */
export function dueSale(state: PaymentWithAttempts): StoredSale | null {
  const { status, usdc, held, providerUsed, paidAttemptId } = state.payment
  const gross = grossToSell(state)
  const units = unitsToSell(state)
  const mayBeAsked = status === 'processing' && usdc === null && !held && providerUsed !== 'crypto' && units > 0n
  if (!mayBeAsked || gross === null || paidAttemptId === null) return null
  if (findOpenSale(state) !== null || findOwnSale(state) !== null) return null
  return newSale(state, { units, gross })
}

export function newSale(
  { payment, sales }: PaymentWithAttempts,
  { units, gross }: { readonly units: bigint; readonly gross: bigint },
): StoredSale {
  const accountId = payment.paidAttemptId ?? ''
  return { number: sales.length + 1, accountId, units, gross, fill: null, state: 'asked', reference: null }
}

/** Returns what a change of the payment books: the difference between the positions before and after it. Null: nothing. */
export function bookingBetween(before: PaymentWithAttempts, after: PaymentWithAttempts, kind: string): Booking | null {
  const { id, version } = after.payment
  const lines = listLinesBetween(computePositions(toFunds(before)), computePositions(toFunds(after)))
  return lines.length === 0 ? null : { kind, reference: `${id}:${version}`, paymentId: id, lines }
}
