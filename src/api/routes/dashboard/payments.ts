import { countByStatus } from '../../../db/merchants/overview.ts'
import type { ListPage } from '../../../db/pages.ts'
import { listPayments, type PaymentFilters } from '../../../db/payments/payment-list.ts'
import { hideEmails } from '../../../domain/account/email.ts'
import { isCurrency } from '../../../domain/currencies.ts'
import { USED_PROVIDER_NAMES } from '../../../domain/methods.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../../../domain/payment/payment.ts'
import {
  type PaymentsQuery,
  PERIODS,
  type Period,
  paymentsHref,
  renderPayments,
  VIEWS,
} from '../../../web/dashboard/payments.tsx'
import { paymentsFile } from '../../exports/payments.ts'
import { SiteProblem } from '../site-problem.ts'
import { exportPayments } from '../v1/exports/exports.ts'
import { definePage, type Page, type PageCall } from './page.ts'
import { findNeighbors, readCursors } from './pager.ts'

export type PaymentListDeps = { readonly publicUrl: string; readonly clock: () => number }

const PER_PAGE = 50

export function paymentListPages(deps: PaymentListDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: '/dashboard/payments',
      needs: 'look',
      lists: 'at once',
      handle: (call) => list(deps, call),
    }),
    ...(['csv', 'json'] as const).map((form) =>
      definePage({
        method: 'get',
        path: `/dashboard/payments.${form}`,
        needs: 'look',
        lists: 'in pieces',
        makes: 'file',
        handle: async (call) => {
          const filters = readFilters(readQuery(call.query), deps.clock())
          const format = form === 'csv' && call.query['for'] === 'excel' ? 'excel' : form
          return {
            file: paymentsFile(deps, call, { filters, form: format }),
            exported: {
              operation: exportPayments,
              data: hideEmails({ format, ...filters, status: filters.status?.join(',') }),
            },
          }
        },
      }),
    ),
  ]
}

const oneOf = <T extends string>(all: readonly T[], text: string | undefined): T | '' =>
  all.find((one) => one === text) ?? ''

/** Unknown values in the query are ignored. */
function readQuery(query: PageCall['query']): PaymentsQuery {
  const wanted = (query['status'] ?? '').split(',')
  return {
    view:
      oneOf(
        VIEWS.map(({ key }) => key),
        query['view'],
      ) || 'all',
    q: (query['q'] ?? '').trim().slice(0, 200),
    status: PAYMENT_STATUSES.filter((status) => wanted.includes(status)),
    provider: oneOf(USED_PROVIDER_NAMES, query['provider']),
    currency: isCurrency(query['currency'] ?? '') ? (query['currency'] ?? '') : '',
    created: oneOf(Object.keys(PERIODS) as Period[], query['created']),
    sort: query['sort'] === 'oldest' ? 'oldest' : 'newest',
  }
}

const DAY_MS = 86_400_000

function readFilters(query: PaymentsQuery, now: number): PaymentFilters {
  const statuses = query.status.length > 0 ? query.status : viewStatuses(query.view)
  return {
    status: statuses.length > 0 ? statuses : undefined,
    provider: query.provider || undefined,
    currency: query.currency || undefined,
    search: query.q || undefined,
    createdFrom: query.created === '' ? undefined : periodStart(query.created, now),
  }
}

function viewStatuses(view: string): readonly PaymentStatus[] {
  return VIEWS.find(({ key }) => key === view)?.statuses ?? []
}

function periodStart(period: Period, now: number): string {
  const today = new Date(now).toISOString().slice(0, 10)
  if (period === 'today') return `${today}T00:00:00.000Z`
  if (period === 'month') return `${today.slice(0, 7)}-01T00:00:00.000Z`
  return new Date(now - (period === '7d' ? 7 : 30) * DAY_MS).toISOString()
}

async function list({ publicUrl, clock }: PaymentListDeps, call: Pick<PageCall, 'db' | 'tenant' | 'query' | 'frame'>) {
  const query = readQuery(call.query)
  const filters = readFilters(query, clock())
  const cursors = readCursors(call.query, 'payment')
  const page = selectPage(query.sort, cursors)
  const found = await listPayments(call.db, call.tenant, { filters, page })
  if (found === null) throw new SiteProblem('not_found')
  const { rows, hasMore } = found
  const newestFirst = rows.map(({ payment }) => payment)
  const payments = query.sort === 'newest' ? newestFirst : newestFirst.toReversed()
  return {
    html: renderPayments({
      frame: call.frame,
      query,
      payments,
      counts: await countByStatus(call.db, call.tenant),
      ...findNeighbors(cursors, { items: payments, hasMore, href: paymentsHref(query) }),
      now: new Date(clock()).toISOString(),
      curl: curlCommand(publicUrl, filters),
    }),
  }
}

/** `after` and `before` belong to the page as it is shown. The list of the API is always newest first. */
function selectPage(
  sort: PaymentsQuery['sort'],
  { after, before }: { after: string | null; before: string | null },
): ListPage {
  if (sort === 'newest') return { limit: PER_PAGE, after, before }
  // Every id is greater than the empty one, so the oldest payments are before it.
  return before === null
    ? { limit: PER_PAGE, after: null, before: after ?? '' }
    : { limit: PER_PAGE, after: before, before: null }
}

function curlCommand(publicUrl: string, { status, provider, currency, createdFrom }: PaymentFilters): string {
  const query = new URLSearchParams()
  if (status !== undefined) query.set('status', status.join(','))
  if (provider !== undefined) query.set('provider', provider)
  if (currency !== undefined) query.set('currency', currency)
  if (createdFrom !== undefined) query.set('created[gte]', createdFrom)
  const text = query.toString()
  return `curl -g '${publicUrl}/v1/payments${text === '' ? '' : `?${text}`}' \\\n  -H "authorization: Bearer $SECRET_KEY"`
}
