import type { ComponentChildren } from 'preact'
import type { TimeStyle } from '../messages/moment.ts'
import type { Words } from '../messages/words.ts'
import { Icon } from './icon.tsx'
import { Time } from './time.tsx'

/**
 * The rail: the stops of a payment from the plan to the proof. The drawing is the same before, during and after the
 * payment. Past stops are filled, the current one is marked, and optional ones are dashed.
 */

export type StopState = 'past' | 'now' | 'maybe' | 'todo'

export type Stop = {
  readonly state: StopState
  readonly name: string
  readonly why?: ComponentChildren
  /** The time at which the stop happened, since which it lasts, or until which it lasts; ISO 8601. */
  readonly time?: { readonly at: string; readonly said: 'at' | 'since' | 'until'; readonly style?: TimeStyle }
}

type RailProps = {
  readonly label: string
  readonly stops: readonly Stop[]
  readonly words: Words
  /** True before the payment begins: the first stop does not pulse. */
  readonly plan?: boolean
}

export function Rail({ label, stops, words, plan = false }: RailProps) {
  return (
    <ol class={plan ? 'rail plan' : 'rail'} aria-label={label}>
      {stops.map((stop) => (
        <StopItem key={stop.name} stop={stop} words={words} />
      ))}
    </ol>
  )
}

function StopItem({ stop: { state, name, why, time }, words }: { stop: Stop; words: Words }) {
  const { t, rich } = words
  return (
    <li class={state} aria-current={state === 'now' ? 'step' : undefined}>
      <span class="dot">{state === 'past' && <Icon name="check" />}</span>
      <p class="stop">
        {name}
        {(state === 'past' || state === 'now') && <span class="unseen">: {t(`stop.${state}`)}</span>}
      </p>
      {time !== undefined && (
        <span class="at">
          {time.said === 'at' ? formatTime(time) : rich(`stop.${time.said}`, { time: formatTime(time) })}
        </span>
      )}
      {why !== undefined && <p class="why">{why}</p>}
    </li>
  )

  function formatTime({ at, style = 'time' }: NonNullable<Stop['time']>) {
    return <Time at={at} style={style} words={words} />
  }
}
