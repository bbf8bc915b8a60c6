import { renderPage } from '../layout.tsx'
import type { Words } from '../messages/words.ts'

export type CheckoutProblem =
  | 'not_found'
  | 'bad_request'
  | 'forbidden'
  | 'method_not_allowed'
  | 'unavailable'
  | 'internal'
  | 'busy'

/** Not the buyer's doing: the same again may work. */
const RETRIED: readonly CheckoutProblem[] = ['unavailable', 'internal', 'busy']

/** A page for what cannot be done; `back` is the checkout it belongs to, where there is one. */
export function renderProblem(problem: CheckoutProblem, words: Words, back: string | null): string {
  const { t } = words
  return renderPage({
    words,
    title: t(`problem.${problem}.heading`),
    testMode: false,
    children: (
      <main id="main" class="card alone">
        <h1>{t(`problem.${problem}.heading`)}</h1>
        <p role="alert">{t(`problem.${problem}.text`)}</p>
        {back !== null && (
          <a class="button primary" href={back}>
            {t(RETRIED.includes(problem) ? 'problem.retry' : 'problem.back')}
          </a>
        )}
      </main>
    ),
  })
}
