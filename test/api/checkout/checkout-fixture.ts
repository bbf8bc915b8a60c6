import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { pino } from 'pino'
import { z } from 'zod'
import { newPayment } from '../../../scripts/test/new-payment.ts'
import { createTestDatabase } from '../../../scripts/test/services/databases.ts'
import { createBtcpayPages } from '../../../src/api/facades/btcpay/pages.ts'
import { createOpenPages } from '../../../src/api/live/open-pages.ts'
import { type CheckoutDeps, createCheckoutRouter } from '../../../src/api/routes/checkout/checkout.ts'
import { onlyOurAddress } from '../../../src/api/routes/our-address.ts'
import { createDb, many, sql } from '../../../src/db/db.ts'
import { insertMerchant } from '../../../src/db/merchants/merchants.ts'
import { createNotifier, listen as listenFor, PAYMENTS_CHANNEL } from '../../../src/db/notices.ts'
import { insertPayment, readPaymentByToken, readStamps } from '../../../src/db/payments/payments.ts'
import type { Currency } from '../../../src/domain/currencies.ts'
import { getChargeCurrency } from '../../../src/domain/methods.ts'
import { convertCurrency, convertToMicroUsdc, splitFee } from '../../../src/domain/money.ts'
import { withPaidOut } from '../../../src/domain/payment/funds/funds.ts'
import { toFunds } from '../../../src/domain/payment/funds/stored-funds.ts'
import type { NewPayment } from '../../../src/domain/payment/new-payment.ts'
import { isOpen } from '../../../src/domain/payment/payment.ts'
import type { Attempt } from '../../../src/domain/payment/payment-object.ts'
import type { OpenAttemptAnswer, OpenAttemptRequest } from '../../../src/domain/payment/requests.ts'
import { newId } from '../../../src/ids.ts'
import { type Change, changeLockedPayment, changePayment } from '../../../src/payments/change-payment.ts'
import type { PaymentDraft } from '../../../src/payments/payment-draft.ts'
import { createTestOffering } from '../../support/offering.ts'
import { PLAIN_PLATFORM } from '../../support/platforms.ts'
import { PARTNERS, RATES } from '../../web/fixtures.ts'

const MERCHANT = 'mer_01hzy3v7t8e4a9v2b6q5r0c1d2'
const PARTNER_PAGE = '<!doctype html><html lang="en"><title>Partner</title><main><h1>Partner page</h1></main></html>'

export type CheckoutFixture = Awaited<ReturnType<typeof createCheckoutFixture>>

/**
 * The checkout on a real database and a real port, with a partner’s page on another origin. Instead of a workflow, the
 * functions that the workflow uses do its work; `answer` sets what it answers.
 */
