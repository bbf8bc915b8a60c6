import { z } from 'zod'
import { listAudit, writeAudit } from '../../../db/accounts/audit.ts'
import { countMailedInvitations, takeInvitationMail } from '../../../db/accounts/invitation-mails.ts'
import {
  deleteMembership,
  endInvitation,
  insertInvitation,
  listInvitations,
  listMembers,
  type Member,
  setRole,
} from '../../../db/accounts/people.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { lockMerchant } from '../../../db/merchants/merchants.ts'
import { readEmail } from '../../../domain/account/email.ts'
import { may, ROLES } from '../../../domain/account/roles.ts'
import { renderTeam } from '../../../web/dashboard/team.tsx'
import { invitationMail, type MailDeps, queueMail } from '../../accounts/mails.ts'
import { SiteProblem } from '../site-problem.ts'
import { definePage, type Page, type PageCall } from './page.ts'

export type TeamDeps = MailDeps & { readonly db: Db; readonly clock: () => number; readonly publicUrl: string }

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const INVITED_MS = 7 * DAY_MS
const SHOWN = 100
/** People and invitations of one account, and invitations that it may have mailed in a day. */
const MOST_PEOPLE = 50
/** Invitations that one address is mailed within an hour, by all accounts together, and one by each of them. */
const MAILS_PER_HOUR = 5

const role = z.enum(ROLES)
const back = (): string => '/dashboard/team'

export function teamPages(deps: TeamDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: '/dashboard/team',
      needs: 'look',
      handle: async (call) => ({ html: await show(deps, call, { email: '', errors: {} }) }),
    }),
    definePage({
      method: 'post',
      path: '/dashboard/team/invite',
      needs: 'own',
      fresh: back,
      form: z.object({ email: z.string().max(1000), role }),
      handle: async (call) => {
        const email = readEmail(call.form.email)
        const problem =
          email === null ? 'Write the whole address, such as you@shop.example.' : await invite(deps, call, email)
        if (problem === null) return { to: back() }
        const errors = { email: problem }
        return { status: 400, html: await show(deps, call, { email: call.form.email.slice(0, 254), errors }) }
      },
    }),
    definePage({
      method: 'post',
      path: '/dashboard/team/role',
      needs: 'own',
      fresh: back,
      form: z.object({ person: z.string().max(100), role }),
      handle: (call) =>
        changeTeam(deps, call, async (tx) => {
          const member = { merchantId: call.tenant.merchantId, personId: call.form.person, role: call.form.role }
          return (await setRole(tx, member)) === null ? null : { action: 'member.role', data: call.form }
        }),
    }),
    definePage({
      method: 'post',
      path: '/dashboard/team/remove',
      needs: 'own',
      fresh: back,
      form: z.object({ person: z.string().max(100) }),
      handle: (call) =>
        changeTeam(deps, call, async (tx) => {
          const member = { merchantId: call.tenant.merchantId, personId: call.form.person }
          return (await deleteMembership(tx, member)) ? { action: 'member.removed', data: call.form } : null
        }),
    }),
    definePage({
      method: 'post',
      path: '/dashboard/team/withdraw',
      needs: 'own',
      fresh: back,
      form: z.object({ email: z.string().max(1000) }),
      handle: (call) =>
        changeTeam(deps, call, async (tx) => {
          const now = new Date(deps.clock()).toISOString()
          const invited = { merchantId: call.tenant.merchantId, email: call.form.email, now }
          return (await endInvitation(tx, invited)) ? { action: 'invitation.withdrawn', data: {} } : null
        }),
    }),
  ]
}

async function show(
  deps: TeamDeps,
  { frame, tenant, role: own, db }: PageCall,
  { email, errors }: { email: string; errors: Record<string, string> },
): Promise<string> {
  const now = new Date(deps.clock()).toISOString()
  const [members, invitations, audit] = await Promise.all([
    listMembers(deps.db, tenant.merchantId),
    listInvitations(deps.db, { merchantId: tenant.merchantId }, now),
    listAudit(db, tenant.merchantId, { limit: SHOWN }),
  ])
  const names = new Map(members.map(({ personId, email: name }) => [personId, name]))
  const lines = audit.map(({ id, actor, action, data, at, ip }) => {
    const about = Object.values(data).filter((value) => typeof value === 'string' || typeof value === 'number')
    const name = action
      .replaceAll(/[._]/g, ' ')
      .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`)
      .toLowerCase()
    const what = `${name}${about.length === 0 ? '' : `: ${about.join(', ')}`}`
    return { id, at, ip, what, who: names.get(actor) ?? 'Somebody who left' }
  })
  return renderTeam({ frame, members, invitations, audit: lines, owns: may(own, 'own'), now, email, errors })
}

/** Null: invited. It tells nothing about whether the address signs in here already. */
async function invite(
  deps: TeamDeps,
  { tenant: { merchantId }, person, ip, form, frame }: PageCall<{ role: (typeof ROLES)[number] }>,
  email: string,
): Promise<string | null> {
  const iso = (after: number): string => new Date(deps.clock() + after).toISOString()
  const [now, expiresAt] = [iso(0), iso(INVITED_MS)]
  return deps.db.transaction(async (tx) => {
    const members = await lockTeam(tx, { merchantId, person })
    const open = await listInvitations(tx, { merchantId }, now)
    if (members.some((member) => member.email === email)) return 'This person is in the team already.'
    if (members.length + open.length >= MOST_PEOPLE) return `An account has at most ${MOST_PEOPLE} people.`
    if ((await countMailedInvitations(tx, merchantId, iso(-DAY_MS))) >= MOST_PEOPLE)
      return `An account may send at most ${MOST_PEOPLE} invitations in a day.`
    await insertInvitation(tx, { merchantId, email, role: form.role, expiresAt })
    const mail = invitationMail(email, {
      by: person.email,
      account: frame.account ?? '',
      url: `${deps.publicUrl}/dashboard/welcome`,
    })
    // Who is invited again and again is not mailed as often; the invitation stands where the person signs in.
    if (await takeInvitationMail(tx, { merchantId, email, now, since: iso(-HOUR_MS), most: MAILS_PER_HOUR }))
      await queueMail(deps, tx, { mail, now, expiresAt })
    await writeAudit(tx, { merchantId, actor: person.id, action: 'member.invited', data: { role: form.role }, ip })
    return null
  })
}

/**
 * The members, who stay as they are until the end of the transaction. What the person may do is asked again: somebody
 * else may have taken it away while this request waited.
 */
async function lockTeam(
  tx: Tx,
  { merchantId, person }: { merchantId: string; person: PageCall['person'] },
): Promise<Member[]> {
  await lockMerchant(tx, merchantId)
  const members = await listMembers(tx, merchantId)
  const own = members.find(({ personId }) => personId === person.id)
  if (own === undefined || !may(own.role, 'own')) throw new SiteProblem('forbidden_role')
  return members
}

/** A change of the team under its lock. One that would leave the account without an owner is taken back. */
async function changeTeam(
  deps: TeamDeps,
  { tenant: { merchantId }, person, ip }: PageCall,
  work: (tx: Tx) => Promise<{ action: string; data: object } | null>,
) {
  await deps.db.transaction(async (tx) => {
    await lockTeam(tx, { merchantId, person })
    const done = await work(tx)
    if (done === null) throw new SiteProblem('not_found')
    const left = await listMembers(tx, merchantId)
    if (!left.some((member) => member.role === 'owner')) throw new SiteProblem('last_owner')
    await writeAudit(tx, { merchantId, actor: person.id, ...done, ip })
  })
  return { to: back() }
}
