import type { ComponentChildren } from 'preact'
import { CodeBlock } from '../docs/code/code.tsx'
import { Field, type FormErrors } from '../kit/field.tsx'
import { Fold } from '../kit/fold.tsx'
import { PostButton, PostForm } from '../kit/form.tsx'
import { Icon } from '../kit/icon.tsx'
import { Note } from '../kit/note.tsx'
import { PasskeyButton } from '../sign-in/sign-in.tsx'
import type { Frame } from './frame.tsx'

export type FirstView = {
  readonly done: Readonly<Record<StepName, boolean>>
  /** The key that was created by the last request. It is shown once. */
  readonly createdKey: string | null
  readonly address: string
  readonly errors: FormErrors
  /** Identifies the form of the key, so that sending the form again does not create a second key. */
  readonly once: string
  /** True if the local webhook inbox can be an endpoint. */
  readonly hasInbox: boolean
  /** The browser's WebAuthn options; null if it has no passkeys, or if the person must confirm first. */
  readonly passkeyOptions: string | null
  /** The URL of the checkout of an unpaid payment; null without one. */
  readonly checkout: string | null
  readonly publicUrl: string
  readonly may: { readonly own: boolean; readonly develop: boolean; readonly sell: boolean }
}

export type StepName = 'wallet' | 'webhook' | 'key' | 'payment' | 'passkey'

type StepProps = { readonly frame: Frame; readonly view: FirstView }

type Step = {
  readonly name: StepName
  readonly title: string
  readonly text: string
  readonly Action: (props: StepProps) => ComponentChildren
}

/** The webhook comes before the payment, so that it receives the payment's events. */
const STEPS: readonly Step[] = [
  {
    name: 'wallet',
    title: 'Set your wallet',
    text: 'Where your USDC goes. Use an address on Polygon that only you control, not an exchange’s.',
    Action: SetWallet,
  },
  {
    name: 'webhook',
    title: 'Receive events',
    text: 'A webhook notifies your shop when the money is in your wallet.',
    Action: AddEndpoint,
  },
  {
    name: 'key',
    title: 'Create an API key',
    text: 'Your shop creates payments with it.',
    Action: CreateKey,
  },
  {
    name: 'payment',
    title: 'Take a payment',
    text: 'Create it with one call or in the dashboard, then pay it as your own buyer.',
    Action: TakePayment,
  },
  {
    name: 'passkey',
    title: 'Add a passkey',
    text: 'Your next sign-in takes one touch and needs no e-mail.',
    Action: AddPasskey,
  },
]

export function FirstSteps({ frame, view }: StepProps) {
  const done = STEPS.filter(({ name }) => view.done[name]).length + 1
  const next = STEPS.find(({ name }) => !view.done[name])?.name
  return (
    <section class="card" aria-labelledby="fs">
      <header>
        <div>
          <h2 id="fs">First steps</h2>
          <p>
            {done} of {STEPS.length + 1} done
          </p>
        </div>
        <progress max={STEPS.length + 1} value={done} aria-label="First steps done" />
      </header>
      {view.createdKey !== null && <CreatedKey createdKey={view.createdKey} publicUrl={view.publicUrl} />}
      <ol class="timeline">
        <Pinned look="success full" pin={<Done />} title="Confirm your e-mail" text={frame.email} />
        {STEPS.map(({ name, title, text, Action }, index) => (
          <Pinned
            key={name}
            look={view.done[name] ? 'success full' : name === next ? 'brand full' : 'quiet'}
            isNext={name === next}
            pin={view.done[name] ? <Done /> : index + 2}
            title={title}
            text={text}
          >
            {!view.done[name] && <Action frame={frame} view={view} />}
          </Pinned>
        ))}
      </ol>
    </section>
  )
}

type PinnedProps = {
  readonly look: string
  readonly isNext?: boolean
  readonly pin: ComponentChildren
  readonly title: string
  readonly text: string
  readonly children?: ComponentChildren
}

function Pinned({ look, isNext = false, pin, title, text, children }: PinnedProps) {
  return (
    <li class={look} aria-current={isNext ? 'step' : undefined}>
      <span class="pin">{pin}</span>
      <div>
        <h3>{title}</h3>
        <p class="soft">{text}</p>
        {children}
      </div>
    </li>
  )
}

function Done() {
  return (
    <>
      <Icon name="check" />
      <span class="unseen">Done</span>
    </>
  )
}

/** Only the next step has a filled button. */
const look = ({ view }: StepProps, name: StepName): string =>
  STEPS.find((step) => !view.done[step.name])?.name === name ? 'button fill' : 'button'

