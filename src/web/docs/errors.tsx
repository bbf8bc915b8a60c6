import { renderToString } from 'preact-render-to-string'
import { DocsPage } from './docs-page.tsx'

export type ErrorEntry = {
  readonly code: string
  readonly status: number
  readonly title: string
  readonly help: string
}

export type FieldEntry = { readonly code: string; readonly text: string }

/** The page to which the `type` of a problem points, with a section for each code. */
export function renderErrors(errors: readonly ErrorEntry[], fields: readonly FieldEntry[]): string {
  return `<!doctype html>${renderToString(<Errors errors={errors} fields={fields} />)}`
}

function Errors({ errors, fields }: { errors: readonly ErrorEntry[]; fields: readonly FieldEntry[] }) {
  return (
    <DocsPage title="Errors">
      <h1>Errors</h1>
      <p>What an answer that refuses means, and what to do about it.</p>
      {errors.map(({ code, status, title, help }) => (
        <section key={code} id={code}>
          <h2>
            <code>{code}</code>
          </h2>
          <p>
            {status}: {title}.
          </p>
          <p>{help.replaceAll('`', '')}</p>
        </section>
      ))}
      <h2>Codes of fields</h2>
      <dl>
        {fields.map(({ code, text }) => (
          <div key={code} id={code}>
            <dt>
              <code>{code}</code>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </DocsPage>
  )
}
