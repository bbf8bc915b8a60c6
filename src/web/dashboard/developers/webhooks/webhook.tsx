import type { Language } from '../../../docs/code/languages.ts'
import { VerifyTabs } from '../../../docs/code/verify-tabs.tsx'
import { Card } from '../../../kit/card.tsx'
import { Curl, curlText } from '../../../kit/curl.tsx'
import { Fact, Facts } from '../../../kit/facts.tsx'
import { PostButton } from '../../../kit/form.tsx'
import { Note } from '../../../kit/note.tsx'
import { PageHead } from '../../../kit/page-head.tsx'
import { RowLink, Table } from '../../../kit/table.tsx'
import { Recent, spanText, Time } from '../../../kit/time.tsx'
import { type Frame, renderFramed } from '../../frame.tsx'
import { Older } from '../../pager.tsx'
import { type DeliveryShown, DeliveryState, isRefused, NextTry, paymentName, type TryShown } from './delivery-words.tsx'
import {
  bareUrl,
  describeEndpoint,
  type EndpointShown,
  EndpointState,
  type Health,
  msText,
  Spark,
} from './webhook-words.tsx'
import { Off } from './webhooks.tsx'

export const DELIVERY_VIEWS = { all: 'All', waiting: 'Retrying', failed: 'Failed' } as const
export type DeliveryView = keyof typeof DELIVERY_VIEWS

export type WebhookView = {
  readonly frame: Frame
  readonly endpoint: EndpointShown
  readonly health: Health
  readonly deliveries: readonly DeliveryShown[]
  readonly show: DeliveryView
  /** The URL of the older deliveries; null if there are none. */
  readonly older: string | null
  readonly mayChange: boolean
  /** The language of the code that verifies a webhook. */
  readonly language: Language
  readonly problem: string | null
  readonly now: string
  readonly publicUrl: string
}

export function renderWebhook(view: WebhookView): string {
  const { frame, endpoint, health, mayChange, problem, publicUrl } = view
  const api = `${publicUrl}/v1/webhook_endpoints/${endpoint.id}`
  return renderFramed({
    frame,
    title: bareUrl(endpoint.url),
    children: (
      <>
        <PageHead
          back={{ href: '/dashboard/webhooks', name: 'Webhooks' }}
          title={
            <>
              <span class="mono">{bareUrl(endpoint.url)}</span> <EndpointState endpoint={endpoint} />
            </>
          }
          lead={describeEndpoint(endpoint, 'each')}
          actions={mayChange ? <Actions view={view} /> : undefined}
        />
        {problem !== null && <Note tone="problem" icon="warning" strong={problem} />}
        {endpoint.disabledAt === null ? (
          <Diagnosis view={view} />
        ) : (
          <section class="card">
            <Off endpoint={endpoint} health={health} csrf={frame.csrf} mayChange={mayChange} />
          </section>
        )}
        <LastDay view={view} />
        <Deliveries view={view} />
        <Verify view={view} />
        {mayChange && <Secret view={view} />}
        <Curl command={curlText(`${api}/deliveries`)} />
      </>
    ),
  })
}

function Actions({ view: { endpoint, frame } }: { view: WebhookView }) {
  const at = `/dashboard/webhooks/${endpoint.id}`
  return (
    <>
      <a class="button" href={`${at}/edit`}>
        Edit
      </a>
      {endpoint.disabledAt === null && (
        <PostButton action={`${at}/test`} csrf={frame.csrf}>
          Send test
        </PostButton>
      )}
    </>
  )
}

/** Describes the newest failure, with a button that sends the failed events again. */
function Diagnosis({ view: { endpoint, health, deliveries, frame, mayChange } }: { view: WebhookView }) {
  const last = deliveries.find(({ status, log }) => status !== 'delivered' && log.length > 0)?.log.at(-1)
  if (endpoint.failingSince === null && health.failed === 0) return null
  const quote = last?.responseBody === null || last === undefined ? '' : last.responseBody.slice(0, 100).trim()
  const refused = last !== undefined && isRefused(last)
  const what = last === undefined ? 'It fails' : refused ? `Refused with ${last.status}` : `No response (${last.error})`
  return (
    <Note
      tone="wait"
      icon="warning"
      strong={endpoint.failingSince === null ? `${health.failed} failed` : what}
      actions={
        mayChange && health.failed > 0 ? (
          <PostButton action={`/dashboard/webhooks/${endpoint.id}/redeliver`} csrf={frame.csrf}>
            Send {health.failed} failed again
          </PostButton>
        ) : undefined
      }
      more={refused && (last.status === 401 || last.status === 403) && <Causes />}
    >
      {endpoint.failingSince !== null && (
        <>
          {refused ? 'Your server has refused every event since' : 'No successful response since'}{' '}
          <Time at={endpoint.failingSince} />.{' '}
        </>
      )}
      {last !== undefined && `${tookText(last, quote)} `}
      {endpoint.failingSince === null
        ? 'Failed events are kept for 30 days.'
        : 'We retry each event for three days, and disable the endpoint after five days without a success.'}
    </Note>
  )
}

function tookText({ status, durationMs }: TryShown, quote: string): string {
  if (status === null) return `Your server did not respond within ${msText(durationMs)}.`
  return `Your server took ${msText(durationMs)}${quote === '' ? '' : ` and responded “${quote}”`}.`
}

function Causes() {
  return (
    <>
      <p>The usual causes:</p>
      <ol class="plain-steps">
        <li>The signing secret on your server belongs to another endpoint, or is older than the last rotation.</li>
        <li>Your framework parses the body before the check. The check needs the raw bytes.</li>
        <li>
          The check reads only one signature of webhook-signature. While the secret is being changed, there are two.
        </li>
        <li>The clock of your server is off by more than five minutes.</li>
        <li>Something in front of your code asks for a sign-in: a firewall, a proxy or a preview deployment.</li>
      </ol>
    </>
  )
}

