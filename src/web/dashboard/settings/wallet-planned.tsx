import { Curl, curlText } from '../../kit/curl.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { PostButton } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { Time } from '../../kit/time.tsx'
import { Address } from './address.tsx'
import type { WalletView } from './wallet-view.ts'

const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60

export function Planned({ view: { frame, wallet, history, inFlight, now, publicUrl } }: { view: WalletView }) {
  if (wallet === null || wallet.next === null) return null
  const { next } = wallet
  const leftMs = Math.max(0, Date.parse(next.at) - Date.parse(now))
  const left = Math.ceil(leftMs / MINUTE_MS)
  const waited = Math.max(0, DAY_MINUTES - left)
  const asked = history[0]
  return (
    <section class="card alert wait" aria-labelledby="ch">
      <div class="row between">
        <div>
          <h2 id="ch">Your wallet changes in</h2>
          <p class="countdown soft" role="timer" data-left={leftMs}>
            <b>{Math.floor(left / 60)}</b> h <b>{left % 60}</b> min
          </p>
          <p class="soft">
            On <Time at={next.at} />
          </p>
        </div>
        <PostButton action="/dashboard/wallet/stop" csrf={frame.csrf} look="button danger big" icon="close">
          Stop this change
        </PostButton>
      </div>
      <progress
        max={DAY_MINUTES}
        value={waited}
        aria-label={`Time waited: ${Math.floor(waited / 60)} h ${waited % 60} min of 24 h`}
      />
      <div class="stack even tight">
        <Address label="Until then" address={wallet.address} />
        <Address label="After that" address={next.address} />
      </div>
      <Facts>
        {asked !== undefined && <Fact name="Requested by">{asked.who}</Fact>}
        <Fact name="Proved by a signature">{next.proved ? 'Yes' : 'No'}</Fact>
        <Fact name="Notified">Everybody in the team, by e-mail</Fact>
      </Facts>
      <p>
        {inFlight === 0
          ? 'All payments created until then go to the current wallet.'
          : `Payments in progress (${inFlight}), and all created until then, go to the current wallet.`}
      </p>
      <Note tone="quiet" icon="warning" strong="Not planned?">
        Stop it, then <a href="/dashboard/account">sign out everywhere else</a> and look at the{' '}
        <a href="/dashboard/team">audit log</a>.
      </Note>
      <Curl
        title="Stop it with curl"
        command={curlText(`${publicUrl}/v1/settings/wallet/stop_change`, { method: 'POST' })}
      />
    </section>
  )
}
