import { expect } from '@jest/globals'
import { CompleteAsyncError } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import { z } from 'zod'
import type { CloseAs } from '../../../src/activities/payment/partner-orders.ts'
import type { PayoutQueue } from '../../../src/activities/payment/payment-deps.ts'
import { many, sql } from '../../../src/db/db.ts'
import { reconcile } from '../../../src/db/invariants/reconcile.ts'
import { loadPayment } from '../../../src/db/payments/payments.ts'
import { readOpenPayout } from '../../../src/db/settlement/observer/forgotten-payouts.ts'
import { payoutInsert, stopPayout } from '../../../src/db/settlement/payouts.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import type { Decision, OpenAttemptRequest, Say } from '../../../src/domain/payment/requests.ts'
import type { PaymentSnapshot } from '../../../src/domain/payment/snapshot.ts'
import type { VoidProof } from '../../../src/domain/settlement/payout.ts'
import { newId } from '../../../src/ids.ts'
import { PartnerError } from '../../../src/partners/provider.ts'
import { voidPayout } from '../../../src/payments/void-payout.ts'
import { createSettlementHooks } from '../../../src/settlement/hooks.ts'
import { createActivityFixture, perform } from './fixture.ts'
import { type HowItAnswers, partnerSays } from './partner-says.ts'

export const SIGNED = { operator: 'ada', reason: 'looked at it' }
/** No engine here stores the transfers and payouts of the hooks that the tests call. */
const OF_THE_CHAIN = [
  'payout_state_agrees',
  'settled_payout_has_its_log',
  'succeeded_has_its_transfer',
  'succeeded_is_paid_its_net',
]
const APP = { provider: 'wallet_app', method: 'banking_app' } as const
const CARD = { provider: 'card_partner', method: 'card' } as const

/** Unix milliseconds of a clock at which every moment of a payment has passed. */
export const LATE = Date.UTC(2100, 0, 1)

/** A payment and one of its orders. */
export type Made = { readonly id: string; readonly attemptId: string }

export const eur = (minor: string) => ({ minor, currency: 'EUR' as const })

export type MoneyFixture = Awaited<ReturnType<typeof createMoneyFixture>>

