import { z } from 'zod'
import { writeAudit } from '../../../db/accounts/audit.ts'
import {
  insertMembership,
  listInvitations,
  listMemberships,
  lockPerson,
  takeInvitation,
} from '../../../db/accounts/people.ts'
import { chooseMerchant } from '../../../db/accounts/sessions.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { setStatus } from '../../../db/merchants/agreement.ts'
import { isMerchantInvited, takeMerchantInvitation } from '../../../db/merchants/merchant-invitations.ts'
import { insertMerchant } from '../../../db/merchants/merchants.ts'
import { firstStatus, type SignUp, type StandardAgreement } from '../../../domain/account/agreement.ts'
import type { Platform } from '../../../domain/platform.ts'
import { renderWelcome } from '../../../web/dashboard/account.tsx'
import type { FormErrors } from '../../../web/kit/field.tsx'
import { catchRefusal, Problem } from '../../http/problems.ts'
import { parseOrExplain, toFieldErrors } from '../../http/validation.ts'
import { SiteProblem } from '../site-problem.ts'
import { checkShopName, shopName } from '../v1/brand.ts'
import { definePersonPage, type Page, type PersonCall } from './page.ts'

export type AccountsDeps = {
  readonly db: Db
  readonly clock: () => number
  readonly newMerchantId: () => string
  readonly platform: Pick<Platform, 'name'>
  readonly agreement: StandardAgreement
  readonly signUp: SignUp
}

/** More than anybody needs, and not enough to fill a database. */
const MOST_ACCOUNTS = 10

export function accountPages(deps: AccountsDeps): Page[] {
  const now = (): string => new Date(deps.clock()).toISOString()
  const welcome = async (
    { person, frame }: PersonCall,
    { name, errors }: { readonly name: string; readonly errors?: FormErrors },
  ): Promise<string> => {
    const invitations = await listInvitations(deps.db, { email: person.email }, now())
    const canCreate =
      deps.signUp === 'open' ||
      (deps.signUp === 'invited' && (await isMerchantInvited(deps.db, { email: person.email, now: now() })))
    const refusal = canCreate ? null : NO_SIGN_UP[deps.signUp]
    const { feePercent } = deps.agreement
    return renderWelcome({ frame, invitations, name, refusal, feePercent, errors })
  }
  return [
    definePersonPage({
      method: 'get',
      path: '/dashboard/welcome',
      handle: async (call) => ({ html: await welcome(call, { name: '' }) }),
    }),
    definePersonPage({
      method: 'post',
      path: '/dashboard/accounts',
      form: z.object({ name: z.string().max(1000).default('') }),
      handle: async (call) => {
        const { name } = call.form
        const made = await catchRefusal(makeAccount(deps, call, name))
        if (!(made instanceof Problem)) return { to: '/dashboard', done: 'account_made' }
        return { status: 400, html: await welcome(call, { name, errors: toFieldErrors(made, 'name') }) }
      },
    }),
    definePersonPage({
      method: 'post',
      path: '/dashboard/accounts/join',
      form: z.object({ account: z.string().max(100) }),
      handle: async ({ person, form, signedIn: { session }, ip }) => {
        const merchantId = form.account
        const joined = await deps.db.transaction(async (tx) => {
          const taken = await takeInvitation(tx, { merchantId, email: person.email, now: now() })
          if (taken === null) return false
          await insertMembership(tx, { merchantId, personId: person.id, role: taken.role })
          await chooseMerchant(tx, session.id, merchantId)
          const data = { role: taken.role }
          await writeAudit(tx, { merchantId, actor: person.id, action: 'member.joined', data, ip })
          return true
        })
        if (!joined) throw new SiteProblem('not_found')
        return { to: '/dashboard', done: 'account_joined' }
      },
    }),
    definePersonPage({
      method: 'post',
      path: '/dashboard/accounts/choose',
      form: z.object({ account: z.string().max(100) }),
      handle: async ({ person, form, signedIn: { session } }) => {
        const own = await listMemberships(deps.db, person.id)
        if (!own.some(({ merchantId }) => merchantId === form.account)) throw new SiteProblem('not_found')
        await chooseMerchant(deps.db, session.id, form.account)
        return { to: '/dashboard', done: null }
      },
    }),
  ]
}

/** The caller has locked the person. */
export async function requirePlace(tx: Tx, personId: string): Promise<void> {
  if ((await listMemberships(tx, personId)).length >= MOST_ACCOUNTS)
    throw new Problem('limit_reached', `One person has at most ${MOST_ACCOUNTS} accounts.`)
}

const accountBody = z.strictObject({ name: shopName })

/** Throws a Problem if the name is invalid, or the person has too many accounts or cannot create one. */
async function makeAccount(deps: AccountsDeps, call: PersonCall, written: string): Promise<void> {
  const { person, signedIn, ip } = call
  const { name } = parseOrExplain(accountBody, { name: written.trim() })
  checkShopName(name, deps.platform)
  const merchantId = deps.newMerchantId()
  await deps.db.transaction(async (tx) => {
    await lockPerson(tx, person.id)
    await requirePlace(tx, person.id)
    await insertMerchant(tx, { id: merchantId, name })
    await setStatus(tx, merchantId, { status: firstStatus(tx.livemode), message: null })
    if (!(await canSignUp(deps, tx, person))) throw new Problem('not_possible_now', NO_SIGN_UP[deps.signUp])
    await insertMembership(tx, { merchantId, personId: person.id, role: 'owner' })
    await chooseMerchant(tx, signedIn.session.id, merchantId)
    await writeAudit(tx, { merchantId, actor: person.id, action: 'account.created', data: {}, ip })
  })
}

const NO_SIGN_UP: Readonly<Record<SignUp, string>> = {
  open: 'New accounts are open.',
  invited: 'New accounts are by invitation. Ask the operator to invite your e-mail address, then open this page again.',
  closed: 'New accounts are closed. An owner of an account can invite you to its team.',
}

/** Uses the person's invitation, if one is needed. */
async function canSignUp(
  { signUp, clock }: AccountsDeps,
  tx: Tx,
  { email }: { readonly email: string },
): Promise<boolean> {
  if (signUp !== 'invited') return signUp === 'open'
  return takeMerchantInvitation(tx, { email, now: new Date(clock()).toISOString() })
}
