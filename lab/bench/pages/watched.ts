import { setTimeout as delay } from 'node:timers/promises'
import type { PaymentAnswer } from '../../../scripts/demo/merchant.ts'
import { until } from '../../../scripts/test/until.ts'
import type { Db } from '../../../src/db/db.ts'
import { readStamps } from '../../../src/db/payments/payments.ts'
import { type OpenPage, openPage } from './open-page.ts'

/** Number of pages of one payment that the api notifies of changes. */
export const PAGES_OF_IDLE = 25
/** Pages of a payment in progress: two devices, two tabs each. */
export const PAGES_OF_PAID = 4
export const PATIENCE_MS = 180_000
/** A page shows the end of its payment within this time (milliseconds). */
export const BOUND_MS = 2000
/** Connections that are made at once, so that the machine's queue of them does not overflow. */
const OPENED_AT_ONCE = 250
/** Addresses of this machine from which pages connect. */
const SOURCES = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']

export class Watched {
  readonly pages: OpenPage[] = []
  /** Unix milliseconds, by payment. */
  readonly shown = new Map<string, number[]>()
  readonly #db: Db
  refused = 0

  constructor(db: Db) {
    this.#db = db
  }

  async openAll(payments: readonly PaymentAnswer[], of: { paid: ReadonlySet<PaymentAnswer>; pages: number }) {
    const stamps = await readStamps(
      this.#db,
      payments.map(({ id }) => id),
    )
    const wanted = payments.flatMap((payment) =>
      Array.from({ length: of.paid.has(payment) ? PAGES_OF_PAID : PAGES_OF_IDLE }, () => payment),
    )
    for (let from = 0; from < of.pages; from += OPENED_AT_ONCE) {
      for (const payment of wanted.slice(from, Math.min(from + OPENED_AT_ONCE, of.pages)))
        this.#open(payment, stamps.get(payment.id) ?? '', of.paid.has(payment))
      await this.untilOpen()
    }
  }

  #open({ id, checkout_url: url }: PaymentAnswer, knows: string, isPaid: boolean): void {
    const from = SOURCES[this.pages.length % SOURCES.length] ?? '127.0.0.1'
    let isShown = false
    this.pages.push(
      openPage({
        paymentId: id,
        url,
        knows,
        from,
        onStamp: () => {
          if (isPaid && !isShown)
            void isDone(url).then((done) => {
              if (!done || isShown) return
              isShown = true
              this.shown.set(id, [...(this.shown.get(id) ?? []), Date.now()])
            })
        },
        refused: () => {
          this.refused += 1
        },
      }),
    )
  }

  untilOpen = (): Promise<unknown> =>
    until(
      async () => this.pages.filter((page) => !page.isOpen()).length - this.refused,
      (closed) => closed <= 0,
      PATIENCE_MS,
    )

  allShown = (payments: readonly PaymentAnswer[]): Promise<unknown> =>
    until(
      async () => payments.filter(({ id }) => (this.shown.get(id)?.length ?? 0) < PAGES_OF_PAID).map(({ id }) => id),
      (missing) => missing.length === 0,
      PATIENCE_MS,
    )

  /** Returns the number of pages whose stamp is not that of the row, after the last change. */
  async missed(): Promise<number> {
    const ids = [...new Set(this.pages.map(({ paymentId }) => paymentId))]
    const count = async (): Promise<number> => {
      const stamps = await readStamps(this.#db, ids)
      return this.pages.filter((page) => page.stamp() !== stamps.get(page.paymentId)).length
    }
    await until(count, (missed) => missed === 0, BOUND_MS * 2).catch(() => undefined)
    return count()
  }

  close(): void {
    for (const page of this.pages) page.close()
  }
}

/** Reads the status as a page does after a change; a page that gets no answer asks again. */
async function isDone(url: string): Promise<boolean> {
  for (;;) {
    try {
      const answer = await fetch(`${url}/status`)
      const { status } = (await answer.json()) as { status: string }
      return status === 'succeeded'
    } catch {
      await delay(250)
    }
  }
}
