import { renderPage } from '../layout.tsx'
import type { IconName } from '../look/icons.tsx'
import { FillLink, Head } from '../look/parts.tsx'
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
  return renderPage({
    words,
    title: t(`problem.${problem}.heading`),
    testMode: false,
    brand: null,
    children: (
      <div class="sheet alone">
        <main id="main" class={`card ${RETRIED.includes(problem) ? 'wait' : 'problem'}`} tabIndex={-1}>
          <div role="alert">
            <Head icon={ICONS[problem]} title={t(`problem.${problem}.heading`)} lead={t(`problem.${problem}.text`)} />
          </div>
          {back !== null && (
            <FillLink href={back} icon="arrow">
              {t(RETRIED.includes(problem) ? 'problem.retry' : 'problem.back')}
            </FillLink>
          )}
        </main>
      </div>
    ),
  })
}
