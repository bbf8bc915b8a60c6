import type { SignUp } from '../../domain/account/agreement.ts'
import { MOST_PASSKEYS } from '../../domain/account/session.ts'
import type { Platform } from '../../domain/platform.ts'
import { Field, type FormErrors } from '../kit/field.tsx'
import { PostForm } from '../kit/form.tsx'
import { Icon } from '../kit/icon.tsx'
import { Note } from '../kit/note.tsx'
import { renderBoxPage } from '../kit/site-page.tsx'

const PASSKEY_PROBLEMS = {
  removed:
    'This passkey no longer works: it was removed from its account. Use the e-mail link, then delete the passkey in the settings of this device.',
  failed:
    'The passkey was not accepted, or the page was open for more than 10 minutes. Try again, or use the e-mail link.',
  of_another: 'This passkey belongs to another person. Use one of yours, or the e-mail link.',
  known: 'This device already has a passkey for you. You can sign in with it.',
  too_many: `You have ${MOST_PASSKEYS} passkeys, which is the limit. Remove one under “Your sign-in” first.`,
} as const

export type PasskeyProblem = keyof typeof PASSKEY_PROBLEMS

/** Parses the name of a problem from the query; null if it is not one. */
export function passkeyProblem(name: unknown): PasskeyProblem | null {
  return typeof name === 'string' && Object.hasOwn(PASSKEY_PROBLEMS, name) ? (name as PasskeyProblem) : null
}

function Problem({ problem }: { problem: PasskeyProblem | null }) {
  if (problem === null) return null
  return (
    <p class="error" role="alert">
      {PASSKEY_PROBLEMS[problem]}
    </p>
  )
}

export type PasskeyForm = {
  readonly action: string
  /** The browser's WebAuthn options as JSON; null if passkeys are not possible here. */
  readonly options: string | null
  readonly kind: 'get' | 'create'
}

/** Hidden until the script shows it: passkeys need JavaScript. */
export function PasskeyButton({
  form: { action, options, kind },
  fields,
  label,
  look = kind === 'create' ? 'button fill big' : 'button big',
}: {
  readonly form: PasskeyForm
  readonly fields: Readonly<Record<string, string>>
  readonly label: string
  readonly look?: string
}) {
  if (options === null) return null
  return (
    <PostForm action={action} fields={{ ...fields, answer: '' }} hidden data-passkey={kind} data-options={options}>
      <button type="submit" class={look}>
        <Icon name="passkey" />
        {label}
      </button>
      <p class="error" role="alert" hidden data-known={PASSKEY_PROBLEMS.known}>
        The passkey was not used. Try again, or use the e-mail link.
      </p>
    </PostForm>
  )
}

export type SignInView = {
  readonly to: string
  readonly passkeyOptions: string | null
  readonly problem: PasskeyProblem | null
  /** True if the page has a button that signs in to the demo merchant. */
  readonly demo: boolean
  readonly signUp: SignUp
  readonly email: string
  readonly errors?: FormErrors
}

const NEW_HERE = {
  open: 'New here? The same form creates your free account.',
  invited: 'Invited? Sign in with the invited address to create your account.',
} as const

export function renderSignIn(
  platform: Platform,
  { to, passkeyOptions, problem, demo, signUp, email, errors }: SignInView,
): string {
  return renderBoxPage(
    platform,
    'Sign in',
    <>
      <Problem problem={problem} />
      {signUp !== 'closed' && <p>{NEW_HERE[signUp]}</p>}
      <PasskeyButton
        form={{ action: '/sign-in/passkey', options: passkeyOptions, kind: 'get' }}
        fields={{ to }}
        label="Use a passkey"
      />
      <PostForm action="/sign-in" fields={{ to }}>
        <Field name="email" label="E-mail" errors={errors}>
          {(attributes) => (
            <input {...attributes} type="email" autocomplete="username webauthn" required value={email} />
          )}
        </Field>
        <button type="submit" class="button fill big">
          Send me a sign-in link
        </button>
      </PostForm>
      {demo && (
        <PostForm action="/sign-in/demo" fields={{ to }}>
          <button type="submit" class="button big">
            Enter the demo shop
          </button>
          <p class="hint">Only available when everything runs on one machine. No e-mail is needed.</p>
        </PostForm>
      )}
    </>,
  )
}

export type SentView = {
  readonly to: string
  readonly wrong: boolean
  /** True if too many links were requested, so that none was sent now. */
  readonly tooMany: boolean
  /** The e-mail address of the link; null if the browser no longer has it. */
  readonly email: string | null
  /** The id of the change that the link confirms; another page requests its next link. Null if the link signs in. */
  readonly confirms: string | null
  /** The URL of the mail inbox of a local system; null for any other system. */
  readonly mailUrl: string | null
}

/** Names every cause, so that someone who guesses codes does not learn which one applies. */
const WRONG_CODE =
  'This code does not work. It might be from an older e-mail, it may have expired, or too many codes were tried. The link in the e-mail still works for 15 minutes.'

