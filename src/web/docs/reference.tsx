import { renderToString } from 'preact-render-to-string'
import { DocsPage } from './docs-page.tsx'

export type FieldEntry = {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly description: string | null
  /** Where a parameter stands: `path`, `query` or `header`. */
  readonly in?: string
}

export type OperationEntry = {
  readonly operationId: string
  readonly tag: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string | undefined
  readonly scope: string
  /** A shell command that works when SECRET_KEY is set. */
  readonly curl: string
  readonly problems: readonly string[]
  readonly parameters: readonly FieldEntry[]
  readonly body: readonly FieldEntry[]
  readonly answers: readonly { readonly status: string; readonly fields: readonly FieldEntry[] }[]
}

type Tags = Readonly<Record<string, string>>

/** The API reference for people, grouped by tag, from the same routes as the OpenAPI document. */
export function renderReference(tags: Tags, operations: readonly OperationEntry[]): string {
  return `<!doctype html>${renderToString(<Reference tags={tags} operations={operations} />)}`
}

function Reference({ tags, operations }: { tags: Tags; operations: readonly OperationEntry[] }) {
  const tagged = Object.entries(tags).map(([tag, purpose]) => ({
    tag,
    purpose,
    operations: operations.filter((operation) => operation.tag === tag),
  }))
  return (
    <DocsPage title="API reference">
      <h1>API reference</h1>
      <p>
        For programs: <a href="/openapi.json">the OpenAPI document</a>. What a refusal means:{' '}
        <a href="/docs/errors">errors</a>.
      </p>
      <nav aria-label="Operations">
        {tagged.map(({ tag, operations: listed }) => (
          <section key={tag}>
            <h2>{tag}</h2>
            <ul>
              {listed.map(({ operationId, summary }) => (
                <li key={operationId}>
                  <a href={`#${operationId}`}>{summary}</a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
      {tagged.map(({ tag, purpose, operations: listed }) => (
        <section key={tag}>
          <h2>{tag}</h2>
          <p>{purpose}</p>
          {listed.map((operation) => (
            <Operation key={operation.operationId} {...operation} />
          ))}
        </section>
      ))}
    </DocsPage>
  )
}

function Operation({ operationId, method, path, summary, description, scope, curl, ...rest }: OperationEntry) {
  const { problems, parameters, body, answers } = rest
  return (
    <article id={operationId}>
      <h3>{summary}</h3>
      <p>
        <code class="operation">
          {method.toUpperCase()} {path}
        </code>
      </p>
      {description !== undefined && <p>{description}</p>}
      <p>
        Needs the scope <code>{scope}</code>.
      </p>
      <pre tabIndex={0} aria-label={`Command: ${summary}`}>
        {curl}
      </pre>
      {parameters.length > 0 && <Fields title="Parameters" fields={parameters} />}
      {body.length > 0 && <Fields title="Body" fields={body} />}
      {answers.map(({ status, fields }) => (
        <Fields key={status} title={`Answer ${status}`} fields={fields} folded />
      ))}
      {problems.length > 0 && (
        <p>
          May refuse with{' '}
          {problems.map((code, index) => (
            <>
              {index > 0 && ', '}
              <a key={code} href={`/docs/errors#${code}`}>
                <code>{code}</code>
              </a>
            </>
          ))}
          .
        </p>
      )}
    </article>
  )
}

type FieldsProps = { title: string; fields: readonly FieldEntry[]; folded?: boolean }

function Fields({ title, fields, folded = false }: FieldsProps) {
  if (fields.length === 0) return <p>{title}: without a body.</p>
  return (
    <details class="fields" open={!folded}>
      <summary>{title}</summary>
      <dl>
        {fields.map(({ name, type, isRequired, description, in: where }) => (
          <div key={name}>
            <dt>
              <code>{name}</code> {isRequired && !folded && <b>required</b>}
            </dt>
            <dd>
              <span class="type">{where === undefined ? type : `${type}, in the ${where}`}</span>
              {description !== null && <span>{description}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
