import { linkStatus, type PaymentLink } from '../../../domain/link/link.ts'
import type { Payment } from '../../../domain/payment/payment-object.ts'
import type { Platform } from '../../../domain/platform.ts'
import { Card } from '../../kit/card.tsx'
import { Copy, shorten } from '../../kit/copy.tsx'
import { Fold } from '../../kit/fold.tsx'
import { PostButton } from '../../kit/form.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Note } from '../../kit/note.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { ContactSupport } from '../../kit/platform-links.tsx'
import { Main, renderBoxPage, renderSitePage } from '../../kit/site-page.tsx'
import { Time } from '../../kit/time.tsx'
import { LinkPayments } from './link-payments.tsx'
import { LinkState, priceText, Stats, type Totals } from './link-words.tsx'

export type OwnerView = {
  readonly link: PaymentLink
  readonly path: string
  readonly url: string
  readonly totals: Totals
  /** The newest first; `totals` also counts the older ones. */
  readonly payments: readonly Payment[]
  readonly now: string
  readonly platform: Platform
}

export type OwnerAction = 'pause' | 'resume' | 'end' | 'claim'

export function renderOwner(view: OwnerView): string {
  const { platform, link, path, url, now } = view
  const status = linkStatus(link, now)
  const children = (
    <Main narrow>
      <PageHead
        title={
          <>
            {link.title} <LinkState status={status} />
          </>
        }
        lead={
          <>
            {priceText(link)} · created <Time at={link.createdAt} /> · pays to{' '}
            <Copy value={link.wallet ?? ''} short={shorten(link.wallet ?? '', 6, 4)} />
          </>
        }
        actions={
          <>
            <a class="button" href={new URL(url).pathname} rel="noreferrer">
              <Icon name="out" />
              Open
            </a>
            {(status === 'active' || status === 'sold_out') && <Press path={path} action="pause" name="Pause" />}
            {status === 'paused' && <Press path={path} action="resume" name="Resume" />}
          </>
        }
      />
      {status === 'stopped' ? (
        <Note tone="problem" icon="warning" strong="We stopped this link">
          It takes no payments. Payments in progress continue. <ContactSupport platform={platform} /> to learn why.
        </Note>
      ) : (
        <Note tone="wait" icon="key" strong="This page is secret">
          You can manage this link only at this URL. Keep it, and do not share it.
        </Note>
      )}
      <Stats totals={view.totals} />
      <Payments view={view} />
      <div class="stack even">
        <Claim path={path} />
        {status !== 'expired' && status !== 'stopped' && <End path={path} />}
      </div>
    </Main>
  )
  return renderSitePage({ platform, title: `${link.title} · owner page`, children })
}

type PressProps = { readonly path: string; readonly action: OwnerAction; readonly name: string; readonly look?: string }

/** The path is a secret, so the form needs no CSRF token. */
function Press({ path, action, name, look = 'button' }: PressProps) {
  return (
    <PostButton action={`${path}/${action}`} look={look}>
      {name}
    </PostButton>
  )
}

function Payments({ view: { payments, totals, now } }: { view: OwnerView }) {
  return (
    <LinkPayments caption="Payments of this link, newest first" payments={payments} now={now}>
      {totals.started > payments.length && (
        <p class="hint pager">{`The newest ${payments.length} of ${totals.started}. In an account you see all of them.`}</p>
      )}
    </LinkPayments>
  )
}

function Claim({ path }: { path: string }) {
  return (
    <Card id="claim" title="Add this link to an account">
      <p>See all links together, get webhooks and notifications. Free. The wallet of this link stays as it is.</p>
      <p class="hint">No account yet? Create one, then come back to this page.</p>
      <Press path={path} action="claim" name="Sign in and add it" look="button fill" />
    </Card>
  )
}

function End({ path }: { path: string }) {
  return (
    <Card id="end" title="End this link">
      <p>It takes no more payments. Payments in progress continue.</p>
      <Fold title="End it now">
        <div class="stack tight">
          <p>
            To open it again later, you must first add it to an account. To stop payments only for a while, pause it
            instead.
          </p>
          <Press path={path} action="end" name="End this link" look="button danger" />
        </div>
      </Fold>
    </Card>
  )
}

/** Renders the page of a secret URL whose link was added to an account. */
export function renderClaimed(platform: Platform, link: PaymentLink, at: string): string {
  return renderBoxPage(
    platform,
    'This link is in an account',
    <>
      <p>
        “{link.title}” was added to an account on <Time at={at} style="date" />. This page can no longer change it.
      </p>
      <a class="button fill big" href="/sign-in?to=/dashboard/links">
        Sign in
      </a>
    </>,
  )
}

/** Renders the page for a secret that is unknown or no longer works. Both get the same page. */
export function renderUnknownSecret(platform: Platform): string {
  return renderBoxPage(
    platform,
    'There is no link here',
    <>
      <p>The URL may be incomplete. Copy the whole owner link, and open it again.</p>
      <a class="button fill big" href="/links">
        Create a payment link
      </a>
    </>,
  )
}
