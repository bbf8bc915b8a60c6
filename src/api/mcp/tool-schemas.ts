import { IDEMPOTENCY_KEY } from '../http/idempotency.ts'
import type { Tool } from './tools.ts'

type Json = { readonly [name: string]: unknown }

/** The root must be an object, without `allOf`: some models refuse other tools. The operation checks the rest. */
export type ToolSchema = {
  readonly type: 'object'
  readonly properties?: Record<string, Json>
  readonly required?: string[]
  readonly additionalProperties?: boolean
  readonly oneOf?: readonly Json[]
  readonly $defs?: Json
}

export type ToolSchemas = { readonly input: ToolSchema; readonly output: ToolSchema }

/** The argument of a tool that has the value of the header `Idempotency-Key`. */
export const KEY_ARGUMENT = 'idempotency_key'

const KEY_SCHEMA = {
  type: 'string',
  pattern: IDEMPOTENCY_KEY.source,
  description:
    'Names what you do, such as the order. Use the same key when you repeat a call, and a new key for a new order: the same key never has its effect twice.',
}

/** Models accept no brackets in the name of an argument: `created[gte]` becomes `created_gte`. */
export const nameArgument = (parameter: string): string => parameter.replace(/\[(\w+)\]/, '_$1')

/** Reads the schemas of a tool from the OpenAPI document, which has the descriptions of all fields. */
export function readToolSchemas(document: Json, { operation, needsKey }: Tool): ToolSchemas {
  const { components, paths } = document as { components: { schemas: Json }; paths: Record<string, Json> }
  const resolve = (schema: Json): Json => {
    const name = typeof schema['$ref'] === 'string' ? schema['$ref'].slice(REFERENCE.length) : null
    return name === null ? schema : (components.schemas[name] as Json)
  }
  const described = paths[operation.path]?.[operation.method] as Described
  const parameters = (described.parameters ?? []).filter((one) => one.in !== 'header')
  const body = described.requestBody && resolve(readContent(described.requestBody))
  const answer = Object.entries(described.responses).find(([status]) => status.startsWith('2'))?.[1]
  if (answer === undefined) throw new RangeError(`${operation.name} has no successful answer`)
  const properties = [
    ...(needsKey ? [[KEY_ARGUMENT, KEY_SCHEMA] as const] : []),
    ...parameters.map(({ name, schema, description }) => [nameArgument(name), { ...schema, description }] as const),
    ...Object.entries((body?.['properties'] ?? {}) as Record<string, Json>),
  ]
  const names = properties.map(([name]) => name)
  if (new Set(names).size < names.length) throw new RangeError(`${operation.name} has two arguments with one name`)
  const required = [
    ...(needsKey ? [KEY_ARGUMENT] : []),
    ...parameters.flatMap((one) => (one.required ? [nameArgument(one.name)] : [])),
    ...((body?.['required'] ?? []) as string[]),
  ]
  const withDefinitions = <T extends object>(schema: T) => addDefinitions(schema, components.schemas)
  return {
    input: withDefinitions({
      type: 'object',
      properties: Object.fromEntries(properties),
      required,
      additionalProperties: false,
    }),
    output: withDefinitions({ ...resolve(readContent(answer)), type: 'object' }),
  }
}

type Content = { readonly content: Record<string, { readonly schema: Json }> }
type Described = {
  readonly parameters?: readonly {
    readonly in: string
    readonly name: string
    readonly required?: boolean
    readonly schema: Json
    readonly description?: string
  }[]
  readonly requestBody?: Content
  readonly responses: Record<string, Content>
}

const REFERENCE = '#/components/schemas/'
const REFERENCES = /#\/components\/schemas\/(\w+)/g

const readContent = ({ content }: Content): Json => content['application/json']?.schema ?? {}

/** A schema of a tool must be complete: it contains the definitions that it refers to. */
function addDefinitions<T extends object>(schema: T, all: Json): T & { $defs?: Json } {
  const found = new Map<string, unknown>()
  const pending: unknown[] = [schema]
  while (pending.length > 0)
    for (const [, name = ''] of JSON.stringify(pending.pop()).matchAll(REFERENCES)) {
      if (found.has(name)) continue
      found.set(name, all[name])
      pending.push(all[name])
    }
  const complete = found.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(found) }
  return JSON.parse(JSON.stringify(complete).replaceAll(REFERENCE, '#/$defs/')) as T
}
