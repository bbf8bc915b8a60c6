import { Ajv2020 as Ajv, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

/** The compared response, as a client reads it. */
export type Seen = {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly contentType: string | null
  readonly text: string
}

type Operation = { responses: Record<string, { content?: Record<string, unknown> }> }
export type OpenApi = { paths: Record<string, Record<string, Operation>> }

/** Refused before an operation is known: by the router, or by the parser of HTTP. */
const ANYWHERE = [404, 405, 408, 417, 431]
const PROBLEM = 'application/problem+json'

/** Throws if the OpenAPI document does not promise the response. */
export function createConformance(document: OpenApi): (seen: Seen) => void {
  // Another test validates the document, and each validator is used a few times: this takes a third of the default's
  // time.
  const ajv = new Ajv({
    strict: false,
    allErrors: true,
    validateSchema: false,
    inlineRefs: false,
    code: { optimize: false },
  })
  addFormats.default(ajv)
  ajv.addSchema({ ...closeAnswers(document), $id: 'api' })
  const compiled = new Map<string, ValidateFunction>()
  const templates = Object.keys(document.paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
  }))

  function getValidator(pointer: string): ValidateFunction {
    const known = compiled.get(pointer)
    if (known !== undefined) return known
    const made = ajv.compile({ $ref: `api#${pointer}` })
    compiled.set(pointer, made)
    return made
  }

  return (seen) => {
    const path = seen.path.split('?')[0] ?? ''
    if (!path.startsWith('/v1/') || path === '/v1/openapi.json') return
    const method = seen.method === 'HEAD' ? 'get' : seen.method.toLowerCase()
    const template = templates.find(({ pattern }) => pattern.test(path))?.path
    const operation = template === undefined ? undefined : document.paths[template]?.[method]
    const promised = operation?.responses[String(seen.status)]
    if (promised === undefined && !ANYWHERE.includes(seen.status))
      throw new Error(`${seen.method} ${path} answered ${seen.status}, which the document does not promise`)
    if (seen.method === 'HEAD') return
    const type = seen.contentType?.split(';')[0] ?? 'none'
    const isProblem = seen.status >= 400
    const promisedTypes = isProblem ? [PROBLEM] : Object.keys(promised?.content ?? {})
    if (!promisedTypes.includes(type)) throw new Error(`${seen.method} ${path} answered ${seen.status} as ${type}`)
    const escaped = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
    const pointer = isProblem
      ? '/components/schemas/Problem'
      : ['', 'paths', template ?? '', method, 'responses', String(seen.status), 'content', type, 'schema']
          .map(escaped)
          .join('/')
    const validate = getValidator(pointer)
    const body: unknown = type === 'text/csv' ? seen.text : JSON.parse(seen.text)
    if (!validate(body))
      throw new Error(
        `${seen.method} ${path} answered ${seen.status} not as described: ${ajv.errorsText(validate.errors).slice(0, 500)} in ${seen.text.slice(0, 500)}`,
      )
    if (isProblem && (body as { status: number }).status !== seen.status)
      throw new Error(`${seen.method} ${path}: the problem says another status than ${seen.status}`)
  }
}

/** Takes back what lets responses grow, so that a field or a value that the document does not name is found. */
function closeAnswers<T>(value: T): T {
  if (Array.isArray(value)) return value.map(closeAnswers) as T
  if (typeof value !== 'object' || value === null) return value
  const { 'x-extensible-enum': values, ...rest } = value as Record<string, unknown>
  const closed = Object.fromEntries(Object.entries(rest).map(([name, inner]) => [name, closeAnswers(inner)]))
  return {
    ...(closed['type'] === 'object' && closed['properties'] !== undefined && { additionalProperties: false }),
    ...closed,
    ...(values !== undefined && { enum: values }),
  } as T
}
