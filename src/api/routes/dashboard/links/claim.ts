import { leaveNotice } from '../../../../db/accounts/account-notices.ts'
import { writeAudit } from '../../../../db/accounts/audit.ts'
import type { Db } from '../../../../db/db.ts'
import { claimLink, findTicket } from '../../../../db/links/owners.ts'
import { renderClaim } from '../../../../web/dashboard/links/claim.tsx'
import { digestOfToken } from '../../../accounts/tokens.ts'
import { pressRoute } from '../../../links/press.ts'
import { definePage, type Page } from '../page.ts'

export type ClaimDeps = {
  readonly db: Db
  /** Unix milliseconds. */
  readonly clock: () => number
}

const PATH = '/dashboard/links/claim/:ticket'
const back = (params: Readonly<Record<string, string>>): string =>
  `/dashboard/links/claim/${encodeURIComponent(params['ticket'] ?? '')}`

/**
 * Buyers will read the name of the account above a wallet that the account might not have chosen. So only an owner can
 * claim a link, with a fresh confirmation, and everybody of the account is notified.
 */
export function claimPages({ db, clock }: ClaimDeps): Page[] {
  const now = (): string => new Date(clock()).toISOString()
  return [
    definePage({
      method: 'get',
      path: PATH,
      needs: 'own',
      handle: async ({ params, frame }) => {
        const owned = await findTicket(db, digestOfToken(params['ticket'] ?? ''), now())
        return { html: renderClaim({ frame, link: owned?.link ?? null, action: back(params) }), ...statusFor(owned) }
      },
    }),
    definePage({
      method: 'post',
      path: PATH,
      needs: 'own',
      fresh: { what: 'the addition of a payment link to your account', back },
      handle: async ({ params, frame, tenant, person, ip }) => {
        const { merchantId } = tenant
        const claim = { digest: digestOfToken(params['ticket'] ?? ''), now: now(), merchantId, pressRoute }
        const link = await db.transaction(async (tx) => {
          const claimed = await claimLink(tx, claim)
          if (claimed === null) return null
          const data = { link: claimed.id, title: claimed.title, wallet: claimed.wallet }
          await writeAudit(tx, { merchantId, actor: person.id, action: 'payment_link.claimed', data, ip })
          await leaveNotice(tx, tenant, { kind: 'payment_link.claimed', data })
          return claimed
        })
        if (link === null) return { html: renderClaim({ frame, link: null, action: '' }), ...statusFor(null) }
        return { to: `/dashboard/links/${link.id}`, done: 'link_claimed' }
      },
    }),
  ]
}

const statusFor = (found: object | null): { status?: number } => (found === null ? { status: 404 } : {})
