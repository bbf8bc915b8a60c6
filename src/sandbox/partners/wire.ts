import type { Router } from 'express'
import type { ProviderName } from '../../domain/methods.ts'
import type { Faults } from './faults.ts'
import type { SandboxOrder } from './order.ts'
import type { OrderBook } from './order-book.ts'
import type { Callback } from './state.ts'

type SignedCallback = { readonly headers: Readonly<Record<string, string>>; readonly body: string }

export type ApiDeps = {
  readonly book: OrderBook
  readonly faults: Faults
  readonly account: string
  /** Authenticates the platform's calls. */
  readonly secret: string
  readonly pageUrl: (order: SandboxOrder) => string
  /** Unix milliseconds. */
  readonly clock: () => number
}

/** The protocol of one partner: its requests, words, units and callbacks. All else is common to the simulators. */
export type Wire = {
  readonly provider: ProviderName
  /** The path of its API and pages, under the sandbox's URL. */
  readonly path: string
  readonly title: string
  newReference: () => string
  routes(deps: ApiDeps): Router
  /** Returns the content of a callback about the order, without its signature. */
  event(order: SandboxOrder, made: { readonly eventId: string; readonly at: number }): Callback['event']
  /** `now` is in Unix seconds of the real clock, because the receiver compares it with its own. */
  sign(event: Callback['event'], signing: { readonly secret: string; readonly now: number }): SignedCallback
}
