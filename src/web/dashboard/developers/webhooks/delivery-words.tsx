import { momentText } from '../../../site/moment.tsx'
import { State, shortened } from '../../../site/parts.tsx'

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
  /** The payment that the event is about. */
  readonly payment: { readonly id: string; readonly reference: string | null } | null
  /** About when it is tried again, ISO 8601; null if it is not. */
  readonly nextTry: string | null
  /** The newest tries, oldest of them first. */
  readonly log: readonly TryShown[]
}

/** The receiver answered, and not with a success. */
export const isRefused = ({ status, error }: Pick<TryShown, 'status' | 'error'>): boolean =>
  error === null && status !== null && (status < 200 || status > 299)

/** How the merchant knows the payment of a delivery. */
export const paymentName = ({ payment }: Pick<DeliveryShown, 'payment'>): string =>
  payment === null ? '–' : (payment.reference ?? shortened(payment.id, 8, 5))

export function NextTry({ at }: { at: string }) {
  return (
    <>
      about <time dateTime={at}>{momentText(at, 'long')} UTC</time>
    </>
  )
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
