import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

type HeadProps = {
  readonly icon: IconName
  readonly title: string
  readonly lead?: ComponentChildren
  /** True if the page changes automatically, so that screen readers announce a new head. */
  readonly live?: boolean
  /** True while the platform waits for an answer: a ring turns. */
  readonly busy?: boolean
  /** True if the payment succeeded: the pin is filled. */
  readonly final?: boolean
}

/** The head of a buyer's page: a pin for the state, a title, one sentence. */
export function Head({ icon, title, lead, live = false, busy = false, final = false }: HeadProps) {
  const look = ['head', busy && 'busy', final && 'full'].filter(Boolean).join(' ')
  return (
    <div class={look} role={live ? 'status' : undefined}>
      <span class="pin">
        <Icon name={icon} />
      </span>
      <h1>{title}</h1>
      {lead !== undefined && <p class="lead">{lead}</p>}
    </div>
  )
}
