import type { PaymentWork } from '../db/payments/payment-changes.ts'

/** Answers what was asked for, if it was: the payout is void, or its transfer was faster. */
export async function endVoid(work: PaymentWork, state: 'done' | 'refused'): Promise<void> {
  const asked = work.state.intents.find(({ kind }) => kind === 'void')
  if (asked !== undefined) await work.settleIntent(asked, state)
}
