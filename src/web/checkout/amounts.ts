import { isZero, type MicroUsdc, type Money, subtract } from '../../domain/money.ts'
import { type Account, freeUnits, isOwedToBuyer } from '../../domain/payment/funds/account.ts'
import {
  type Funds,
  findOwnAccount,
  findSoldAccount,
  getExcess,
  getShortage,
} from '../../domain/payment/funds/funds.ts'
import { toFunds, toMoney } from '../../domain/payment/funds/stored-funds.ts'
import { getReport, isClosed, isOpen } from '../../domain/payment/payment.ts'
import type { Attempt, Payment, PaymentWithAttempts } from '../../domain/payment/payment-object.ts'

/**
 * The amounts of a payment that the pages show. Every page computes them here, so that all pages show the same amounts.
 */
export type Amounts = {
  readonly price: Money
  /** The buyer's money that pays this payment, in the currency that was charged. Null until it is confirmed. */
  readonly paid: Money | null
  /** The part of `paid` above the price of the order; null if there is none. */
  readonly extra: Money | null
  /** The part of `paid` that the partner has reversed; null if it reversed nothing. */
  readonly chargedBack: Money | null
  /** The received and the missing part of the price of an underpaid payment; null for any other payment. */
  readonly short: { readonly attempt: Attempt; readonly received: Money; readonly missing: Money } | null
  /** Money that has arrived and that does not go to the merchant. */
  readonly surplus: readonly OtherMoney[]
  /** Money that went back to the buyer and was not the payment's own. */
  readonly returned: readonly OtherMoney[]
  /** The attempt whose money pays the payment; null until it is known. */
  readonly counted: Attempt | null
}

/** Money of an attempt that does not go to the merchant. `micro` is the amount in micro-USDC; null for fiat money. */
export type OtherMoney = { readonly attempt: Attempt; readonly amount: Money; readonly micro: MicroUsdc | null }

export type PaymentMoney = PaymentWithAttempts & {
  /** The units that the partners have given back, by attempt id, in the unit of `held`. */
  readonly givenBack: ReadonlyMap<string, bigint>
}

export function getAmounts(state: PaymentMoney): Amounts {
  const { payment, attempts } = state
  const funds = toFunds(state)
  const counted = findCountedAttempt(payment, attempts)
  const paid = payment.confirmed
  return {
    price: payment.amount,
    paid,
    extra: counted === null || paid === null ? null : subtractMoney(paid, counted.asked),
    chargedBack: readChargedBack(state, funds),
    short: findShort(state, funds),
    surplus: listMoney(state, ({ id }) => getSurplus(payment, funds, findAccount(funds, id))),
    returned: listMoney(state, (attempt) => getReturned(state, funds, attempt)),
    counted,
  }
}

/** Returns the units of an attempt's money that the buyer has not got back. Dust counts as zero. */
export function getAttemptUnits(state: PaymentWithAttempts, attemptId: string): bigint {
  const account = findAccount(toFunds(state), attemptId)
  return account === undefined || !isOwedToBuyer(account) ? 0n : freeUnits(account)
}

const findAccount = ({ accounts }: Funds, attemptId: string): Account | undefined =>
  accounts.find(({ id }) => id === attemptId)

function listMoney({ attempts }: PaymentMoney, getUnits: (attempt: Attempt) => bigint): readonly OtherMoney[] {
  return attempts.flatMap((attempt) => {
    const units = getUnits(attempt)
    const micro = attempt.provider === 'crypto' ? units.toString() : null
    return units === 0n ? [] : [{ attempt, amount: toMoney(attempt, units), micro }]
  })
}

/** The payment's own money that goes back becomes surplus only when the payment is closed. */
function getSurplus(payment: Payment, funds: Funds, account: Account | undefined): bigint {
  if (account === undefined) return 0n
  const isOwn = account.id === payment.paidAttemptId && findSoldAccount(funds) === null && !isClosed(payment.status)
  // The buyer of an open payment can still complete a part of the price.
  const isThere = account.report === 'paid' || (account.report === 'open' && !isOpen(payment.status))
  return isThere && !isOwn ? getExcess(funds, account) : 0n
}

function getReturned({ payment, givenBack }: PaymentMoney, funds: Funds, { id, outside }: Attempt): bigint {
  const isOwn = id === payment.paidAttemptId && findSoldAccount(funds) === null
  if (isOwn) return 0n
  return outside === '0' ? (givenBack.get(id) ?? 0n) : BigInt(outside)
}

function findCountedAttempt(payment: Payment, attempts: readonly Attempt[]): Attempt | null {
  const named = attempts.find(({ id }) => id === payment.paidAttemptId)
  return named ?? attempts.find(({ status }) => getReport(status) === 'paid') ?? null
}

function subtractMoney(paid: Money, asked: Money): Money | null {
  if (paid.currency !== asked.currency) return null
  const minor = subtract(paid.minor, asked.minor)
  return isZero(minor) || minor.startsWith('-') ? null : { minor, currency: paid.currency }
}

function readChargedBack({ attempts }: PaymentMoney, funds: Funds): Money | null {
  const sold = findSoldAccount(funds)
  const attempt = attempts.find(({ id }) => id === sold?.id)
  const missing = sold === null ? 0n : getShortage(funds, sold)
  return attempt === undefined || missing === 0n ? null : toMoney(attempt, missing)
}

/** The buyer can complete a part of the price of an open payment. After that, an operator decides. */
function findShort(state: PaymentMoney, funds: Funds): Amounts['short'] {
  const { payment, attempts } = state
  const own = payment.statusReason === 'too_little' ? findOwnAccount(funds)?.id : undefined
  const isShort = ({ id }: Attempt) => (isOpen(payment.status) ? getAttemptUnits(state, id) > 0n : id === own)
  const attempt = attempts.find(isShort)
  if (attempt === undefined) return null
  const received = toMoney(attempt, getAttemptUnits(state, attempt.id))
  const missing = subtractMoney(attempt.asked, received)
  return missing === null ? null : { attempt, received, missing }
}
