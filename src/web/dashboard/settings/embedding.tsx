import { CodeBlock } from '../../docs/code/code.tsx'
import { Card } from '../../kit/card.tsx'
import { Curl, curlText } from '../../kit/curl.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { ErrorSummary, Field, type FormErrors } from '../../kit/field.tsx'
import { PostForm } from '../../kit/form.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { type Frame, renderFramed } from '../frame.tsx'

export type EmbeddingView = {
  readonly frame: Frame
  readonly origins: readonly string[]
  /** The text of the form, with one origin a line. */
  readonly written: string
  readonly errors: FormErrors
  readonly mayChange: boolean
  readonly publicUrl: string
  readonly script: { readonly path: string; readonly integrity: string }
}

export function renderEmbedding(view: EmbeddingView): string {
  const { frame, origins, mayChange, publicUrl, script } = view
  const body = { origins: origins.length === 0 ? ['https://shop.example'] : origins }
  return renderFramed({
    frame,
    title: 'Embedding',
    narrow: true,
    children: (
      <>
        <PageHead
          title="Embedding"
          lead="Your checkout can open above your page. Only pages at these URLs can open it."
        />
        {mayChange ? <Form view={view} /> : <Seen origins={origins} />}
        <Card id="on-your-page" title="On your page">
          <CodeBlock name="HTML" label="What your page needs" text={snippet(publicUrl, script)} />
          <p class="hint">
            The link is the payment’s checkout_url. Without the script it opens as a page. Trust the webhook, never the
            events in the browser. <a href="/docs/embedding">Read the guide</a>
          </p>
        </Card>
        <Curl command={curlText(`${publicUrl}/v1/settings/embedding`, { method: 'PUT', body })} />
      </>
    ),
  })
}

function snippet(publicUrl: string, { path, integrity }: EmbeddingView['script']): string {
  return `<a href="${publicUrl}/c/…" data-pinrail>Pay €49.90</a>

<script src="${publicUrl}/pinrail.js" defer></script>

<!-- Or, to let the browser check the script: -->
<script src="${publicUrl}${path}" defer crossorigin="anonymous"
  integrity="${integrity}"></script>`
}

function Form({ view: { frame, written, errors } }: { view: EmbeddingView }) {
  const local = frame.testMode ? ' In test mode also http://localhost:3000.' : ''
  return (
    <PostForm action="/dashboard/embedding" csrf={frame.csrf} look="form card">
      <ErrorSummary errors={errors} />
      <Field
        name="origins"
        label="URLs of your shop"
        hint={`One per line, such as https://shop.example, at most ten. Leave empty to allow none.${local}`}
        optional
        errors={errors}
      >
        {(attributes) => (
          <textarea {...attributes} class="mono" rows={4} maxLength={4000} spellcheck={false}>
            {written}
          </textarea>
        )}
      </Field>
      <div class="row">
        <button type="submit" class="button fill big">
          Save
        </button>
      </div>
    </PostForm>
  )
}

function Seen({ origins }: { origins: readonly string[] }) {
  return (
    <div class="card">
      <Facts>
        <Fact name="URLs of your shop">{origins.length === 0 ? 'None' : origins.join(', ')}</Fact>
      </Facts>
      <p class="hint">An owner or a developer of the account can change them.</p>
    </div>
  )
}
