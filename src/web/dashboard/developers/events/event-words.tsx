import { plural } from '../../../../domain/plural.ts'
import { State } from '../../../kit/state.tsx'

export type EventShown = {
  readonly id: string
  /** Null for an event that only tests an endpoint. */
  readonly sequence: number | null
  readonly type: string
  readonly payment: string | null
  /** The merchant's name of the payment. */
  readonly about: string | null
  readonly at: string
  readonly endpoints: number
  readonly delivered: number
  readonly givenUp: number
  readonly retrying: number
}

/** Shows the worst state among the deliveries of an event. */
export function EventState({ event: { endpoints, delivered, givenUp, retrying } }: { event: EventShown }) {
  if (endpoints === 0)
    return (
      <State tone="quiet" icon="circle_minus">
        No endpoint
      </State>
    )
  if (givenUp > 0)
    return (
      <State tone="problem" icon="circle_close">
        Failed
      </State>
    )
  if (retrying > 0)
    return (
      <State tone="wait" icon="back">
        Retrying
      </State>
    )
  return delivered === endpoints ? (
    <State tone="success" icon="circle_check">
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
