import { ASSETS } from '../assets.ts'
import { Field } from '../kit/field.tsx'
import { type DocsFrame, renderDocs } from './docs-page.tsx'

/** Renders the page that verifies a receipt in the browser. `keys` is the URL of this deployment's public keys. */
export function renderVerify(frame: DocsFrame, keys: string): string {
  return renderDocs({
    frame,
    title: 'Verify a receipt',
    lead: 'A receipt proves that USDC arrived at a wallet in a specific block of Polygon. Your browser checks it here. The receipt does not leave your browser.',
    headings: [],
    markdown: false,
    script: ASSETS.verifyScript,
    children: <Verify keys={keys} />,
  })
}

function Verify({ keys }: { keys: string }) {
  return (
    <>
      <noscript>
        <p>This page needs JavaScript. Without it, use the command: pinrail verify receipt.json.</p>
      </noscript>
      <form id="verify" class="form" data-keys={keys}>
        <Field name="receipt" label="Receipt" hint="The response of GET /v1/payments/…/receipt.">
          {(attributes) => <textarea {...attributes} class="mono" rows={8} required spellcheck={false} />}
        </Field>
        <Field name="file" label="Or choose a receipt file">
          {(attributes) => <input {...attributes} type="file" accept=".json,application/json" />}
        </Field>
        <Field
          name="block"
          label="Hash of the block, from a source that you trust"
          hint="From your own node or a block explorer. Without it, the check shows which block to look up."
        >
          {(attributes) => <input {...attributes} class="mono" autocomplete="off" spellcheck={false} />}
        </Field>
        <button type="submit" class="button fill">
          Verify
        </button>
      </form>
      <section aria-live="polite">
        <p>
          <strong id="verdict" />
        </p>
        <dl id="checks" class="field-list" />
      </section>
      <section>
        <h2>What it proves</h2>
        <p>
          The block contains a transaction in which the token moved this amount from the treasury to this wallet. The
          transfer carries a number that belongs to this payment alone. The token accepts each number only once.
        </p>
        <p>
          The receipt of a transaction does not contain the transaction’s hash. The hash, the place of the log and the
          times of issue are stated by the signer of the receipt, not proved.
        </p>
      </section>
    </>
  )
}
