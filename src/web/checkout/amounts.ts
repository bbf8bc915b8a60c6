import { isZero, type MicroUsdc, type Money, subtract } from '../../domain/money.ts'
import { type Account, freeUnits, isWorth } from '../../domain/payment/funds/account.ts'
import {
  type Funds,
  findOwnAccount,
  findSoldAccount,
  getExcess,
  getShortage,
} from '../../domain/payment/funds/funds.ts'
import { toFunds, toMoney } from '../../domain/payment/funds/stored-funds.ts'
import { isClosed, isOpen, wordOf } from '../../domain/payment/payment.ts'
import type { Attempt, Payment, PaymentWithAttempts } from '../../domain/payment/payment-object.ts'

/**
 * What a payment's money comes to, as the pages show it. The one place that reads it from the payment and its attempts:
 * every page asks here, so that none of them says another sum.
 */
export type Amounts = {
  /** What the shop asks for. */
  readonly price: Money
  /** What was taken for this payment and goes on to the shop; in the currency that was charged. Null before. */
  readonly paid: Money | null
  /** The part of `paid` above what was asked. Null without one. */
  readonly extra: Money | null
  /** The part of `paid` that the partner has taken back since. Null: all of it is there. */
  readonly chargedBack: Money | null
  /** What arrived of a payment that is too small, and what of it is missing. Null for any other. */
  readonly short: { readonly received: Money; readonly missing: Money } | null
  /** Money that is there and does not go on to the shop. */
  readonly surplus: readonly Beside[]
  /** Money beside the payment's own that went back to the buyer. */
  readonly returned: readonly Beside[]
  /** The order whose money counts; null before it is known. */
  readonly counted: Attempt | null
}

/** Money of an order that does not go on to the shop. `micro`: the USDC that it is, if it is USDC. */
export type Beside = { readonly attempt: Attempt; readonly amount: Money; readonly micro: MicroUsdc | null }

export type MoneyOf = PaymentWithAttempts & {
  /** What the partners have given back of orders, by attempt, in the unit of `held`. */
  readonly givenBack: ReadonlyMap<string, bigint>
}

export function amountsOf(state: MoneyOf): Amounts {
  const { payment, attempts } = state
  const funds = toFunds(state)
  const counted = countedAttempt(payment, attempts)
  const paid = payment.confirmed
  return {
    price: payment.amount,
    paid,
    extra: counted === null || paid === null ? null : excess(paid, counted.asked),
    chargedBack: readChargedBack(state, funds),
    short: shortOf(state, funds),
    surplus: sums(state, ({ id }) => surplusOf(payment, funds, accountOf(funds, id))),
    returned: sums(state, (attempt) => returnedOf(state, funds, attempt)),
    counted,
  }
}

/** What is there of the buyer's money of an order. Dust is nobody's. */
export function heldOf(state: PaymentWithAttempts, attemptId: string): bigint {
  const account = accountOf(toFunds(state), attemptId)
  return account === undefined || !isWorth(account) ? 0n : freeUnits(account)
}

const accountOf = ({ accounts }: Funds, attemptId: string): Account | undefined =>
  accounts.find(({ id }) => id === attemptId)

/** Keeps the attempts whose sum is more than nothing. */
function sums({ attempts }: MoneyOf, unitsOf: (attempt: Attempt) => bigint): readonly Beside[] {
  return attempts.flatMap((attempt) => {
    const units = unitsOf(attempt)
    const micro = attempt.provider === 'crypto' ? units.toString() : null
    return units === 0n ? [] : [{ attempt, amount: toMoney(attempt, units), micro }]
  })
}

/** The payment's own money that goes back is no surplus before the payment is over. */
function surplusOf(payment: Payment, funds: Funds, account: Account | undefined): bigint {
  if (account === undefined) return 0n
  const isOwn = account.id === payment.paidAttemptId && findSoldAccount(funds) === null && !isClosed(payment.status)
  // A part of the price of an open payment can still be completed.
  const isThere = account.word === 'paid' || (account.word === 'open' && !isOpen(payment.status))
  return isThere && !isOwn ? getExcess(funds, account) : 0n
}

function returnedOf({ payment, givenBack }: MoneyOf, funds: Funds, { id, outside }: Attempt): bigint {
  const isOwn = id === payment.paidAttemptId && findSoldAccount(funds) === null
  if (isOwn) return 0n
  return outside === '0' ? (givenBack.get(id) ?? 0n) : BigInt(outside)
}

function countedAttempt(payment: Payment, attempts: readonly Attempt[]): Attempt | null {
  const named = attempts.find(({ id }) => id === payment.paidAttemptId)
  return named ?? attempts.find(({ status }) => wordOf(status) === 'paid') ?? null
}

function excess(paid: Money, asked: Money): Money | null {
  if (paid.currency !== asked.currency) return null
  const minor = subtract(paid.minor, asked.minor)
  return isZero(minor) || minor.startsWith('-') ? null : { minor, currency: paid.currency }
}

function readChargedBack({ attempts }: MoneyOf, funds: Funds): Money | null {
  const sold = findSoldAccount(funds)
  const attempt = attempts.find(({ id }) => id === sold?.id)
  const missing = sold === null ? 0n : getShortage(funds, sold)
  return attempt === undefined || missing === 0n ? null : toMoney(attempt, missing)
}

/** A part of the price: of an open payment the rest can still come, and of another one somebody decides. */
function shortOf(state: MoneyOf, funds: Funds): Amounts['short'] {
  const { payment, attempts } = state
  const own = payment.statusReason === 'too_little' ? findOwnAccount(funds)?.id : undefined
  const isShort = ({ id }: Attempt) => (isOpen(payment.status) ? heldOf(state, id) > 0n : id === own)
  const attempt = attempts.find(isShort)
  if (attempt === undefined) return null
  const received = toMoney(attempt, heldOf(state, attempt.id))
  const missing = excess(attempt.asked, received)
  return missing === null ? null : { received, missing }
}
