import { type Checkout, getPagePath } from './checkout.ts'
import { isRefundComing } from './refunds.ts'
import { minutesLeft } from './screens/closing.tsx'
import { canMoneyArrive, getView, hasSurplus, type View } from './view.ts'

/** Seconds between two status requests of a page: few while the buyer waits, more if changes are rare. */
const POLL_RETURNING = 1
const POLL_WAITING = 3
const POLL_IDLE = 10

/** The response to a status request of an open page. */
export type LiveStatus = {
  readonly status: Checkout['payment']['status']
  /** A page that was rendered with another key is outdated. */
  readonly key: string
  readonly poll: number | null
  /** The path of the current page, with its query. */
  readonly url: string
  /** The partner's page of the order that is open; null without one. */
  readonly partner_url: string | null
}

export function liveStatus(checkout: Checkout): LiveStatus {
  const view = getView(checkout)
  return {
    status: checkout.payment.status,
    key: getPageKey(checkout, view),
    poll: pollSeconds(checkout, view) ?? null,
    url: getPageUrl(checkout, view),
    partner_url: 'attempt' in view && 'redirectUrl' in view.attempt ? view.attempt.redirectUrl : null,
  }
}

/** True for pages on which the buyer waits, also for a partner that is down, or acts elsewhere. */
export function isWaiting({ page }: View): boolean {
  return ['down', 'upi', 'usdc', 'finish', 'returning', 'verification', 'progress', 'checking'].includes(page)
}

/** Seconds until the page requests its status again; undefined if nothing can change any more. */
export function pollSeconds(checkout: Checkout, view: View): number | undefined {
  if (view.page === 'returning') return POLL_RETURNING
  if (isWaiting(view)) return POLL_WAITING
  const isOver = view.page === 'done' || view.page === 'closed'
  const canChange = canMoneyArrive(checkout) || hasSurplus(checkout) || isRefundComing(checkout)
  return isOver && !canChange ? undefined : POLL_IDLE
}

/** Changes with each change of the payment that its page can show. `readStamps` computes the same text in SQL. */
export function getStamp({ payment, attempts }: Pick<Checkout, 'payment' | 'attempts'>): string {
  return [payment.version, attempts.length, attempts.at(-1)?.status].filter((part) => part !== undefined).join('-')
}

/** Changes with each change that an open page must show. */
export function getPageKey(checkout: Checkout, view: View): string {
  const { payment, attempts } = checkout
  const attempt = attempts.at(-1)
  const slow = view.page === 'returning' && view.slow
  return [
    view.page,
    payment.version,
    attempt?.id,
    attempt?.status,
    slow && 'slow',
    (view.page === 'usdc' || view.page === 'checking') && checkout.received && `received:${checkout.received}`,
    minutesLeft(checkout),
    listDown(checkout, view),
  ]
    .filter((part) => part !== undefined && part !== false && part !== null)
    .join(' ')
}

function listDown({ offered }: Checkout, { page }: View): string | false {
  const isShown = page === 'pick' || page === 'confirm' || page === 'declined'
  const down = offered.refused.filter(({ reason }) => reason === 'down')
  return isShown && down.length > 0 && `down:${down.map(({ method }) => method).join()}`
}

/** The query keeps the buyer's choice on the pages that offer one, and the time of the return from the partner. */
export function getPageUrl(checkout: Checkout, { page }: View): string {
  const { cameBackAt, asked } = checkout
  const path = getPagePath(checkout)
  if (page === 'returning' && cameBackAt !== null) return `${path}?back=${Math.floor(Date.parse(cameBackAt) / 1000)}`
  const query = new URLSearchParams()
  const isChoice = ['country', 'pick', 'confirm', 'open_elsewhere', 'no_more_tries'].includes(page)
  if (isChoice && asked.step !== null) query.set('step', asked.step)
  if (isChoice && asked.choice !== null) query.set('method', `${asked.choice.provider}.${asked.choice.method}`)
  return query.size === 0 ? path : `${path}?${query}`
}
