import { z } from 'zod'
import { writeAudit } from '../../../db/accounts/audit.ts'
import { accountsThatNeed, deletePerson, listChats, readOwnData } from '../../../db/accounts/own-data.ts'
import { listMemberships, lockPerson } from '../../../db/accounts/people.ts'
import { lockMerchant } from '../../../db/merchants/merchants.ts'
import { readEmail } from '../../../domain/account/email.ts'
import { isChatOfOne } from '../../../domain/notification/channel.ts'
import { renderForget, renderForgotten } from '../../../web/dashboard/forget.tsx'
import type { LinkDeps } from '../../accounts/links.ts'
import type { SessionDeps } from '../../accounts/sessions.ts'
import { definePersonPage, type Page } from './page.ts'

export type OwnDeps = SessionDeps & LinkDeps

const ACCOUNT = '/dashboard/account'
const PATH = '/dashboard/account/delete'

/** Both the download and the deletion need a fresh confirmation. */
export function ownDataPages(deps: OwnDeps): Page[] {
  return [
    definePersonPage({
      method: 'get',
      path: '/dashboard/account/data.json',
      makes: 'file',
      fresh: { what: 'the download of your data', back: ACCOUNT },
      handle: async ({ person }) => {
        const text = `${JSON.stringify(await readOwnData(deps.db, person), null, 2)}\n`
        const file = { name: 'pinrail-about-me.json', type: 'application/json', chunks: once(text) }
        return { file, exported: null }
      },
    }),
    definePersonPage({
      method: 'get',
      path: PATH,
      handle: async ({ frame, person }) => {
        const needed = await accountsThatNeed(deps.db, person.id)
        return { html: renderForget({ frame, needed, errors: {} }) }
      },
    }),
    definePersonPage({
      method: 'post',
      path: PATH,
      fresh: { what: 'the deletion of your sign-in', back: ACCOUNT },
      form: z.object({ email: z.string().max(300).default('') }),
      handle: async ({ frame, person, form, ip }) => {
        if (readEmail(form.email) !== person.email) {
          const errors = { email: `Enter ${person.email} here, exactly as shown above.` }
          return { status: 400, html: renderForget({ frame, needed: [], errors }) }
        }
        const needed = await deps.db.transaction(async (tx) => {
          await lockPerson(tx, person.id)
          const memberships = await listMemberships(tx, person.id)
          // All lock the accounts in this order. Nobody joins or leaves until the end of the transaction.
          for (const { merchantId } of memberships.toSorted((a, b) => (a.merchantId < b.merchantId ? -1 : 1)))
            await lockMerchant(tx, merchantId)
          const still = await accountsThatNeed(tx, person.id)
          if (still.length > 0) return still
          for (const { merchantId } of memberships)
            await writeAudit(tx, { merchantId, actor: person.id, action: 'member.left', data: {}, ip })
          const chats = (await listChats(tx, person.id)).filter((chat) => isTheirsAlone(deps, chat))
          await deletePerson(tx, { ...person, chats: chats.map(({ id }) => id) })
          return []
        })
        if (needed.length > 0) return { status: 409, html: renderForget({ frame, needed, errors: {} }) }
        return { html: renderForgotten(frame.platform) }
      },
    }),
  ]
}

/** An address that cannot be decrypted reveals nothing to anybody. */
function isTheirsAlone({ secretBox }: OwnDeps, { id, sealed }: { id: string; sealed: string }): boolean {
  try {
    return isChatOfOne(secretBox.open(sealed, id))
  } catch {
    return true
  }
}

async function* once(text: string): AsyncIterable<string> {
  yield text
}
