export type { Event, Payment, WebhookEndpoint } from './api-types.ts'
export { createPinrail, type Pinrail } from './client.ts'
export {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  NotFoundError,
  PinrailError,
  RateLimitError,
} from './errors.ts'
export type { ClientOptions } from './transport.ts'
export { verifyWebhook, WebhookVerificationError } from './webhooks.ts'
