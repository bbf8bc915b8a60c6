import type { ComponentChildren } from 'preact'
import type { Words } from '../messages/words.ts'
import { Icon } from './icons.tsx'
import { Time, type TimeStyle } from './time.tsx'

/**
 * The rail: the stops of a payment from the plan to the proof. It is the same drawing before, during and after. What is
 * done is filled, where the money is now is marked, what may be skipped is dashed.
 */

export type StopState = 'past' | 'now' | 'maybe' | 'todo'

export type Stop = {
  readonly state: StopState
  readonly name: string
  readonly why?: ComponentChildren
  /** When it happened, or since or until when it goes on; ISO 8601. */
  readonly time?: { readonly at: string; readonly said: 'at' | 'since' | 'until'; readonly style?: TimeStyle }
}

type RailProps = {
  readonly label: string
  readonly stops: readonly Stop[]
  readonly words: Words
  /** Nothing has begun: the first stop does not pulse. */
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
          {time.said === 'at' ? momentOf(time) : rich(`stop.${time.said}`, { time: momentOf(time) })}
        </span>
      )}
      {why !== undefined && <p class="why">{why}</p>}
    </li>
  )

  function momentOf({ at, style = 'time' }: NonNullable<Stop['time']>) {
    return <Time at={at} style={style} words={words} />
  }
}
