import { Anchor, type DocsFrame, renderDocs } from './docs-page.tsx'

export type ErrorEntry = {
  readonly code: string
  readonly status: number
  readonly title: string
  readonly help: string
}

export type CodeEntry = { readonly code: string; readonly text: string }

export type ErrorsView = { readonly errors: readonly ErrorEntry[]; readonly fields: readonly CodeEntry[] }

/** Renders the page of the URLs in the `type` of a problem, with a section for each code. */
export function renderErrors(frame: DocsFrame, { errors, fields }: ErrorsView): string {
  return renderDocs({
    frame,
    title: 'Errors',
    lead: 'What each error means, and what to do about it.',
    headings: [
      { id: 'shape', text: 'The fields of an error' },
      { id: 'codes', text: 'Codes' },
      { id: 'fields', text: 'Field codes' },
    ],
    aside: true,
    children: (
      <>
        <h2 id="shape">
          <Anchor id="shape">The fields of an error</Anchor>
        </h2>
        <p>
          Every response with a status of 400 or above is <code>application/problem+json</code> (RFC 9457). Its{' '}
          <code>code</code> is stable and for programs. Its <code>detail</code> is for people: what is wrong here, and
          what to do. Its <code>type</code> leads to a section of this page. <code>errors</code> lists everything that
          is wrong with a request at once. Include the <code>request_id</code> when you contact support.
        </p>
        <h2 id="codes">
          <Anchor id="codes">Codes</Anchor>
        </h2>
        {errors.map(({ code, status, title, help }) => (
          <section key={code} id={code} class="entry" aria-labelledby={`${code}-name`}>
            <h3 id={`${code}-name`}>
              <Anchor id={code}>
                <code>{code}</code>
              </Anchor>
            </h3>
            <p class="soft">
              {status}: {title}.
            </p>
            <p>{help.replaceAll('`', '')}</p>
          </section>
        ))}
        <h2 id="fields">
          <Anchor id="fields">Field codes</Anchor>
        </h2>
        <dl class="field-list">
          {fields.map(({ code, text }) => (
            <div key={code} id={code}>
              <dt>
                <code>{code}</code>
              </dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      </>
    ),
  })
}
