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

/** Renders the page of an error. `back` is the path of the checkout; null if there is none. */
export function renderProblem(problem: CheckoutProblem, words: Words, back: string | null): string {
  const { t } = words
  const isRetried = RETRIED.includes(problem)
  return renderBuyerProblem({
    words,
    tone: isRetried ? 'wait' : 'problem',
    icon: ICONS[problem],
    title: t(`problem.${problem}.heading`),
    text: t(`problem.${problem}.text`),
    next: back === null ? null : { href: back, text: t(isRetried ? 'problem.retry' : 'problem.back') },
  })
}
