import type { Platform } from '../../domain/platform.ts'
import { renderBuyerProblem } from '../kit/buyer-page.tsx'
import type { IconName } from '../kit/icon.tsx'
import type { Words } from '../messages/words.ts'

export type CheckoutProblem =
  | 'not_found'
  | 'bad_request'
  | 'forbidden'
  | 'method_not_allowed'
  | 'unavailable'
  | 'internal'
  | 'busy'

const RETRIED: readonly CheckoutProblem[] = ['unavailable', 'internal', 'busy']

const ICONS: Readonly<Record<CheckoutProblem, IconName>> = {
  not_found: 'search',
  bad_request: 'warning',
  forbidden: 'shield',
  method_not_allowed: 'warning',
  unavailable: 'clock',
  internal: 'warning',
  busy: 'clock',
}

type ProblemView = {
  readonly platform: Platform
  readonly problem: CheckoutProblem
  /** The path of the checkout; null if there is none. */
  readonly back: string | null
}

export function renderProblem({ platform, problem, back }: ProblemView, words: Words): string {
  const { t } = words
  const isRetried = RETRIED.includes(problem)
  return renderBuyerProblem({
    platform,
    words,
    tone: isRetried ? 'wait' : 'problem',
    icon: ICONS[problem],
    title: t(`problem.${problem}.heading`),
    text: t(`problem.${problem}.text`),
    next: back === null ? null : { href: back, text: t(isRetried ? 'problem.retry' : 'problem.back') },
  })
}
