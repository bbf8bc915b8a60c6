import { join } from 'node:path'
import { Router } from 'express'
import type { Logger } from '../../runtime/log.ts'
import { openJournal } from '../journal.ts'
import { type Callbacks, createCallbacks } from './callbacks.ts'
import { controlRoutes } from './control-routes.ts'
import { createFaults, type Faults } from './faults.ts'
import { buyerRoutes } from './hosted/buyer-routes.ts'
import { createOrderBook, type OrderBook } from './order-book.ts'
import { applyEntry, emptyState, type PartnerEntry, partnerEntrySchema } from './state.ts'
import type { Wire } from './wire.ts'

export type SimulatedPartner = {
  readonly wire: Wire
  readonly router: Router
  readonly book: OrderBook
  readonly faults: Faults
  readonly callbacks: Callbacks
  readonly journalFile: string
  close(): Promise<void>
}

export type SimulatedPartnerOptions = {
  readonly dataFolder: string
  readonly account: string
  readonly secret: string
  /** Signs callbacks. */
  readonly webhookSecret: string
  /** The sandbox's URL. A function, because the port might not be known before the server listens. */
  readonly publicUrl: () => string
  /** Callbacks go to `<url>/callbacks/<provider>`. */
  readonly callbackUrl: string
  /** Unix milliseconds. Signatures use the real time instead, because their receivers compare it with their own. */
  readonly clock: () => number
  readonly log: Logger
  /** Called after every change, so that callbacks are sent at once. */
  readonly onChange: () => void
  readonly closing: AbortSignal
}

export async function createSimulatedPartner(wire: Wire, options: SimulatedPartnerOptions): Promise<SimulatedPartner> {
  const { account, secret, webhookSecret, clock, log } = options
  const state = emptyState()
  const journal = await openJournal(join(options.dataFolder, `${wire.provider}.jsonl`), partnerEntrySchema, (entry) =>
    applyEntry(state, entry),
  )
  const append = async (...entries: PartnerEntry[]): Promise<void> => {
    await journal.append(...entries)
    if (entries.some((entry) => entry.kind === 'callback')) options.onChange()
  }
  const faults = createFaults(state.faults, (...changed) =>
    append(...changed.map((fault) => ({ kind: 'fault' as const, fault }))),
  )
  const url = `${options.callbackUrl.replace(/\/$/, '')}/callbacks/${wire.provider}`
  const callbacks = createCallbacks({
    state,
    append,
    wire,
    secret: webhookSecret,
    url,
    faults,
    clock,
    log,
    closing: options.closing,
  })
  const book = createOrderBook({
    state,
    append,
    settled: journal.settled,
    faults,
    clock,
    newReference: wire.newReference,
    callbacksFor: callbacks.entriesFor,
  })
  const router = Router()
  router.use('/sandbox', controlRoutes({ book, faults }))
  router.use(buyerRoutes({ wire, book }))
  router.use(
    wire.routes({
      book,
      faults,
      account,
      secret,
      clock,
      pageUrl: (order) => `${options.publicUrl()}${wire.path}/pay/${encodeURIComponent(order.reference)}`,
    }),
  )
  return { wire, router, book, faults, callbacks, journalFile: journal.file, close: journal.close }
}
