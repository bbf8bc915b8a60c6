import { Icon } from '../../kit/icon.tsx'
import type { Words } from '../../messages/words.ts'
import type { View } from '../view.ts'

/** The line of a page without a connection. The script shows it with the time of the last update. */
export function OfflineLine({ words, view }: { words: Words; view: View }) {
  const { t, rich } = words
  const goesOn = view.page === 'progress' || view.page === 'checking' || view.page === 'returning'
  return (
    <div role="status" class="offline" data-offline>
      <p class="line" hidden>
        <Icon name="offline" />
        <span>
          <b>{t('offline.heading')}</b>
          <br />
          {t(goesOn ? 'offline.goes_on' : 'offline.waits')} {rich('offline.last', { time: <time data-style="time" /> })}
        </span>
      </p>
    </div>
  )
}
