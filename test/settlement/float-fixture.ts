import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CompleteAsyncError } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import express from 'express'
import { pino } from 'pino'
import { z } from 'zod'
import { newPayment } from '../../scripts/test/new-payment.ts'
import { createTestDatabase } from '../../scripts/test/services/databases.ts'
import { createPaymentActivities } from '../../src/activities/payment/payment.ts'
import type { PaymentDeps } from '../../src/activities/payment/payment-deps.ts'
import { createDb, many, sql } from '../../src/db/db.ts'
import { reconcile } from '../../src/db/invariants/reconcile.ts'
import { insertMerchant } from '../../src/db/merchants/merchants.ts'
import { insertPayment, loadPayment } from '../../src/db/payments/payments.ts'
import { leavesReserve, readFloat } from '../../src/db/settlement/float.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import { readOpenPayout } from '../../src/db/settlement/observer/forgotten-payouts.ts'
import { payoutInsert, stopPayout } from '../../src/db/settlement/payouts.ts'
import type { Currency } from '../../src/domain/currencies.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { isZero, type Money, subtract } from '../../src/domain/money.ts'
import type { NewPayment } from '../../src/domain/payment/new-payment.ts'
import type { PartnerOrder } from '../../src/domain/payment/partner.ts'
import { withReading } from '../../src/domain/payment/reading.ts'
import type { RefillPartner } from '../../src/domain/settlement/refill.ts'
import { newId } from '../../src/ids.ts'
import { createBridge } from '../../src/partners/bridge/bridge.ts'
import { createFloatConverter } from '../../src/partners/converter/float-converter.ts'
import type { PaymentPartner, RefundResult } from '../../src/partners/provider.ts'
import { changeLockedPayment, changePayment } from '../../src/payments/change-payment.ts'
import { voidPayout } from '../../src/payments/void-payout.ts'
import { createSimulatedBridge, type SimulatedBridge } from '../../src/sandbox/bridge/bridge.ts'
import { createSettlementHooks } from '../../src/settlement/hooks.ts'
import { createReleaseRound, type ReleaseDeps } from '../../src/settlement/release-round.ts'
import { createRefillRound, type RefillDeps } from '../../src/worker/refills/refill-round.ts'
import { perform } from '../activities/payment/fixture.ts'

export type FloatFixture = Awaited<ReturnType<typeof createFloatFixture>>

const CHAIN_ID = 31337
const TOKEN = `0x${'3'.repeat(40)}` as const
const TREASURY = `0x${'b'.repeat(40)}` as const
const ISSUER = `0x${'c'.repeat(40)}` as const
const MERCHANT = 'mer_1'
const API_KEY = 'key-of-bridge-3f9a'
export const HOUR_MS = 3_600_000

export type Paid = { readonly id: string; readonly attemptId: string; readonly amount: Money; readonly rate: string }

/** `place`: an engine on a chain pays. Otherwise `prove` and `arrives` write what a chain would show. */
type FloatOptions = {
  readonly reserveMicro: string
  readonly settlementDays: number
  readonly leastMicro: string
  readonly place?: { readonly token: Hex; readonly treasury: Hex }
}

