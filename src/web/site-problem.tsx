import type { Platform } from '../domain/platform.ts'
import { ContactSupport } from './kit/platform-links.tsx'
import { Main, renderSitePage } from './kit/site-page.tsx'

export type SiteProblemName =
  | 'bad_request'
  | 'forbidden_origin'
  | 'forbidden_form'
  | 'forbidden_role'
  | 'last_owner'
  | 'not_found'
  | 'links_off'
  | 'not_allowed'
  | 'too_many'
  | 'internal'
  | 'busy'

const WORDS: Readonly<Record<SiteProblemName, readonly [string, string]>> = {
  bad_request: ['The request could not be read', 'Nothing was changed. Go back, reload the page, and send it again.'],
  forbidden_origin: [
    'Please load the page again',
    'Nothing was changed. If you pressed a button on this site, reload the page and press it again.',
  ],
  forbidden_form: [
    'This page is out of date',
    'Nothing was changed. You have signed in again since you opened it. Reload the page and send it again.',
  ],
  forbidden_role: [
    'Your role does not allow this',
    'Nothing was changed. An owner of the account can do it, or give you another role under Team.',
  ],
  last_owner: ['An account needs an owner', 'Nothing was changed. Make another person an owner first.'],
  not_found: ['Page not found', 'The address may be mistyped, or the page belongs to another account.'],
  links_off: ['Payment links need an account here', 'Sign in, and create the link under Links.'],
  not_allowed: ['That is not possible on this page', 'Go back and use the buttons of the page. Nothing was changed.'],
  too_many: ['Too many attempts', 'Wait a few minutes, then try again. Payments are not affected.'],
  internal: [
    'Something went wrong on our side',
    'Your money is safe: payments continue automatically. Try again in a moment.',
  ],
  busy: ['Temporarily unavailable', 'Your money is safe: payments continue automatically. Try again in a moment.'],
}

/** Renders the page for a form that was sent to another host name. `page` is the URL of the form's page. */
export function renderOtherAddress(platform: Platform, page: string): string {
  const title = 'This site has another address'
  const children = (
    <Main narrow look="gap">
      <h1>{title}</h1>
      <p class="lead">
        Nothing was changed. Open <a href={page}>{page}</a> and submit the form there.
      </p>
    </Main>
  )
  return renderSitePage({ platform, title, children })
}

export function renderSiteProblem(
  problem: SiteProblemName,
  { status, requestId, platform }: { status: number; requestId: string; platform: Platform },
): string {
  const [title, text] = WORDS[problem]
  const children = (
    <Main narrow look="gap">
      <p class="soft">{status}</p>
      <h1>{title}</h1>
      <p class="lead">{text}</p>
      <p class="actions">
        <a class="button fill" href="/dashboard">
          Go to the dashboard
        </a>
        <a class="button" href="/">
          Home
        </a>
      </p>
      {status >= 500 && (
        <p class="hint">
          <ContactSupport platform={platform} /> with the request id <code>{requestId}</code>
        </p>
      )}
    </Main>
  )
  return renderSitePage({ platform, title, children })
}
