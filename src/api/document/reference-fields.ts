import { z } from 'zod'

export type Field = {
  /** `settlement.tx_hash` for a field of a field; `[]` for each item of a list. */
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly description: string | null
}

type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly enum?: readonly unknown[]
  readonly 'x-extensible-enum'?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

const parameter = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean().optional(),
  description: z.string().optional(),
  schema: z.custom<Schema>(),
})
const content = z.object({
  content: z.record(z.string(), z.object({ schema: z.custom<Schema>(), example: z.unknown().optional() })).optional(),
})
const operation = z.object({
  parameters: z.array(parameter).optional(),
  requestBody: content.optional(),
  responses: z.record(z.string(), content),
})
const documentSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ schemas: z.record(z.string(), z.custom<Schema>()).optional() }).optional(),
})

/** Levels of fields: a list in an object and the fields of its items. Deeper ones are only in the OpenAPI document. */
const DEPTH = 2
/** A longer enumeration shows only the number of its values. */
const VALUES_NAMED = 12

export type OperationFields = {
  readonly parameters: readonly (Field & { readonly in: string })[]
  readonly body: readonly Field[]
  readonly answers: readonly { readonly status: string; readonly fields: readonly Field[]; readonly example: unknown }[]
}

/** `openApi` is the parsed JSON document. */
export function fieldsReader(openApi: unknown): (method: string, path: string) => OperationFields {
  const { paths, components } = documentSchema.parse(openApi)
  const schemas = components?.schemas ?? {}
  return (method, path) => {
    const found = paths[path]?.[method]
    if (found === undefined) throw new RangeError(`the document has no ${method} ${path}`)
    return {
      parameters: (found.parameters ?? []).map(({ name, schema, required = false, description, in: where }) => ({
        name,
        in: where,
        type: describeType(resolve(schema, schemas), schemas),
        isRequired: required,
        description: withBounds(description ?? resolve(schema, schemas).description, resolve(schema, schemas)),
      })),
      body: bodyFields(found.requestBody),
      answers: Object.entries(found.responses)
        .filter(([status]) => status.startsWith('2'))
        .map(([status, answer]) => ({
          status,
          fields: bodyFields(answer),
          example: answer.content?.['application/json']?.example,
        })),
    }
  }

  function bodyFields(body: z.infer<typeof content> | undefined): Field[] {
    const schema = body?.content?.['application/json']?.schema
    return schema === undefined ? [] : readFields(schema, { schemas, prefix: '', depth: DEPTH })
  }
}

type Schemas = Readonly<Record<string, Schema>>
type Place = { readonly schemas: Schemas; readonly prefix: string; readonly depth: number }

function readFields(schema: Schema, { schemas, prefix, depth }: Place): Field[] {
  const object = objectIn(schema, schemas)
  if (object === null || depth === 0) return []
  return Object.entries(object.schema.properties ?? {}).flatMap(([key, value]) => {
    const field = resolve(value, schemas)
    const name = `${prefix}${key}`
    const inner = objectIn(field, schemas)
    const own = {
      name,
      type: describeType(field, schemas),
      isRequired: object.schema.required?.includes(key) ?? false,
      description: withBounds(value.description ?? field.description, field),
    }
    const next = inner?.isList ? `${name}[].` : `${name}.`
    return [own, ...readFields(field, { schemas, prefix: next, depth: depth - 1 })]
  })
}

function withBounds(description: string | undefined, schema: Schema): string | null {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, default: usual } = schema
  const bounds = [
    span(minimum, maximum, ''),
    span(minLength, maxLength, ' characters'),
    span(minItems, maxItems, ' items'),
    usual === undefined ? null : `Default: ${typeof usual === 'string' ? usual : JSON.stringify(usual)}.`,
  ]
  const text = [description, ...bounds].filter((part) => part !== null && part !== undefined).join(' ')
  return text === '' ? null : text
}

/** JSON Schema writes the largest safe integer if a whole number has no bound. */
function span(least: number | undefined, most: number | undefined, unit: string): string | null {
  const [from, to] = [bound(least), bound(most)]
  if (from !== null && to !== null) return `From ${from} to ${to}${unit}.`
  if (to !== null) return `At most ${to}${unit}.`
  return from === null || from === 0 ? null : `At least ${from}${unit}.`
}

const bound = (value: number | undefined): number | null =>
  value === undefined || Math.abs(value) === Number.MAX_SAFE_INTEGER ? null : value

/** Also the object inside a union or a list. Null if there is none. */
function objectIn(schema: Schema, schemas: Schemas): { schema: Schema; isList: boolean } | null {
  const own = resolve(schema, schemas)
  if (own.properties !== undefined) return { schema: own, isList: false }
  if (own.items !== undefined) {
    const item = objectIn(own.items, schemas)
    return item === null ? null : { schema: item.schema, isList: true }
  }
  const choices = own.anyOf ?? own.oneOf ?? own.allOf ?? []
  for (const choice of choices) {
    const found = objectIn(choice, schemas)
    if (found !== null) return found
  }
  return null
}

function resolve(schema: Schema, schemas: Schemas): Schema {
  if (schema.$ref === undefined) return schema
  const target = schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)]
  return target === undefined ? {} : resolve(target, schemas)
}

function describeType(schema: Schema, schemas: Schemas): string {
  const own = resolve(schema, schemas)
  if (own.const !== undefined) return JSON.stringify(own.const)
  const values = own.enum ?? own['x-extensible-enum']
  if (values !== undefined)
    return values.length > VALUES_NAMED
      ? `one of ${values.length} values`
      : values.map((value) => JSON.stringify(value)).join(' | ')
  if (own.items !== undefined) return `list of ${describeType(own.items, schemas)}`
  const choices = own.anyOf ?? own.oneOf
  if (choices !== undefined) return [...new Set(choices.map((choice) => describeType(choice, schemas)))].join(' | ')
  const type = typeof own.type === 'string' ? own.type : (own.type?.join(' | ') ?? 'any')
  return own.format === undefined ? type : `${type} (${own.format})`
}
