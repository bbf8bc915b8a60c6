import { errorDocs } from '../../src/api/document/error-docs.ts'
import { openApiDocument } from '../../src/api/document/openapi.ts'
import { OPERATIONS } from '../../src/api/routes/v1/index.ts'

/** The OpenAPI document, with a local server's URL. */
export function openApiText(): string {
  return `${JSON.stringify(openApiDocument(OPERATIONS, 'http://localhost:4242'), null, 1)}\n`
}

export const errorsText = errorDocs
