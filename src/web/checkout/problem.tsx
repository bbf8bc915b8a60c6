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

/** Problems that are not the buyer's fault: trying again may work. */
const RETRIED: readonly CheckoutProblem[] = ['unavailable', 'internal', 'busy']

/** A page for an error. `back` is the path of its checkout; null when there is none. */
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
