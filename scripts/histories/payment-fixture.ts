import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { z } from 'zod'
import { many, sql } from '../../src/db/db.ts'
import { recordCallback } from '../../src/db/payments/partner-callbacks.ts'
import { insertPayment, loadPayment } from '../../src/db/payments/payments.ts'
import type { MethodName, ProviderName, ProviderUsed } from '../../src/domain/methods.ts'
import type { PaymentWithAttempts } from '../../src/domain/payment/payment-object.ts'
import type { OpenAttemptAnswer } from '../../src/domain/payment/requests.ts'
import type { Settlement } from '../../src/domain/settlement/payout.ts'
import { newId } from '../../src/ids.ts'
import { newPayment } from '../test/new-payment.ts'

import { PATHS, type PaymentPartsOptions, startPaymentParts, WALLET } from './payment-parts.ts'
export type PaymentFixture = Awaited<ReturnType<typeof createPaymentFixture>>

export async function createPaymentFixture(env: TestWorkflowEnvironment, partsOptions: PaymentPartsOptions = {}) {
  const parts = await startPaymentParts(env, partsOptions)
  const { db, hooks, relay, sandbox, sandboxUrl, tenant, clock, workflows } = parts
  const { workers } = parts.worker
  const running = workers.map((worker) => worker.run())

  return {
    ...parts,

    async createPayment(body: Record<string, unknown> = {}): Promise<string> {
      const response = await fetch(`${parts.api}/v1/payments`, {
        method: 'POST',
        headers: { authorization: `Bearer ${parts.secretKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ amount: '49.99', currency: 'EUR', provider: 'wallet_app', ...body }),
      })
      const payment = z.object({ id: z.string() }).parse(await response.json())
      return payment.id
    },

    /** The buyer presses Continue. */
    async openAttempt(
      paymentId: string,
      provider: ProviderUsed = 'wallet_app',
      method: MethodName = 'banking_app',
    ): Promise<OpenAttemptAnswer> {
      const answer = await workflows.openAttempt(paymentId, { attemptId: newId('attempt'), provider, method })
      if (answer.kind === 'unavailable') throw new Error('the attempt could not be opened')
      return answer
    },

    /** The buyer pays, passing the identity check of a first payment. */
    async pay(provider: ProviderName, attemptId: string, act: Record<string, unknown> = {}): Promise<void> {
      await this.atPartner(provider, attemptId, { action: 'pay', buyer: 'buyer-1', ...act })
      if ((await this.orderAt(provider, attemptId)).status === 'verification_required')
        await this.atPartner(provider, attemptId, { action: 'verify' })
    },

    async orderAt(provider: ProviderName, attemptId: string): Promise<{ status: string }> {
      const response = await fetch(`${sandboxUrl}${PATHS[provider]}/sandbox/orders/${attemptId}`)
      return z.looseObject({ status: z.string() }).parse(await response.json())
    },

    /** Acts at the partner; the callback follows unless `silently`. */
    async atPartner(
      provider: ProviderName,
      attemptId: string,
      act: Record<string, unknown>,
      how: 'aloud' | 'silently' = 'aloud',
    ): Promise<void> {
      const response = await fetch(`${sandboxUrl}${PATHS[provider]}/sandbox/orders/${attemptId}/act`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(act),
      })
      if (!response.ok) throw new Error(`the partner refused: ${response.status} ${await response.text()}`)
      if (how === 'aloud') await sandbox.callbacks.flush()
    },

    async faultAt(provider: ProviderName | 'converter', fault: Record<string, unknown>): Promise<void> {
      const path = provider === 'converter' ? '/converter' : PATHS[provider]
      const response = await fetch(`${sandboxUrl}${path}/sandbox/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(fault),
      })
      if (!response.ok) throw new Error(`no such fault: ${response.status} ${await response.text()}`)
    },

    clearFaults: async (): Promise<void> => {
      for (const path of [...Object.values(PATHS), '/converter'])
        await fetch(`${sandboxUrl}${path}/sandbox/faults`, { method: 'DELETE' })
    },

    /** Creates a payment as if the process had died between commit and start. */
    async createPaymentWithoutStart(): Promise<string> {
      const id = newId('payment')
      const createdAt = new Date(clock()).toISOString()
      const payment = newPayment({ id, createdAt, destination: WALLET, token: parts.token })
      await insertPayment(db, tenant, { payment, claim: null, publicUrl: 'http://127.0.0.1:9' })
      return id
    },

    /** Stores a callback as if the process had died between storing it and signaling it. */
    async storeCallbackOnly(provider: ProviderName, attemptId: string): Promise<void> {
      await recordCallback(db, {
        provider,
        eventId: newId('request'),
        subject: { attemptId },
        bodySha256: new Uint8Array(32),
        at: new Date().toISOString(),
      })
    },

    /** Records that the settlement engine has proved that the payout can never be paid. */
    async voidPayout(paymentId: string): Promise<void> {
      const { microUsdc: _micro, recipient: _recipient, ...voided } = proof(paymentId, '1', new Date(clock()))
      await db.transaction((tx) => hooks.onVoided(tx, { kind: 'canceled', ...voided }))
      await relay.relayChanges()
    },

    /** Records that the settlement engine has proved the payout on chain: its transaction, then the relay. */
    async settle(paymentId: string, micro?: string): Promise<void> {
      await db.transaction(async (tx) =>
        hooks.onSettled(tx, [proof(paymentId, micro ?? (await readNet(tx, paymentId)), new Date(clock()))]),
      )
      await relay.relayChanges()
    },

    /** Lists the disputes that are due, and passes on what the list has found. */
    async sweepDisputes(): Promise<void> {
      await parts.worker.loops.find(({ name }) => name === 'disputes')?.tick()
      await relay.relayCallbacks()
    },

    /** The sweep of disputes goes by the database's clock. */
    async passTimeForDisputes(interval: string): Promise<void> {
      await db.query('update dispute_sweep set due_at = due_at - $1::interval, begun_at = begun_at - $1::interval', [
        interval,
      ])
    },

    /**
     * Lets the time run. Time stops while an activity runs, and a transfer runs until its payout is settled: so skip up
     * to the moment that starts one, not beyond.
     */
    async skip(duration: string | number): Promise<void> {
      await env.sleep(duration)
      parts.advanceTo(await env.currentTimeMs())
    },

    /** Lets a `skip` end whose time has stopped: a run that was ended in the middle of an activity stops it forever. */
    async unlockTime(): Promise<void> {
      await env.connection.testService?.unlockTimeSkipping({})
    },

    read: (paymentId: string): Promise<PaymentWithAttempts> => loadPayment(db, paymentId),

    timeline: (paymentId: string) =>
      many(
        db,
        z.object({
          kind: z.string(),
          from_status: z.string().nullable(),
          to_status: z.string().nullable(),
          actor: z.string(),
          message: z.string(),
        }),
        sql`select kind, from_status, to_status, actor, message from timeline_entry where payment_id = ${paymentId} order by id`,
      ),

    async close(): Promise<void> {
      for (const worker of workers) worker.shutdown()
      await Promise.all(running)
      await parts.close()
    },
  }
}

function proof(paymentId: string, microUsdc: string, finalizedAt: Date): Settlement {
  return {
    ownerId: paymentId,
    microUsdc,
    recipient: WALLET,
    txHash: `0x${Buffer.from(paymentId.slice(-16)).toString('hex').padStart(64, '0')}`,
    logIndex: 1,
    blockNumber: 100,
    blockHash: `0x${'2'.repeat(64)}`,
    finalizedAt,
    gasWei: null,
    claimedFrom: null,
  }
}

async function readNet(db: Parameters<typeof loadPayment>[0], paymentId: string): Promise<string> {
  const { payment } = await loadPayment(db, paymentId)
  if (payment.usdc === null) throw new Error('nothing was converted')
  return payment.usdc.net
}
