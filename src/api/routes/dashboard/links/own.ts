import type { Db } from '../../../../db/db.ts'
import { findLink } from '../../../../db/links/links.ts'
import type { StandardAgreement } from '../../../../domain/account/agreement.ts'
import { isId } from '../../../../domain/ids.ts'
import type { PaymentLink } from '../../../../domain/link/link.ts'
import type { PreviewDeps } from '../../links/preview.ts'
import { SiteProblem } from '../../site-problem.ts'
import type { LinkOperationDeps } from '../../v1/links/links.ts'
import type { PageCall } from '../page.ts'

export type LinkPageDeps = LinkOperationDeps & PreviewDeps & { readonly db: Db; readonly agreement: StandardAgreement }

/** The same error for an invalid id and for another account's link. */
export async function findOwn({
  db,
  tenant,
  params,
}: Pick<PageCall, 'db' | 'tenant' | 'params'>): Promise<PaymentLink> {
  const id = params['id'] ?? ''
  const link = isId('link', id) ? await findLink(db, tenant, id) : null
  if (link === null) throw new SiteProblem('not_found')
  return link
}
