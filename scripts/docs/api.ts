import { errorDocs } from '../../src/api/document/error-docs.ts'
import { openApiDocument } from '../../src/api/document/openapi.ts'
import { type ApiRouteDeps, apiRoutes } from '../../src/api/routes/v1/index.ts'

/** The OpenAPI document, with a local server's URL. */
export function openApiText(): string {
  // The routes are only described, as in test mode, and never called.
  const routes = apiRoutes({ webhookTargets: { mode: 'test', testTargets: [] } } as unknown as ApiRouteDeps)
  return `${JSON.stringify(openApiDocument(routes, 'http://localhost:4242'), null, 1)}\n`
}

export const errorsText = errorDocs
