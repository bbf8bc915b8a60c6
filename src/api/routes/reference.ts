import { Router } from 'express'
import { renderErrors } from '../../web/docs/errors.tsx'
import { pageHeaders } from '../../web/page-headers.ts'
import { openApiDocument } from '../openapi.ts'
import { FIELD_CODES, PROBLEMS } from '../problem-codes.ts'
import { onlyMethods, type Route } from '../route.ts'

const DOCUMENT = ['/openapi.json', '/v1/openapi.json']
export const ERRORS_PATH = '/docs/errors'

/** What the API says about itself, for everybody: no key is asked for. */
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
  router.all([...DOCUMENT, ERRORS_PATH], onlyMethods(['GET']))
  return router
}
