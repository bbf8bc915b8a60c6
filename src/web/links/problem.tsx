import type { Platform } from '../../domain/platform.ts'
import { renderBuyerProblem } from '../kit/buyer-page.tsx'
import type { Words } from '../messages/words.ts'

export type LinkProblemName = 'missing' | 'too_many' | 'paused'

type LinkProblemView = {
  readonly platform: Platform
  readonly problem: LinkProblemName
  /** The path of the link; null if there is none. */
  readonly back: string | null
}

export function renderLinkProblem({ platform, problem, back }: LinkProblemView, words: Words): string {
  const { t } = words
  return renderBuyerProblem({
    platform,
    words,
    tone: problem === 'missing' ? 'problem' : 'wait',
    icon: problem === 'missing' ? 'search' : 'clock',
    title: t(`link.${problem}.heading`),
    text: t(`link.${problem}.text`),
    next: back === null ? null : { href: back, text: t('problem.retry') },
  })
}
