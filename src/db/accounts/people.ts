import { z } from 'zod'
import { ROLES, type Role } from '../../domain/account/roles.ts'
import { execute, many, maybeOne, one, type Queryable, sql, type Tx } from '../db.ts'
import { time } from '../payments/payment-rows.ts'

const personRow = z.object({ id: z.string(), email: z.string() })
export type Person = z.output<typeof personRow>

export async function findOrInsertPerson(tx: Tx, person: Person): Promise<Person> {
  await execute(
    tx,
    sql`insert into person (id, email) values (${person.id}, ${person.email}) on conflict (email) do nothing`,
  )
  return one(tx, personRow, sql`select id, email from person where email = ${person.email}`)
}

export async function readPersonEmail(db: Queryable, id: string): Promise<string> {
  return (await one(db, personRow, sql`select id, email from person where id = ${id}`)).email
}

/** Locks the person, so that counts of the person's rows run one after the other. */
export async function lockPerson(tx: Tx, id: string): Promise<void> {
  await execute(tx, sql`select 1 from person where id = ${id} for update`)
}

const role = z.enum(ROLES as unknown as [Role, ...Role[]])

const membershipRow = z
  .object({ merchant_id: z.string(), merchant_name: z.string(), role })
  .transform((row) => ({ merchantId: row.merchant_id, name: row.merchant_name, role: row.role }))
export type Membership = z.output<typeof membershipRow>

export function listMemberships(db: Queryable, personId: string): Promise<Membership[]> {
  return many(
    db,
    membershipRow,
    sql`select merchant_id, merchant.name as merchant_name, role from membership
        join merchant on merchant.id = merchant_id where person_id = ${personId}
        order by membership.created_at, merchant_id`,
  )
}

/** An existing member keeps the role. */
export async function insertMembership(
  db: Queryable,
  member: { merchantId: string; personId: string; role: Role },
): Promise<void> {
  await execute(
    db,
    sql`insert into membership (merchant_id, person_id, role)
        values (${member.merchantId}, ${member.personId}, ${member.role}) on conflict do nothing`,
  )
}

const memberRow = z
  .object({
    person_id: z.string(),
    email: z.string(),
    role,
    seen_at: time.nullable(),
    passkeys: z.coerce.number(),
  })
  .transform((row) => ({
    personId: row.person_id,
    email: row.email,
    role: row.role,
    seenAt: row.seen_at,
    passkeys: row.passkeys,
  }))
export type Member = z.output<typeof memberRow>

export function listMembers(db: Queryable, merchantId: string): Promise<Member[]> {
  return many(
    db,
    memberRow,
    sql`select person_id, email, role, seen_at, (select count(*) from passkey where passkey.person_id = person.id) as passkeys
        from membership join person on person.id = person_id
        where merchant_id = ${merchantId} order by membership.created_at, person_id`,
  )
}

const roleRow = z.object({ role })

/** Null if there is no such member. The caller owns the account's lock, and never leaves it without an owner. */
export function setRole(
  tx: Tx,
  member: { merchantId: string; personId: string; role: Role },
): Promise<{ role: Role } | null> {
  return maybeOne(
    tx,
    roleRow,
    sql`update membership set role = ${member.role}
        where merchant_id = ${member.merchantId} and person_id = ${member.personId} returning role`,
  )
}

export async function deleteMembership(tx: Tx, member: { merchantId: string; personId: string }): Promise<boolean> {
  const { merchantId, personId } = member
  await execute(
    tx,
    sql`update session set merchant_id = null where person_id = ${personId} and merchant_id = ${merchantId}`,
  )
  const gone = sql`delete from membership where merchant_id = ${merchantId} and person_id = ${personId}`
  return (await execute(tx, gone)) === 1
}

const invitationRow = z
  .object({ merchant_id: z.string(), merchant_name: z.string(), email: z.string(), role, expires_at: time })
  .transform((row) => ({
    merchantId: row.merchant_id,
    merchantName: row.merchant_name,
    email: row.email,
    role: row.role,
    expiresAt: row.expires_at,
  }))
export type Invitation = z.output<typeof invitationRow>

/** Inviting an address again changes the role and the expiry. */
export async function insertInvitation(
  tx: Tx,
  invited: { merchantId: string; email: string; role: Role; expiresAt: string },
): Promise<void> {
  await execute(
    tx,
    sql`insert into invitation (merchant_id, email, role, expires_at)
        values (${invited.merchantId}, ${invited.email}, ${invited.role}, ${invited.expiresAt}::timestamptz)
        on conflict (merchant_id, email) do update set role = excluded.role, expires_at = excluded.expires_at`,
  )
}

/** The row stays, because its mail counts. False if there is no open invitation. */
export async function endInvitation(
  tx: Tx,
  { merchantId, email, now }: { merchantId: string; email: string; now: string },
): Promise<boolean> {
  const ended = await execute(
    tx,
    sql`update invitation set expires_at = ${now}::timestamptz
        where merchant_id = ${merchantId} and email = ${email} and expires_at > ${now}::timestamptz`,
  )
  return ended === 1
}

export function listInvitations(
  db: Queryable,
  of: { merchantId: string } | { email: string },
  now: string,
): Promise<Invitation[]> {
  const condition = 'email' in of ? sql`email = ${of.email}` : sql`merchant_id = ${of.merchantId}`
  return many(
    db,
    invitationRow,
    sql`select merchant_id, merchant.name as merchant_name, email, role, expires_at from invitation
        join merchant on merchant.id = merchant_id
        where ${condition} and expires_at > ${now}::timestamptz order by invitation.created_at, email limit 100`,
  )
}

/** Null if there is no open invitation. */
export function takeInvitation(
  tx: Tx,
  { merchantId, email, now }: { merchantId: string; email: string; now: string },
): Promise<{ role: Role } | null> {
  return maybeOne(
    tx,
    roleRow,
    sql`delete from invitation where merchant_id = ${merchantId} and email = ${email}
        and expires_at > ${now}::timestamptz returning role`,
  )
}
