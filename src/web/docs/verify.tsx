import { ASSETS } from '../assets.ts'
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
      <form id="verify" data-keys={keys}>
        <p>
          <label for="receipt">Receipt</label>
          <textarea id="receipt" rows={8} required spellcheck={false} aria-describedby="receipt-help" />
          <small id="receipt-help">The response of GET /v1/payments/…/receipt.</small>
        </p>
        <p>
          <label for="file">Or choose a receipt file</label>
          <input id="file" type="file" accept=".json,application/json" />
        </p>
        <p>
          <label for="block">Hash of the block, from a source that you trust</label>
          <input id="block" autocomplete="off" spellcheck={false} aria-describedby="block-help" />
          <small id="block-help">
            From your own node or a block explorer. Without it, the check shows which block to look up.
          </small>
        </p>
        <button type="submit" class="btn fill">
          Verify
        </button>
      </form>
      <section aria-live="polite">
        <p>
          <strong id="verdict" />
        </p>
        <dl id="checks" />
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
