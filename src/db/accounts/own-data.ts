import { z } from 'zod'
import { execute, many, maybeOne, type Queryable, sql, type Tx } from '../db.ts'

/** The data about a person who signs in, and its deletion. Payments and books belong to accounts, and stay. */

const row = z.record(z.string(), z.unknown())
export type OwnData = Readonly<Record<string, unknown>>

/** No secrets, and nothing about other people. */
export async function readOwnData(db: Queryable, { id, email }: { id: string; email: string }): Promise<OwnData> {
  const rows = (statement: ReturnType<typeof sql>) => many(db, row, statement)
  return {
    person: await maybeOne(db, row, sql`select id, email, created_at, seen_at from person where id = ${id}`),
    accounts: await rows(
      sql`select merchant.name, role, membership.created_at from membership join merchant on merchant.id = merchant_id
          where person_id = ${id} order by membership.created_at`,
    ),
    invitations: await rows(
      sql`select merchant.name, role, invitation.created_at, expires_at from invitation
          join merchant on merchant.id = merchant_id where email = ${email}`,
    ),
    sessions: await rows(
      sql`select how, ip, user_agent, created_at, used_at, ended_at from session where person_id = ${id}
          order by created_at`,
    ),
    passkeys: await rows(
      sql`select name, transports, created_at, used_at from passkey where person_id = ${id} order by created_at`,
    ),
    links_by_mail: await rows(
      sql`select created_at, expires_at, used_at, asked_from from sign_in_link where email = ${email} order by created_at`,
    ),
    channels: await rows(
      sql`select merchant.name as account, kind, channel.name, events, language, channel.created_at from channel
          join merchant on merchant.id = merchant_id where person_id = ${id} and removed_at is null order by channel.id`,
    ),
    changes: await rows(
      sql`select merchant.name as account, action, data, ip, at from audit_entry
          join merchant on merchant.id = merchant_id where actor = ${id} order by audit_entry.id`,
    ),
  }
}

const nameRow = z.object({ name: z.string() })

/**
 * Returns the accounts that need the person: those whose only owner it is, and that have other people, a key that
 * works, a link that takes payments, or money on its way, which might need another wallet.
 */
export async function accountsThatNeed(db: Queryable, personId: string): Promise<string[]> {
  const found = await many(
    db,
    nameRow,
    sql`select merchant.name from membership own join merchant on merchant.id = own.merchant_id
        where own.person_id = ${personId} and own.role = 'owner'
          and not exists (select from membership other where other.merchant_id = own.merchant_id
            and other.person_id <> ${personId} and other.role = 'owner')
          and (exists (select from membership other where other.merchant_id = own.merchant_id
                and other.person_id <> ${personId})
            or exists (select from api_key where api_key.merchant_id = own.merchant_id and revoked_at is null
                and (expires_at is null or expires_at > now()))
            or exists (select from payment_link where payment_link.merchant_id = own.merchant_id and active)
            or exists (select from payment where payment.merchant_id = own.merchant_id and closed_at is null
                and status in ('processing', 'under_review', 'settling')))
        order by merchant.name`,
  )
  return found.map(({ name }) => name)
}

const chatRow = z.object({ id: z.string(), sealed: z.string() })

export function listChats(db: Queryable, personId: string): Promise<z.output<typeof chatRow>[]> {
  const chats = sql`select id, sealed from channel
      where person_id = ${personId} and kind = 'telegram' and removed_at is null`
  return many(db, chatRow, chats)
}

/** The person's changes stay in the log of their accounts, under an id that no longer belongs to a person. */
export async function deletePerson(
  tx: Tx,
  { id, email, chats }: { id: string; email: string; chats: readonly string[] },
): Promise<void> {
  // The channel's name and address are personal data of the person.
  await execute(
    tx,
    sql`update channel set removed_at = now(), sealed = '', name = ''
        where person_id = ${id} and (kind = 'email' or id = any(${chats}::text[]))`,
  )
  await execute(tx, sql`delete from notice where data->>'person' = ${id}`)
  // The notice about an e-mail channel, with the address as its name.
  await execute(tx, sql`update notice set data = jsonb_set(data, '{name}', '""') where data->>'name' = ${email}`)
  await execute(tx, sql`delete from sign_in_link where email = ${email}`)
  await execute(tx, sql`delete from invitation where email = ${email}`)
  await execute(tx, sql`delete from merchant_invitation where email = ${email}`)
  await execute(tx, sql`delete from person where id = ${id}`)
}
