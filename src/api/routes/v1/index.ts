import type { Route } from '../../route.ts'
import { type PaymentCreateDeps, paymentCreateRoute } from './payment-create.ts'
import { type PaymentRouteDeps, paymentRoutes } from './payments.ts'
import { providerRoutes } from './providers.ts'

export type ApiRouteDeps = PaymentCreateDeps & PaymentRouteDeps

/** Every route under /v1, as values: the router, the tests and the OpenAPI document read this list. */
export function apiRoutes(deps: ApiRouteDeps): Route[] {
  return [paymentCreateRoute(deps), ...paymentRoutes(deps), ...providerRoutes()]
}
