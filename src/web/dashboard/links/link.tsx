import type { ComponentChildren } from 'preact'
import { linkStatus, linkUrl, type PaymentLink } from '../../../domain/link/link.ts'
import type { Payment } from '../../../domain/payment/payment-object.ts'
import { Card } from '../../kit/card.tsx'
import { Copy, shorten } from '../../kit/copy.tsx'
import { Curl, curlText } from '../../kit/curl.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { PostButton } from '../../kit/form.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Note } from '../../kit/note.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { ContactSupport } from '../../kit/platform-links.tsx'
import { RowLink } from '../../kit/table.tsx'
import { Time } from '../../kit/time.tsx'
import { LinkPayments } from '../../links/maker/link-payments.tsx'
import { LinkState, methodText, priceText, Stats, type Totals } from '../../links/maker/link-words.tsx'
import { AddressField, LinkQr, mailTo, QrFiles } from '../../links/maker/share.tsx'
import { type Frame, renderFramed } from '../frame.tsx'
import { Pager } from '../pager.tsx'

export type LinkPageView = {
  readonly frame: Frame
  readonly link: PaymentLink
  readonly totals: Totals
  readonly payments: readonly Payment[]
  readonly older: string | null
  readonly mayChange: boolean
  readonly now: string
  readonly publicUrl: string
}

export function renderLink(view: LinkPageView): string {
  const { frame, link, totals, now, publicUrl } = view
  const status = linkStatus(link, now)
  const api = `${publicUrl}/v1/payment_links/${link.id}`
  return renderFramed({
    frame,
    title: link.title,
    children: (
      <>
        <PageHead
          back={{ href: '/dashboard/links', name: 'Payment links' }}
          title={
            <>
              {link.title} <LinkState status={status} />
            </>
          }
          lead={
            <>
              {priceText(link)} · {methodText(link)} · created <Time at={link.createdAt} style="date" />
            </>
          }
          actions={<Actions view={view} />}
        />
        {status === 'stopped' && (
          <Note tone="problem" icon="warning" strong="We stopped this link">
            It takes no payments. Payments in progress continue. <ContactSupport platform={frame.platform} /> to learn
            why.
          </Note>
        )}
        <Stats totals={totals} />
        <div class="cols">
          <div class="col">
            <Payments view={view} />
            <About link={link} />
          </div>
          <Share link={link} url={linkUrl(publicUrl, link.code)} />
        </div>
        <Curl command={curlText(api)} />
        <Curl title="Pause with curl" command={curlText(`${api}/deactivate`, { method: 'POST' })} />
      </>
    ),
  })
}

function Actions({ view: { frame, link, mayChange, publicUrl } }: { view: LinkPageView }) {
  const path = `/dashboard/links/${link.id}`
  return (
    <>
      <a class="button" href={new URL(linkUrl(publicUrl, link.code)).pathname}>
        <Icon name="out" />
        Open
      </a>
      {mayChange && link.stoppedAt === null && (
        <PostButton action={`${path}/${link.active ? 'pause' : 'resume'}`} csrf={frame.csrf}>
          {link.active ? 'Pause' : 'Resume'}
        </PostButton>
      )}
      {mayChange && (
        <a class="button" href={`${path}/edit`}>
          Edit
        </a>
      )}
    </>
  )
}

function Payments({ view: { frame, link, payments, older, now } }: { view: LinkPageView }) {
  return (
    <LinkPayments
      caption={`Payments of ${link.title} in ${frame.account}, newest first`}
      payments={payments}
      now={now}
      rowLink={(payment, amount) => rowLink(link, payment, amount)}
    >
      <Pager newer={null} older={older} />
    </LinkPayments>
  )
}

/** Payments from before the link was added to the account have no page in the dashboard. */
function rowLink(link: PaymentLink, payment: Payment, amount: ComponentChildren): ComponentChildren {
  if (payment.merchantId !== link.merchantId) return amount
  return <RowLink href={`/dashboard/payments/${payment.id}`}>{amount}</RowLink>
}

function About({ link }: { link: PaymentLink }) {
  const { description, reference, maxPayments, paymentsCount, expiresAt, successUrl, inactiveMessage, wallet } = link
  return (
    <Card id="about" title="About this link">
      <Facts>
        <Fact name="Id">
          <Copy value={link.id} short={shorten(link.id)} />
        </Fact>
        {description !== null && <Fact name="Description">{description}</Fact>}
        {reference !== null && <Fact name="Reference">{reference}</Fact>}
        {maxPayments !== null && (
          <Fact name="Places">{`${Math.max(0, maxPayments - paymentsCount)} of ${maxPayments} left`}</Fact>
        )}
        {expiresAt !== null && (
          <Fact name="Ends">
            <Time at={expiresAt} />
          </Fact>
        )}
        {successUrl !== null && <Fact name="Return page">{successUrl}</Fact>}
        {inactiveMessage !== null && <Fact name="Message while paused">{inactiveMessage}</Fact>}
        {link.prefill.length > 0 && <Fact name="Prefilled from the URL">{link.prefill.join(', ')}</Fact>}
        <Fact name="Pays to">
          {wallet === null ? 'The wallet of the account' : <Copy value={wallet} short={shorten(wallet, 6, 4)} />}
        </Fact>
      </Facts>
    </Card>
  )
}

function Share({ link, url }: { link: PaymentLink; url: string }) {
  return (
    <aside class="side" aria-label="Share">
      <Card id="share" title="Share">
        <LinkQr link={link} url={url} />
        <AddressField url={url} look="button" />
        <p class="actions">
          <QrFiles url={url} />
          <a class="button text" href={mailTo(link.title, `${link.title}: ${url}`)}>
            <Icon name="mail" />
            E-mail
          </a>
        </p>
      </Card>
    </aside>
  )
}
