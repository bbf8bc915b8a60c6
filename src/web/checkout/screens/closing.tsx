import { isOpen } from '../../../domain/payment/payment.ts'
import { canBeExtended } from '../../../domain/payment/requests.ts'
import { PostButton } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import type { Stop } from '../../kit/rail.tsx'
import { Time } from '../../kit/time.tsx'
import type { Checkout } from '../checkout.ts'
import type { Shown } from '../shown.tsx'

/** The page warns the buyer when the payment expires within this time, in minutes. */
const WARNED_FROM = 5

/** Minutes until the payment expires, rounded up; null earlier than `WARNED_FROM` and after the end. */
export function minutesLeft({ payment, now }: Pick<Checkout, 'payment' | 'now'>): number | null {
  const minutes = Math.ceil((Date.parse(payment.expiresAt) - Date.parse(now)) / 60_000)
  return isOpen(payment.status) && minutes > 0 && minutes <= WARNED_FROM ? minutes : null
}

export function isClosing(checkout: Checkout): boolean {
  return minutesLeft(checkout) !== null
}

export function ClosingNote({ checkout, words }: Shown) {
  const minutes = minutesLeft(checkout)
  if (minutes === null) return null
  const { payment, now, path, frame } = checkout
  return (
    <>
      <Note tone="wait" icon="clock" strong={words.t('closing.left', { minutes })} role="status">
        {words.rich('closing.at', { time: <Time at={payment.expiresAt} style="time" words={words} /> })}
      </Note>
      {frame === null && canBeExtended(payment, Date.parse(now)) && (
        <PostButton action={`${path}/extend`} icon="clock">
          {words.t('closing.more')}
        </PostButton>
      )}
    </>
  )
}

/** Within this time a time of day needs no date. */
const SAME_DAY_MS = 20 * 3_600_000

export function untilEnd({ payment, now }: Pick<Checkout, 'payment' | 'now'>): NonNullable<Stop['time']> {
  const isSoon = Date.parse(payment.expiresAt) - Date.parse(now) < SAME_DAY_MS
  return { at: payment.expiresAt, said: 'until', style: isSoon ? 'time' : 'day' }
}
