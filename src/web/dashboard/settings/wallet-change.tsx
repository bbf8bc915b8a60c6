import { Curl, curlText } from '../../kit/curl.tsx'
import { ErrorSummary, Field, type FormErrors } from '../../kit/field.tsx'
import { Fold } from '../../kit/fold.tsx'
import { FormEnd, PostForm } from '../../kit/form.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { type Frame, renderFramed } from '../frame.tsx'

export type WalletChangeView = {
  readonly frame: Frame
  readonly draft: { readonly address: string; readonly again: string; readonly signature: string }
  readonly errors: FormErrors
  readonly proofText: string
  /** True if the change takes effect a day later: in live mode, if there is a wallet. */
  readonly waits: boolean
  readonly publicUrl: string
}

const quiet = { autocomplete: 'off', spellcheck: false, rows: 2, class: 'mono' } as const

export function renderWalletChange(view: WalletChangeView): string {
  const { frame, draft, errors, waits, publicUrl } = view
  const curl = curlText(`${publicUrl}/v1/settings/wallet`, { method: 'PUT', body: { address: '0x…' } })
  return renderFramed({
    frame,
    title: 'Change wallet',
    narrow: true,
    children: (
      <>
        <PageHead back={{ href: '/dashboard/wallet', name: 'Wallet' }} title="Change wallet" />
        <PostForm action="/dashboard/wallet" csrf={frame.csrf} look="form card">
          <ErrorSummary errors={errors} />
          <Field
            name="address"
            label="New address"
            hint="A Polygon address that only you control. Not an exchange’s deposit address."
            errors={errors}
          >
            {(attributes) => <textarea {...attributes} {...quiet} value={draft.address} required />}
          </Field>
          <Field
            name="again"
            label="Enter it again"
            hint="Copy it from your wallet, not from the field above."
            errors={errors}
          >
            {(attributes) => <textarea {...attributes} {...quiet} value={draft.again} required />}
          </Field>
          <Proof view={view} />
          <Next waits={waits} />
          <FormEnd back="/dashboard/wallet">{waits ? 'Ask for the change' : 'Set the wallet'}</FormEnd>
        </PostForm>
        {frame.testMode && <Curl command={curl} />}
      </>
    ),
  })
}

function Proof({ view: { draft, errors, proofText } }: { view: WalletChangeView }) {
  return (
    <Fold title="Prove that you control it (optional)" open={draft.signature !== ''}>
      <div class="stack tight">
        <p class="hint">Sign this text with the wallet. Contract wallets cannot be checked here.</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
        <pre tabIndex={0} aria-label="Text to sign">
          <code>{proofText}</code>
        </pre>
        <Field name="signature" label="Signature" errors={errors}>
          {(attributes) => <textarea {...attributes} {...quiet} placeholder="0x…" value={draft.signature} />}
        </Field>
      </div>
    </Fold>
  )
}

function Next({ waits }: { waits: boolean }) {
  const steps = [
    'Everybody in the team is notified.',
    waits ? 'It takes effect in 24 hours. Until then, anybody who was notified can stop it.' : 'New payments go there.',
    'Payments already created keep their wallet.',
  ]
  return (
    <div class="stack tight">
      <h2>What happens next</h2>
      <ol class="timeline">
        {steps.map((step, index) => (
          <li key={step}>
            <span class="pin">{index + 1}</span>
            <div>{step}</div>
          </li>
        ))}
      </ol>
    </div>
  )
}
