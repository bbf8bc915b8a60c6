import type { Route } from '../route.ts'
import { type PaymentRouteDeps, paymentRoutes } from './payments.ts'
import { providerRoutes } from './providers.ts'

/** Every route under /v1, as values: the router, the tests and the OpenAPI document read this list. */
export function apiRoutes(deps: PaymentRouteDeps): Route[] {
  return [...paymentRoutes(deps), ...providerRoutes()]
}
