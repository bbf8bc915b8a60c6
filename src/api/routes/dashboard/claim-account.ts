import { findClaimable, takeClaim } from '../../../db/accounts/account-claims.ts'
import { writeAudit } from '../../../db/accounts/audit.ts'
import { insertMembership, lockPerson } from '../../../db/accounts/people.ts'
import { chooseMerchant } from '../../../db/accounts/sessions.ts'
import { renderClaimAccount } from '../../../web/dashboard/account.tsx'
import { digestOfToken } from '../../accounts/tokens.ts'
import { type AccountsDeps, requirePlace } from './accounts.ts'
import { definePersonPage, type Page } from './page.ts'

/** Its last part is the secret that a program got with its test account. */
const CLAIM = '/dashboard/accounts/claim/:secret'

export function claimAccountPages({ db, clock }: Pick<AccountsDeps, 'db' | 'clock'>): Page[] {
  const readSecret = (params: Readonly<Record<string, string>>) => ({
    digest: digestOfToken(params['secret'] ?? ''),
    now: new Date(clock()).toISOString(),
  })
  return [
    definePersonPage({
      method: 'get',
      path: CLAIM,
      handle: async ({ params, frame }) => {
        const found = await findClaimable(db, readSecret(params))
        const html = renderClaimAccount({ frame, account: found })
        return found === null ? { html, status: 404 } : { html }
      },
    }),
    definePersonPage({
      method: 'post',
      path: CLAIM,
      handle: async ({ params, person, signedIn: { session }, ip, frame }) => {
        const isClaimed = await db.transaction(async (tx) => {
          await lockPerson(tx, person.id)
          await requirePlace(tx, person.id)
          const merchantId = await takeClaim(tx, readSecret(params))
          if (merchantId === null) return false
          await insertMembership(tx, { merchantId, personId: person.id, role: 'owner' })
          await chooseMerchant(tx, session.id, merchantId)
          await writeAudit(tx, { merchantId, actor: person.id, action: 'account.claimed', data: {}, ip })
          return true
        })
        if (isClaimed) return { to: '/dashboard', done: 'account_claimed' }
        return { html: renderClaimAccount({ frame, account: null }), status: 404 }
      },
    }),
  ]
}
