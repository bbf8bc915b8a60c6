import type { VNode } from 'preact'
import { mayStillBePaid } from '../../domain/payment/payment.ts'
import type { OpenedAttempt } from '../../domain/payment/requests.ts'
import { renderPage } from '../layout.tsx'
import type { Words } from '../messages/words.ts'
import { type Checkout, type StepState, type View, viewOf } from './checkout.ts'
import { Checking, Closed, NoMoreTries } from './closed.tsx'
import { Confirm } from './confirm.tsx'
import { Done } from './done.tsx'
import { Finish, Upi, Usdc, Verification } from './finish.tsx'
import { NotOffered } from './not-offered.tsx'
import { Pick } from './pick.tsx'
import { Progress, progressSentence } from './progress.tsx'
import { Summary } from './summary.tsx'

/** Seconds between two requests of a page for its status: few while the buyer waits, more where changes are rare. */
const POLL_WAITING = 3
const POLL_IDLE = 10

export function renderCheckout(checkout: Checkout, words: Words): string {
  const view = viewOf(checkout)
  const waiting = isWaiting(view)
  const { payment, merchantName: merchant } = checkout
  const values = { amount: words.money(payment.amount), merchant }
  return renderPage({
    words,
    title: view.page === 'done' ? words.t('page.title.done', values) : words.t('page.title', values),
    testMode: !payment.livemode,
    ...(waiting && { refreshSeconds: POLL_WAITING }),
    children: (
      <div class="columns">
        <Summary checkout={checkout} words={words} />
        <main
          id="main"
          class={`card page-${view.page}`}
          data-key={keyOf(checkout, view)}
          data-status={`${checkout.path}/status`}
          data-poll={pollSeconds(checkout, view)}
        >
          {contentOf(checkout, words, view)}
        </main>
      </div>
    ),
  })
}

/** Leads to the partner: the page goes there by itself; the button is for browsers that do not. */
export function renderHandoff(checkout: Checkout, words: Words, attempt: OpenedAttempt): string {
  const { t } = words
  const { payment, merchantName: merchant } = checkout
  return renderPage({
    words,
    title: t('page.title', { amount: words.money(payment.amount), merchant }),
    testMode: !payment.livemode,
    goTo: attempt.redirectUrl,
    children: (
      <div class="columns">
        <Summary checkout={checkout} words={words} />
        <main id="main" class="card page-handoff">
          <h1>{t('handoff.heading')}</h1>
          <p>{t('handoff.text')}</p>
          <a class="button primary" href={attempt.redirectUrl}>
            {t('handoff.button')}
          </a>
        </main>
      </div>
    ),
  })
}

/** The answer to an open page that asks for its status: whether it must load again, and how far the money is. */
export type LiveStatus = {
  readonly status: Checkout['payment']['status']
  /** A page that was rendered with another key must load again. */
  readonly key: string
  readonly poll: number | null
  readonly steps: readonly { readonly state: StepState; readonly word: string }[] | null
  readonly message: string | null
  /** The partner's page of the order that is open; null without one. */
  readonly partner_url: string | null
}

export function liveStatus(checkout: Checkout, words: Words): LiveStatus {
  const view = viewOf(checkout)
  const inProgress = view.page === 'progress'
  return {
    status: checkout.payment.status,
    key: keyOf(checkout, view),
    poll: pollSeconds(checkout, view) ?? null,
    steps: inProgress ? view.steps.map((state) => ({ state, word: words.t(`progress.state.${state}`) })) : null,
    message: inProgress ? progressSentence(checkout, view, words) : null,
    partner_url: 'attempt' in view ? view.attempt.redirectUrl : null,
  }
}

function contentOf(checkout: Checkout, words: Words, view: View): VNode {
  const shown = { checkout, words }
  switch (view.page) {
    case 'pick':
      return <Pick {...shown} view={view} />
    case 'confirm':
      return <Confirm {...shown} view={view} />
    case 'not_offered':
      return <NotOffered {...shown} view={view} />
    case 'no_more_tries':
      return <NoMoreTries {...shown} view={view} />
    case 'upi':
      return <Upi {...shown} view={view} />
    case 'usdc':
      return <Usdc {...shown} view={view} />
    case 'finish':
      return <Finish {...shown} view={view} />
    case 'verification':
      return <Verification {...shown} view={view} />
    case 'progress':
      return <Progress {...shown} view={view} />
    case 'checking':
      return <Checking {...shown} />
    case 'done':
      return <Done {...shown} />
    case 'closed':
      return <Closed {...shown} view={view} />
  }
}

/** Pages on which the buyer waits, or acts somewhere else. */
function isWaiting(view: View): boolean {
  return (
    view.page === 'upi' ||
    view.page === 'usdc' ||
    view.page === 'finish' ||
    view.page === 'verification' ||
    view.page === 'progress' ||
    view.page === 'checking'
  )
}

/** Seconds until the page asks again; undefined when nothing can change any more. */
function pollSeconds({ attempts }: Checkout, view: View): number | undefined {
  if (isWaiting(view)) return POLL_WAITING
  const over = view.page === 'done' || view.page === 'closed'
  return over && !attempts.some((attempt) => mayStillBePaid(attempt.status)) ? undefined : POLL_IDLE
}

function keyOf({ payment, attempts }: Checkout, view: View): string {
  const attempt = attempts.at(-1)
  if (view.page === 'progress') return `progress ${view.delayed}`
  if (view.page === 'closed') return `closed ${view.as}`
  return `${view.page} ${payment.parkReason ?? ''} ${attempt?.id ?? ''} ${attempt?.status ?? ''}`
}
