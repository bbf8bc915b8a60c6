import type { Percent } from '../../domain/money.ts'
import { Card } from '../kit/card.tsx'
import { Field, type FormErrors } from '../kit/field.tsx'
import { PostButton, PostForm } from '../kit/form.tsx'
import { Icon } from '../kit/icon.tsx'
import { PageHead } from '../kit/page-head.tsx'
import { Recent } from '../kit/time.tsx'
import { type Frame, renderFramed, roleName } from './frame.tsx'

export type OwnPasskey = {
  readonly id: string
  readonly name: string
  readonly createdAt: string
  readonly usedAt: string | null
}
export type OwnSession = {
  readonly id: string
  readonly device: string
  readonly ip: string
  readonly usedAt: string
  readonly isThis: boolean
}
export type AccountView = {
  readonly frame: Frame
  readonly passkeys: readonly OwnPasskey[]
  readonly sessions: readonly OwnSession[]
  readonly now: string
}

export function renderAccount({ frame, passkeys, sessions, now }: AccountView): string {
  const belongs = frame.account !== null && frame.role !== null
  return renderFramed({
    frame,
    title: 'Your sign-in',
    narrow: true,
    children: (
      <>
        <PageHead
          title="Your sign-in"
          lead={belongs ? `${frame.email} · ${roleName(frame.role)} of ${frame.account}` : frame.email}
          actions={
            <PostButton action="/dashboard/sign-out" csrf={frame.csrf}>
              Sign out
            </PostButton>
          }
        />
        <Card id="pk" title="Passkeys" flush actions={<AddPasskey />}>
          <ul class="list">
            {passkeys.length === 0 && (
              <li>
                <p class="soft">None yet. You can always sign in with a link by e-mail.</p>
              </li>
            )}
            {passkeys.map((passkey) => (
              <PasskeyItem key={passkey.id} passkey={passkey} csrf={frame.csrf} now={now} />
            ))}
          </ul>
        </Card>
        <Card
          id="ss"
          title="Signed in"
          flush
          actions={
            <PostButton action="/dashboard/sessions/end-others" csrf={frame.csrf}>
              Sign out everywhere else
            </PostButton>
          }
        >
          <ul class="list">
            {sessions.map((session) => (
              <SessionItem key={session.id} session={session} csrf={frame.csrf} now={now} />
            ))}
          </ul>
        </Card>
        <Card id="dt" title="What we keep about you" lead="Both actions first ask you to confirm that it is you.">
          <div class="actions">
            <a class="button" href="/dashboard/account/data.json">
              Download it
            </a>
            <a class="button danger" href="/dashboard/account/delete">
              Delete my sign-in
            </a>
          </div>
        </Card>
      </>
    ),
  })
}

function AddPasskey() {
  return (
    <a class="button" href="/dashboard/passkey">
      <Icon name="plus" />
      Add
    </a>
  )
}

function PasskeyItem({ passkey, csrf, now }: { passkey: OwnPasskey; csrf: string; now: string }) {
  const { id, name, createdAt, usedAt } = passkey
  return (
    <li>
      <Icon name="passkey" />
      <div class="grow">
        <strong>{name}</strong>
        <p class="soft">
          Added <Recent at={createdAt} now={now} />
          {usedAt !== null && (
            <>
              , used <Recent at={usedAt} now={now} />
            </>
          )}
        </p>
      </div>
      <PostButton action="/dashboard/passkeys/remove" csrf={csrf} fields={{ id }} look="button text">
        Remove<span class="unseen"> {name}</span>
      </PostButton>
    </li>
  )
}

function SessionItem({ session, csrf, now }: { session: OwnSession; csrf: string; now: string }) {
  const { id, device, ip, usedAt, isThis } = session
  return (
    <li>
      <Icon name="device" />
      <div class="grow">
        <strong>
          {device} {isThis && <span class="tag">this one</span>}
        </strong>
        <p class="soft">
          {ip}, used <Recent at={usedAt} now={now} />
        </p>
      </div>
      {!isThis && (
        <PostButton action="/dashboard/sessions/end" csrf={csrf} fields={{ id }} look="button text">
          Sign out<span class="unseen"> {device}</span>
        </PostButton>
      )}
    </li>
  )
}

