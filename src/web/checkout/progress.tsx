import type { MessageKey } from '../messages/translate.ts'
import type { Words } from '../messages/words.ts'
import type { Checkout, StepState, View } from './checkout.ts'
import { Notice, type Shown } from './parts.tsx'

type ProgressView = Extract<View, { page: 'progress' }>

const STEPS = ['progress.paid', 'progress.converting', 'progress.sent'] as const satisfies readonly MessageKey[]

export function Progress({ checkout, words, view }: Shown & { view: ProgressView }) {
  const { t } = words
  return (
    <>
      <h1>{t('progress.heading')}</h1>
      <Steps states={view.steps} words={words} />
      <p role="status" class="now" data-now>
        {progressSentence(checkout, view, words)}
      </p>
      {view.delayed && <Notice kind="info">{t('progress.delayed')}</Notice>}
      <p class="quiet-text">{t('progress.leave')}</p>
    </>
  )
}

/** Three steps. Each says its state in words too: many people cannot tell it by the colour. */
export function Steps({ states, words }: { states: readonly StepState[]; words: Words }) {
  const { t } = words
  return (
    <ol class="steps">
      {STEPS.map((key, index) => {
        const state = states[index] ?? 'todo'
        return (
          <li key={key} data-state={state} aria-current={state === 'current' ? 'step' : undefined}>
            <span class="dot" aria-hidden="true" />
            <span class="step-name">{t(key)}</span>
            <span class="visually-hidden" data-word>
              {t(`progress.state.${state}`)}
            </span>
          </li>
        )
      })}
    </ol>
  )
}

export function progressSentence(checkout: Checkout, view: ProgressView, words: Words): string {
  if (view.now === 'sending') return words.t('progress.now.sending', { merchant: checkout.merchantName })
  return words.t(view.now === 'confirming' ? 'progress.now.confirming' : 'progress.now.converting')
}
