import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { JOURNEYS, type Journey } from '../../scripts/demo/journey.ts'
import type { Payment, Pinrail } from '../../src/client/index.ts'
import { payAtCheckout } from '../../src/sandbox/buyer.ts'

/** Merchants that take one payment after the other without a pause, and record every failed request. */

export type PaidPayment = {
  readonly payment: Payment
  /** Unix milliseconds: the merchant began the request, the api had answered, the payment was final. */
  readonly askedAt: number
  readonly takenAt: number
  readonly finalAt: number
}

export type Trouble = { readonly at: number; readonly who: 'merchant' | 'buyer'; readonly what: string }

export type Merchants = {
  readonly paid: readonly PaidPayment[]
  readonly troubles: readonly Trouble[]
  /** Takes one more payment, in addition to the merchants. */
  readonly pay: () => Promise<PaidPayment>
  /** Each merchant finishes what it has begun. */
  readonly close: () => Promise<void>
}

export type TestMerchant = { readonly merchant: Pinrail['payments']; readonly sandboxUrl: string }

const FIRST: Journey = { provider: 'wallet_app', body: { amount: '49.90', currency: 'EUR' } }

/** Milliseconds: a payment that is not final by then is a failure of the system. */
const PATIENCE_MS = 180_000
const AGAIN_MS = 200

export function startMerchants(testMerchant: TestMerchant, count: number): Merchants {
  const paid: PaidPayment[] = []
  const troubles: Trouble[] = []
  let open = true
  let turn = 0
  const pay = async (): Promise<PaidPayment> => {
    turn += 1
    const done = await payOnce(testMerchant, turn, (who, what) => void troubles.push({ at: Date.now(), who, what }))
    paid.push(done)
    return done
  }
  const merchants = Array.from({ length: count }, async () => {
    while (open) await pay()
  })
  // `close` throws the failure.
  const closed = Promise.allSettled(merchants)
  return {
    paid,
    troubles,
    pay,
    async close() {
      open = false
      for (const merchant of await closed) if (merchant.status === 'rejected') throw merchant.reason
    },
  }
}

type Note = (who: Trouble['who'], what: string) => void

async function payOnce({ merchant, sandboxUrl }: TestMerchant, turn: number, note: Note): Promise<PaidPayment> {
  const { provider, body, method } = JOURNEYS[turn % JOURNEYS.length] ?? FIRST
  const askedAt = Date.now()
  const key = randomUUID()
  const payment = await persist(
    () => merchant.create({ ...body, provider }, { idempotencyKey: key }),
    (what) => note('merchant', what),
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
    (what) => note('merchant', what),
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

/** Returns what a merchant's log would group by: status and code of a response, or the reason for which there was none. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { status, code, cause } = error as Error & { status?: number; code?: string }
  if (status !== undefined) return `${status}${code === undefined ? '' : ` ${code}`}`
  const inner = cause as { code?: string } | undefined
  return inner?.code ?? code ?? error.message.replace(/\b(?:pay|att|req)_\w+|https?:\S+/g, '…').slice(0, 80)
}
