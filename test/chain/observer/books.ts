import type { SettlementHooks } from '../../../src/db/settlement/context.ts'
import { createSettlementHooks } from '../../../src/settlement/hooks.ts'
import { bookSettled } from '../../support/book-settled.ts'

const real = createSettlementHooks({ publicUrl: 'http://127.0.0.1', now: Date.now })

/** Hooks that record the treasury in the ledger, so that it is compared at each final block. */
export const BOOKS = {
  onTreasuryMovement: real.onTreasuryMovement,
  onBalanceDifference: real.onBalanceDifference,
  onSettled: bookSettled,
} satisfies Partial<SettlementHooks>
