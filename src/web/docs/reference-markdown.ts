import { callCode } from './code/call-code.ts'
import { fenced } from './markdown.ts'
import type { FieldEntry, OperationEntry, ReferenceView } from './reference.tsx'

export function referenceMarkdown({ title, purpose, operations }: ReferenceView): string {
  return [`# ${title}`, purpose, ...operations.map(operationMarkdown)].join('\n\n').concat('\n')
}

function operationMarkdown(operation: OperationEntry): string {
  const { method, path, summary, description, scope, call, parameters, body, answers } = operation
  const { problems, commonProblems } = operation
  return [
    `## ${summary}`,
    `\`${method.toUpperCase()} ${path}\``,
    ...(description === undefined ? [] : [description]),
    `Needs the scope \`${scope}\`.`,
    ...(parameters.length === 0 ? [] : ['### Parameters', fieldList(parameters)]),
    ...(body.length === 0 ? [] : ['### Body', fieldList(body)]),
    '### Example',
    fenced(callCode(call)),
    ...answers.flatMap(({ status, fields, example }) => [
      `### Response ${status}`,
      ...(fields.length === 0 ? [] : [fieldList(fields)]),
      `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``,
    ]),
    '### Errors',
    [...problems, ...commonProblems]
      .map(({ code, status, title }) => `- \`${code}\` (${status}): ${title}.`)
      .join('\n'),
  ].join('\n\n')
}

function fieldList(fields: readonly FieldEntry[]): string {
  return fields
    .map(({ name, type, isRequired, description, in: where }) => {
      const facts = [type, ...(where === undefined ? [] : [`in the ${where}`]), ...(isRequired ? ['required'] : [])]
      return `- \`${name}\` (${facts.join(', ')})${description === null ? '' : `: ${description}`}`
    })
    .join('\n')
}
