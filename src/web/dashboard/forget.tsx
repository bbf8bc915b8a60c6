import type { Platform } from '../../domain/platform.ts'
import { ErrorSummary, Field, type FormErrors } from '../kit/field.tsx'
import { FormEnd, PostForm } from '../kit/form.tsx'
import { Note } from '../kit/note.tsx'
import { PageHead } from '../kit/page-head.tsx'
import { renderBoxPage } from '../kit/site-page.tsx'
import { type Frame, renderFramed } from './frame.tsx'

export type ForgetView = {
  readonly frame: Frame
  /** The names of the accounts that would have no owner without this person. */
  readonly needed: readonly string[]
  readonly errors: FormErrors
}

export function renderForget({ frame, needed, errors }: ForgetView): string {
  return renderFramed({
    frame,
    title: 'Delete your sign-in',
    narrow: true,
    children: (
      <>
        <PageHead
          back={{ href: '/dashboard/account', name: 'Your sign-in' }}
          title="Delete your sign-in"
          lead={`${frame.email} is deleted: your passkeys, sessions, memberships and e-mail notifications. Payments and accounting records belong to the account and stay.`}
        />
        {needed.length > 0 ? (
          <Note tone="wait" icon="warning" strong="An account would have no owner">
            You are the only owner of {needed.join(', ')}. Make someone else an owner. If the account has no other
            people, revoke its keys and deactivate its links, and wait until the payments in progress are settled.
          </Note>
        ) : (
          <PostForm action="/dashboard/account/delete" csrf={frame.csrf} look="form card">
            <ErrorSummary errors={errors} />
            <Field name="email" label={`Enter ${frame.email} to confirm`} errors={errors}>
              {(attributes) => <input {...attributes} type="email" required maxLength={254} autocomplete="off" />}
            </Field>
            <p class="soft">This cannot be undone. If you sign in with this address again, you start over.</p>
            <FormEnd back="/dashboard/account" danger>
              Delete my sign-in
            </FormEnd>
          </PostForm>
        )}
      </>
    ),
  })
}

export function renderForgotten(platform: Platform): string {
  return renderBoxPage(
    platform,
    'Sign-in deleted',
    <>
      <p>Your sign-in is deleted, and every session has ended.</p>
      <p>
        <a class="button" href="/">
          Go to the home page
        </a>
      </p>
    </>,
  )
}
