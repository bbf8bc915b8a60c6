import { newPayment } from '../../../scripts/test/new-payment.ts'
import { createTestDatabase } from '../../../scripts/test/services/databases.ts'
import { createDb } from '../../../src/db/db.ts'
import { reconcile } from '../../../src/db/invariants/reconcile.ts'
import { insertMerchant } from '../../../src/db/merchants/merchants.ts'
import { openDeposit, readDeposit } from '../../../src/db/payments/deposits.ts'
import { insertPayment, loadPayment } from '../../../src/db/payments/payments.ts'
import { insertRefund, openRefundDeposit } from '../../../src/db/refunds/refunds.ts'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import { payoutInsert } from '../../../src/db/settlement/payouts.ts'
import type { ProviderUsed } from '../../../src/domain/methods.ts'
import type { Answer } from '../../../src/domain/payment/funds/answer.ts'
import { withAnswer } from '../../../src/domain/payment/funds/answer.ts'
import { toFunds } from '../../../src/domain/payment/funds/stored-funds.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { withReading } from '../../../src/domain/payment/reading.ts'
import { newId } from '../../../src/ids.ts'
import {
  type Change,
  changeLockedPayment,
  changePayment,
  type LockedChange,
} from '../../../src/payments/change-payment.ts'
import { changeRefund } from '../../../src/payments/change-refund.ts'
import { createSettlementHooks } from '../../../src/settlement/hooks.ts'
import { plant } from '../../support/plant.ts'

export type BooksFixture = Awaited<ReturnType<typeof createBooksFixture>>
export type Ids = { readonly id: string; readonly attemptId: string }

const CHAIN_ID = 31337
const TOKEN = `0x${'3'.repeat(40)}` as const
const MERCHANT = 'mer_1'
const RATE = { rate: '1.08', source: 'test' }
const TREASURY = `0x${'b'.repeat(40)}` as const
export const WALLET = `0x${'7'.repeat(40)}`

