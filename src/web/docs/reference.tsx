import { Fold } from '../kit/fold.tsx'
import type { ApiCall } from './code/call.ts'
import { callCode } from './code/call-code.ts'
import { CodeBlock, CodeTabs } from './code/code.tsx'
import type { Language } from './code/languages.ts'
import { Anchor, type DocsFrame, inLanguage, renderDocs } from './docs-page.tsx'

export type FieldEntry = {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly description: string | null
  /** The place of a parameter: `path`, `query` or `header`. */
  readonly in?: string
}

export type ProblemEntry = { readonly code: string; readonly status: number; readonly title: string }

export type AnswerEntry = {
  readonly status: string
  readonly fields: readonly FieldEntry[]
  readonly example: unknown
}

export type OperationEntry = {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string | undefined
  readonly scope: string
  /** A request that works if SECRET_KEY and its ids are set. */
  readonly call: ApiCall
  readonly problems: readonly ProblemEntry[]
  readonly commonProblems: readonly ProblemEntry[]
  readonly parameters: readonly FieldEntry[]
  readonly body: readonly FieldEntry[]
  readonly answers: readonly AnswerEntry[]
}

export type ReferenceView = {
  readonly title: string
  readonly purpose: string
  readonly operations: readonly OperationEntry[]
}

/** Renders the operations of a group, from the same routes as the OpenAPI document. */
export function renderReference(frame: DocsFrame, { title, purpose, operations }: ReferenceView): string {
  return renderDocs({
    frame,
    title,
    lead: purpose,
    headings: operations.map(({ operationId, summary }) => ({ id: operationId, text: summary })),
    children: operations.map((operation) => (
      <Operation key={operation.operationId} operation={operation} language={frame.language} />
    )),
  })
}

function Operation({ operation, language }: { operation: OperationEntry; language: Language }) {
  const { operationId, method, path, summary, description, scope, call, parameters, body, answers } = operation
  return (
    <section class="op" id={operationId} aria-labelledby={`${operationId}-name`}>
      <div class="op-text">
        <h2 id={`${operationId}-name`}>
          <Anchor id={operationId}>{summary}</Anchor>
        </h2>
        <p class="operation">
          <code>
            <b>{method.toUpperCase()}</b> {path}
          </code>
        </p>
        {description !== undefined && <p>{description}</p>}
        <p class="soft">
          Needs the scope <code>{scope}</code>.
        </p>
        {parameters.length > 0 && <Fields title="Parameters" fields={parameters} />}
        {body.length > 0 && <Fields title="Body" fields={body} />}
        {answers.map(({ status, fields }) => (
          <Fields key={status} title={`Response ${status}`} fields={fields} isAnswer />
        ))}
        <Problems operation={operation} language={language} />
      </div>
      <div class="op-code">
        <CodeTabs id={`${operationId}-code`} code={callCode(call)} chosen={language} label={summary} />
        {answers.map(({ status, example }) => (
          <CodeBlock
            key={status}
            name={`Response ${status}`}
            label={`Response ${status} of: ${summary}`}
            text={JSON.stringify(example, null, 2)}
          />
        ))}
      </div>
    </section>
  )
}

function Problems({ operation, language }: { operation: OperationEntry; language: Language }) {
  const { problems, commonProblems } = operation
  const link = (code: string) => (
    <a href={inLanguage(`/docs/errors#${code}`, language)}>
      <code>{code}</code>
    </a>
  )
  return (
    <Fold title="Errors">
      <dl class="field-list">
        {[...problems, ...commonProblems].map(({ code, status, title }) => (
          <div key={code}>
            <dt>{link(code)}</dt>
            <dd>
              {status}: {title}.
            </dd>
          </div>
        ))}
      </dl>
    </Fold>
  )
}

type FieldsProps = { title: string; fields: readonly FieldEntry[]; isAnswer?: boolean }

function Fields({ title, fields, isAnswer = false }: FieldsProps) {
  if (fields.length === 0) return <p>{title}: without a body.</p>
  return (
    <Fold title={title} open={!isAnswer}>
      <dl class="field-list">
        {fields.map(({ name, type, isRequired, description, in: where }) => (
          <div key={name}>
            <dt>
              <code>{name}</code> {isRequired && !isAnswer && <b>required</b>}
            </dt>
            <dd>
              <span class="type">{where === undefined ? type : `${type}, in the ${where}`}</span>
              {description !== null && <span>{description}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </Fold>
  )
}
