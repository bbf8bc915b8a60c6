import type { Hex } from '../hex.ts'
import { digitsOfId, firstPaymentId, readPaymentTime } from '../ids.ts'

export type Treasury = {
  readonly address: Hex
  /** The smallest id of a payment that it pays; null: it is the first treasury. */
  readonly firstId: string | null
}

/**
 * Returns the treasury that pays the owner of a payout: the last one that began before the payment was made, or before
 * the reserves were due. Ids are in the order of their time, so no backup, clock or later configuration changes the
 * answer.
 */
export function getTreasury(ownerId: string, list: readonly Treasury[]): Hex {
  const found = list.findLast(({ firstId }) => firstId === null || digitsOfId(firstId) <= digitsOfId(ownerId))
  if (found === undefined) throw new RangeError('a list of treasuries begins with one that has no date')
  return found.address
}

const ENTRY = /^(0x[0-9a-f]{40})(?:@(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z))?$/i

/** Reads entries as they are written in TREASURIES. If they are no valid list, returns why, for people. */
export function readTreasuries(entries: readonly string[]): readonly Treasury[] | string {
  const list: Treasury[] = []
  for (const entry of entries) {
    const [, address, date] = ENTRY.exec(entry) ?? []
    // oxlint-disable-next-line no-restricted-globals -- reads what it is given, not the clock
    const time = date === undefined ? null : Date.parse(date)
    if (address === undefined || Number.isNaN(time))
      return `must be addresses, each but the first with a date as in 0x…@2026-12-01T00:00:00Z, and has ${entry}`
    if ((time === null) !== (list.length === 0)) return 'must have a date at each address but the first'
    list.push({ address: address.toLowerCase() as Hex, firstId: time === null ? null : firstPaymentId(time) })
  }
  if (list.length === 0) return 'must name a treasury'
  if (list.some(({ firstId }, at) => at > 1 && (list[at - 1]?.firstId ?? '') >= (firstId ?? '')))
    return 'must have its dates in their order'
  if (new Set(list.map(({ address }) => address)).size < list.length) return 'must name each address once'
  return list
}

// oxlint-disable-next-line no-restricted-globals -- writes what it is given, not the clock
const dateText = (id: string): string => new Date(readPaymentTime(id) ?? 0).toISOString().replace('.000Z', 'Z')

export const treasuriesText = (list: readonly Treasury[]): string =>
  list.map(({ address, firstId }) => (firstId === null ? address : `${address}@${dateText(firstId)}`)).join(',')

/** Returns the entries after the stamped list, or why the given list does not continue it, for people. */
export function appendedTreasuries(
  stamped: readonly Treasury[],
  given: readonly Treasury[],
): readonly Treasury[] | string {
  const isContinued = stamped.every(
    ({ address, firstId }, at) => given[at]?.address === address && given[at].firstId === firstId,
  )
  if (isContinued) return given.slice(stamped.length)
  return (
    `TREASURIES must begin with ${treasuriesText(stamped)}, because payments are paid by that list, and is ` +
    `${treasuriesText(given)}. Append a new treasury with its date (,0x…@<date>); never change or remove an entry`
  )
}

/** A new treasury begins after every existing payment: one of them might have been handed to the previous treasury. */
const ROOM_MS = 600_000

/** Returns why a treasury cannot begin so early, for people. `paymentId`: the newest payment. */
export function whyTooEarly({ address, firstId }: Treasury, paymentId: string): string {
  const later = firstPaymentId(Math.ceil(((readPaymentTime(paymentId) ?? 0) + ROOM_MS) / 60_000) * 60_000)
  return (
    `treasury ${address} must pay only payments that are still to be made, and ${paymentId} was made at ` +
    `${dateText(paymentId)}, after its date ${dateText(firstId ?? '')}. Write a later date into TREASURIES: ` +
    `${treasuriesText([{ address, firstId: later }])}`
  )
}

/** Returns why the keys do not belong to the list, for people; null: they do. */
export function whyKeysDiffer(keys: readonly string[], list: readonly Treasury[]): string | null {
  const stranger = keys.find((key) => list.every(({ address }) => address !== key))
  return stranger === undefined
    ? null
    : `TREASURIES must name ${stranger}, whose key is configured: append it with the date from which it pays (,${stranger}@<date>)`
}