export type WelcomeView = {
  readonly frame: Frame
  readonly invitations: readonly { readonly merchantId: string; readonly merchantName: string; readonly role: string }[]
  readonly name: string
  /** Why the person cannot create an account; null: they can. */
  readonly refusal: string | null
  readonly feePercent: Percent
  readonly errors?: FormErrors | undefined
}

/** Renders the page of a person without an account, who joins one by invitation or creates one. */
export function renderWelcome(view: WelcomeView): string {
  const { frame, invitations, refusal } = view
  return renderFramed({
    frame,
    title: 'Welcome',
    narrow: true,
    children: (
      <>
        <PageHead
          title="Welcome"
          lead={`You are signed in as ${frame.email}.`}
          actions={
            <PostButton action="/dashboard/sign-out" csrf={frame.csrf} look="button text">
              Sign out
            </PostButton>
          }
        />
        {invitations.map(({ merchantId, merchantName, role }) => (
          <Card key={merchantId} id={`join-${merchantId}`} title={`${merchantName} invites you`}>
            <p>Your role will be {role}.</p>
            <PostButton
              action="/dashboard/accounts/join"
              csrf={frame.csrf}
              fields={{ account: merchantId }}
              look="button fill"
            >
              Join {merchantName}
            </PostButton>
          </Card>
        ))}
        {refusal === null ? <Create view={view} /> : <NoSignUp refusal={refusal} contact={frame.platform.support} />}
      </>
    ),
  })
}

function Create({ view: { frame, name, feePercent, errors } }: { view: WelcomeView }) {
  return (
    <Card id="make" title="Create an account">
      <PostForm action="/dashboard/accounts" csrf={frame.csrf}>
        <Field name="name" label="Name of your shop" hint="Buyers see it when they pay." errors={errors}>
          {(attributes) => <input {...attributes} required maxLength={100} autocomplete="organization" value={name} />}
        </Field>
        <div class="row">
          <button type="submit" class="button fill big">
            Create account
          </button>
        </div>
      </PostForm>
      <p class="hint">It is free. You pay {feePercent}% of each payment that succeeds, and nothing else.</p>
    </Card>
  )
}

function NoSignUp({ refusal, contact }: { readonly refusal: string; readonly contact: string | null }) {
  return (
    <Card id="make" title="You have no account here yet">
      <p>{refusal}</p>
      {contact !== null && (
        <p>
          <a href={`mailto:${contact}`}>{contact}</a>
        </p>
      )}
    </Card>
  )
}

type Claimable = { readonly name: string; readonly wallet: string | null; readonly endpoints: readonly string[] }

/** Renders the page on which a person becomes the owner of a test account. `account`: null if the link does not work. */
export function renderClaimAccount({
  frame,
  account,
}: {
  readonly frame: Frame
  readonly account: Claimable | null
}): string {
  const title = account === null ? 'There is no test account here' : `Make “${account.name}” your account?`
  return renderFramed({
    frame,
    title: 'Claim a test account',
    narrow: true,
    children: (
      <>
        <PageHead title={title} />
        {account === null ? (
          <p>The link of a test account works once, for 60 days. Create a new test account, or sign up.</p>
        ) : (
          <Card id="claim" title={account.name}>
            <p>
              A program created it in test mode. You become its owner, and its key works without an end. You can revoke
              the key under Developers.
            </p>
            <Chosen account={account} />
            <div class="row">
              <PostButton action={frame.path} csrf={frame.csrf} look="button fill big">
                Make it my account
              </PostButton>
              <a class="button text" href="/dashboard">
                Cancel
              </a>
            </div>
          </Card>
        )}
      </>
    ),
  })
}

/** Whoever created the account chose these, and can be somebody else than the person who claims it. */
function Chosen({ account: { wallet, endpoints } }: { readonly account: Claimable }) {
  return (
    <>
      <p>Whoever created it also chose where its USDC and its events go. Change what is not yours:</p>
      <ul>
        {wallet !== null && (
          <li>
            Wallet: <code>{wallet}</code>
          </li>
        )}
        {endpoints.map((url) => (
          <li key={url}>
            Webhook endpoint: <code>{url}</code>
          </li>
        ))}
      </ul>
    </>
  )
}
