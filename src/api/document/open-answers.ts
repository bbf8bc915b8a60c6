import { isObject, type Json } from './descriptions.ts'

/**
 * Lets responses grow inside v1: a generated client must accept fields and values that are added later. So no object of a
 * response forbids other fields, and the values of an enumeration are listed under `x-extensible-enum`. The property by
 * which a client chooses the member of a union stays closed.
 */
export function openAnswers<T extends object>(document: T): T {
  const { components, paths } = document as { components?: { schemas?: Json }; paths?: Json }
  const schemas = components?.schemas ?? {}
  const discriminators = Object.values(schemas).flatMap(readDiscriminator)
  for (const [name, schema] of Object.entries(schemas))
    open(schema, discriminators.find(({ members }) => members.includes(name))?.property)
  for (const operation of Object.values(paths ?? {}).flatMap((item) => Object.values(item as Json)))
    for (const answer of Object.values(((operation as Json)['responses'] ?? {}) as Json) as Json[])
      for (const { schema } of Object.values((answer['content'] ?? {}) as Json) as Json[]) open(schema)
  return document
}

function open(schema: unknown, closed?: string): void {
  if (!isObject(schema)) return
  if (schema['additionalProperties'] === false) delete schema['additionalProperties']
  if (schema['enum'] !== undefined) {
    schema['x-extensible-enum'] = schema['enum']
    delete schema['enum']
  }
  for (const [name, field] of Object.entries((schema['properties'] ?? {}) as Json)) if (name !== closed) open(field)
  for (const choices of [schema['anyOf'], schema['oneOf'], schema['allOf']])
    for (const choice of (choices ?? []) as unknown[]) open(choice)
  open(schema['items'])
  open(schema['additionalProperties'])
}

function readDiscriminator(schema: unknown): { property: string; members: string[] }[] {
  if (!isObject(schema) || !isObject(schema['discriminator'])) return []
  const { propertyName, mapping } = schema['discriminator']
  const members = Object.values(mapping as Json).map((ref) => String(ref).split('/').at(-1) ?? '')
  return [{ property: String(propertyName), members }]
}
