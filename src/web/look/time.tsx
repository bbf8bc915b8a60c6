import type { TimeStyle, Words } from '../messages/words.ts'

export type { TimeStyle }

/**
 * A moment in the time zone of the buyer's country, or in UTC with the zone's name. The page's script rewrites it in
 * the time zone of the buyer's device.
 */
export function Time({ at, style, words }: { at: string; style: TimeStyle; words: Words }) {
  return (
    <time dateTime={at} data-style={style}>
      {words.moment(at, style)}
    </time>
  )
}
