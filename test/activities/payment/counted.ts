import type { Money } from '../../../src/domain/money.ts'
import { fiatReceipt, type Part } from '../../../src/domain/payment/money/parts.ts'

/** The first money of an attempt, as its payment counts it before the conversion. */
export const counted = ({ attemptId }: { readonly attemptId: string }, total: Money): Part =>
  fiatReceipt([], attemptId, { total, owner: { state: 'counted' } })