export async function createCheckoutFixture(changes: Partial<CheckoutDeps> = {}) {
  const database = await createTestDatabase()
  const db = createDb({ url: database.url, livemode: false, pool: 4 })
  await insertMerchant(db, { id: MERCHANT, name: 'Nightline Rail' })
  const partner = await listen(
    createServer((_request, response) => response.setHeader('content-type', 'text/html').end(PARTNER_PAGE)),
  )
  const asked: OpenAttemptRequest[] = []
  const extended: string[] = []
  const app = express()
  const server = await listen(createServer(app))
  const context = { publicUrl: server.url, now: Date.now, onChanged: createNotifier(db, PAYMENTS_CHANNEL) }
  const openPages = createOpenPages({
    readStamps: (ids) => readStamps(db, ids),
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  })
  const notices = listenFor(database.url, { [PAYMENTS_CHANNEL]: openPages.refresh })
  let answer: 'opens' | 'declines' | 'is unavailable' | 'throws' = 'opens'

  const deps: CheckoutDeps = {
    db,
    rates: { current: async (currency) => ({ rate: getRate(currency), source: 'test' }) },
    openAttempt,
    openPages,
    publicUrl: server.url,
    simulatedWalletUrl: null,
    signalExtended: async (id) => void extended.push(id),
    newAttemptId: () => newId('attempt'),
    clock: Date.now,
    countryHeader: 'x-country',
    offering: createTestOffering(),
    down: () => ({}),
    simulating: null,
    platform: PLAIN_PLATFORM,
    platformLogo: null,
    partners: PARTNERS,
    limits: { countLink: () => undefined, countReceiptFile: () => undefined },
    log: pino({ level: 'silent' }),
    ...changes,
  }
  app.set('query parser', 'simple')
  app.use(onlyOurAddress({ platform: PLAIN_PLATFORM, publicUrl: server.url, trustProxyHops: 0 }))
  app.use(createCheckoutRouter(deps))
  app.use(createBtcpayPages(deps))

  return {
    url: server.url,
    partnerUrl: partner.url,
    asked,
    /** Payments whose workflows received a signal about more time. */
    extended,
    db,
    databaseUrl: database.url,
    openPages,
    setAnswer: (next: typeof answer) => {
      answer = next
    },
    create,
    change,
    timeline,
    async close() {
      openPages.close()
      await notices.close()
      await Promise.all([end(server.server), end(partner.server)])
      await db.close()
      await database.drop()
    },
  }

  async function openAttempt(
    id: string,
    request: OpenAttemptRequest,
  ): Promise<OpenAttemptAnswer | { kind: 'unavailable' }> {
    asked.push(request)
    if (answer === 'is unavailable') return { kind: 'unavailable' }
    if (answer === 'throws') throw new Error('secret detail of the inside')
    const declined = answer === 'declines'
    const redirectUrl = `${partner.url}/pay/${request.attemptId}`
    await changePayment(db, context, {
      id,
      change: (draft) => {
        const { payment } = draft.state
        const currency = getChargeCurrency(request.provider, payment.amount.currency)
        const rates = { from: getRate(payment.amount.currency), to: getRate(currency) }
        draft.addAttempt({
          id: request.attemptId,
          provider: request.provider,
          method: request.method,
          asked: convertCurrency(payment.amount, currency, rates),
        })
        const facts: Partial<Attempt> = declined
          ? { status: 'declined', failureCode: 'declined' }
          : {
              status: 'open',
              redirectUrl,
              intentUri: request.method === 'upi' ? createIntent(request.attemptId) : null,
            }
        draft.setAttempt(request.attemptId, facts)
      },
    })
    return declined
      ? { kind: 'declined', failureCode: 'declined' }
      : { kind: 'redirect', attemptId: request.attemptId, url: redirectUrl }
  }

  async function create(changed: Partial<NewPayment> & { livemode?: boolean; merchantId?: string } = {}) {
    const { livemode = false, merchantId = MERCHANT, ...fields } = changed
    const id = newId('payment')
    const payment = newPayment({
      id,
      provider: null,
      description: 'Two tickets for the night train to Vienna',
      reference: 'ORDER-1042',
      successUrl: 'https://shop.example/thanks',
      cancelUrl: 'https://shop.example/cart',
      checkoutToken: `checkout-of-${id}`,
      chainId: 137,
      createdAt: new Date().toISOString(),
      ...fields,
    })
    await insertPayment(db, { merchantId, livemode }, { payment, claim: null, publicUrl: 'http://127.0.0.1:9' })
    const path = `/c/${payment.checkoutToken}`
    const read = async () => (await readPaymentByToken(db, payment.checkoutToken))?.payment
    return {
      id,
      path,
      url: `${server.url}${path}`,
      read,
      isOpen: async () => isOpen((await read())?.status ?? 'failed'),
    }
  }

  async function change(id: string, change: Change): Promise<void> {
    await db.transaction((tx) => changeLockedPayment(tx, context, { id, change }))
  }

  function timeline(id: string, kind: string) {
    const row = z.object({ actor: z.string(), message: z.string(), data: z.record(z.string(), z.unknown()) })
    return many(
      db,
      row,
      sql`select actor, message, data from timeline_entry where payment_id = ${id} and kind = ${kind} order by id`,
    )
  }
}

/** The conditions of a payment and its newest attempt from which its state follows. */
const MOVES = {
  pending: (draft) => {
    const { amount: asked } = draft.state.payment
    draft.addAttempt({ id: newId('attempt'), provider: 'wallet_app', method: 'banking_app', asked })
  },
  processing: (draft) => void setNewest(draft, { status: 'confirming' }),
  settling: (draft) => {
    const { id, asked } = setNewest(draft, { status: 'paid', paidAt: draft.at })
    const rate = { rate: getRate(asked.currency), source: 'test', lockedAt: draft.at }
    draft.setAttempt(id, { held: asked.minor, rate })
    const gross = BigInt(convertToMicroUsdc(asked, rate.rate))
    const sale = { number: 1, accountId: id, units: BigInt(asked.minor), gross, fill: gross }
    draft.setSale({ ...sale, state: 'filled', reference: 'fill_1' })
    draft.setPayment({ takenSale: 1, usdc: splitFee(gross.toString(), '4.5'), payout: 'handed' })
  },
  succeeded: (draft) => {
    const transfer = { txHash: `0x${'5e'.repeat(32)}`, logIndex: 3, blockNumber: '70000001', finalizedAt: draft.at }
    draft.setFunds(withPaidOut(toFunds(draft.state), BigInt(draft.state.payment.usdc?.net ?? '0')))
    draft.setPayment({ transfer })
  },
  expired: (draft) => draft.setPayment({ closedAs: 'expired' }),
  canceled: (draft) => draft.setPayment({ closedAs: 'canceled' }),
} as const satisfies Record<string, (draft: PaymentDraft) => void>

/** Makes the transitions of the table, one after the other. */
export async function movePayment(
  fixture: { change(id: string, change: Change): Promise<unknown> },
  id: string,
  moves: readonly (keyof typeof MOVES)[],
): Promise<void> {
  for (const to of moves) await fixture.change(id, MOVES[to])
}

function setNewest(draft: PaymentDraft, facts: Partial<Attempt>): Attempt {
  const newest = draft.state.attempts.at(-1)
  if (newest === undefined) throw new Error('this test has opened no attempt')
  draft.setAttempt(newest.id, facts)
  return newest
}

const createIntent = (attemptId: string): string =>
  `upi://pay?pa=pinrail@bank&pn=Pinrail&am=4536.90&cu=INR&tr=${attemptId}`

function getRate(currency: Currency): string {
  const rate = RATES[currency]
  if (rate === undefined) throw new Error(`no rate of ${currency} in this test`)
  return rate
}

async function listen(server: Server): Promise<{ url: string; server: Server }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

async function end(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
