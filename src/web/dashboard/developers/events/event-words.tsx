import { plural } from '../../../../domain/plural.ts'
import { State } from '../../../site/parts.tsx'

export type EventShown = {
  readonly id: string
  /** Null: an event that only tries an endpoint. */
  readonly sequence: number | null
  readonly type: string
  readonly payment: string | null
  /** What the merchant calls the payment. */
  readonly about: string | null
  readonly at: string
  /** To how many endpoints it goes, and how far it is. */
  readonly endpoints: number
  readonly delivered: number
  readonly givenUp: number
  readonly retrying: number
}

/** What became of an event at all its endpoints together: the worst of it. */
export function EventState({ event: { endpoints, delivered, givenUp, retrying } }: { event: EventShown }) {
  if (endpoints === 0)
    return (
      <State tone="quiet" icon="minus">
        No endpoint
      </State>
    )
  if (givenUp > 0)
    return (
      <State tone="problem" icon="xring">
        Failed
      </State>
    )
  if (retrying > 0)
    return (
      <State tone="wait" icon="undo">
        Retrying
      </State>
    )
  return delivered === endpoints ? (
    <State tone="success" icon="okring">
      Delivered
    </State>
  ) : (
    <State tone="quiet" icon="clock">
      Waiting
    </State>
  )
}

export function endpointsText(count: number): string {
  return count === 0 ? '–' : plural(count, 'endpoint')
}