export function renderSent(platform: Platform, view: SentView): string {
  const { to, wrong, tooMany, email, confirms, mailUrl } = view
  return renderBoxPage(
    platform,
    'Check your inbox',
    <>
      <p class="brand">
        <span class="pin large">
          <Icon name="mail" />
        </span>
      </p>
      {tooMany ? (
        <p role="alert">
          Too many links were requested for <b>{email ?? 'your address'}</b>, so we sent no new one. The last link that
          you requested in this browser works for 15 minutes. You can request another in an hour
          {confirms === null ? ', or use a passkey.' : '.'}
        </p>
      ) : (
        <p>
          We sent a link to <b>{email ?? 'your address'}</b>
          {confirms === null ? ', if it can sign in.' : '.'} It works once, for 15 minutes, in this browser.
        </p>
      )}
      {mailUrl !== null && (
        <a class="button fill big" href={mailUrl}>
          Open the local mail inbox
        </a>
      )}
      <PostForm action="/sign-in/code" fields={{ to, ...(confirms !== null && { confirm: confirms }) }}>
        <Field name="code" label="Or type the code from the e-mail" errors={wrong ? { code: WRONG_CODE } : {}}>
          {(attributes) => (
            <input
              {...attributes}
              inputMode="numeric"
              autocomplete="one-time-code"
              class="otp"
              maxLength={7}
              placeholder="000 000"
              required
            />
          )}
        </Field>
        <button type="submit" class={mailUrl === null ? 'button fill big' : 'button big'}>
          Continue
        </button>
      </PostForm>
      <p class="hint">No e-mail after a minute? Check your spam folder, or send it again.</p>
      <Again view={view} />
    </>,
  )
}

function Again({ view: { to, email, confirms } }: { view: SentView }) {
  if (confirms !== null || email === null)
    return (
      <a class="button text big" href={confirms === null ? '/sign-in' : `/dashboard/confirm?asked=${confirms}`}>
        Send it again
      </a>
    )
  return (
    <PostForm action="/sign-in" fields={{ to, email }}>
      <button type="submit" class="button text big">
        Send it again
      </button>
    </PostForm>
  )
}

export function renderLink({
  platform,
  email,
  action,
  to,
  confirms,
}: {
  readonly platform: Platform
  readonly email: string
  readonly action: string
  readonly to: string
  /** The change that the link confirms, in words; null if the link signs in. */
  readonly confirms: string | null
}): string {
  return renderBoxPage(
    platform,
    confirms === null ? `Sign in to ${platform.name}?` : 'Confirm that it is you',
    <>
      {confirms !== null && <Change what={confirms} />}
      <p>
        As <b>{email}</b>.
      </p>
      <PostForm action={action} fields={{ to }}>
        <button type="submit" class="button fill big">
          {confirms === null ? 'Sign in' : 'Confirm'}
        </button>
      </PostForm>
      <p class="hint">If you did not ask for this, close the page. Nothing will change.</p>
    </>,
  )
}

export function renderDeadLink(platform: Platform): string {
  return renderBoxPage(
    platform,
    'This link does not work here',
    <>
      <p>A link works once, for 15 minutes, and only in the browser in which you asked for it.</p>
      <p>Go back to that browser and type the code from the e-mail there, or ask for a new link.</p>
      <a class="button fill big" href="/sign-in">
        Ask for a new link
      </a>
    </>,
  )
}

/** The change that a person confirms, in the words of the mail. */
function Change({ what }: { what: string }) {
  return (
    <Note tone="quiet" icon="shield" strong="You confirm">
      {what}
    </Note>
  )
}

export function renderConfirm({
  platform,
  csrf,
  asked: { id, what, back },
  passkeyOptions,
  problem,
  email,
}: {
  readonly platform: Platform
  readonly csrf: string
  readonly asked: { readonly id: string; readonly what: string; readonly back: string }
  readonly passkeyOptions: string | null
  readonly problem: PasskeyProblem | null
  readonly email: string
}): string {
  return renderBoxPage(
    platform,
    'Confirm that it is you',
    <>
      <Problem problem={problem} />
      <Change what={what} />
      <PasskeyButton
        form={{ action: '/dashboard/confirm/passkey', options: passkeyOptions, kind: 'get' }}
        fields={{ _form: csrf, asked: id }}
        label="Confirm with a passkey"
      />
      <PostForm action="/dashboard/confirm" csrf={csrf} fields={{ asked: id }}>
        <button type="submit" class="button fill big">
          <Icon name="mail" />
          Send me a link
        </button>
      </PostForm>
      <a class="button text big" href={back}>
        Cancel
      </a>
      <p class="hint">The link goes to {email}. A confirmation is valid for 10 minutes, in this browser only.</p>
    </>,
  )
}

export function renderPasskeyOffer({
  platform,
  csrf,
  options,
  problem,
}: {
  platform: Platform
  csrf: string
  options: string | null
  problem: PasskeyProblem | null
}): string {
  return renderBoxPage(
    platform,
    'Sign in faster next time',
    <>
      <p class="brand">
        <span class="pin large">
          <Icon name="passkey" />
        </span>
      </p>
      <Problem problem={problem} />
      <p>A passkey uses your fingerprint, face or device PIN. There is no password that could be stolen.</p>
      {options === null && (
        <p class="hint">
          Browsers create passkeys only for host names. This address is an IP address, so sign in with links by e-mail
          here.
        </p>
      )}
      <PasskeyButton
        form={{ action: '/dashboard/passkeys', options, kind: 'create' }}
        fields={{ _form: csrf }}
        label="Add a passkey"
      />
      <a class="button text big" href="/dashboard">
        Not now
      </a>
    </>,
  )
}
