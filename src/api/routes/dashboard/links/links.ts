import { listLinks } from '../../../../db/links/link-list.ts'
import { listLinkPayments, readLinkTotals } from '../../../../db/links/owners.ts'
import { hasAbility } from '../../../../domain/account/roles.ts'
import type { PaymentLink } from '../../../../domain/link/link.ts'
import { renderLink } from '../../../../web/dashboard/links/link.tsx'
import {
  LINK_VIEWS,
  type LinksQuery,
  type LinkViewName,
  linksHref,
  renderLinks,
} from '../../../../web/dashboard/links/links.tsx'
import { SiteProblem } from '../../site-problem.ts'
import { deactivatePaymentLink, updatePaymentLink } from '../../v1/links/links.ts'
import { runOperation } from '../operations.ts'
import { definePage, type Page, type PageCall } from '../page.ts'
import { findNeighbors, readCursors } from '../pager.ts'
import { formPages } from './forms.ts'
import { findOwn, type LinkPageDeps } from './own.ts'

const PER_PAGE = 50

export function linkPages(deps: LinkPageDeps): Page[] {
  return [...formPages(deps), ...readPages(deps), ...pausePages(deps)]
}

function readPages(deps: LinkPageDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: '/dashboard/links',
      needs: 'look',
      lists: 'at once',
      handle: async (call) => ({ html: await list(deps, call) }),
    }),
    definePage({
      method: 'get',
      path: '/dashboard/links/:id',
      needs: 'look',
      handle: async (call) => ({ html: await show(deps, call, await findOwn(call)) }),
    }),
  ]
}

function pausePages(deps: LinkPageDeps): Page[] {
  return [
    definePage({
      method: 'post',
      path: '/dashboard/links/:id/pause',
      needs: 'sell',
      handle: async (call) => {
        const { id } = await findOwn(call)
        await runOperation(deps, call, { operation: deactivatePaymentLink, params: { id } })
        return { to: `/dashboard/links/${id}`, done: 'link_paused' }
      },
    }),
    definePage({
      method: 'post',
      path: '/dashboard/links/:id/resume',
      needs: 'sell',
      handle: async (call) => {
        const { id } = await findOwn(call)
        await runOperation(deps, call, { operation: updatePaymentLink, params: { id }, body: { active: true } })
        return { to: `/dashboard/links/${id}`, done: 'link_resumed' }
      },
    }),
  ]
}

async function list({ clock, publicUrl }: LinkPageDeps, { db, tenant, query: asked, frame, role }: PageCall) {
  const s = (Object.keys(LINK_VIEWS) as LinkViewName[]).find((name) => name === asked['s']) ?? 'active'
  const query: LinksQuery = { q: (asked['q'] ?? '').trim().slice(0, 200), s }
  const cursors = readCursors(asked, 'link')
  const filters = { active: s === 'all' ? undefined : s === 'active', search: query.q || undefined }
  const found = await listLinks(db, tenant, { filters, page: { limit: PER_PAGE, ...cursors } })
  if (found === null) throw new SiteProblem('not_found')
  const { rows: links, hasMore } = found
  return renderLinks({
    frame,
    query,
    links,
    ...findNeighbors(cursors, { items: links, hasMore, href: linksHref(query) }),
    mayChange: hasAbility(role, 'sell'),
    now: new Date(clock()).toISOString(),
    publicUrl,
  })
}

async function show({ db, clock, publicUrl }: LinkPageDeps, call: PageCall, link: PaymentLink): Promise<string> {
  const { frame, query, role } = call
  const { after } = readCursors(query, 'payment')
  // The page already has its turn. Payments from before the claim belong to no account, so they are not read as its.
  const { totals, payments, hasMore } = await db.transaction(async (tx) => ({
    totals: await readLinkTotals(tx, link.id),
    ...(await listLinkPayments(tx, link.id, { limit: PER_PAGE, after })),
  }))
  const last = payments.at(-1)?.id
  return renderLink({
    frame,
    link,
    totals,
    payments,
    older: hasMore && last !== undefined ? `/dashboard/links/${link.id}?after=${last}` : null,
    mayChange: hasAbility(role, 'sell'),
    now: new Date(clock()).toISOString(),
    publicUrl,
  })
}
