import type { Random } from '../../test/support/random.ts'
import { fitting, hostile, type Schema, spoiled, toText } from './values.ts'

/** Makes requests from the OpenAPI document: about half of them as it says, the others with an error. */

type Parameter = { readonly in: string; readonly name: string; readonly required?: boolean; readonly schema: Schema }
type Operation = {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}
export type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }

export type Made = {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly body: string | Buffer | undefined
  readonly headers: Readonly<Record<string, string>>
  /** The owner of the key: mostly the merchant of the ids. */
  readonly as: 'owner' | 'other' | 'nobody'
}

export type Ids = Readonly<Record<string, readonly string[]>>

export function createRequests(document: Document, ids: Ids): (random: Random) => Made {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  return (random) => {
    const { path, method, operation } = random.pick(operations)
    const filled = path.replace(/\{(\w+)\}/g, (_match, name: string) =>
      idFor(operation.operationId, name, { ids, random }),
    )
    const schema = operation.requestBody?.content['application/json']?.schema
    return {
      operationId: operation.operationId,
      method: random.chance(0.98)
        ? method.toUpperCase()
        : random.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']),
      path: `${filled}${makeQuery(operation.parameters ?? [], random)}`,
      body: schema === undefined || method === 'get' ? undefined : makeBody(schema, random),
      headers: makeHeaders(random),
      as: random.chance(0.9) ? 'owner' : random.pick(['other', 'nobody']),
    }
  }
}

const GARBAGE = ['x', '0', '%00', '%2e%2e', 'pay_x', "';--", '😀', '__proto__', 'a'.repeat(2000), '*', '%25']

function idFor(operationId: string, name: string, { ids, random }: { ids: Ids; random: Random }): string {
  const known = ids[`${operationId}.${name}`] ?? []
  return known.length > 0 && random.chance(0.6)
    ? random.pick(known)
    : encodeURI(random.pick(GARBAGE)).replaceAll('%25', '%')
}

function makeQuery(parameters: readonly Parameter[], random: Random): string {
  const search = new URLSearchParams()
  for (const { in: where, name, schema, required } of parameters) {
    if (where !== 'query' || !(required === true || random.chance(0.2))) continue
    const value = random.chance(0.7) ? fitting(schema, random) : hostile(random)
    search.append(name, wellFormed(toText(value)).slice(0, 3000))
  }
  if (random.chance(0.03)) search.append(wellFormed(toText(hostile(random))).slice(0, 100), 'x')
  return search.size === 0 ? '' : `?${search.toString()}`
}

function makeBody(schema: Schema, random: Random): string | Buffer {
  const right = fitting(schema, random)
  const value = random.chance(0.5) ? right : spoiled(right, random)
  const text = JSON.stringify(value) ?? 'null'
  if (random.chance(0.95)) return text
  const bytes = Buffer.from(text)
  for (let changes = 1 + random.below(3); changes > 0 && bytes.length > 0; changes--)
    bytes[random.below(bytes.length)] = random.below(256)
  return random.chance(0.5) ? bytes : bytes.subarray(0, random.below(bytes.length + 1))
}

function makeHeaders(random: Random): Record<string, string> {
  return {
    ...(random.chance(0.1) && { 'idempotency-key': `key-${random.below(50)}` }),
    ...(random.chance(0.02) && {
      'content-type': random.pick(['text/plain', 'application/json; charset=utf-7', '*/*']),
    }),
    ...(random.chance(0.02) && { 'content-encoding': random.pick(['gzip', 'br', 'identity', 'x']) }),
    ...(random.chance(0.02) && { 'idempotency-key': random.pick(['', ' ', 'x'.repeat(300), '""']) }),
    ...(random.chance(0.02) && { accept: 'text/html' }),
  }
}

function wellFormed(text: string): string {
  return text.toWellFormed()
}
