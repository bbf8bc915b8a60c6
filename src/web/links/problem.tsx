import { renderBuyerProblem } from '../kit/buyer-page.tsx'
import type { Words } from '../messages/words.ts'

export type LinkProblemName = 'missing' | 'too_many'

/** `back` is the path of the link; null if there is none. */
export function renderLinkProblem(problem: LinkProblemName, words: Words, back: string | null): string {
  const { t } = words
  return renderBuyerProblem({
    words,
    tone: problem === 'missing' ? 'problem' : 'wait',
    icon: problem === 'missing' ? 'search' : 'clock',
    title: t(`link.${problem}.heading`),
    text: t(`link.${problem}.text`),
    next: back === null ? null : { href: back, text: t('problem.retry') },
  })
}
