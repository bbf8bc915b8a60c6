import { isEnough, isSellable, type Word } from '../funds/account.ts'
import { findOwnAccount } from '../funds/funds.ts'
import { toFunds } from '../funds/stored-funds.ts'
import { isClosed, type ParkReason } from '../payment.ts'
import type { Attempt, Payment, PaymentWithAttempts } from '../payment-object.ts'
import { came } from './coming.ts'
import { type KnownPayment, type NewsContext, nothing, type OrderEffect } from './effect.ts'
import { isInDoubt, misfitOfAttempt } from './intents.ts'
import { attemptsWith, heldOf } from './parts.ts'

/**
 * The attempt whose money must become the payment's, because it has the whole price and the payment's own money is missing,
 * too little, withheld or in doubt. Null: nothing changes. What is enough, or was approved by an operator, stays.
 */
export function findElected(state: PaymentWithAttempts, tolerancePercent: number): Attempt | null {
  const { payment, attempts, incidents } = state
  if (!mayChangeOwner(payment)) return null
  const own = attempts.find(({ id }) => id === payment.paidAttemptId)
  const funds = toFunds(state)
  const accounts = funds.accounts.map((account) => {
    const attempt = attempts.find(({ id }) => id === account.id)
    const isOwn = own !== undefined && account.id === own.id
    const odd = isOwn ? isInDoubt(incidents, payment) : misfitOfAttempt(incidents, account.id) !== null
    // In the currency of the price, in which what was asked for is known.
    const held = BigInt(heldOf(state.parts, account.id))
    return { ...account, held, outside: 0n, odd, word: readWord(payment, attempt, isOwn) }
  })
  const ownAccount = accounts.find(({ id }) => id === own?.id)
  if (own?.status === 'confirmed' && ownAccount !== undefined && isSellable(ownAccount)) return null
  const tolerance = BigInt(tolerancePercent)
  const elected = findOwnAccount({ ...funds, accounts, tolerancePercent: tolerance })
  if (elected === null || elected.id === own?.id || !isEnough(elected, tolerance)) return null
  return attempts.find(({ id }) => id === elected.id) ?? null
}

/** Until its money is sold or goes back, and as long as late money is expected. */
function mayChangeOwner({ status, usdc, listenEnded }: Payment): boolean {
  const isOver = status === 'succeeded' || status === 'refunded' || status === 'settling'
  return usdc === null && !isOver && !(isClosed(status) && listenEnded)
}

function readWord({ parkReason }: Payment, attempt: Attempt | undefined, isOwn: boolean): Word {
  if (isOwn) return parkReason === 'partner_hold' ? 'withheld' : 'paid'
  return attempt?.status === 'surplus' && !attempt.returnedByHand ? 'paid' : 'withheld'
}

/**
 * The effect of taking the money that is counted of the attempt now. The payment has given up what it had.
 */
export function takeElected(payment: KnownPayment, attempt: Attempt, context: NewsContext): OrderEffect {
  const order = { ...NO_ORDER, attemptId: attempt.id, amount: attempt.asked, account: context.account }
  const effect = came({ payment, attempt: { ...attempt, status: 'open' }, order, context }, [], true)
  const isTaken = effect.money === 'take' && effect.attempt === 'confirmed'
  if (!isTaken) return nothing(attempt.status)
  const exception =
    effect.exception ?? (attemptsWith(payment.parts, ['surplus']).length > 0 ? 'duplicate_payment' : null)
  const goesOn =
    effect.moves.length === 0 && payment.status === 'under_review' && LEFT_FOR_IT.includes(payment.parkReason)
  return { ...effect, exception, moves: goesOn ? [{ to: 'processing', why: 'completed' }] : effect.moves }
}

/** The payment waited for the money that it has given up. */
const LEFT_FOR_IT: readonly (ParkReason | null)[] = ['underpaid', 'order_changed', 'partner_hold']

const NO_ORDER = { reference: '', status: 'paid', received: null, failureCode: null } as const
