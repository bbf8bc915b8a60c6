import type { writePayments } from '../../../src/db/payments/payment-writes.ts'
import type { Account } from '../../../src/domain/payment/funds/account.ts'
import type { findMoneyStep, MoneyStep } from '../../../src/domain/payment/funds/money-step.ts'
import type { AskReason, listReasons, StopReason } from '../../../src/domain/payment/funds/review.ts'
import type { Seam } from '../time/load.ts'

/**
 * A bug that must be caught: a wrong result of a named function or constant. `and`: a second bug, without which it
 * would stay hidden. `caughtBy`: the title of the found story that fails with it.
 */
export type Defect = { readonly name: string; readonly caughtBy: string; readonly and?: readonly Seam[] } & Seam

/** Gives a planted function the type of the one that it replaces. */
export const plant =
  <Real>(make: (real: Real) => Real): Seam['plant'] =>
  (real: never) =>
    make(real)

export const FUNDS = 'src/domain/payment/funds/funds.ts'
export const MONEY_STEP = 'src/domain/payment/funds/money-step.ts'
export const REVIEW = 'src/domain/payment/funds/review.ts'
export const ANSWER = 'src/domain/payment/funds/answer.ts'
export const ACCOUNT = 'src/domain/payment/funds/account.ts'
export const STORED = 'src/domain/payment/funds/stored-funds.ts'
export const POSITIONS = 'src/domain/payment/funds/positions.ts'

/** A question that no operator is asked. */
export const neverAsked = (reason: StopReason | AskReason): Seam => ({
  file: REVIEW,
  seam: 'listReasons',
  plant: plant<typeof listReasons>((real) => (funds) => {
    const { stops, asks } = real(funds)
    return { stops: stops.filter((each) => each !== reason), asks: asks.filter((each) => each !== reason) }
  }),
})
/** A step that is not taken: the payment waits instead. */
export const neverDone = (step: MoneyStep['do'], instead: MoneyStep): Seam => ({
  file: MONEY_STEP,
  seam: 'findMoneyStep',
  plant: plant<typeof findMoneyStep>((real) => (funds) => {
    const found = real(funds)
    return found.do === step ? instead : found
  }),
})
/** An account that counts as another one. */
export const seenAs = (seam: string, change: (account: Account) => Account): Seam => ({
  file: ACCOUNT,
  seam,
  plant: plant<(account: Account) => boolean>((real) => (account) => real(change(account))),
})
/** Drops the trigger that refuses payouts of money that is not free, before the first write. */
export const NO_GUARD: Seam = {
  file: 'src/db/payments/payment-writes.ts',
  seam: 'writePayments',
  plant: plant<typeof writePayments>((real) => {
    let isOpen = false
    return async (db, writes) => {
      if (!isOpen) await db.query('drop trigger if exists money_is_free on payment')
      isOpen = true
      return real(db, writes)
    }
  }),
}
