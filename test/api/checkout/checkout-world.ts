import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { pino } from 'pino'
import { z } from 'zod'
import { createTestDatabase } from '../../../scripts/test/services/databases.ts'
import { createOpenPages } from '../../../src/api/live/open-pages.ts'
import { type CheckoutDeps, createCheckoutRouter } from '../../../src/api/routes/checkout/checkout.ts'
import { onlyOurAddress } from '../../../src/api/routes/our-address.ts'
import { createDb, many, sql } from '../../../src/db/db.ts'
import { insertMerchant } from '../../../src/db/merchants/merchants.ts'
import { createNotifier, listen as listenFor, PAYMENTS_CHANNEL } from '../../../src/db/notices.ts'
import { changePayment, type PaymentWork } from '../../../src/db/payments/payment-changes.ts'
import { insertPayment, readPaymentByToken, readStamps } from '../../../src/db/payments/payments.ts'
import type { Currency } from '../../../src/domain/currencies.ts'
import { chargeCurrencyOf } from '../../../src/domain/methods.ts'
import { convertCurrency } from '../../../src/domain/money.ts'
import type { AttemptFields } from '../../../src/domain/payment/changes.ts'
import type { NewPayment } from '../../../src/domain/payment/new-payment.ts'
import { isOpen } from '../../../src/domain/payment/payment.ts'
import type { OpenAttemptAnswer, OpenAttemptRequest } from '../../../src/domain/payment/requests.ts'
import { newId } from '../../../src/ids.ts'
import { aPart, PARTNERS, RATES } from '../../web/fixtures.ts'

const MERCHANT = 'mer_01hzy3v7t8e4a9v2b6q5r0c1d2'
const PARTNER_PAGE = '<!doctype html><html lang="en"><title>Partner</title><main><h1>Partner page</h1></main></html>'

export type CheckoutWorld = Awaited<ReturnType<typeof createCheckoutWorld>>

/**
 * The checkout on a real database and a real port, with a partner's page on another origin. What the workflow would do
 * is done by the functions it does it with; `answer` sets what it answers.
 */
export async function createCheckoutWorld(changes: Partial<CheckoutDeps> = {}) {
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
  const context = { publicUrl: server.url, now: Date.now, changed: createNotifier(db, PAYMENTS_CHANNEL) }
  const openPages = createOpenPages({
    readStamps: (ids) => readStamps(db, ids),
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  })
  const notices = listenFor(database.url, PAYMENTS_CHANNEL, openPages.heard)
  let answer: 'opens' | 'declines' | 'is unavailable' | 'throws' = 'opens'

  const deps: CheckoutDeps = {
    db,
    rates: { current: async (currency) => ({ rate: rateOf(currency), source: 'test' }) },
    openAttempt,
    openPages,
    publicUrl: server.url,
    simulatedWalletUrl: null,
    tellExtended: async (id) => void extended.push(id),
    newAttemptId: () => newId('attempt'),
    clock: Date.now,
    countryHeader: 'x-country',
    crypto: false,
    down: () => ({}),
    simulating: null,
    partners: PARTNERS,
    limits: { countLink: () => undefined, countPaper: () => undefined },
    log: pino({ level: 'silent' }),
    ...changes,
  }
  app.set('query parser', 'simple')
  app.use(onlyOurAddress({ publicUrl: server.url, trustProxyHops: 0 }))
  app.use(createCheckoutRouter(deps))

  return {
    url: server.url,
    partnerUrl: partner.url,
    asked,
    /** Payments whose workflows were told of more time. */
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
      work: async (work) => {
        const { payment } = work.state
        const currency = chargeCurrencyOf(request.provider, payment.amount.currency)
        const rates = { from: rateOf(payment.amount.currency), to: rateOf(currency) }
        await work.addAttempt({
          id: request.attemptId,
          provider: request.provider,
          method: request.method,
          asked: convertCurrency(payment.amount, currency, rates),
        })
        if (payment.status === 'created') await work.move('pending', { actor: 'buyer', message: 'opened' })
        const fields: AttemptFields = declined
          ? { status: 'declined', failureCode: 'declined' }
          : { status: 'open', redirectUrl, intentUri: request.method === 'upi' ? intentOf(request.attemptId) : null }
        await work.saveAttempt(request.attemptId, fields)
      },
    })
    return declined
      ? { kind: 'declined', failureCode: 'declined' }
      : { kind: 'redirect', attemptId: request.attemptId, url: redirectUrl }
  }

  async function create(changed: Partial<NewPayment> & { livemode?: boolean; merchantId?: string } = {}) {
    const { livemode = false, merchantId = MERCHANT, ...fields } = changed
    const id = newId('payment')
    const now = new Date()
    const payment: NewPayment = {
      id,
      amountText: '49.99',
      amount: { minor: '4999', currency: 'EUR' },
      provider: null,
      fallback: 'picker',
      description: 'Two tickets for the night train to Vienna',
      reference: 'ORDER-1042',
      metadata: null,
      successUrl: 'https://shop.example/thanks',
      cancelUrl: 'https://shop.example/cart',
      checkoutToken: `checkout-of-${id}`,
      paymentLink: null,
      destination: `0x${'70'.repeat(20)}`,
      chainId: 137,
      token: `0x${'3c'.repeat(20)}`,
      quote: { rate: '1.08', rateSource: 'test', netMicro: '51559686', expiresAt: now.toISOString() },
      createdAt: now.toISOString(),
      expiresAt: new Date(now.getTime() + 86_400_000).toISOString(),
      ...fields,
    }
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

  async function change(id: string, work: (payment: PaymentWork) => Promise<void>): Promise<void> {
    await changePayment(db, context, { id, work })
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

/** Moves along the transition table, one after the other. The money is confirmed before it goes on. */
export async function movePayment(
  world: CheckoutWorld,
  id: string,
  moves: readonly Parameters<PaymentWork['move']>[0][],
): Promise<void> {
  for (const to of moves)
    await world.change(id, async (work) => {
      if (to === 'settling') await confirmMoney(work)
      await work.move(to, { actor: 'system', message: to })
    })
}

async function confirmMoney(work: PaymentWork): Promise<void> {
  const { payment, attempts } = work.state
  const { minor, currency } = payment.amount
  const attemptId = attempts.at(-1)?.id ?? newId('attempt')
  await work.addAttempt({ id: attemptId, provider: 'wallet_app', method: 'banking_app', asked: payment.amount })
  await work.addPart({ ...aPart(attemptId, minor, 'counted'), asset: currency })
  await work.change(
    { kind: 'test.confirmed', actor: 'partner', message: 'confirmed' },
    { paidAttemptId: attemptId, chargeCurrency: currency, confirmedMinor: minor, paidAt: work.at },
  )
}

const intentOf = (attemptId: string): string => `upi://pay?pa=pinrail@bank&pn=Pinrail&am=4536.90&cu=INR&tr=${attemptId}`

function rateOf(currency: Currency): string {
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