function LastDay({ view: { health, now } }: { view: WebhookView }) {
  const { tried, delivered, medianMs, slowestMs, oldestWaiting } = health
  return (
    <Card id="h24" title="Last 24 hours">
      <Facts across>
        <Fact name="Delivered">{tried === 0 ? 'Nothing to send' : `${delivered} of ${tried}`}</Fact>
        <Fact name="Median response time">{msText(medianMs)}</Fact>
        <Fact name="Slowest">{msText(slowestMs)}</Fact>
        <Fact name="Oldest waiting">
          {oldestWaiting === null ? 'None' : spanText(Date.parse(now) - Date.parse(oldestWaiting))}
        </Fact>
      </Facts>
      <Spark hours={health.hours} tall />
    </Card>
  )
}

function Deliveries({ view: { endpoint, health, deliveries, show, older, now } }: { view: WebhookView }) {
  const at = `/dashboard/webhooks/${endpoint.id}`
  const counts = { all: '', waiting: ` ${health.waiting}`, failed: ` ${health.failed}` }
  return (
    <section class="stack tight" aria-labelledby="dl">
      <header class="row between">
        <h2 id="dl">Deliveries</h2>
        <nav class="seg" aria-label="Show">
          {Object.entries(DELIVERY_VIEWS).map(([key, name]) => (
            <a key={key} href={`${at}?show=${key}`} aria-current={key === show ? 'true' : undefined}>
              {name}
              {counts[key as DeliveryView]}
            </a>
          ))}
        </nav>
      </header>
      <div class="table-box">
        {deliveries.length === 0 ? (
          <p class="empty soft">Nothing here.</p>
        ) : (
          <Table<DeliveryShown>
            caption="Deliveries, newest first"
            rows={deliveries}
            columns={[
              { name: 'Status', place: 'b', look: 'fit', cell: (row) => <DeliveryState delivery={row} /> },
              {
                name: 'Event',
                place: 'a',
                cell: ({ event, type }) => (
                  <RowLink href={`${at}/deliveries/${event}`}>
                    <code>{type}</code>
                  </RowLink>
                ),
              },
              { name: 'Payment', place: 'c', cell: paymentName },
              { name: 'Attempts', look: 'num', cell: ({ attempts }) => attempts },
              { name: 'Response', look: 'num', cell: ({ log }) => <Answer of={log.at(-1)} /> },
              { name: 'Took', look: 'num', cell: ({ log }) => msText(log.at(-1)?.durationMs ?? null) },
              {
                name: 'Created',
                place: 'd',
                look: 'num',
                cell: ({ createdAt }) => <Recent at={createdAt} now={now} />,
              },
              {
                name: 'Next attempt',
                look: 'num',
                cell: ({ nextTry }) => (nextTry === null ? '–' : <NextTry at={nextTry} />),
              },
            ]}
          />
        )}
        <Older href={older} />
      </div>
    </section>
  )
}

function Verify({ view: { endpoint, language } }: { view: WebhookView }) {
  if (endpoint.format === 'btcpay') return <VerifyBtcpay />
  return (
    <Card
      id="verify"
      title="Verify a webhook"
      lead="Pass the raw body, the headers and your signing secret to this function. It needs no library."
    >
      <VerifyTabs chosen={language} at={`/dashboard/webhooks/${endpoint.id}`} />
      <p>
        <a href="/docs/webhooks#verify-a-webhook">What to do with a webhook</a>
      </p>
    </Card>
  )
}

function VerifyBtcpay() {
  return (
    <Card id="verify" title="Verify a webhook" lead="Plugins that are made for BTCPay Server do this automatically.">
      <p>
        The header <code>BTCPay-Sig</code> is <code>sha256=</code> and the HMAC-SHA-256 of the raw body with the secret,
        in hexadecimal digits. <a href="/docs/btcpay">What a plugin receives</a>
      </p>
    </Card>
  )
}

function Answer({ of }: { of: DeliveryShown['log'][number] | undefined }) {
  if (of === undefined) return <>–</>
  const good = of.error === null && of.status !== null && of.status >= 200 && of.status < 300
  return <code class={good ? '' : 'toned problem'}>{of.error ?? of.status}</code>
}

function Secret({ view: { endpoint, frame, publicUrl, now } }: { view: WebhookView }) {
  const at = `/dashboard/webhooks/${endpoint.id}`
  const rotate = curlText(`${publicUrl}/v1/webhook_endpoints/${endpoint.id}/rotate_secret`, {
    method: 'POST',
    body: { overlap: 86_400 },
  })
  return (
    <Card
      id="sec"
      title="Secret, disable, delete"
      lead="After you create a new secret, both secrets sign for 24 hours, so that you can switch without interruption."
    >
      {endpoint.previousSecretUntil !== null && endpoint.previousSecretUntil > now && (
        <p>
          The old secret also signs until <Time at={endpoint.previousSecretUntil} />.
        </p>
      )}
      <div class="row">
        <a class="button" href={`${at}/rotate`}>
          New signing secret
        </a>
        {endpoint.disabledAt === null && (
          <PostButton action={`${at}/disable`} csrf={frame.csrf} look="button danger">
            Disable
          </PostButton>
        )}
        <a class="button danger" href={`${at}/delete`}>
          Delete
        </a>
      </div>
      <p class="soft">
        A disabled endpoint receives nothing; its events are kept. A deleted endpoint is gone for good. Payments
        continue in both cases.
      </p>
      <Curl command={rotate} />
    </Card>
  )
}
