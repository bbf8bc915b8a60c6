import { plural } from '../../../../domain/plural.ts'
import { Card } from '../../../kit/card.tsx'
import { Curl, curlText } from '../../../kit/curl.tsx'
import { Fact, Facts } from '../../../kit/facts.tsx'
import { ErrorSummary } from '../../../kit/field.tsx'
import { FormEnd, PostForm } from '../../../kit/form.tsx'
import { PageHead } from '../../../kit/page-head.tsx'
import { type Frame, renderFramed } from '../../frame.tsx'
import { EndpointFields, type EndpointFieldsProps } from './webhook-form.tsx'
import { bareUrl, type EndpointShown, type Health } from './webhook-words.tsx'

export type EditWebhookView = EndpointFieldsProps & {
  readonly frame: Frame
  readonly endpoint: EndpointShown
  readonly publicUrl: string
}

export function renderEditWebhook({ frame, endpoint, publicUrl, ...fields }: EditWebhookView): string {
  const at = `/dashboard/webhooks/${endpoint.id}`
  const { url, description, events } = endpoint
  return renderFramed({
    frame,
    title: `Edit ${bareUrl(url)}`,
    narrow: true,
    children: (
      <>
        <PageHead
          back={{ href: at, name: bareUrl(url) }}
          title="Edit the endpoint"
          lead="It keeps its signing secret. Events waiting to be sent go to the new URL."
        />
        <PostForm action={`${at}/edit`} csrf={frame.csrf} look="form card">
          <ErrorSummary errors={fields.errors} />
          <EndpointFields {...fields} />
          <FormEnd back={at}>Save</FormEnd>
        </PostForm>
        <Curl
          command={curlText(`${publicUrl}/v1/webhook_endpoints/${endpoint.id}`, {
            method: 'PATCH',
            body: { url, description, enabled_events: events },
          })}
        />
      </>
    ),
  })
}

export type DeleteWebhookView = {
  readonly frame: Frame
  readonly endpoint: EndpointShown
  readonly health: Health
  readonly publicUrl: string
}

export function renderDeleteWebhook({ frame, endpoint, health, publicUrl }: DeleteWebhookView): string {
  const at = `/dashboard/webhooks/${endpoint.id}`
  return renderFramed({
    frame,
    title: `Delete ${bareUrl(endpoint.url)}`,
    narrow: true,
    children: (
      <>
        <PageHead
          back={{ href: at, name: bareUrl(endpoint.url) }}
          title="Delete the endpoint?"
          lead="This cannot be undone. Payments continue."
        />
        <Card id="what" title="What is deleted, and what stays">
          <Facts>
            <Fact name="Waiting to be sent">{eventsText(health.waiting, 'never sent')}</Fact>
            <Fact name="Failed">{eventsText(health.failed, 'lost')}</Fact>
            <Fact name="Deliveries and signing secret">Deleted</Fact>
            <Fact name="The events">
              Stay in <a href="/dashboard/events">Events</a> for 90 days
            </Fact>
          </Facts>
          <p class="soft">To pause the endpoint, disable it instead. Then nothing is deleted.</p>
          <PostForm action={`${at}/delete`} csrf={frame.csrf} look="row">
            <button type="submit" class="button danger big">
              Delete this endpoint
            </button>
            <a class="button text" href={at}>
              Keep it
            </a>
          </PostForm>
        </Card>
        <Curl command={curlText(`${publicUrl}/v1/webhook_endpoints/${endpoint.id}`, { method: 'DELETE' })} />
      </>
    ),
  })
}

function eventsText(count: number, what: string): string {
  return count === 0 ? 'None' : `${plural(count, 'event')}, ${what}`
}
