import { Icon } from '../kit/icon.tsx'
import { timeText } from '../kit/time.tsx'

/** `at`: when it happened (ISO 8601); null if it has not. */
export type DatedStop = { readonly name: string; readonly at: string | null }

export function Stops({ stops }: { stops: readonly DatedStop[] }) {
  return (
    <ol class="stops">
      {stops.map(({ name, at }, index) => (
        <li key={name} class={at === null ? 'quiet' : 'success full'}>
          <span class="pin">{at === null ? null : <Icon name="check" />}</span>
          <b>
            {name}
            <span class="unseen">{at === null ? ': not yet' : ': done'}</span>
          </b>
          {at !== null && (
            <small>
              <time dateTime={at}>{timeText(at, 'seconds')}</time>
              {index === 0 && ' UTC'}
            </small>
          )}
        </li>
      ))}
    </ol>
  )
}
