import { CHANGED } from './changed.ts'
import { FIRST } from './first.ts'
import { MISFITS } from './misfits.ts'
import { OUTDATED } from './outdated.ts'
import { REFUSED } from './refused.ts'
import type { Found } from './story.ts'
import { TOLD } from './told.ts'
import { WAITING } from './waiting.ts'
import { WITHHELD } from './withheld.ts'
import { WON_BACK } from './won-back.ts'

export const FOUND: readonly Found[] = [
  ...FIRST,
  ...TOLD,
  ...WAITING,
  ...MISFITS,
  ...CHANGED,
  ...WITHHELD,
  ...REFUSED,
  ...WON_BACK,
  ...OUTDATED,
]
