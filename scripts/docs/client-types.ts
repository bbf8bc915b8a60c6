import { openApiText } from './api.ts'

/** Writes the types of src/client from the OpenAPI document, so that the compiler checks the client against it. */

type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  /** Values of today; others can be added. */
  readonly 'x-extensible-enum'?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
}
type Parameter = { readonly in: string; readonly name: string; readonly required?: boolean; readonly schema: Schema }
type Content = { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
type Operation = {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
}

export function clientTypes(): string {
  const document = JSON.parse(openApiText()) as Document
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => `export type ${toIdentifier(name)} = ${writeType(schema)}\n`,
  )
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const table = operations.map(
    ({ path, method, operation }) => `  ${operation.operationId}: ['${method.toUpperCase()}', '${path}'],`,
  )
  const types = operations.map(({ operation }) => `  ${operation.operationId}: ${operationType(operation)}`)
  return [
    '/** Written by `npm run docs` from the OpenAPI document. */',
    '',
    ...schemas,
    'export type Operations = {',
    ...types,
    '}',
    '',
    '/** Method and path of each operation. */',
    'export const OPERATIONS = {',
    ...table,
    '} as const satisfies Record<keyof Operations, readonly [string, string]>',
    '',
  ].join('\n')
}

function operationType({ parameters = [], requestBody, responses }: Operation): string {
  const query = parameters.filter(({ in: where }) => where === 'query')
  const answer = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  const parts = [
    `query: ${query.length === 0 ? 'undefined' : writeFields(query.map(({ name, schema, required }) => [name, schema, required === true]))}`,
    `body: ${requestBody === undefined ? 'undefined' : writeType(getSchema(requestBody))}`,
    `answer: ${answer === undefined ? 'undefined' : writeType(getSchema(answer))}`,
  ]
  return `{ ${parts.join('; ')} }`
}

function getSchema({ content }: Content): Schema {
  return content['application/json']?.schema ?? {}
}

function writeType(schema: Schema): string {
  if (schema.$ref !== undefined) return toIdentifier(schema.$ref.split('/').at(-1) ?? '')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const open = schema['x-extensible-enum']
  // `string & {}` keeps the known values in the suggestions of an editor.
  if (open !== undefined) return `(${[...open.map((value) => JSON.stringify(value)), '(string & {})'].join(' | ')})`
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return `(${[...new Set(choices.map(writeType))].join(' | ')})`
  if (Array.isArray(schema.type))
    return `(${schema.type.map((type: string) => writeType({ ...schema, type })).join(' | ')})`
  if (schema.type === 'array') return `(${writeType(schema.items ?? {})})[]`
  if (schema.type === 'object') return writeObject(schema)
  return SCALARS[String(schema.type)] ?? 'unknown'
}

function writeObject({ properties, required = [], additionalProperties }: Schema): string {
  if (properties === undefined)
    return `Record<string, ${typeof additionalProperties === 'object' ? writeType(additionalProperties) : 'unknown'}>`
  return writeFields(Object.entries(properties).map(([name, schema]) => [name, schema, required.includes(name)]))
}

function writeFields(fields: readonly (readonly [string, Schema, boolean])[]): string {
  const lines = fields.map(([name, schema, required]) => {
    const key = /^\w+$/.test(name) ? name : `'${name}'`
    return `${key}${required ? '' : '?'}: ${writeType(schema)}${required ? '' : ' | undefined'}`
  })
  return `{ ${lines.join('; ')} }`
}

function toIdentifier(name: string): string {
  return name.replace(/\W/g, '')
}
