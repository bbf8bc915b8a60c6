import { privateKeyToAccount } from 'viem/accounts'
import { createDb, type Db } from '../../../src/db/db.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { type Owed, queueOwed } from '../../settlement/payouts.ts'
import type { Stage } from '../../settlement/stage.ts'

/** One side of the comparison: the engine, or the control. */
export type Side = {
  readonly name: string
  readonly script: 'engine.ts' | 'plain-transfers.ts'
  /** Wallets that the USDC leaves from. */
  readonly payers: readonly string[]
  /** Prepares the side before the first payment. */
  prepare(db: Db): Promise<void>
  /** Requests the payments. Idempotent. */
  queue(db: Db, owed: readonly Owed[]): Promise<void>
  /** How many payments the side calls paid. */
  countPaid(db: Db): Promise<number>
  /** Whether none of its transactions is on the way any more. */
  isDrained(db: Db): Promise<boolean>
  /** The relayer wallets of the process with this number. */
  walletsOf(index: number): readonly number[]
}

const count = async (db: Db, text: string): Promise<number> =>
  Number(((await db.query(text)).rows[0] as { count: string }).count)

export function engineSide(stage: Stage): Side {
  const treasury = privateKeyToAccount(stage.treasuryKey).address
  return {
    name: 'pinrail',
    script: 'engine.ts',
    payers: [treasury],
    async prepare(db) {
      await db.query('create table announced (payment_id text not null, what text not null)')
    },
    queue: (db, owed) => queueOwed(db, owed, { token: stage.token, treasury }),
    countPaid: (db) => count(db, `select count(*) from payout where state = 'settled'`),
    isDrained: async (db) =>
      (await count(db, `select count(*) from lane_tx where state in ('reserved', 'signed', 'broadcast')`)) === 0,
    walletsOf: () => stage.relayerKeys.map((_key, index) => index),
  }
}

/** Micro-USDC for each wallet of the control: all of it, several times. */
const CONTROL_MICRO = 10n ** 13n

export function controlSide(stage: Stage): Side {
  const payers = stage.relayerKeys.map((key) => privateKeyToAccount(key).address)
  return {
    name: 'plain transfers',
    script: 'plain-transfers.ts',
    payers,
    async prepare(db) {
      for (const to of payers) await mintUsdc(stage.chain, { to, micro: CONTROL_MICRO })
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
    walletsOf: (index) => [index],
  }
}

/** Runs `work` with a connection of its own: databases are copied and dropped, which ends everybody's. */
export async function withDb<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const db = createDb({ url, livemode: false, pool: 2 })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}
