import { renderToString } from 'preact-render-to-string'
import { ASSETS } from '../assets.ts'

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
}

/** The API reference for people, grouped by tag, from the same routes as the OpenAPI document. */
export function renderReference(tags: Readonly<Record<string, string>>, operations: readonly OperationEntry[]): string {
  return `<!doctype html>${renderToString(<Reference tags={tags} operations={operations} />)}`
}

function Reference(props: { tags: Readonly<Record<string, string>>; operations: readonly OperationEntry[] }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>API reference</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href={ASSETS.icon} type="image/svg+xml" />
        <link rel="stylesheet" href={ASSETS.style} />
        <link rel="stylesheet" href={ASSETS.docsStyle} />
      </head>
      <body>
        <main id="main" class="card alone reference">
          <h1>API reference</h1>
          <p>
            For programs: <a href="/openapi.json">the OpenAPI document</a>. What a refusal means:{' '}
            <a href="/docs/errors">errors</a>.
          </p>
          {Object.entries(props.tags).map(([tag, purpose]) => (
            <section key={tag}>
              <h2>{tag}</h2>
              <p>{purpose}</p>
              {props.operations
                .filter((operation) => operation.tag === tag)
                .map((operation) => (
                  <Operation key={operation.operationId} {...operation} />
                ))}
            </section>
          ))}
        </main>
      </body>
    </html>
  )
}

function Operation({ operationId, method, path, summary, description, scope, curl, problems }: OperationEntry) {
  return (
    <article id={operationId}>
      <h3>
        <code>
          {method.toUpperCase()} {path}
        </code>
      </h3>
      <p>{summary}.</p>
      {description !== undefined && <p>{description}</p>}
      <p>
        Needs the scope <code>{scope}</code>.
      </p>
      <pre>{curl}</pre>
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
