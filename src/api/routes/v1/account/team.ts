import { z } from 'zod'
import {
  deleteMembership,
  endInvitation,
  listInvitations as listStoredInvitations,
  listMembers as listStoredMembers,
  setRole,
} from '../../../../db/accounts/people.ts'
import { readShop } from '../../../../db/merchants/merchants.ts'
import { maskEmail, readEmail } from '../../../../domain/account/email.ts'
import { ROLES, type Role } from '../../../../domain/account/roles.ts'
import { changeTeam, invite, type TeamActor, type TeamDeps, TeamRefused } from '../../../accounts/team.ts'
import type { Caller } from '../../../auth/auth.ts'
import { getRoleScopes } from '../../../auth/role-scopes.ts'
import { INVITATION, MEMBER } from '../../../document/account-examples.ts'
import { Problem } from '../../../http/problems.ts'
import { type Call, defineOperation } from '../../../operation.ts'
import { emailAddress, idPath, moment } from '../fields.ts'
import { listAnswer, listSchema } from '../lists.ts'
import { requireTestKey, type StepUp } from '../step-up.ts'

export type TeamOperationDeps = TeamDeps & StepUp

const role = z.enum(ROLES).meta({
  description: '`owner`: everything. `developer`: keys, webhooks. `support`: payments. `viewer`: read only.',
})

const memberObject = z
  .strictObject({
    id: z.string(),
    object: z.literal('member'),
    email: z.string(),
    role,
    seen_at: moment.nullable(),
    passkeys: z.int(),
  })
  .meta({ id: 'Member', examples: [MEMBER] })

const deletedMember = z
  .strictObject({ id: z.string(), object: z.literal('member'), deleted: z.literal(true) })
  .meta({ id: 'DeletedMember', examples: [{ id: MEMBER.id, object: 'member', deleted: true }] })

const invitationObject = z
  .strictObject({ object: z.literal('invitation'), email: z.string(), role, expires_at: moment })
  .meta({ id: 'Invitation', examples: [INVITATION] })

const withdrawnObject = z
  .strictObject({ object: z.literal('invitation'), email: z.string(), withdrawn: z.literal(true) })
  .meta({ id: 'WithdrawnInvitation', examples: [{ object: 'invitation', email: INVITATION.email, withdrawn: true }] })

const NO_LIVE_KEY =
  'With a key only in test mode; in live mode a signed-in owner does it. A key can grant and remove only roles whose scopes it has.'

export const listMembers = defineOperation({
  name: 'listMembers',
  method: 'get',
  path: '/v1/members',
  tag: 'Team',
  summary: 'List the people of the account, oldest first',
  scope: 'members:read',
  answers: { 200: listSchema(memberObject) },
  handle: async ({ caller }, deps: TeamOperationDeps) =>
    listAnswer((await listStoredMembers(deps.db, caller.merchantId)).map(shown), false),
})
export const updateMember = defineOperation({
  name: 'updateMember',
  method: 'patch',
  path: '/v1/members/{id}',
  tag: 'Team',
  summary: 'Change the role of a person',
  description: NO_LIVE_KEY,
  scope: 'members:write',
  params: idPath,
  body: z.strictObject({ role }),
  answers: { 200: memberObject },
  problems: ['step_up_required', 'not_possible_now'],
  example: { body: { role: 'support' } },
  handle: async ({ caller, params: { id }, body, ip }, deps: TeamOperationDeps) => {
    requireTestKey(deps, caller, 'team')
    requireRole(caller, body.role)
    await orProblem(
      changeTeam(deps, toActor({ caller, ip }), async (tx, members) => {
        const member = members.find(({ personId }) => personId === id)
        if (member === undefined) return null
        requireRole(caller, member.role)
        await setRole(tx, { merchantId: caller.merchantId, personId: id, role: body.role })
        return { action: 'member.role', data: { person: id, role: body.role } }
      }),
    )
    const member = (await listStoredMembers(deps.db, caller.merchantId)).find(({ personId }) => personId === id)
    if (member === undefined) throw noPerson()
    return { status: 200, body: shown(member) }
  },
})
export const removeMember = defineOperation({
  name: 'removeMember',
  method: 'delete',
  path: '/v1/members/{id}',
  tag: 'Team',
  summary: 'Remove a person from the account',
  description: NO_LIVE_KEY,
  scope: 'members:write',
  params: idPath,
  answers: { 200: deletedMember },
  problems: ['step_up_required', 'not_possible_now'],
  handle: async ({ caller, params: { id }, ip }, deps: TeamOperationDeps) => {
    requireTestKey(deps, caller, 'team')
    await orProblem(
      changeTeam(deps, toActor({ caller, ip }), async (tx, members) => {
        const member = members.find(({ personId }) => personId === id)
        if (member === undefined) return null
        requireRole(caller, member.role)
        await deleteMembership(tx, { merchantId: caller.merchantId, personId: id })
        return { action: 'member.removed', data: { person: id } }
      }),
    )
    return { status: 200, body: { id, object: 'member', deleted: true } as const }
  },
})

