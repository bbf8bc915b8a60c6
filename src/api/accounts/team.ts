import { writeAudit } from '../../db/accounts/audit.ts'
import { countMailedInvitations, takeInvitationMail } from '../../db/accounts/invitation-mails.ts'
import { insertInvitation, listInvitations, listMembers, type Member } from '../../db/accounts/people.ts'
import type { Db, Tx } from '../../db/db.ts'
import { lockMerchant } from '../../db/merchants/merchants.ts'
import { maskEmail } from '../../domain/account/email.ts'
import { hasAbility, type Role } from '../../domain/account/roles.ts'
import type { Platform } from '../../domain/platform.ts'
import { invitationMail, type MailDeps, queueMail } from './mails.ts'

export type TeamDeps = MailDeps & {
  readonly platform: Platform
  readonly db: Db
  readonly clock: () => number
  readonly publicUrl: string
}

/** The person or key that makes the change. A person must be an owner at the moment of the change. */
export type TeamActor = {
  readonly merchantId: string
  readonly by: { readonly person: string; readonly email: string } | { readonly key: string }
  readonly ip: string
}

type Refusal = 'forbidden_role' | 'not_found' | 'last_owner'

export class TeamRefused extends Error {
  readonly reason: Refusal
  constructor(reason: Refusal) {
    super(reason)
    this.reason = reason
  }
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
export const INVITED_MS = 7 * DAY_MS
/** People and open invitations of one account, and invitations that it can send in a day. */
const MOST_PEOPLE = 50
/** Invitations that all accounts together mail to one address within an hour. Each account mails at most one. */
const MAILS_PER_HOUR = 5

export type Invited =
  | { readonly ok: true; readonly expiresAt: string }
  | { readonly ok: false; readonly why: 'member' | 'many'; readonly message: string }

/** Must not reveal whether the address already signs in here. */
export function invite(
  deps: TeamDeps,
  actor: TeamActor,
  { email, role, account }: { email: string; role: Role; account: string },
): Promise<Invited> {
  const { merchantId, ip } = actor
  const iso = (after: number): string => new Date(deps.clock() + after).toISOString()
  const [now, expiresAt] = [iso(0), iso(INVITED_MS)]
  const refuse = (why: 'member' | 'many', message: string): Invited => ({ ok: false, why, message })
  return deps.db.transaction(async (tx) => {
    const members = await lockTeam(tx, actor)
    const open = (await listInvitations(tx, { merchantId }, now)).filter((other) => other.email !== email)
    if (members.some((member) => member.email === email)) return refuse('member', 'This person is already in the team.')
    if (members.length + open.length >= MOST_PEOPLE)
      return refuse('many', `An account has at most ${MOST_PEOPLE} people.`)
    if ((await countMailedInvitations(tx, merchantId, iso(-DAY_MS))) >= MOST_PEOPLE)
      return refuse('many', `An account can send at most ${MOST_PEOPLE} invitations a day.`)
    await insertInvitation(tx, { merchantId, email, role, expiresAt })
    const by = 'email' in actor.by ? actor.by.email : null
    const mail = invitationMail(email, {
      platform: deps.platform,
      by,
      account,
      url: `${deps.publicUrl}/dashboard/welcome`,
    })
    // A repeated invitation may send no mail. It still appears when the person signs in.
    if (await takeInvitationMail(tx, { merchantId, email, now, since: iso(-HOUR_MS), most: MAILS_PER_HOUR }))
      await queueMail(deps, tx, { mail, now, expiresAt })
    await writeAudit(tx, {
      merchantId,
      actor: actorId(actor),
      action: 'member.invited',
      data: { email: maskEmail(email), role },
      ip,
    })
    return { ok: true, expiresAt }
  })
}

/** `work` returns null if there is nothing to change. A change that would leave no owner is rolled back. */
export async function changeTeam(
  { db }: Pick<TeamDeps, 'db'>,
  actor: TeamActor,
  work: (tx: Tx, members: readonly Member[]) => Promise<{ action: string; data: object } | null>,
): Promise<void> {
  const { merchantId, ip } = actor
  await db.transaction(async (tx) => {
    const before = await lockTeam(tx, actor)
    const done = await work(tx, before)
    if (done === null) throw new TeamRefused('not_found')
    const left = await listMembers(tx, merchantId)
    const hasOwner = (members: readonly Member[]): boolean => members.some(({ role }) => role === 'owner')
    if (hasOwner(before) && !hasOwner(left)) throw new TeamRefused('last_owner')
    await writeAudit(tx, { merchantId, actor: actorId(actor), ...done, ip })
  })
}

/** Locks the members, then checks the role again: another owner may have changed it while this request waited. */
async function lockTeam(tx: Tx, { merchantId, by }: TeamActor): Promise<Member[]> {
  await lockMerchant(tx, merchantId)
  const members = await listMembers(tx, merchantId)
  if ('key' in by) return members
  const own = members.find(({ personId }) => personId === by.person)
  if (own === undefined || !hasAbility(own.role, 'own')) throw new TeamRefused('forbidden_role')
  return members
}

/** Returns the actor of an entry of the audit log as people of the account read it. */
export function nameActor(members: readonly Member[], actor: string): string {
  const member = members.find(({ personId }) => personId === actor)
  return member?.email ?? (actor.startsWith('key_') ? 'an API key' : 'a former member')
}

const actorId = ({ by }: TeamActor): string => ('key' in by ? by.key : by.person)
