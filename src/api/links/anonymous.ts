import { createHmac } from 'node:crypto'
import type { Db } from '../../db/db.ts'
import { insertLink } from '../../db/links/links.ts'
import { countLinksTo, findOwnedLink, insertOwner, type OwnedLink } from '../../db/links/owners.ts'
import { insertMerchant } from '../../db/merchants/merchants.ts'
import type { LinkDraft } from '../../web/links/link-draft.ts'
import { checkReceivingWallet, type WalletDeps } from '../accounts/receiving-wallet.ts'
import { digestOfToken } from '../accounts/tokens.ts'
import { Problem } from '../http/problems.ts'
import { parseOrExplain } from '../http/validation.ts'
import type { RequestLimits } from '../limits/request-limits.ts'
import { createLinkBody } from './link-fields.ts'
import { explainToForm, toLinkBody } from './link-form.ts'
import { type LinkMakerDeps, makeLink } from './make-link.ts'

/**
 * Each link belongs to its own merchant, which nobody can sign in to, so that every rule for accounts applies. The
 * maker has a secret, of which only the digest is stored.
 */

export type AnonymousDeps = LinkMakerDeps &
  WalletDeps & {
    readonly db: Db
    readonly pepper: string
    readonly limits: Pick<RequestLimits, 'countForm'>
    readonly newMerchantId: () => string
  }

export type Asking = {
  readonly draft: LinkDraft
  /** New each time the page is made. */
  readonly once: string
  readonly ip: string
}

export type MadeLink =
  | { readonly owned: OwnedLink; readonly token: string }
  | { readonly errors: Readonly<Record<string, string>> }

const MOST_A_DAY = 20
const DAY_MS = 86_400_000

/** Sending the same form again returns the same link. */
export async function makeAnonymousLink(deps: AnonymousDeps, { draft, once, ip }: Asking): Promise<MadeLink> {
  const check = await checkReceivingWallet(deps, deps.db, draft.wallet.trim())
  const wrong: Record<string, string> = check.ok ? {} : { wallet: `It ${check.message}.` }
  const body = await orErrors(draft, async () => parseOrExplain(createLinkBody, toLinkBody(draft)))
  if ('errors' in body || !check.ok) return { errors: { ...wrong, ...('errors' in body ? body.errors : {}) } }
  const token = ownerToken(deps.pepper, { draft, once })
  const digest = digestOfToken(token)
  const before = await findOwnedLink(deps.db, digest)
  if (before !== null) return { owned: before, token }
  deps.limits.countForm(ip)
  const { livemode } = deps.db
  const { limits } = deps.agreement
  const link = await orErrors(draft, () =>
    makeLink(deps, body, { livemode, wallet: check.address, createdVia: 'form', limits }),
  )
  if ('errors' in link) return link
  const merchantId = deps.newMerchantId()
  return deps.db.transaction(async (tx) => {
    const since = new Date(deps.clock() - DAY_MS).toISOString()
    const { made, stopped } = await countLinksTo(tx, check.address, since)
    // If the form is sent twice at once, the other request had the lock.
    const first = await findOwnedLink(tx, digest)
    if (first !== null) return { owned: first, token }
    if (stopped) return { errors: { wallet: 'We take no payments to this wallet. Contact support to learn why.' } }
    if (made >= MOST_A_DAY)
      return {
        errors: {
          wallet: `Today ${MOST_A_DAY} links were created for this wallet, which is the limit. Accounts have no such limit.`,
        },
      }
    await insertMerchant(tx, { id: merchantId, name: shortWallet(check.address) })
    const stored = await insertLink(tx, { merchantId, livemode }, link)
    await insertOwner(tx, { linkId: stored.id, digest })
    return { owned: { link: stored, claimedAt: null }, token }
  })
}

export function shortWallet(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`
}

/** A different form from the same page, after going back, makes another link. */
function ownerToken(pepper: string, form: Pick<Asking, 'draft' | 'once'>): string {
  const fields = Object.entries(form.draft).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHmac('sha256', pepper)
    .update('owner link')
    .update(JSON.stringify([form.once, fields]))
    .digest('base64url')
}

type Errors = { readonly errors: Record<string, string> }

async function orErrors<T extends object>(draft: LinkDraft, work: () => Promise<T>): Promise<T | Errors> {
  try {
    return await work()
  } catch (error) {
    return errorsOrThrow(draft, error)
  }
}

function errorsOrThrow(draft: LinkDraft, error: unknown): Errors {
  if (error instanceof Problem && error.extras.param !== undefined) return { errors: explainToForm(error, draft) }
  throw error
}
