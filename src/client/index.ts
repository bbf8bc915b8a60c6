export type { Event, Payment, PaymentLink, Refund, WebhookEndpoint } from './api-types.ts'
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
export { type WaitOptions, WaitTimeoutError } from './wait.ts'
export {
  createWebhookHandler,
  type EventOf,
  type HandlerOptions,
  signWebhook,
  verifyWebhook,
  WebhookVerificationError,
} from './webhooks.ts'
