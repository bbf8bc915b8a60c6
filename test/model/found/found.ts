import { CHANGED } from './changed.ts'
import { FIRST } from './first.ts'
import { HAND_WRITTEN } from './hand-written.ts'
import { MISFITS } from './misfits.ts'
import { OUTDATED } from './outdated.ts'
import { PAID_IN_FULL } from './paid-in-full.ts'
import { REFUNDED } from './refunded.ts'
import { REFUSED } from './refused.ts'
import type { Found } from './story.ts'
import { WAITING } from './waiting.ts'
import { WHAT_WAS_SOLD } from './what-was-sold.ts'
import { WITHHELD } from './withheld.ts'
import { WON_BACK } from './won-back.ts'

export const FOUND: readonly Found[] = [
  ...FIRST,
  ...HAND_WRITTEN,
  ...WAITING,
  ...MISFITS,
  ...CHANGED,
  ...WITHHELD,
  ...REFUSED,
  ...REFUNDED,
  ...WON_BACK,
  ...OUTDATED,
  ...PAID_IN_FULL,
  ...WHAT_WAS_SOLD,
]
