import { CLOCK_DEFECTS } from './clocks.ts'
import { DECISION_DEFECTS } from './decisions.ts'
import type { Defect } from './defect.ts'
import { READING_DEFECTS } from './readings.ts'
import { REFUND_DEFECTS } from './refunds.ts'
import { SETTLEMENT_DEFECTS } from './settlement.ts'

/** Every bug that the model must catch. */
export const DEFECTS: readonly Defect[] = [
  ...READING_DEFECTS,
  ...REFUND_DEFECTS,
  ...DECISION_DEFECTS,
  ...SETTLEMENT_DEFECTS,
  ...CLOCK_DEFECTS,
]
