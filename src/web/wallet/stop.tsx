import type { Platform } from '../../domain/platform.ts'
import { Address } from '../dashboard/settings/address.tsx'
import { PostButton } from '../kit/form.tsx'
import { renderBoxPage } from '../kit/site-page.tsx'
import { Time } from '../kit/time.tsx'

export type StopView = {
  readonly platform: Platform
  readonly account: string
  readonly address: string
  readonly nextAddress: string
  readonly nextAt: string
  readonly action: string
}

/** Renders the page that a mail links to. Only its form stops the change, because mail scanners open links. */
export function renderStop({ platform, account, address, nextAddress, nextAt, action }: StopView): string {
  return renderBoxPage(
    platform,
    'Stop the change of the wallet?',
    <>
      <p>
        The wallet of <b>{account}</b> changes on <Time at={nextAt} />.
      </p>
      <Address label="Until then" address={address} />
      <Address label="After that" address={nextAddress} />
      <PostButton action={action} look="button danger big">
        Stop this change
      </PostButton>
      <p class="hint">Did you plan this change? Close this page, and it takes effect as planned.</p>
    </>,
  )
}

export function renderStopped(platform: Platform, { account, address }: { account: string; address: string }): string {
  return renderBoxPage(
    platform,
    'The change is stopped',
    <>
      <p>
        Payments of <b>{account}</b> continue to go to this wallet.
      </p>
      <Address address={address} />
      <p>Did you not expect the change? The audit log shows who requested it, and from where.</p>
      <a class="button fill big" href="/dashboard/team">
        View the audit log
      </a>
    </>,
  )
}

export function renderNothingToStop(platform: Platform): string {
  return renderBoxPage(
    platform,
    'There is nothing to stop',
    <>
      <p>The change was already stopped, another one replaced it, or it has taken effect.</p>
      <a class="button fill big" href="/dashboard/wallet">
        View the wallet
      </a>
    </>,
  )
}