/** The activities with the settlement engine's real counter, and the steps of stories about money. */
export async function createMoneyFixture() {
  const base = await createActivityFixture()
  const { db } = base.checkout
  const payouts: PayoutQueue = {
    getTreasury: () => `0x${'7'.repeat(40)}`,
    queue: payoutInsert,
    stop: stopPayout,
    void: voidPayout,
    open: readOpenPayout,
  }
  const activities = (changes: Partial<typeof base.deps> = {}) => base.activities({ payouts, ...changes })
  const hooks = createSettlementHooks(base.deps.context)
  const act = (attemptId: string, action: Record<string, unknown>) => base.sandbox.act('wallet_app', attemptId, action)

  const fillExactly = (id: string) =>
    base.sandbox.fault('converter', {
      fault: 'fill_off_rate',
      minor: '108000000',
      times: 1,
      attemptId: `${id}:convert`,
    })

  /** Checks the invariants of every payment of the tests. */
  async function expectSound(): Promise<void> {
    const { differences, unread } = await reconcile(db, 'all')
    expect(differences.filter(({ invariant }) => !OF_THE_CHAIN.includes(invariant))).toEqual([])
    expect(unread).toEqual([])
  }

  return {
    ...base,
    async close() {
      try {
        await expectSound()
      } finally {
        await base.close()
      }
    },
    activities,
    hooks,
    act,
    payouts,
    fault: (fault: Record<string, unknown>) => base.sandbox.fault('wallet_app', fault),
    says: (order: Partial<PartnerOrder>, how: HowItAnswers = {}) => partnerSays(base.deps, order, how),
    clearFaults: async () => {
      for (const at of ['wallet-app', 'converter'])
        await fetch(`${base.sandbox.url}/${at}/sandbox/faults`, { method: 'DELETE' })
    },

    /** A payment of 100.00 EUR with an order at the partner. */
    async opened(): Promise<Made> {
      const { id } = await base.checkout.create({
        amountText: '100.00',
        amount: { minor: '10000', currency: 'EUR' },
        destination: `0x${'d'.repeat(40)}`,
        quote: { rate: '1.08', rateSource: 'test', netMicro: '103140000', expiresAt: new Date().toISOString() },
      })
      return { id, attemptId: await this.open(id) }
    },
    async open(id: string, choice: Pick<OpenAttemptRequest, 'provider' | 'method'> = APP): Promise<string> {
      const attemptId = newId('attempt')
      await perform(activities().openPartnerOrder, { paymentId: id, attemptId, ...choice })
      return attemptId
    },
    /** One with an order at the wallet app, and another one at the card partner. */
    async two(): Promise<{ readonly made: Made; readonly other: Made }> {
      const made = await this.opened()
      return { made, other: { id: made.id, attemptId: await this.open(made.id, CARD) } }
    },
    /** The buyer has paid this much, and the payment has a reading of it. */
    async paid(minor = '10000'): Promise<Made> {
      const made = await this.opened()
      await act(made.attemptId, { action: 'pay', receivedMinor: minor })
      await this.read(made)
      return made
    },
    async settling(): Promise<Made> {
      const made = await this.paid()
      await this.handOver(made.id)
      return made
    },
    /** One try of the settlement: hands the payout over, cannot continue yet, or returns the next step. */
    async trySettle(
      id: string,
      changes: Partial<typeof base.deps> = {},
    ): Promise<'handed over' | 'not yet' | PaymentSnapshot['next']> {
      try {
        return (await perform(activities(changes).settle, id)).payment.next
      } catch (error) {
        if (error instanceof CompleteAsyncError) return 'handed over'
        if (error instanceof ApplicationFailure && error.type === 'NotYet') return 'not yet'
        throw error
      }
    },
    /**
     * Sells the money at 1.08 USDC for a euro, to the last micro-USDC, and hands the payout to the settlement engine.
     */
    async handOver(id: string): Promise<void> {
      await fillExactly(id)
      await this.trySettle(id)
    },
    /** The same, but the fill takes a minute, and the partner does not answer afterwards: nothing is handed over. */
    async convert(id: string): Promise<void> {
      await fillExactly(id)
      let isFilled = false
      const converter: typeof base.deps.converter = {
        ...base.deps.converter,
        convert: async (...order) => {
          const answer = await base.deps.converter.convert(...order)
          isFilled ||= answer.kind === 'filled'
          return answer
        },
      }
      const partners = mapValues(base.deps.partners, (partner) => ({
        ...partner,
        readOrder: (...asked: Parameters<typeof partner.readOrder>) =>
          isFilled ? Promise.reject(new PartnerError('unknown', 'no answer')) : partner.readOrder(...asked),
      }))
      const context = { ...base.deps.context, now: () => Date.now() + (isFilled ? 60_000 : 0) }
      await this.trySettle(id, { converter, partners, context }).catch((error: unknown) => {
        if (!(error instanceof ApplicationFailure && error.type === 'Partner.unknown')) throw error
      })
    },
    read: ({ id, attemptId }: Made, changes: Partial<typeof base.deps> = {}) =>
      perform(activities(changes).readPartnerOrder, { paymentId: id, attemptId }),
    /** The operator decides about the payment in its current version. */
    async decide(id: string, say: Say, more: Partial<Decision> = {}) {
      const { version } = await this.payment(id)
      return perform(activities().decide, { paymentId: id, say, version, ...SIGNED, ...more })
    },
    /** Gives the money back through its partner, as the workflow does after the decision. */
    async giveBack({ id, attemptId }: Made, changes: Partial<typeof base.deps> = {}) {
      await this.decide(id, 'give_back', { attempt: attemptId })
      return this.askBack({ id, attemptId }, changes)
    },
    askBack: ({ id, attemptId }: Made, changes: Partial<typeof base.deps> = {}) =>
      perform(activities(changes).giveBack, { paymentId: id, attemptId }),
    /** The buyer got the money of the order from elsewhere. */
    async gaveOutside({ id, attemptId }: Made, more: Partial<Decision> = {}) {
      return this.decide(id, 'give_back', { attempt: attemptId, outside: true, ...more })
    },
    /** By a clock at which every moment of the payment has passed. */
    closeAs: (id: string, as: CloseAs, changes: Partial<typeof base.deps> = {}) =>
      perform(activities(changes).closeUnpaid, { paymentId: id, as, now: LATE }),
    state: (id: string) => loadPayment(db, id),
    payment: async (id: string) => (await loadPayment(db, id)).payment,
    async standing(id: string): Promise<string> {
      const { status, statusReason } = (await loadPayment(db, id)).payment
      return statusReason === null ? status : `${status} ${statusReason}`
    },
    /** The status of each order and the partner's balance. */
    held: async (id: string) => (await loadPayment(db, id)).attempts.map(({ status, held }) => `${status} ${held}`),

    /** The settlement engine has proved the payout on chain, or that it can never be paid. */
    settle: (id: string) =>
      db.transaction(async (tx) => {
        const { payment } = await loadPayment(tx, id)
        await hooks.onSettled(tx, [
          { ...proof(id), microUsdc: payment.usdc?.net ?? '0', recipient: '0x', gasWei: null, claimedFrom: null },
        ])
      }),
    voided: (id: string) =>
      db.transaction((tx) => hooks.onVoided(tx, { kind: 'canceled', gasWei: null, ...proof(id) } as VoidProof)),

    /** Every account of the payment that is not zero, as `account ASSET amount`. */
    async books(id: string): Promise<string[]> {
      const rows = await many(
        db,
        z.object({ line: z.string() }),
        sql`select e.account || ' ' || e.asset || ' ' || sum(e.amount) as line
            from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
            where t.payment_id = ${id} group by e.account, e.asset having sum(e.amount) <> 0 order by 1`,
      )
      return rows.map(({ line }) => line)
    },
    /** Lists the entries of the attention list, without the texts that people read. */
    async attention(id: string): Promise<string[]> {
      const rows = await many(
        db,
        z.object({ line: z.string() }),
        sql`select concat_ws(' ', kind, split_part(detail, ':', 1)) as line from attention where payment_id = ${id}
            order by 1`,
      )
      return rows.map(({ line }) => line)
    },
    async payout(id: string): Promise<string | null> {
      const { rows } = await db.query('select state from payout where payment_id = $1', [id])
      return rows[0]?.state ?? null
    },
    events: async (id: string) => {
      const rows = await many(
        db,
        z.object({ type: z.string() }),
        sql`select type from event where payment_id = ${id} order by sequence`,
      )
      return rows.map(({ type }) => type)
    },
  }
}

function mapValues<Key extends string, Value>(
  record: Readonly<Record<Key, Value>>,
  change: (value: Value) => Value,
): Record<Key, Value> {
  return Object.fromEntries(Object.entries<Value>(record).map(([key, value]) => [key, change(value)])) as Record<
    Key,
    Value
  >
}

function proof(paymentId: string) {
  return {
    ownerId: paymentId,
    txHash: `0x${Buffer.from(paymentId.slice(-16)).toString('hex').padStart(64, '0')}` as const,
    logIndex: 1,
    blockNumber: 100,
    blockHash: `0x${'2'.repeat(64)}` as const,
    finalizedAt: new Date(),
  }
}
