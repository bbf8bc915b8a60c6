import { ErrorSummary, Field, type FormErrors } from '../../kit/field.tsx'
import { FormEnd, PostForm } from '../../kit/form.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { type Frame, renderFramed } from '../frame.tsx'
import { KIND_NAMES } from './channel-words.tsx'

export type NewChannelView = {
  readonly frame: Frame
  readonly kind: 'email' | 'discord' | 'slack'
  readonly draft: { readonly name: string }
  readonly errors: FormErrors
}

const HINTS = {
  discord: 'In Discord: channel settings, Integrations, Webhooks. Keep it secret: anybody who has it can post there.',
  slack: 'In Slack: your app, Incoming Webhooks. Keep it secret: anybody who has it can post there.',
} as const

export function renderNewChannel({ frame, kind, draft, errors }: NewChannelView): string {
  const title = `Connect ${KIND_NAMES[kind]}`
  return renderFramed({
    frame,
    title,
    narrow: true,
    children: (
      <>
        <PageHead back={{ href: '/dashboard/notifications', name: 'Notifications' }} title={title} />
        <PostForm action="/dashboard/notifications" csrf={frame.csrf} fields={{ kind }} look="form card">
          <ErrorSummary errors={errors} />
          {kind === 'email' ? (
            <p id="name">
              Notifications go to your own e-mail address, {frame.email}. They stop when you leave the account.
            </p>
          ) : (
            <>
              <Field name="name" label="Name" hint="Your name for it, such as #payments." errors={errors}>
                {(attributes) => <input {...attributes} required maxLength={80} value={draft.name} />}
              </Field>
              <Field name="url" label="URL of the incoming webhook" hint={HINTS[kind]} errors={errors}>
                {(attributes) => (
                  <input {...attributes} type="url" class="mono" required maxLength={500} autocomplete="off" />
                )}
              </Field>
            </>
          )}
          <FormEnd back="/dashboard/notifications">Connect</FormEnd>
        </PostForm>
      </>
    ),
  })
}
