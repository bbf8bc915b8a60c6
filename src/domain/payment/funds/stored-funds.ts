import type { Booking } from '../../ledger.ts'
import { convertToMicroUsdc, type Money, splitFee } from '../../money.ts'
import { isTooLate } from '../late-money.ts'
import { getReport } from '../payment.ts'
import type { Attempt, Payment, PaymentWithAttempts, StoredSale } from '../payment-object.ts'
import { getReserved } from '../reserve.ts'
import { type Account, type AccountMisfit, isOnChain, isOwedToBuyer } from './account.ts'
import { type Funds, getLoss, type TakenSale } from './funds.ts'
import { findMoneyStep } from './money-step.ts'
import { computePositions, listLinesBetween } from './positions.ts'

export function toFunds(state: PaymentWithAttempts): Funds {
  const { payment, attempts, sales } = state
  return {
    accounts: attempts.map(toAccount),
    sales,
    taken: findTaken(state),
    payout: payment.payout,
    paidOut: BigInt(payment.paidMicro ?? '0'),
    lost: BigInt(payment.lostMinor),
    released: BigInt(payment.reserveReleasedMicro),
    isDeductionReleased: payment.deduction?.releaseId != null,
    closed: payment.closedAs,
    listens: !payment.listenEnded,
    late: attempts.filter((attempt) => isTooLate(payment, attempt)).map(({ id }) => id),
    hold: payment.held,
    stuck: payment.stuck,
    agreed: payment.agreed,
    tolerancePercent: BigInt(payment.tolerancePercent),
    fillPercent: payment.fillTolerancePercent,
  }
}

function findTaken({ payment, sales }: PaymentWithAttempts): TakenSale | null {
  const { takenSale, usdc } = payment
  const sale = sales.find(({ number }) => number === takenSale)
  if (sale === undefined || usdc === null) return null
  return {
    ...sale,
    gross: BigInt(usdc.gross),
    fee: BigInt(usdc.fee),
    reserve: BigInt(getReserved(payment)),
    deducted: BigInt(payment.deduction?.micro ?? '0'),
  }
}

export function toAccount(attempt: Attempt): Account {
  return {
    id: attempt.id,
    asset: attempt.provider === 'crypto' ? 'USDC' : attempt.asked.currency,
    asked: BigInt(attempt.provider === 'crypto' ? (attempt.askedMicro ?? '0') : attempt.asked.minor),
    report: getReport(attempt.status),
    held: BigInt(attempt.held),
    outside: BigInt(attempt.outside),
    misfit: toAccountMisfit(attempt),
    silent: attempt.silent,
    back: attempt.back,
    returned: attempt.returned,
    writtenOff: BigInt(attempt.writtenOff),
    refunded: BigInt(attempt.refunded),
    refunding: BigInt(attempt.refunding),
  }
}

function toAccountMisfit({ misfit, misfitAnswer }: Attempt): AccountMisfit {
  if (misfit === null || misfitAnswer === 'dismissed') return 'none'
  if (misfit.why === 'token') return 'other_token'
  return misfitAnswer === 'accepted' ? 'accepted' : 'odd'
}

/** Returns the payment with the funds. `derive` computes the rest later. */
export function withFunds(state: PaymentWithAttempts, funds: Funds): PaymentWithAttempts {
  const { payout, paidOut, closed, hold, stuck, agreed } = funds
  const payment: Payment = {
    ...state.payment,
    payout,
    stoppedFor: payout === 'stopped' ? state.payment.stoppedFor : null,
    paidMicro: payout === 'paid' ? paidOut.toString() : state.payment.paidMicro,
    closedAs: closed,
    held: hold,
    stuck,
    agreed,
  }
  const attempts = state.attempts.map((attempt) => {
    const account = funds.accounts.find(({ id }) => id === attempt.id)
    return account === undefined ? attempt : withAccount(attempt, account)
  })
  return { ...state, payment, attempts }
}