/** A deployment with the float converter, Bridge's simulator, and a clock that is set by hand. */
export async function createFloatFixture({ reserveMicro, settlementDays, leastMicro, place }: FloatOptions) {
  const { token, treasury } = place ?? { token: TOKEN, treasury: TREASURY }
  const database = await createTestDatabase()
  const db = createDb({ url: database.url, livemode: false, pool: 8 })
  await insertMerchant(db, { id: MERCHANT, name: 'Nightline Rail' })
  let now = Date.now()
  const clock = (): number => now
  const rates: Partial<Record<Currency, string>> = {}
  const currentRate = (currency: Currency): string => {
    const rate = rates[currency]
    if (rate === undefined) throw new Error(`the test has no rate of ${currency}`)
    return rate
  }
  const context = { publicUrl: 'http://127.0.0.1:9', now: clock }
  const scope = { livemode: false, chainId: CHAIN_ID, token }
  const journal = createSettlementJournal({ db, scope, hooks: createSettlementHooks(context, { hasFloat: true }) })
  if (place === undefined) await journal.openCursor({ number: 0, hash: `0x${'0'.repeat(64)}` })

  const dataFolder = mkdtempSync(join(tmpdir(), 'bridge-'))
  const openBridge = (): Promise<SimulatedBridge> => createSimulatedBridge({ dataFolder, apiKey: API_KEY, clock })
  let bridge = await openBridge()
  const server = createServer(
    express()
      .use(express.raw({ type: () => true }))
      .use((request, response, next) => bridge.router(request, response, next)),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const partner = createBridge({ url, apiKey: API_KEY, customer: 'cust_1', treasury })

  const orders = new Map<string, PartnerOrder>()
  /** By key. */
  const refunded = new Map<string, RefundResult>()
  let refundAnswer: RefundResult = { kind: 'refunded' }
  const walletApp: PaymentPartner = {
    name: 'wallet_app',
    openOrder: () => Promise.reject(new Error('no order is opened in this test')),
    readOrder: async ({ attemptId }) => orders.get(attemptId) ?? null,
    findRefund: async ({ key }) => refunded.get(key) ?? null,
    async refundOrder({ attemptId, key, amount }) {
      const known = refunded.get(key)
      if (known !== undefined && known.kind !== 'pending') return known
      refunded.set(key, refundAnswer)
      const order = orders.get(attemptId)
      if (order?.received == null || amount === null) throw new Error(`nobody has paid ${attemptId}`)
      const received = { ...order.received, minor: subtract(order.received.minor, amount.minor) }
      if (refundAnswer.kind === 'refunded')
        orders.set(attemptId, isZero(received.minor) ? { ...order, status: 'refunded' } : { ...order, received })
      return refundAnswer
    },
  }
  const deps: PaymentDeps = {
    db,
    partners: { wallet_app: walletApp, card_partner: walletApp, local_partner: walletApp, crypto: walletApp },
    accounts: { wallet_app: 'shop', card_partner: 'shop', local_partner: 'shop', crypto: 'shop' },
    converter: createFloatConverter({ rates: async () => [] }),
    float: { leavesReserve: (gross) => leavesReserve(reserveMicro, gross) },
    rates: {
      current: async (currency) => ({
        currency,
        rate: currentRate(currency),
        source: 'test',
        asOf: new Date(now).toISOString(),
      }),
    },
    context,
    payouts: {
      getTreasury: () => treasury,
      queue: payoutInsert,
      stop: stopPayout,
      void: voidPayout,
      open: readOpenPayout,
    },
  }
  let block = 0
  const nextHash = (): `0x${string}` => `0x${(block += 1).toString(16).padStart(64, '0')}`

  return {
    db,
    deps,
    journal,
    partner,
    rates,
    clock,
    get bridge() {
      return bridge
    },
    advance: (ms: number) => void (now += ms),
    /** The partner's next answers to requests of refunds. */
    answerRefunds: (answer: RefundResult) => void (refundAnswer = answer),
    /** The keys of the refunds that the partner has. */
    refundKeys: () => [...refunded.keys()],
    /** Bridge's process ends and starts again. */
    restartBridge: async () => {
      await bridge.close()
      bridge = await openBridge()
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await bridge.close()
      rmSync(dataFolder, { recursive: true, force: true })
      await db.close()
      await database.drop()
    },

    /** A buyer has paid the amount, and the payment has a reading of it and a locked rate. */
    async paid(amount: Money, terms: Partial<NewPayment> = {}): Promise<Paid> {
      const [id, attemptId] = [newId('payment'), newId('attempt')]
      const at = new Date(now).toISOString()
      const payment = newPayment({ id, createdAt: at, amountText: amount.minor, amount, token, ...terms })
      await insertPayment(
        db,
        { merchantId: MERCHANT, livemode: false },
        { payment, claim: null, publicUrl: context.publicUrl },
      )
      const rate = currentRate(amount.currency)
      const order: PartnerOrder = {
        attemptId,
        reference: `order of ${attemptId}`,
        account: 'shop',
        status: 'paid',
        amount,
        received: amount,
        failureCode: null,
      }
      orders.set(attemptId, order)
      await changePayment(db, context, {
        id,
        change: (draft) => draft.addAttempt({ id: attemptId, provider: 'wallet_app', method: 'card', asked: amount }),
      })
      await changePayment(db, context, {
        id,
        change: (draft) => {
          const attempt = draft.state.attempts[0]!
          const reading = { order, account: 'shop', rate: { rate, source: 'test' }, at: draft.at }
          draft.setAttempt(attemptId, { ...withReading(attempt, reading), confirmedAt: draft.at })
        },
      })
      return { id, attemptId, amount, rate }
    },
    /** The partner has only this much of the payment's money left, in minor units. */
    async reverse({ id, attemptId, amount }: Paid, left: string): Promise<void> {
      const isWhole = left === '0'
      const order: PartnerOrder = {
        ...(orders.get(attemptId) as PartnerOrder),
        status: isWhole ? 'declined' : 'paid',
        failureCode: isWhole ? 'reversed' : null,
        received: isWhole ? amount : { ...amount, minor: left },
      }
      orders.set(attemptId, order)
      await changePayment(db, context, {
        id,
        change: (draft) => {
          const attempt = draft.state.attempts[0]!
          draft.setAttempt(attemptId, withReading(attempt, { order, account: 'shop', rate: null, at: draft.at }))
        },
      })
    },
    release: (changes: Partial<ReleaseDeps> = {}) =>
      createReleaseRound({
        db,
        context,
        scope,
        getTreasury: () => treasury,
        log: pino({ level: 'silent' }),
        ...changes,
      })(),
    /** One try of the settlement: `handed over`, why it waits, or the next step. */
    async trySettle(id: string, changes: Partial<PaymentDeps> = {}): Promise<string> {
      try {
        const { settle } = createPaymentActivities({ ...deps, ...changes })
        return (await perform(settle, id)).payment.next
      } catch (error) {
        if (error instanceof CompleteAsyncError) return 'handed over'
        if (error instanceof ApplicationFailure && error.type === 'NotYet') return `waits: ${error.message}`
        throw error
      }
    },
    /** The final chain shows the transfers of these payouts. */
    async prove(ids: readonly string[]): Promise<void> {
      block += 1
      await db.query(
        `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
           block_number, block_hash, gas_share, finalized_at, known_as, applied_at)
         select chain_id, auth_nonce, 3, token, treasury, 'out', recipient, micro_usdc, auth_nonce, $2, auth_nonce, 700, $3,
           'payout', now() from payout where owner_id = any($1)`,
        [ids, block, new Date(now)],
      )
      for (let left = ids.length; left > 0; left -= 200) await journal.applyProven(200)
    },
    /** USDC arrives at the treasury. Returns the transaction. */
    async arrives(micro: bigint, hash = nextHash()): Promise<`0x${string}`> {
      await db.query(
        `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc,
           block_number, block_hash, finalized_at, known_as, applied_at)
         values ($1, $2, 0, $3, $4, 'in', $5, $6, $7, $2, now(), 'movement', null)`,
        [CHAIN_ID, hash, token, treasury, ISSUER, micro.toString(), block],
      )
      await journal.applyPending(100)
      return hash
    },
    /** The payout was canceled on chain before it was paid. */
    async cancelPayout(id: string): Promise<void> {
      await db.transaction(async (tx) => {
        await deps.payouts.void(tx, id)
        await changeLockedPayment(tx, context, { id, change: (draft) => draft.setPayment({ payout: 'voiding' }) })
      })
      block += 1
      await db.query(
        `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, auth_nonce, block_number, block_hash,
           finalized_at, known_as, applied_at)
         select chain_id, auth_nonce, 3, token, treasury, 'cancel', auth_nonce, $2, auth_nonce, now(), 'payout', now()
         from payout where payment_id = $1`,
        [id, block],
      )
      await journal.applyProven(100)
    },
    /** The bank has the money for the open refill of a currency, and Bridge sends this much USDC. */
    async deliver(currency: Currency, micro: bigint): Promise<void> {
      const refill = (await this.refills()).find((one) => one.currency === currency && one.state === 'open')
      const transfer = bridge.transfers().find(({ clientReference }) => clientReference === refill?.id)
      if (transfer === undefined) throw new Error(`Bridge has no transfer of ${currency}`)
      const txHash = await this.arrives(micro)
      await bridge.move(transfer.id, { state: 'payment_processed', txHash })
    },
    refill: (changes: Partial<RefillDeps> = {}) =>
      createRefillRound({
        db,
        scope,
        partner,
        rates: deps.rates,
        settlementDays,
        leastMicro,
        newId,
        clock,
        log: pino({ level: 'silent' }),
        ...changes,
      })(),
    /** A partner that fails as the function says, before or after it is asked. */
    failing: (around: <T>(ask: () => Promise<T>) => Promise<T>): RefillPartner => ({
      ...partner,
      request: (...asked) => around(() => partner.request(...asked)),
      read: (...asked) => around(() => partner.read(...asked)),
    }),

    float: () => readFloat(db, reserveMicro),
    state: (id: string) => loadPayment(db, id),
    /** The differences that the invariants find in the whole database. */
    async differences(): Promise<readonly unknown[]> {
      const { differences, unread } = await reconcile(db, 'all')
      return [...differences, ...unread]
    },
    /** The ledger's balances, as `account ASSET`. */
    async ledger(): Promise<Readonly<Record<string, bigint>>> {
      const rows = await many(
        db,
        z.object({ key: z.string(), amount: z.string() }),
        sql`select account || ' ' || asset as key, sum(amount)::text as amount from ledger_entry group by 1 having sum(amount) <> 0`,
      )
      return Object.fromEntries(rows.map(({ key, amount }) => [key, BigInt(amount)]))
    },
    async refills(): Promise<
      { id: string; currency: string; state: string; units: bigint; cost: bigint; word: string | null }[]
    > {
      const row = z.object({
        id: z.string(),
        currency: z.string(),
        state: z.string(),
        units: z.string().transform(BigInt),
        cost: z.string().transform(BigInt),
        word: z.string().nullable(),
      })
      return many(
        db,
        row,
        sql`select id, currency, state, units::text, cost_micro::text as cost, word from refill order by created_at, currency`,
      )
    },
  }
}
