import { plural } from '../../../../domain/plural.ts'
import { Curl, curlText } from '../../../kit/curl.tsx'
import { Fact, Facts } from '../../../kit/facts.tsx'
import { PostButton } from '../../../kit/form.tsx'
import { Icon } from '../../../kit/icon.tsx'
import { PageHead } from '../../../kit/page-head.tsx'
import { spanText, Time } from '../../../kit/time.tsx'
import { type Frame, renderFramed } from '../../frame.tsx'
import {
  bareUrl,
  describeEndpoint,
  type EndpointShown,
  EndpointState,
  type Health,
  msText,
  OFF_WORDS,
  Spark,
} from './webhook-words.tsx'

export type WebhooksView = {
  readonly frame: Frame
  readonly endpoints: readonly { readonly endpoint: EndpointShown; readonly health: Health }[]
  readonly mayChange: boolean
  readonly now: string
  readonly publicUrl: string
}

export function renderWebhooks({ frame, endpoints, mayChange, now, publicUrl }: WebhooksView): string {
  const body = { url: 'https://shop.example/webhooks', enabled_events: ['payment.succeeded'] }
  return renderFramed({
    frame,
    title: 'Webhooks',
    children: (
      <>
        <PageHead
          title="Webhooks"
          lead="We notify your shop when something happens, and retry for three days."
          actions={
            mayChange ? (
              <a class="button fill" href="/dashboard/webhooks/new">
                <Icon name="plus" />
                Add endpoint
              </a>
            ) : undefined
          }
        />
        {endpoints.length === 0 && (
          <section class="card empty stack">
            <Icon name="webhook" />
            <h2>No endpoint yet</h2>
            <p>An endpoint is a URL of your shop that receives events, such as “payment succeeded”.</p>
          </section>
        )}
        <ul class="stack">
          {endpoints.map(({ endpoint, health }) => (
            <li key={endpoint.id} class="card">
              <div class="row">
                <div class="grow">
                  <a class="row-link mono" href={`/dashboard/webhooks/${endpoint.id}`}>
                    {bareUrl(endpoint.url)}
                  </a>
                  <p class="soft">{describeEndpoint(endpoint, 'count')}</p>
                </div>
                <EndpointState endpoint={endpoint} />
              </div>
              {endpoint.disabledAt === null ? (
                <Day health={health} now={now} />
              ) : (
                <Off endpoint={endpoint} health={health} csrf={frame.csrf} mayChange={mayChange} />
              )}
            </li>
          ))}
        </ul>
        <Curl
          title="Add it with curl"
          command={curlText(`${publicUrl}/v1/webhook_endpoints`, { method: 'POST', body })}
        />
      </>
    ),
  })
}

function Day({ health, now }: { health: Health; now: string }) {
  const { tried, delivered, medianMs, waiting, oldestWaiting } = health
  return (
    <div class="row">
      <Spark hours={health.hours} />
      <Facts across>
        <Fact name="Delivered, 24 h">{tried === 0 ? 'Nothing to send' : `${delivered} of ${tried}`}</Fact>
        <Fact name="Median">{msText(medianMs)}</Fact>
        <Fact name="Waiting">
          {oldestWaiting === null
            ? 'None'
            : `${waiting}, oldest ${spanText(Date.parse(now) - Date.parse(oldestWaiting))}`}
        </Fact>
      </Facts>
    </div>
  )
}

type OffProps = {
  readonly endpoint: EndpointShown
  readonly health: Health
  readonly csrf: string
  readonly mayChange: boolean
}

export function Off({ endpoint: { id, disabledAt, disabledReason }, health: { failed }, csrf, mayChange }: OffProps) {
  const action = `/dashboard/webhooks/${id}/enable`
  return (
    <div class="row between">
      <p>
        {OFF_WORDS[disabledReason ?? 'merchant']}
        {disabledAt !== null && (
          <>
            {' '}
            on <Time at={disabledAt} />
          </>
        )}
        .{failed > 0 && ` ${plural(failed, 'event')} of the last 30 days can still be sent.`}
      </p>
      {mayChange && (
        <div class="actions">
          <PostButton action={action} csrf={csrf}>
            Enable
          </PostButton>
          {failed > 0 && (
            <PostButton action={action} csrf={csrf} fields={{ send: 'failed' }}>
              Enable and resend all {failed}
            </PostButton>
          )}
        </div>
      )}
    </div>
  )
}