/** Payments of 100.00 EUR in a separate database, whose rows are written by the production code. */
export async function createBooksFixture() {
  const database = await createTestDatabase()
  const db = createDb({ url: database.url, livemode: false, pool: 4 })
  await insertMerchant(db, { id: MERCHANT, name: 'Nightline Rail' })
  const context = { publicUrl: 'http://127.0.0.1:9', now: Date.now }
  const scope = { livemode: false, chainId: CHAIN_ID, token: TOKEN }
  const journal = createSettlementJournal({ db, scope, hooks: createSettlementHooks(context) })
  await journal.openCursor({ number: 0, hash: `0x${'0'.repeat(64)}` })
  const change = (id: string, change: Change) => changePayment(db, context, { id, change })
  /** For a change that does more in its transaction. */
  const changeLocked = (id: string, change: LockedChange) =>
    db.transaction((tx) => changeLockedPayment(tx, context, { id, change }))
  let block = 0

  return {
    url: database.url,
    context,
    db,
    change,
    changeLocked,
    journal,
    close: async () => {
      await db.close()
      await database.drop()
    },

    async created(): Promise<string> {
      const id = newId('payment')
      const amount = { minor: '10000', currency: 'EUR' as const }
      const payment = newPayment({ id, createdAt: new Date().toISOString(), amountText: '100.00', amount })
      await insertPayment(
        db,
        { merchantId: MERCHANT, livemode: false },
        { payment, claim: null, publicUrl: context.publicUrl },
      )
      return id
    },
    async open(id: string, provider: ProviderUsed = 'wallet_app'): Promise<string> {
      const attemptId = newId('attempt')
      const method = provider === 'crypto' ? 'usdc' : 'card'
      const asked = { minor: '10000', currency: 'EUR' as const }
      await change(id, (draft) => draft.addAttempt({ id: attemptId, provider, method, asked }))
      return attemptId
    },
    /** A payment with an order at the wallet app. */
    async opened(): Promise<Ids> {
      const id = await this.created()
      const attemptId = await this.open(id)
      await this.reads({ id, attemptId }, { status: 'open' })
      return { id, attemptId }
    },
    /** The partner reports this state of its order. */
    reads: ({ id, attemptId }: Ids, said: Partial<PartnerOrder>) =>
      change(id, (draft) => {
        const attempt = draft.state.attempts.find((one) => one.id === attemptId)!
        const order = {
          attemptId,
          reference: `order of ${attemptId}`,
          account: 'shop',
          status: 'paid' as const,
          amount: attempt.asked,
          received: null,
          failureCode: null,
          ...said,
        }
        draft.setAttempt(attemptId, withReading(attempt, { order, account: 'shop', rate: RATE, at: draft.at }))
      }),
    /** The buyer has paid, and the converter is asked. */
    async paid(minor = '10000'): Promise<Ids> {
      const made = await this.opened()
      await this.reads(made, { status: 'paid', received: { minor, currency: 'EUR' } })
      return made
    },
    /** The converter has bought this much USDC for the open sale. */
    fill: (id: string, micro: bigint) =>
      change(id, (draft) => {
        const sale = draft.state.sales.find(({ state }) => state === 'asked')!
        draft.setSale({ ...sale, state: 'filled', fill: micro, reference: `fill of ${id}` })
      }),
    handOver: (id: string) =>
      change(id, (draft) => {
        const { payment } = draft.state
        draft.setPayment({ payout: 'handed' })
        const payout = {
          livemode: false,
          chainId: CHAIN_ID,
          token: TOKEN,
          treasury: TREASURY,
          recipient: payment.destination,
        }
        draft.addStatement(payoutInsert({ ...payout, paymentId: id, microUsdc: payment.usdc!.net }))
      }),
    /** The payout waits for its transfer. */
    async settling(): Promise<Ids> {
      const made = await this.paid()
      await this.fill(made.id, 107_900_000n)
      await this.handOver(made.id)
      return made
    },
    /** The final chain shows the transfer of the payout. */
    async prove(id: string): Promise<void> {
      block += 1
      await db.query(
        `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
           block_number, block_hash, gas_share, finalized_at, known_as, applied_at)
         select chain_id, auth_nonce, 3, token, treasury, 'out', recipient, micro_usdc, auth_nonce, $2, auth_nonce, 700, now(),
           'payout', now() from payout where payment_id = $1`,
        [id, block],
      )
      await journal.applyProven(100)
    },
    async succeeded(): Promise<Ids> {
      const made = await this.settling()
      await this.prove(made.id)
      return made
    },
    /** A settled payment with a refund of 20.00 EUR that waits for its USDC. */
    async refunding(): Promise<Ids> {
      const made = await this.succeeded()
      const [id, at] = [newId('refund'), new Date().toISOString()]
      const amount = { minor: '2000', currency: 'EUR' as const }
      await insertRefund(
        db,
        { merchantId: MERCHANT, livemode: false },
        {
          id,
          paymentId: made.id,
          attemptId: made.attemptId,
          amount,
          reason: null,
          metadata: null,
          fundFrom: 'wallet',
          paymentVersion: 1,
          request: null,
          rate: RATE.rate,
          rateSource: RATE.source,
          requiredMicro: '21600000',
          createdAt: at,
          expiresAt: at,
        },
      )
      const address = `0x${Buffer.from(id).toString('hex').slice(-40)}` as const
      const place = { address, nonce: `0x${'1'.repeat(64)}`, tokenName: 'USD Coin' } as const
      await changeRefund(db, context, {
        id,
        change: async ({ refund, setRefund }, tx) => {
          setRefund({ place })
          await openRefundDeposit(tx, { ...refund, place }, 3600)
        },
      })
      return made
    },
    async expired(): Promise<Ids> {
      const made = await this.opened()
      await this.reads(made, { status: 'expired' })
      await change(made.id, (draft) => draft.setPayment({ closedAs: 'expired' }))
      return made
    },
    decide: (id: string, answer: Answer, proof?: string) =>
      changeLocked(id, async (draft, tx) => {
        const { state, at } = draft
        draft.setFunds(withAnswer(toFunds(state), answer))
        await tx.query(
          `insert into decision (payment_id, version, say, attempt_id, outside, proof, operator, reason, at)
           values ($1, $2, $3, $4, $5, $6, 'ada', 'looked at it', $7)`,
          [id, state.payment.version + 1, answer.say, null, proof !== undefined, proof ?? null, at],
        )
      }),
    /** A payment with an address that received 108 USDC. */
    async paidInUsdc(): Promise<Ids> {
      const id = await this.created()
      const attemptId = await this.open(id, 'crypto')
      const address = `0x${attemptId
        .slice(-20)
        .padStart(40, '0')
        .replaceAll(/[^0-9a-f]/g, 'a')}` as const
      await openDeposit(db, {
        attemptId,
        deriveAddress: () => address,
        chainId: CHAIN_ID,
        token: TOKEN,
        askedMicro: '108000000',
        rate: { ...RATE, asOf: new Date().toISOString() },
        expiresAt: Math.floor(Date.now() / 1000) + 3600,
        watchSeconds: 3600,
      })
      await this.deposit(id, '108000000')
      const { receipts } = (await readDeposit(db, attemptId))!
      const rate = { ...RATE, asOf: new Date().toISOString() }
      const received = { minor: '10000', currency: 'EUR' as const }
      await this.reads({ id, attemptId }, { received, usdc: { receipts, askedMicro: '108000000', rate } })
      await db.query('update partner_callback set applied_at = now() where attempt_id = $1', [attemptId])
      return { id, attemptId }
    },
    /** A final transfer to the payment's address, of which the payment has been notified. */
    async deposit(id: string, micro: string): Promise<void> {
      block += 1
      await db.query(
        `with d as (update deposit set unswept_micro = unswept_micro + $2::numeric where payment_id = $1 returning *)
         insert into deposit_log (chain_id, tx_hash, log_index, owner_id, token, sender, units, block_number, block_hash,
           finalized_at, applied_at)
         select chain_id, '0x' || lpad(to_hex($3::bigint), 64, '0'), 0, payment_id, token, address, $2::numeric, $3::bigint,
           '0x' || lpad(to_hex($3::bigint), 64, '0'), now(), null from d`,
        [id, micro, block],
      )
      await journal.applyPending(100)
    },

    /** The differences of the payment, by invariant. */
    async differences(id: string): Promise<Readonly<Record<string, string>>> {
      const { differences, unread } = await reconcile(db, { payment: id })
      if (unread.length > 0) throw new Error(JSON.stringify(unread))
      return Object.fromEntries(differences.map(({ invariant, difference }) => [invariant, difference]))
    },
    state: (id: string) => loadPayment(db, id),
    plant: (text: string, values: unknown[]) => plant(db, text, values),
  }
}
