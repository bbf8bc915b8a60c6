import { z } from 'zod'
import { listLinks } from '../../../../db/links/link-list.ts'
import { listLinkPayments, readLinkTotals } from '../../../../db/links/owners.ts'
import { hasAbility } from '../../../../domain/account/roles.ts'
import { isId } from '../../../../domain/ids.ts'
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
import { change } from '../operations.ts'
import { definePage, type Page, type PageCall } from '../page.ts'
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
  return (['pause', 'resume'] as const).map((name) =>
    definePage({
      method: 'post',
      path: `/dashboard/links/:id/${name}`,
      needs: 'sell',
      handle: async (call) => {
        const { id } = await findOwn(call)
        const asked =
          name === 'pause'
            ? { name: 'deactivatePaymentLink', params: { id } }
            : { name: 'updatePaymentLink', params: { id }, body: { active: true } }
        await change(deps, call, asked)
        return { to: `/dashboard/links/${id}`, done: name === 'pause' ? 'link_paused' : 'link_resumed' }
      },
    }),
  )
}

const cursor = z.string().refine((text) => isId('link', text))

async function list({ clock, publicUrl }: LinkPageDeps, { db, tenant, query: asked, frame, role }: PageCall) {
  const s = (Object.keys(LINK_VIEWS) as LinkViewName[]).find((name) => name === asked['s']) ?? 'active'
  const query: LinksQuery = { q: (asked['q'] ?? '').trim().slice(0, 200), s }
  const after = cursor.safeParse(asked['after']).data ?? null
  const before = cursor.safeParse(asked['before']).data ?? null
  const filters = { active: s === 'all' ? undefined : s === 'active', search: query.q || undefined }
  const page = { limit: PER_PAGE, after: before === null ? after : null, before }
  const found = await listLinks(db, tenant, { filters, page })
  if (found === null) throw new SiteProblem('not_found')
  const { rows: links, hasMore } = found
  const at = (name: string, id: string | undefined): string | null =>
    id === undefined ? null : `${linksHref(query)}${linksHref(query).includes('?') ? '&' : '?'}${name}=${id}`
  return renderLinks({
    frame,
    query,
    links,
    newer: (before === null ? after !== null : hasMore) ? at('before', links[0]?.id) : null,
    older: (before === null ? hasMore : true) ? at('after', links.at(-1)?.id) : null,
    mayChange: hasAbility(role, 'sell'),
    now: new Date(clock()).toISOString(),
    publicUrl,
  })
}

const paymentCursor = z.string().refine((text) => isId('payment', text))

async function show({ db, clock, publicUrl }: LinkPageDeps, call: PageCall, link: PaymentLink): Promise<string> {
  const { frame, query, role } = call
  const after = paymentCursor.safeParse(query['after']).data ?? null
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
