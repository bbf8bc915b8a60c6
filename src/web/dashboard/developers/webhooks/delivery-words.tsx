import { State } from '../../../site/parts.tsx'

export type TryShown = {
  readonly number: number
  readonly at: string
  readonly durationMs: number
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly responseBody: string | null
  readonly error: string | null
}

export type DeliveryShown = {
  readonly event: string
  readonly type: string
  readonly status: 'pending' | 'delivered' | 'exhausted' | 'disabled'
  readonly attempts: number
  readonly createdAt: string
  /** The newest tries, oldest of them first. */
  readonly log: readonly TryShown[]
}

export function DeliveryState({
  delivery: { status, attempts },
}: {
  delivery: Pick<DeliveryShown, 'status' | 'attempts'>
}) {
  if (status === 'delivered')
    return (
      <State tone="success" icon="okring">
        Delivered
      </State>
    )
  if (status === 'pending')
    return (
      <State tone={attempts === 0 ? 'quiet' : 'wait'} icon={attempts === 0 ? 'clock' : 'undo'}>
        {attempts === 0 ? 'Waiting' : 'Retrying'}
      </State>
    )
  return (
    <State tone="problem" icon="xring">
      {status === 'exhausted' ? 'Failed' : 'Not sent'}
    </State>
  )
}
