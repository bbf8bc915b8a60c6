import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { JOURNEYS, type Journey } from '../../scripts/demo/journey.ts'
import type { Payment, Pinrail } from '../../src/client/index.ts'
import { payAtCheckout } from '../../src/sandbox/buyer.ts'

/** Shops that sell without a pause, each one payment after the other, and record every trouble that they meet. */

export type Sale = {
  readonly payment: Payment
  /** Unix milliseconds: the shop began the request, the api had answered, the payment was final. */
  readonly askedAt: number
  readonly takenAt: number
  readonly finalAt: number
}

export type Trouble = { readonly at: number; readonly who: 'shop' | 'buyer'; readonly what: string }

export type Shops = {
  readonly sales: readonly Sale[]
  readonly troubles: readonly Trouble[]
  /** Sells once more, in addition to the shops. */
  readonly sell: () => Promise<Sale>
  /** Each shop finishes what it has begun. */
  readonly close: () => Promise<void>
}

export type Market = { readonly merchant: Pinrail['payments']; readonly sandboxUrl: string }

const FIRST: Journey = { provider: 'wallet_app', body: { amount: '49.90', currency: 'EUR' } }

/** Milliseconds: a payment that is not final by then is a failure of the system. */
const PATIENCE_MS = 180_000
const AGAIN_MS = 200

export function openShops(market: Market, count: number): Shops {
  const sales: Sale[] = []
  const troubles: Trouble[] = []
  let open = true
  let turn = 0
  const sell = async (): Promise<Sale> => {
    turn += 1
    const sale = await sellOnce(market, turn, (who, what) => void troubles.push({ at: Date.now(), who, what }))
    sales.push(sale)
    return sale
  }
  const shops = Array.from({ length: count }, async () => {
    while (open) await sell()
  })
  // Whoever closes the shops receives the failure.
  const closed = Promise.allSettled(shops)
  return {
    sales,
    troubles,
    sell,
    async close() {
      open = false
      for (const shop of await closed) if (shop.status === 'rejected') throw shop.reason
    },
  }
}

type Note = (who: Trouble['who'], what: string) => void

async function sellOnce({ merchant, sandboxUrl }: Market, turn: number, note: Note): Promise<Sale> {
  const { provider, body, method } = JOURNEYS[turn % JOURNEYS.length] ?? FIRST
  const askedAt = Date.now()
  const key = randomUUID()
  const payment = await persist(
    () => merchant.create({ ...body, provider }, { idempotencyKey: key }),
    (what) => note('shop', what),
  )
  const takenAt = Date.now()
  const isPaid = async (): Promise<boolean> =>
    !['created', 'pending'].includes((await merchant.read(payment.id)).status)
  await persist(
    async () => {
      try {
        await payAtCheckout(payment.checkout_url, { sandboxUrl, ...(method !== undefined && { method }) })
      } catch (error) {
        // A page was lost on the way back: the money has arrived anyway.
        if (!(await isPaid().catch(() => false))) throw error
      }
    },
    (what) => note('buyer', what),
  )
  await persist(
    async () => {
      const { status } = await merchant.read(payment.id)
      if (status === 'succeeded') return true
      if (['failed', 'expired', 'canceled', 'refunded'].includes(status))
        throw new Wrong(`${payment.id} ended as ${status}`)
      return null
    },
    (what) => note('shop', what),
  )
  return { payment, askedAt, takenAt, finalAt: Date.now() }
}

class Wrong extends Error {}

/** Repeats until there is an answer other than null, and reports each failure. */
async function persist<T>(ask: () => Promise<T | null>, failed: (what: string) => void): Promise<T> {
  for (const deadline = Date.now() + PATIENCE_MS; ; await delay(AGAIN_MS)) {
    try {
      const answer = await ask()
      if (answer !== null) return answer
      if (Date.now() > deadline) throw new Wrong(`waited ${PATIENCE_MS / 1000} s for a payment to be final`)
    } catch (error) {
      if (error instanceof Wrong || Date.now() > deadline) throw error
      failed(describeFailure(error))
    }
  }
}

/** Returns what a shop's log would group by: status and code of a response, or the reason for which there was none. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { status, code, cause } = error as Error & { status?: number; code?: string }
  if (status !== undefined) return `${status}${code === undefined ? '' : ` ${code}`}`
  const inner = cause as { code?: string } | undefined
  return inner?.code ?? code ?? error.message.replace(/\b(?:pay|att|req)_\w+|https?:\S+/g, '…').slice(0, 80)
}
