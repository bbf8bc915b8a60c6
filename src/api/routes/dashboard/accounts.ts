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
import type { Db } from '../../../db/db.ts'
import { insertMerchant } from '../../../db/merchants/merchants.ts'
import { renderWelcome } from '../../../web/dashboard/account.tsx'
import { catchRefusal, Problem } from '../../http/problems.ts'
import { parseOrExplain, toFieldErrors } from '../../http/validation.ts'
import { SiteProblem } from '../site-problem.ts'
import { shopName } from '../v1/brand.ts'
import { definePersonPage, type Page, type PersonCall } from './page.ts'

export type AccountsDeps = {
  readonly db: Db
  readonly clock: () => number
  readonly newMerchantId: () => string
}

/** More than anybody needs, and not enough to fill a database. */
const MOST_ACCOUNTS = 10

export function accountPages(deps: AccountsDeps): Page[] {
  const now = (): string => new Date(deps.clock()).toISOString()
  return [
    definePersonPage({
      method: 'get',
      path: '/dashboard/welcome',
      handle: async ({ person, frame }) => {
        const invitations = await listInvitations(deps.db, { email: person.email }, now())
        return { html: renderWelcome({ frame, invitations, name: '' }) }
      },
    }),
    definePersonPage({
      method: 'post',
      path: '/dashboard/accounts',
      form: z.object({ name: z.string().max(1000).default('') }),
      handle: async (call) => {
        const { frame, form } = call
        const made = await catchRefusal(makeAccount(deps, call, form.name))
        if (!(made instanceof Problem)) return { to: '/dashboard', done: 'account_made' }
        const errors = toFieldErrors(made, 'name')
        return { status: 400, html: renderWelcome({ frame, invitations: [], name: form.name, errors }) }
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

const accountBody = z.strictObject({ name: shopName })

/** Throws a Problem if the name is invalid, or the person has too many accounts. */
async function makeAccount(deps: AccountsDeps, call: PersonCall, written: string): Promise<void> {
  const { person, signedIn, ip } = call
  const { name } = parseOrExplain(accountBody, { name: written.trim() })
  const merchantId = deps.newMerchantId()
  await deps.db.transaction(async (tx) => {
    await lockPerson(tx, person.id)
    if ((await listMemberships(tx, person.id)).length >= MOST_ACCOUNTS)
      throw new Problem('limit_reached', `One person has at most ${MOST_ACCOUNTS} accounts.`)
    await insertMerchant(tx, { id: merchantId, name })
    await insertMembership(tx, { merchantId, personId: person.id, role: 'owner' })
    await chooseMerchant(tx, signedIn.session.id, merchantId)
    await writeAudit(tx, { merchantId, actor: person.id, action: 'account.created', data: {}, ip })
  })
}
