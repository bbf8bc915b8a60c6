import { errorsText, openApiText } from './api.ts'
import { architecturePage } from './architecture.ts'
import { clientTypes } from './client-types.ts'
import { decidePage, operationsPage } from './decisions.ts'
import { licenses } from './licenses.ts'
import { placeholderTypes } from './placeholders.ts'
import { paymentStates } from './states.ts'

/** The files that `npm run docs` writes. A test checks that they are up to date. */
export const GENERATED: Readonly<Record<string, () => string>> = {
  'docs/payment-states.md': paymentStates,
  'docs/decide.md': decidePage,
  'docs/operations.md': operationsPage,
  'docs/architecture.md': architecturePage,
  'docs/licenses.md': licenses,
  'docs/api/openapi.json': openApiText,
  'docs/api/errors.md': errorsText,
  'src/client/api-types.ts': clientTypes,
  'src/web/messages/placeholders.ts': placeholderTypes,
}
