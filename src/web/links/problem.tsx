import { renderPage } from '../layout.tsx'
import { FillLink, Head } from '../look/parts.tsx'
import type { Words } from '../messages/words.ts'

export type LinkProblemName = 'missing' | 'too_many'

/** `back` is the path of the link; null if there is none. */
export function renderLinkProblem(problem: LinkProblemName, words: Words, back: string | null): string {
  const { t } = words
  return renderPage({
    words,
    title: t(`link.${problem}.heading`),
    testMode: false,
    brand: null,
    children: (
      <div class="sheet alone">
        <main id="main" class={`card ${problem === 'missing' ? 'problem' : 'wait'}`} tabIndex={-1}>
          <div role="alert">
            <Head
              icon={problem === 'missing' ? 'search' : 'clock'}
              title={t(`link.${problem}.heading`)}
              lead={t(`link.${problem}.text`)}
            />
          </div>
          {back !== null && (
            <FillLink href={back} icon="arrow">
              {t('problem.retry')}
            </FillLink>
          )}
        </main>
      </div>
    ),
  })
}
