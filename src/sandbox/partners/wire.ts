import type { Router } from 'express'
import type { ProviderName } from '../../domain/methods.ts'
import type { Faults } from './faults.ts'
import type { SandboxOrder } from './order.ts'
import type { OrderBook } from './order-book.ts'
import type { Callback } from './state.ts'

/** A callback as it is sent. */
type SignedCallback = { readonly headers: Readonly<Record<string, string>>; readonly body: string }

/** What the partner's own API is made of. */
export type ApiDeps = {
  readonly book: OrderBook
  readonly faults: Faults
  readonly account: string
  readonly secret: string
  /** The buyer's page of an order. */
  readonly pageUrl: (order: SandboxOrder) => string
}

/** How one partner speaks: its requests, its words and units, its callbacks. Everything else is the same for all. */
export type Wire = {
  readonly provider: ProviderName
  /** Where its API and pages are, under the sandbox's address. */
  readonly path: string
  /** What the buyer's page is called. */
  readonly title: string
  newReference: () => string
  routes(deps: ApiDeps): Router
  /** What a callback says of the order, without its signature. */
  event(order: SandboxOrder, made: { readonly eventId: string; readonly at: number }): Callback['event']
  /** `now` is in unix seconds of the real clock, because the receiver compares it with its own. */
  sign(event: Callback['event'], signing: { readonly secret: string; readonly now: number }): SignedCallback
}
