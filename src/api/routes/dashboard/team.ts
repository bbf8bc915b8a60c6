import { z } from 'zod'
import { listAudit } from '../../../db/accounts/audit.ts'
import { deleteMembership, endInvitation, listInvitations, listMembers, setRole } from '../../../db/accounts/people.ts'
import { readEmail } from '../../../domain/account/email.ts'
import { hasAbility, ROLES } from '../../../domain/account/roles.ts'
import type { Done } from '../../../web/dashboard/done.ts'
import { renderTeam } from '../../../web/dashboard/team.tsx'
import { changeTeam, invite, nameActor, type TeamActor, type TeamDeps, TeamRefused } from '../../accounts/team.ts'
import { SiteProblem } from '../site-problem.ts'
import { definePage, type Page, type PageCall } from './page.ts'

const SHOWN = 100

const role = z.enum(ROLES)
const back = '/dashboard/team'

export function teamPages(deps: TeamDeps): Page[] {
  return [...invitePages(deps), ...changePages(deps)]
}

function invitePages(deps: TeamDeps): Page[] {
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
      fresh: { what: ({ email = '' }) => `the invitation of ${readEmail(email) ?? 'a person'}`, back },
      form: z.object({ email: z.string().max(1000), role }),
      handle: async (call) => {
        const email = readEmail(call.form.email)
        const wanted = { role: call.form.role, account: call.frame.account ?? '' }
        const invited = email === null ? null : await orRefuse(invite(deps, toActor(call), { email, ...wanted }))
        if (invited?.ok === true) return { to: back, done: 'invitation_sent' }
        const errors = { email: invited?.message ?? 'Enter the whole address, such as you@shop.example.' }
        return { status: 400, html: await show(deps, call, { email: call.form.email.slice(0, 254), errors }) }
      },
    }),
  ]
}

function changePages(deps: TeamDeps): Page[] {
  return [
    definePage({
      method: 'post',
      path: '/dashboard/team/role',
      needs: 'own',
      fresh: { what: 'a new role for a member', back },
      form: z.object({ person: z.string().max(100), role }),
      handle: (call) =>
        changed(deps, call, {
          done: 'role_saved',
          work: async (tx) => {
            const member = { merchantId: call.tenant.merchantId, personId: call.form.person, role: call.form.role }
            return (await setRole(tx, member)) === null ? null : { action: 'member.role', data: call.form }
          },
        }),
    }),
    definePage({
      method: 'post',
      path: '/dashboard/team/remove',
      needs: 'own',
      fresh: { what: 'the removal of a member', back },
      form: z.object({ person: z.string().max(100) }),
      handle: (call) =>
        changed(deps, call, {
          done: 'member_removed',
          work: async (tx) => {
            const member = { merchantId: call.tenant.merchantId, personId: call.form.person }
            return (await deleteMembership(tx, member)) ? { action: 'member.removed', data: call.form } : null
          },
        }),
    }),
    definePage({
      method: 'post',
      path: '/dashboard/team/withdraw',
      needs: 'own',
      fresh: { what: 'the withdrawal of an invitation', back },
      form: z.object({ email: z.string().max(1000) }),
      handle: (call) =>
        changed(deps, call, {
          done: 'invitation_withdrawn',
          work: async (tx) => {
            const now = new Date(deps.clock()).toISOString()
            const invited = { merchantId: call.tenant.merchantId, email: call.form.email, now }
            return (await endInvitation(tx, invited)) ? { action: 'invitation.withdrawn', data: {} } : null
          },
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
  const members = await listMembers(deps.db, tenant.merchantId)
  const invitations = await listInvitations(deps.db, { merchantId: tenant.merchantId }, now)
  const audit = await listAudit(db, tenant.merchantId, { limit: SHOWN })
  const lines = audit.map(({ id, actor, action, data, at, ip }) => {
    const about = Object.values(data).filter((value) => typeof value === 'string' || typeof value === 'number')
    const name = action
      .replaceAll(/[._]/g, ' ')
      .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`)
      .toLowerCase()
    const what = `${name}${about.length === 0 ? '' : `: ${about.join(', ')}`}`
    return { id, at, ip, what, who: nameActor(members, actor) }
  })
  return renderTeam({ frame, members, invitations, audit: lines, owns: hasAbility(own, 'own'), now, email, errors })
}

type TeamWork = { readonly done: Done; readonly work: Parameters<typeof changeTeam>[2] }

async function changed(deps: TeamDeps, call: PageCall, { done, work }: TeamWork) {
  await orRefuse(changeTeam(deps, toActor(call), work))
  return { to: back, done }
}

async function orRefuse<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof TeamRefused ? new SiteProblem(error.reason) : error
  }
}

const toActor = ({ tenant: { merchantId }, person, ip }: PageCall): TeamActor => ({
  merchantId,
  by: { person: person.id, email: person.email },
  ip,
})