function withAccount(attempt: Attempt, account: Account): Attempt {
  const { outside, back, returned, writtenOff, misfit } = account
  const answer = misfit === 'none' ? 'dismissed' : 'accepted'
  return {
    ...attempt,
    outside: outside.toString(),
    writtenOff: writtenOff.toString(),
    back,
    returned,
    misfitAnswer: misfit === toAccountMisfit(attempt) ? attempt.misfitAnswer : answer,
  }
}

/** Converts the attempt's units to the currency of `asked`; the asked USDC converts to exactly the asked amount. */
export function toMoney({ asked, askedMicro, provider }: Attempt, units: bigint): Money {
  if (provider !== 'crypto') return { ...asked, minor: units.toString() }
  const micro = BigInt(askedMicro ?? '0')
  return { ...asked, minor: micro === 0n ? '0' : ((BigInt(asked.minor) * units) / micro).toString() }
}

/**
 * Takes every step that needs no other party: a sale of USDC, which is its own fill; the order for the converter, which
 * is stored before the converter is asked; and a filled sale, with its fee.
 */
export function advanceFunds(changed: PaymentWithAttempts): PaymentWithAttempts {
  const state = lowerWrittenOff(changed)
  const step = findMoneyStep(toFunds(state))
  if (step.do === 'take') return advanceFunds(takeSale(state, step.number))
  if (step.do !== 'sell') return state
  const sale = createSale(state, step)
  if (sale === null) return state
  const sold = { ...state, sales: [...state.sales, sale] }
  return sale.state === 'filled' ? advanceFunds(sold) : sold
}

/** Lowers a written-off loss by the units won back: an operator must decide again if they are lost again. */
function lowerWrittenOff(state: PaymentWithAttempts): PaymentWithAttempts {
  const funds = toFunds(state)
  const accounts = funds.accounts.map((account) => {
    const loss = getLoss(funds, account)
    return { ...account, writtenOff: account.writtenOff > loss ? loss : account.writtenOff }
  })
  return withFunds(state, { ...funds, accounts })
}

function takeSale(state: PaymentWithAttempts, number: number): PaymentWithAttempts {
  const sale = state.sales.find((one) => one.number === number)
  if (sale === undefined) return state
  const usdc = splitFee(sale.gross.toString(), state.payment.feePercent)
  const payment: Payment = { ...state.payment, takenSale: number, usdc }
  return { ...state, payment }
}

/** Null: a sale is open, or there is no rate yet. */
function createSale(
  { attempts, sales }: PaymentWithAttempts,
  { accountId, units }: { readonly accountId: string; readonly units: bigint },
): StoredSale | null {
  const attempt = attempts.find(({ id }) => id === accountId)
  if (attempt === undefined || attempt.rate === null || sales.some(({ state }) => state === 'asked')) return null
  const gross = BigInt(convertToMicroUsdc(toMoney(attempt, units), attempt.rate.rate))
  const sale = { number: sales.length + 1, accountId, units, gross, reference: null }
  return isOnChain(toAccount(attempt))
    ? { ...sale, state: 'filled', fill: units }
    : { ...sale, state: 'asked', fill: null }
}

export const findOpenSale = ({ sales }: Pick<PaymentWithAttempts, 'sales'>): StoredSale | null =>
  sales.find(({ state }) => state === 'asked') ?? null

/** Returns the difference between the positions before and after the change; null: it books nothing. */
export function createBooking(before: PaymentWithAttempts, after: PaymentWithAttempts, kind: string): Booking | null {
  const { id, version } = after.payment
  const lines = listLinesBetween(computePositions(toFunds(before)), computePositions(toFunds(after)))
  return lines.length === 0 ? null : { kind, reference: `${id}:${version}`, paymentId: id, lines }
}

export const hasMoney = ({ attempts }: Pick<PaymentWithAttempts, 'attempts'>): boolean =>
  attempts.some((attempt) => isOwedToBuyer(toAccount(attempt)))