export const listInvitations = defineOperation({
  name: 'listInvitations',
  method: 'get',
  path: '/v1/invitations',
  tag: 'Team',
  summary: 'List the open invitations, oldest first',
  scope: 'members:read',
  answers: { 200: listSchema(invitationObject) },
  handle: async ({ caller: { merchantId } }, deps: TeamOperationDeps) => {
    const open = await listStoredInvitations(deps.db, { merchantId }, new Date(deps.clock()).toISOString())
    return listAnswer(open.map(shownInvitation), false)
  },
})
export const inviteMember = defineOperation({
  name: 'inviteMember',
  method: 'post',
  path: '/v1/invitations',
  tag: 'Team',
  summary: 'Invite a person by e-mail, for seven days',
  description: `${NO_LIVE_KEY} Inviting the same e-mail address again changes the role and the expiry.`,
  scope: 'members:write',
  body: z.strictObject({ email: emailAddress, role }),
  answers: { 201: invitationObject },
  problems: ['step_up_required', 'not_possible_now', 'limit_reached'],
  example: { body: { email: 'you@shop.example', role: 'viewer' } },
  handle: async ({ caller, db, body, ip }, deps: TeamOperationDeps) => {
    requireTestKey(deps, caller, 'team')
    requireRole(caller, body.role)
    const { merchantId } = caller
    const open = await listStoredInvitations(deps.db, { merchantId }, new Date(deps.clock()).toISOString())
    const before = open.find((one) => one.email === body.email)
    if (before !== undefined) requireRole(caller, before.role)
    const account = (await readShop(db, merchantId)).name
    const invited = await invite(deps, toActor({ caller, ip }), { ...body, account })
    if (!invited.ok) throw new Problem(invited.why === 'member' ? 'not_possible_now' : 'limit_reached', invited.message)
    return { status: 201, body: shownInvitation({ ...body, expiresAt: invited.expiresAt }) }
  },
})
export const withdrawInvitation = defineOperation({
  name: 'withdrawInvitation',
  method: 'delete',
  path: '/v1/invitations/{email}',
  tag: 'Team',
  summary: 'Withdraw an invitation',
  description: 'Also possible with a live key, because it only removes rights.',
  scope: 'members:write',
  params: z.object({ email: z.string() }),
  answers: { 200: withdrawnObject },
  handle: async ({ caller, params, ip }, deps: TeamOperationDeps) => {
    const { merchantId } = caller
    const now = new Date(deps.clock()).toISOString()
    const email = readEmail(params.email)
    if (email === null) throw noPerson()
    await orProblem(
      changeTeam(deps, toActor({ caller, ip }), async (tx) => {
        const ended = await endInvitation(tx, { merchantId, email, now })
        return ended ? { action: 'invitation.withdrawn', data: { email: maskEmail(email) } } : null
      }),
    )
    return { status: 200, body: { object: 'invitation', email, withdrawn: true } as const }
  },
})

/** As for keys: otherwise a key could make itself a person with more rights than its own. */
function requireRole({ scopes }: Caller, wanted: Role): void {
  const missing = getRoleScopes(wanted).find((scope) => !scopes.includes(scope))
  if (missing === undefined) return
  throw new Problem('insufficient_scope', `This key lacks the scope ${missing}, which the role ${wanted} includes.`, {
    members: { required_scope: missing },
  })
}

const toActor = ({ caller: { merchantId, keyId }, ip }: Pick<Call, 'caller' | 'ip'>): TeamActor => ({
  merchantId,
  by: { key: `key_${keyId}` },
  ip,
})

async function orProblem(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof TeamRefused)) throw error
    if (error.reason === 'last_owner')
      throw new Problem('not_possible_now', 'An account needs an owner. Make somebody else an owner first.')
    throw noPerson()
  }
}

const noPerson = (): Problem => new Problem('resource_missing', 'There is no such person in the account.')

function shown({
  personId,
  email: address,
  role: own,
  seenAt,
  passkeys,
}: Awaited<ReturnType<typeof listStoredMembers>>[number]) {
  return { id: personId, object: 'member' as const, email: address, role: own, seen_at: seenAt, passkeys }
}

function shownInvitation({ email: address, role: own, expiresAt }: { email: string; role: Role; expiresAt: string }) {
  return { object: 'invitation' as const, email: address, role: own, expires_at: expiresAt }
}
