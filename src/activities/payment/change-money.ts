import type { Tx } from '../../db/db.ts'
import {
  changePayment,
  changePaymentIn,
  type LockedWork,
  type PaymentWork,
  type Work,
  type Written,
} from '../../db/payments/payment-changes.ts'
import { findMoneyStep } from '../../domain/payment/funds/money-step.ts'
import { toFunds } from '../../domain/payment/funds/stored-funds.ts'
import type { PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { createNote } from '../../domain/timeline.ts'
import type { PaymentDeps, PayoutQueue } from './payment-deps.ts'

type MoneyChange = { readonly id: string; readonly work: Work; readonly known?: PaymentWithAttempts }

/** A payout whose money is not all there is voided in the same transaction. */
export async function changeMoney(deps: PaymentDeps, { id, work, known }: MoneyChange): Promise<Written> {
  const careful: Work = (changing) => {
    work(changing)
    if (mustVoid(changing)) throw new PayoutMustBeVoided()
  }
  try {
    return await changePayment(deps.db, deps.context, { id, work: careful, ...(known !== undefined && { known }) })
  } catch (error) {
    if (!(error instanceof PayoutMustBeVoided)) throw error
    return changeMoneyIn(deps, id, async (changing) => work(changing))
  }
}

/** Thrown before anything is written: the settlement engine must void the payout in the same transaction. */
class PayoutMustBeVoided extends Error {}

export function changeMoneyIn({ db, context, payouts }: PaymentDeps, id: string, work: LockedWork): Promise<Written> {
  return db.transaction((tx) =>
    changePaymentIn(tx, context, {
      id,
      work: async (changing) => {
        await work(changing, tx)
        if (mustVoid(changing)) await voidPayout(changing, tx, payouts)
      },
    }),
  )
}

const mustVoid = ({ state }: PaymentWork): boolean => findMoneyStep(toFunds(state)).do === 'void'

/**
 * The settlement engine proves whether it was paid, even if a restored backup lacks it. If none was ever handed over,
 * the next step is computed from the money that is there.
 */
async function voidPayout(work: PaymentWork, tx: Tx, payouts: PayoutQueue): Promise<void> {
  const { id } = work.state.payment
  const asked = await payouts.void(tx, id)
  if (asked === 'none' && (await payouts.open(tx, id)) === null)
    return work.set({ payout: 'none', stoppedFor: null, takenSale: null, usdc: null })
  work.set({ payout: 'voiding', stoppedFor: null })
  work.note(createNote('payment.void_asked'))
}
