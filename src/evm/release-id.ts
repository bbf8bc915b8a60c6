import { createHash } from 'node:crypto'
import { formatId } from '../domain/ids.ts'

/**
 * Returns the id of the release of a merchant's reserves on a day (UTC, `2027-03-01`). It never changes: a release that a
 * restored backup has forgotten gets the same id again, so its payout the same nonce, and the token pays it once. It is
 * a UUID of version 8 (RFC 9562) that begins with the time of the day's beginning, as the other ids do.
 */
export function releaseId(release: { merchantId: string; livemode: boolean; day: string }): string {
  const { merchantId, livemode, day } = release
  // oxlint-disable-next-line no-restricted-globals -- reads what it is given, not the clock
  const time = Date.parse(`${day}T00:00:00.000Z`).toString(16).padStart(12, '0')
  const hash = createHash('sha256').update(`pinrail.reserve.v1:${merchantId}:${livemode ? 'live' : 'test'}:${day}`)
  const digits = hash.digest('hex')
  return formatId('reserveRelease', `${time}8${digits.slice(0, 3)}8${digits.slice(3, 18)}`)
}
