import { privateKeyToAccount } from 'viem/accounts'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { createDb, type Db } from '../../../src/db/db.ts'
import { openDeposit } from '../../../src/db/payments/deposits.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { insertOwed, newRecipient, type Owed, queueOwed } from '../../settlement/payouts.ts'
import type { Setup } from '../../settlement/setup.ts'
import { createOperator, type Operator } from './operator.ts'
import type { PayerKeys } from './payers/payer-process.ts'

/** One side of the comparison: the engine, or the control. */
export type Side = {
  readonly name: string
  readonly script: 'engine.ts' | 'plain-transfers.ts'
  readonly payers: readonly string[]
  /** Deposit addresses to which buyers, and strangers, may send anything. */
  readonly deposits: readonly Hex[]
  /** The operators' actions in the middle; null for a side without lanes and rotation. */
  readonly operator: Operator | null
  prepare(db: Db): Promise<void>
  /** Requests the payments. Idempotent. */
  queue(db: Db, owed: readonly Owed[]): Promise<void>
  countPaid(db: Db): Promise<number>
  isDrained(db: Db): Promise<boolean>
  getKeys(index: number): PayerKeys
}

const count = async (db: Db, text: string, values: readonly unknown[] = []): Promise<number> =>
  Number(((await db.query(text, [...values])).rows[0] as { count: string }).count)

/** Number of deposit addresses that are watched, and to which strangers send. */
const DEPOSITS = 8
const DEPOSIT_SEED = Buffer.alloc(32, 5).toString('base64')

/** `firstId`: the first of the payments that the second treasury pays. */
export function engineSide(setup: Setup, firstId: string): Side {
  const operator = createOperator(setup, firstId)
  const keys = createDepositKeys(DEPOSIT_SEED, setup.chain.chain.id)
  const bought = Array.from({ length: DEPOSITS }, (_deposit, index) => ({
    paymentId: `pay_bought_${index}`,
    attemptId: `att_bought_${index}`,
    recipient: newRecipient(),
    micro: 5_000_000n,
  }))
  return {
    name: 'pinrail',
    script: 'engine.ts',
    payers: operator.treasuries,
    deposits: bought.map(({ paymentId }) => keys.deriveAddress(paymentId)),
    operator,
    async prepare(db) {
      await operator.fundSuccessor()
      await db.query('create table announced (payment_id text not null, what text not null)')
      await insertOwed(db, bought, setup.token)
      for (const { paymentId, attemptId } of bought) {
        await db.query(
          `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, created_at, updated_at)
           values ($1, $2, 'crypto', 'usdc', 'open', 500, 'USD', now(), now())`,
          [attemptId, paymentId],
        )
        await openDeposit(db, {
          attemptId,
          deriveAddress: keys.deriveAddress,
          chainId: setup.chain.chain.id,
          token: setup.token,
          askedMicro: '5000000',
          rate: { rate: '1', source: 'chaos', asOf: new Date().toISOString() },
          expiresAt: Math.floor(Date.now() / 1000) + 3600,
          watchSeconds: 3600,
        })
      }
    },
    queue: (db, owed) => queueOwed(db, owed, { token: setup.token, treasuries: operator.list }),
    countPaid: (db) => count(db, `select count(*) from payout where state = 'settled'`),
    isDrained: async (db) =>
      (await count(
        db,
        `select count(*) from lane_tx where state in ('reserved', 'signed', 'broadcast') and wallet <> all ($1)`,
        [operator.removed()],
      )) === 0,
    getKeys: () => ({ ...operator.keys(), depositSeed: DEPOSIT_SEED }),
  }
}

/** Micro-USDC for each wallet of the control: all of it, several times. */
const CONTROL_MICRO = 10n ** 13n

export function controlSide(setup: Setup): Side {
  const payers = setup.relayerKeys.map((key) => privateKeyToAccount(key).address)
  return {
    name: 'plain transfers',
    script: 'plain-transfers.ts',
    payers,
    deposits: [],
    operator: null,
    async prepare(db) {
      for (const to of payers) await mintUsdc(setup.chain, { to, micro: CONTROL_MICRO })
      await db.query(
        `create table plain (payment_id text primary key, recipient text not null, micro numeric not null,
           state text not null default 'queued', since timestamptz)`,
      )
    },
    async queue(db, owed) {
      await db.query(
        `insert into plain (payment_id, recipient, micro) select * from unnest($1::text[], $2::text[], $3::numeric[])
         on conflict do nothing`,
        [
          owed.map(({ paymentId }) => paymentId),
          owed.map(({ recipient }) => recipient),
          owed.map(({ micro }) => micro.toString()),
        ],
      )
    },
    countPaid: (db) => count(db, `select count(*) from plain where state = 'paid'`),
    isDrained: async () => true,
    getKeys: (index) => ({
      treasuryKey: setup.treasuryKey,
      retiredTreasuryKeys: [],
      treasuryList: [],
      relayerKeys: setup.relayerKeys.slice(index, index + 1),
      fundingKey: setup.fundingKey,
      depositSeed: DEPOSIT_SEED,
    }),
  }
}

/** Runs `work` with a dedicated connection: databases are copied and dropped, which ends every connection. */
export async function withDb<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const db = createDb({ url, livemode: false, pool: 2 })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}
