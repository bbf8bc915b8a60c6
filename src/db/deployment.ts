import { z } from 'zod'
import { DatabaseRefusal } from './assert-session.ts'
import { execute, maybeOne, one, type Queryable, sql } from './db.ts'

/** The mode of a database: stamped once, asserted by every process (docs/operations.md). */

export class ModeRefusal extends DatabaseRefusal {}

/**
 * Stamps a database that has no mode yet, and asserts its mode. Existing payments determine the mode. Throws
 * ModeRefusal if it is the other mode, or if there are payments of both.
 */
export async function claimMode(db: Queryable): Promise<void> {
  if ((await readMode(db)) === null) await stamp(db)
  await assertMode(db)
}

/** Asserts the mode and writes nothing: a database without mode and payments has no owner yet, and passes. */
export async function assertMode(db: Queryable): Promise<void> {
  const livemode = (await readMode(db)) ?? (await readModeOfPayments(db))
  if (livemode === null || livemode === db.livemode) return
  throw new ModeRefusal(
    `This process is in ${nameMode(db.livemode)} mode, but its database belongs to a ${nameMode(livemode)} deployment. ` +
      `Set DATABASE_URL to the database of the ${nameMode(db.livemode)} deployment, or PINRAIL_MODE=${nameMode(livemode)}.`,
  )
}

/** The first process wins: another one that stamps at the same moment waits here, and changes nothing. */
async function stamp(db: Queryable): Promise<void> {
  const livemode = (await readModeOfPayments(db)) ?? db.livemode
  await execute(db, sql`insert into deployment (livemode) values (${livemode}) on conflict do nothing`)
}

const deploymentRow = z.object({ livemode: z.boolean() })

async function readMode(db: Queryable): Promise<boolean | null> {
  const row = await maybeOne(db, deploymentRow, sql`select livemode from deployment`)
  return row?.livemode ?? null
}

const modesRow = z.object({ live: z.boolean(), test: z.boolean() })

/** Null: there are no payments. */
async function readModeOfPayments(db: Queryable): Promise<boolean | null> {
  const { live, test } = await one(
    db,
    modesRow,
    sql`select exists (select 1 from payment where livemode) as live,
          exists (select 1 from payment where not livemode) as test`,
  )
  if (live && test)
    throw new ModeRefusal(
      'The database has no mode yet, and holds payments of both modes. A deployment has one mode. List those of the ' +
        'mode that it should not have: select id, merchant_id, status, created_at from payment where livemode = ' +
        `${!db.livemode}. What to do with them is in docs/operations.md under "One mode".`,
    )
  return live || test ? live : null
}

const nameMode = (livemode: boolean): string => (livemode ? 'live' : 'test')
