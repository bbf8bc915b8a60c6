import { ALL_EVENT_TYPES } from '../../../../domain/webhook.ts'
import { Curl, curlText } from '../../../kit/curl.tsx'
import { Fact, Facts } from '../../../kit/facts.tsx'
import { ErrorSummary, Field, type FormErrors } from '../../../kit/field.tsx'
import { FormEnd, PostForm } from '../../../kit/form.tsx'
import { PageHead } from '../../../kit/page-head.tsx'
import { Secret } from '../../../kit/secret.tsx'
import { Time } from '../../../kit/time.tsx'
import { type Frame, renderFramed } from '../../frame.tsx'
import { bareUrl, type EndpointShown } from './webhook-words.tsx'

const back = { href: '/dashboard/webhooks', name: 'Webhooks' }

export type EndpointDraft = { readonly url: string; readonly description: string; readonly events: readonly string[] }

export type NewWebhookView = {
  readonly frame: Frame
  readonly draft: EndpointDraft
  readonly errors: FormErrors
  readonly types: readonly string[]
  readonly once: string
  readonly publicUrl: string
}

export function renderNewWebhook({ frame, draft, errors, types, once, publicUrl }: NewWebhookView): string {
  const body = { url: 'https://shop.example/webhooks', enabled_events: ['payment.succeeded'] }
  return renderFramed({
    frame,
    title: 'New endpoint',
    narrow: true,
    children: (
      <>
        <PageHead back={back} title="New endpoint" />
        <PostForm action="/dashboard/webhooks" csrf={frame.csrf} fields={{ once }} look="form card">
          <ErrorSummary errors={errors} />
          <EndpointFields draft={draft} errors={errors} types={types} />
          <FormEnd back="/dashboard/webhooks">Add endpoint</FormEnd>
        </PostForm>
        <Curl command={curlText(`${publicUrl}/v1/webhook_endpoints`, { method: 'POST', body })} />
      </>
    ),
  })
}

export type EndpointFieldsProps = {
  readonly draft: EndpointDraft
  readonly errors: FormErrors
  readonly types: readonly string[]
}

export function EndpointFields({ draft, errors, types }: EndpointFieldsProps) {
  return (
    <>
      <Field name="url" label="URL" hint="An https URL of your server that accepts POST requests." errors={errors}>
        {(attributes) => (
          <input {...attributes} type="url" inputMode="url" class="mono" required maxLength={2048} value={draft.url} />
        )}
      </Field>
      <Field name="description" label="Name" optional errors={errors}>
        {(attributes) => <input {...attributes} maxLength={500} value={draft.description} />}
      </Field>
      <fieldset id="enabled_events" tabIndex={-1}>
        <legend>Events</legend>
        {errors['enabled_events'] !== undefined && <p class="error">{errors['enabled_events']}</p>}
        <div class="options">
          <label class="choice">
            <input
              type="checkbox"
              name="event"
              value={ALL_EVENT_TYPES}
              checked={draft.events.includes(ALL_EVENT_TYPES)}
            />
            All events, including future ones
          </label>
          {types.map((type) => (
            <label key={type} class="choice">
              <input type="checkbox" name="event" value={type} checked={draft.events.includes(type)} />
              <code>{type}</code>
            </label>
          ))}
        </div>
      </fieldset>
    </>
  )
}

type RotateView = { readonly frame: Frame; readonly endpoint: EndpointShown; readonly once: string }

export function renderRotate({ frame, endpoint, once }: RotateView): string {
  const at = `/dashboard/webhooks/${endpoint.id}`
  return renderFramed({
    frame,
    title: 'New signing secret',
    narrow: true,
    children: (
      <>
        <PageHead
          back={{ href: at, name: bareUrl(endpoint.url) }}
          title="New signing secret"
          lead={`For ${bareUrl(endpoint.url)}`}
        />
        <PostForm action={`${at}/rotate`} csrf={frame.csrf} fields={{ once }} look="form card">
          <Field name="overlap" label="The old secret also signs">
            {(attributes) => (
              <select {...attributes}>
                <option value="86400">For 24 hours</option>
                <option value="604800">For 7 days</option>
                <option value="0">Not at all: it expires immediately</option>
              </select>
            )}
          </Field>
          <FormEnd back={at}>Create a new secret</FormEnd>
        </PostForm>
      </>
    ),
  })
}

type SecretView = { readonly frame: Frame; readonly endpoint: EndpointShown; readonly secret: string }

export function renderSigningSecret({ frame, endpoint, secret }: SecretView): string {
  const { previousSecretUntil: until } = endpoint
  const at = `/dashboard/webhooks/${endpoint.id}`
  return renderFramed({
    frame,
    title: 'Signing secret',
    narrow: true,
    children: (
      <>
        <PageHead
          back={{ href: at, name: bareUrl(endpoint.url) }}
          title="Signing secret"
          lead={`For ${bareUrl(endpoint.url)}`}
        />
        <Secret id="secret" label="Secret" what="secret" value={secret} lead="You will not see it again.">
          <Facts>
            <Fact name="We sign with">
              {until === null ? 'this one' : 'both, so you can switch without interruption'}
            </Fact>
            {until !== null && (
              <Fact name="The old one works until">
                <Time at={until} />
              </Fact>
            )}
          </Facts>
          <p class="actions">
            <a class="button" href={at}>
              I have saved it
            </a>
          </p>
        </Secret>
      </>
    ),
  })
}
