import type { Route } from '../../route.ts'
import { auditRoutes } from './account/audit-log.ts'
import { type TeamRouteDeps, teamRoutes } from './account/team.ts'
import { type ApiKeyRouteDeps, apiKeyRoutes } from './api-keys.ts'
import { brandRoutes } from './brand.ts'
import { embeddingRoutes } from './embedding.ts'
import { eventRoutes } from './events.ts'
import { type ExportRouteDeps, exportRoutes } from './exports/exports.ts'
import { type LinkRouteDeps, linkRoutes } from './links/links.ts'
import { type ChannelRouteDeps, channelRoutes } from './notifications/channels.ts'
import { type PaymentCreateDeps, paymentCreateRoute } from './payments/payment-create.ts'
import { paymentListRoutes } from './payments/payment-list.ts'
import { type PaymentRouteDeps, paymentRoutes } from './payments/payments.ts'
import { simulateRoutes } from './payments/simulate.ts'
import type { SimulateDeps } from './payments/simulate-outcome.ts'
import { type SkipTimeDeps, skipTimeRoutes } from './payments/skip-time.ts'
import { providerRoutes } from './providers.ts'
import { type QuoteDeps, quoteRoutes } from './quotes.ts'
import { type SettingsRouteDeps, settingsRoutes } from './settings.ts'
import { type DeliveryRouteDeps, deliveryRoutes } from './webhooks/deliveries.ts'
import { type EndpointRouteDeps, endpointRoutes } from './webhooks/endpoints.ts'

export type ApiRouteDeps = PaymentCreateDeps &
  PaymentRouteDeps &
  LinkRouteDeps &
  QuoteDeps &
  EndpointRouteDeps &
  DeliveryRouteDeps &
  ApiKeyRouteDeps &
  SettingsRouteDeps &
  ChannelRouteDeps &
  TeamRouteDeps &
  ExportRouteDeps &
  SimulateDeps &
  SkipTimeDeps

/** The router, the tests and the OpenAPI document read this list. */
export function apiRoutes(deps: ApiRouteDeps): Route[] {
  return [
    paymentCreateRoute(deps),
    ...paymentListRoutes(deps),
    ...paymentRoutes(deps),
    ...linkRoutes(deps),
    ...providerRoutes(deps),
    ...quoteRoutes(deps),
    ...eventRoutes(),
    ...endpointRoutes(deps),
    ...deliveryRoutes(deps),
    ...apiKeyRoutes(deps),
    ...settingsRoutes(deps),
    ...brandRoutes(deps),
    ...embeddingRoutes(deps),
    ...channelRoutes(deps),
    ...teamRoutes(deps),
    ...auditRoutes(),
    ...exportRoutes(deps),
    ...simulateRoutes(deps),
    ...skipTimeRoutes(deps),
  ]
}