function SetWallet(props: StepProps) {
  const { frame, view } = props
  if (!view.may.own) return <p class="soft">An owner of the account sets it.</p>
  return (
    <>
      <PostForm action="/dashboard/first-steps/wallet" csrf={frame.csrf} look="inline">
        <Field name="address" label="Wallet address" errors={view.errors}>
          {(attributes) => (
            <input
              {...attributes}
              class="mono"
              placeholder="0x…"
              autocomplete="off"
              spellcheck={false}
              maxLength={2000}
              value={view.address}
            />
          )}
        </Field>
        <button type="submit" class={look(props, 'wallet')}>
          Save wallet
        </button>
      </PostForm>
      {frame.testMode && (
        <div class="actions">
          <PostButton action="/dashboard/first-steps/wallet" csrf={frame.csrf} fields={{ test: 'on' }}>
            Use a test wallet
          </PostButton>
        </div>
      )}
      <Fold title="I don’t have a wallet yet">
        <ol class="plain-steps">
          <li>Get a wallet: an app such as MetaMask or Rabby, or a device such as a Ledger.</li>
          <li>
            Create an account in it. Write its recovery words on paper, and never show them to anyone, not even to us.
          </li>
          <li>Choose the network Polygon in it, press Receive, and copy the address. It begins with 0x.</li>
          <li>Paste the address above. You can change it later.</li>
        </ol>
        <p class="hint">
          {frame.testMode
            ? 'You don’t need a wallet for tests: press “Use a test wallet”. Nobody has the key to that address.'
            : 'Do not use the deposit address of an exchange: it can change, and the exchange may refuse the transfer.'}
        </p>
      </Fold>
    </>
  )
}

function AddEndpoint(props: StepProps) {
  const { frame, view } = props
  if (!view.may.develop) return null
  return (
    <div class="actions">
      {view.hasInbox && (
        <PostButton action="/dashboard/first-steps/webhook" csrf={frame.csrf} look={look(props, 'webhook')}>
          Use the local webhook inbox
        </PostButton>
      )}
      <a class={view.hasInbox ? 'button' : look(props, 'webhook')} href="/dashboard/webhooks/new">
        Add your own endpoint
      </a>
    </div>
  )
}

function CreateKey(props: StepProps) {
  const { frame, view } = props
  if (!view.may.develop) return null
  return (
    <div class="actions">
      <PostButton
        action="/dashboard/first-steps/key"
        csrf={frame.csrf}
        fields={{ once: view.once }}
        look={look(props, 'key')}
      >
        Create an API key
      </PostButton>
    </div>
  )
}

function TakePayment(props: StepProps) {
  const { view } = props
  if (!view.may.sell) return null
  return (
    <div class="actions">
      {view.checkout !== null && (
        <a class={look(props, 'payment')} href={view.checkout}>
          Pay it at the checkout
        </a>
      )}
      <a class={view.checkout === null ? look(props, 'payment') : 'button'} href="/dashboard/payments/new">
        Create a payment
      </a>
    </div>
  )
}

function AddPasskey(props: StepProps) {
  const { frame, view } = props
  if (view.passkeyOptions === null)
    return (
      <div class="actions">
        <a class={look(props, 'passkey')} href="/dashboard/passkey">
          Add a passkey
        </a>
      </div>
    )
  return (
    <div class="actions">
      <PasskeyButton
        form={{ action: '/dashboard/passkeys', options: view.passkeyOptions, kind: 'create' }}
        fields={{ _form: frame.csrf }}
        label="Add a passkey"
        look={look(props, 'passkey')}
      />
      <noscript>Passkeys need JavaScript. You can always sign in with a link by e-mail.</noscript>
    </div>
  )
}

function CreatedKey({ createdKey, publicUrl }: { createdKey: string; publicUrl: string }) {
  return (
    <div class="stack">
      <Note tone="wait" icon="key" strong="Copy it now. The key is not shown again.">
        Run this in a terminal. The response has a checkout_url: open it and pay.
      </Note>
      <CodeBlock name="Terminal" label="The call that creates a payment" text={firstCall(publicUrl, createdKey)} />
    </div>
  )
}

/** Returns a command that works unchanged in any POSIX shell, with the key in it. */
export function firstCall(publicUrl: string, key: string): string {
  const body = '{"amount":"49.90","currency":"EUR","provider":"wallet_app","description":"Order 1001"}'
  return [
    `curl -s ${publicUrl}/v1/payments`,
    `-H 'authorization: Bearer ${key}'`,
    "-H 'content-type: application/json'",
    `-d '${body}'`,
  ].join(' \\\n  ')
}
