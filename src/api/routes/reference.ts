import { Router } from 'express'
import { renderErrors } from '../../web/docs/errors.tsx'
import { renderReference } from '../../web/docs/reference.tsx'
import { pageHeaders } from '../../web/page-headers.ts'
import { openApiDocument } from '../document/openapi.ts'
import { fieldsReader } from '../document/reference-fields.ts'
import { FIELD_CODES, PROBLEMS } from '../http/problem-codes.ts'
import { onlyMethods, type Route, TAGS } from '../route.ts'

const DOCUMENT = ['/openapi.json', '/v1/openapi.json']
export const ERRORS_PATH = '/docs/errors'
const REFERENCE_PATH = '/docs'

/** The OpenAPI document, the reference and the error pages. Public: they need no key. */
export function referenceRouter(routes: readonly Route[], publicUrl: string): Router {
  const router = Router()
  const document = JSON.stringify(openApiDocument(routes, publicUrl))
  const errors = renderErrors(
    Object.entries(PROBLEMS).map(([code, problem]) => ({ code, ...problem })),
    Object.entries(FIELD_CODES).map(([code, text]) => ({ code, text })),
  )
  router.get(DOCUMENT, (_request, response) => {
    response.type('application/json').send(document)
  })
  router.get(ERRORS_PATH, (_request, response) => {
    response.set(pageHeaders(publicUrl)).type('html').send(errors)
  })
  const fields = fieldsReader(JSON.parse(document))
  const reference = renderReference(
    TAGS,
    routes.map((route) => ({ ...entryOf(route, publicUrl), ...fields(route.method, route.path) })),
  )
  router.get(REFERENCE_PATH, (_request, response) => {
    response.set(pageHeaders(publicUrl)).type('html').send(reference)
  })
  router.all([...DOCUMENT, ERRORS_PATH, REFERENCE_PATH], onlyMethods(['GET']))
  return router
}

function entryOf(route: Route, publicUrl: string) {
  const { operationId, tag, method, path, summary, description, scope, problems = [] } = route
  return { operationId, tag, method, path, summary, description, scope, problems, curl: curlOf(route, publicUrl) }
}

function curlOf({ method, path, example }: Route, publicUrl: string): string {
  const query = new URLSearchParams(example?.query).toString()
  const parts = [
    `curl '${publicUrl}${path}${query === '' ? '' : `?${query}`}'`,
    `-H "authorization: Bearer $SECRET_KEY"`,
  ]
  if (method !== 'get') parts.splice(1, 0, `-X ${method.toUpperCase()}`)
  if (example?.body !== undefined)
    parts.push(`-H 'content-type: application/json'`, `-d '${JSON.stringify(example.body)}'`)
  return parts.join(' \\\n  ')
}
