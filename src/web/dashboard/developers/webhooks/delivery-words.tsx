import { shorten } from '../../../kit/copy.tsx'
import { State } from '../../../kit/state.tsx'
import { Time } from '../../../kit/time.tsx'

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
  readonly payment: { readonly id: string; readonly reference: string | null } | null
  /** The approximate time of the next try, ISO 8601; null if there is none. */
  readonly nextTry: string | null
  /** The newest tries, in ascending order. */
  readonly log: readonly TryShown[]
}

/** True if the endpoint responded with a status other than 2xx. */
export const isRefused = ({ status, error }: Pick<TryShown, 'status' | 'error'>): boolean =>
  error === null && status !== null && (status < 200 || status > 299)

/** Returns the merchant's reference of the payment, else its shortened id. */
export const paymentName = ({ payment }: Pick<DeliveryShown, 'payment'>): string =>
  payment === null ? '–' : (payment.reference ?? shorten(payment.id, 8, 5))

export function NextTry({ at }: { at: string }) {
  return (
    <>
      about <Time at={at} />
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
      <State tone="success" icon="circle_check">
        Delivered
      </State>
    )
  if (status === 'pending')
    return (
      <State tone={attempts === 0 ? 'quiet' : 'wait'} icon={attempts === 0 ? 'clock' : 'back'}>
        {attempts === 0 ? 'Waiting' : 'Retrying'}
      </State>
    )
  return (
    <State tone="problem" icon="circle_close">
      {status === 'exhausted' ? 'Failed' : 'Not sent'}
    </State>
  )
}
