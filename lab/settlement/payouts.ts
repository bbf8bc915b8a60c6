import { randomBytes } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import { DEVELOPMENT_CHAIN_ID } from '../../scripts/system/anvil.ts'
import type { Db } from '../../src/db/db.ts'
import { queuePayout } from '../../src/db/settlement/payouts.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { getTreasury, type Treasury } from '../../src/domain/settlement/treasuries.ts'

/** The part of a payment that settlement knows: what is owed to whom. */
export type Owed = { readonly paymentId: string; readonly recipient: Hex; readonly micro: bigint }

export const newRecipient = (): Hex => `0x${randomBytes(20).toString('hex')}`

/** Inserts payments of which only the payout matters here. */
export async function insertOwed(db: Db, owed: readonly Owed[], token: Hex): Promise<void> {
  await db.query(
    `insert into payment (id, merchant_id, livemode, amount_text, amount_minor, currency, fallback, checkout_token,
       destination, chain_id, token, quote, created_at, updated_at, expires_at)
     select p.id, 'mer_1', false, '1.00', 100, 'USD', 'none', p.id, p.destination, $3, $4,
       jsonb_build_object('netMicro', p.micro), now(), now(), now()
     from unnest($1::text[], $2::text[], $5::text[]) as p(id, destination, micro) on conflict do nothing`,
    [
      owed.map(({ paymentId }) => paymentId),
      owed.map(({ recipient }) => recipient),
      DEVELOPMENT_CHAIN_ID,
      token,
      owed.map(({ micro }) => micro.toString()),
    ],
  )
}

export const onlyTreasury = (key: Hex): Treasury[] => [
  { address: privateKeyToAccount(key).address.toLowerCase() as Hex, firstId: null },
]

/** Inserts such payments, each with its payout in the queue. */
export async function queueOwed(
  db: Db,
  owed: readonly Owed[],
  { token, treasuries }: { readonly token: Hex; readonly treasuries: readonly Treasury[] },
): Promise<void> {
  await insertOwed(db, owed, token)
  await db.transaction(async (tx) => {
    for (const { paymentId, recipient, micro } of owed)
      await queuePayout(tx, {
        token,
        treasury: getTreasury(paymentId, treasuries),
        paymentId,
        recipient,
        livemode: false,
        chainId: DEVELOPMENT_CHAIN_ID,
        microUsdc: micro.toString(),
      })
  })
}
