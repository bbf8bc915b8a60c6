import type { TimeStyle, Words } from '../messages/words.ts'

export type { TimeStyle }

/**
 * A moment in the zone of the buyer's country, or in UTC, which is then said. The script of the page turns it into the
 * zone of the buyer's device.
 */
export function Time({ at, style, words }: { at: string; style: TimeStyle; words: Words }) {
  return (
    <time dateTime={at} data-style={style}>
      {words.moment(at, style)}
    </time>
  )
}
