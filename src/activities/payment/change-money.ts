import type { Tx } from '../../db/db.ts'
import { findMoneyStep } from '../../domain/payment/funds/money-step.ts'
import { toFunds } from '../../domain/payment/funds/stored-funds.ts'
import type { PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { createNote } from '../../domain/timeline.ts'
import {
  type Change,
  type ChangedPayment,
  changeLockedPayment,
  changePayment,
  type LockedChange,
  NeedsTransaction,
} from '../../payments/change-payment.ts'
import type { PaymentDraft } from '../../payments/payment-draft.ts'
import type { PaymentDeps, PayoutQueue } from './payment-deps.ts'

type MoneyChange = { readonly id: string; readonly change: Change; readonly known?: PaymentWithAttempts }

/** A payout whose money is not all there is voided in the same transaction, in which disputes are recorded too. */
export async function changeMoney(deps: PaymentDeps, { id, change, known }: MoneyChange): Promise<ChangedPayment> {
  const careful: Change = (draft) => {
    change(draft)
    if (mustVoid(draft)) throw new NeedsTransaction()
  }
  try {
    return await changePayment(deps.db, deps.context, { id, change: careful, ...(known !== undefined && { known }) })
  } catch (error) {
    if (!(error instanceof NeedsTransaction)) throw error
    return changeLockedMoney(deps, id, change)
  }
}

export function changeLockedMoney(
  { db, context, payouts }: PaymentDeps,
  id: string,
  change: LockedChange,
): Promise<ChangedPayment> {
  return db.transaction((tx) =>
    changeLockedPayment(tx, context, {
      id,
      change: async (draft) => {
        await change(draft, tx)
        await voidUncoveredPayout(draft, tx, payouts)
      },
    }),
  )
}

/** Call it at the end of every change by which money could go back, in the same transaction. */
export async function voidUncoveredPayout(draft: PaymentDraft, tx: Tx, payouts: PayoutQueue): Promise<void> {
  if (mustVoid(draft)) await voidPayout(draft, tx, payouts)
}

const mustVoid = ({ state }: PaymentDraft): boolean => findMoneyStep(toFunds(state)).do === 'void'

/**
 * The settlement engine proves whether it was paid, even if a restored backup lacks it. If none was ever handed over,
 * the next step is computed from the money that is there.
 */
async function voidPayout(draft: PaymentDraft, tx: Tx, payouts: PayoutQueue): Promise<void> {
  const { id } = draft.state.payment
  const asked = await payouts.void(tx, id)
  if (asked === 'none' && (await payouts.open(tx, id)) === null)
    return draft.setPayment({ payout: 'none', stoppedFor: null, takenSale: null, usdc: null, deduction: null })
  draft.setPayment({ payout: 'voiding', stoppedFor: null })
  draft.addNote(createNote('payment.void_asked'))
}
