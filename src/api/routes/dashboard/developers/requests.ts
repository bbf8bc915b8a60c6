import {
  countErrors,
  type ListedRequest,
  listRequests,
  type RequestSearch,
  readRequest,
} from '../../../../db/merchants/requests.ts'
import { isId } from '../../../../domain/ids.ts'
import {
  type RequestShown,
  type RequestsAt,
  renderRequests,
  requestsHref,
} from '../../../../web/dashboard/developers/requests/requests.tsx'
import { SiteProblem } from '../../site-problem.ts'
import { definePage, type Page, type PageCall } from '../page.ts'

export type RequestPageDeps = { readonly clock: () => number }

const PER_PAGE = 50
const MOST_COUNTED = 1000

export function requestPages({ clock }: RequestPageDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: '/dashboard/requests',
      needs: 'look',
      lists: 'at once',
      handle: async (call) => ({ html: await list(call, new Date(clock()).toISOString()) }),
    }),
  ]
}

async function list({ db, tenant, query, frame }: PageCall, now: string): Promise<string> {
  const q = (query['q'] ?? '').trim().slice(0, 200)
  const show: RequestsAt['show'] = query['show'] === 'errors' ? 'errors' : 'all'
  const requestId = (text: string | undefined): string | null =>
    text !== undefined && isId('request', text) ? text : null
  const after = requestId(query['after'])
  const search = { ...parseSearch(q), errors: show === 'errors' }
  const found = await listRequests(db, tenant, { search, page: { limit: PER_PAGE, after, before: null } })
  if (found === null) throw new SiteProblem('not_found')
  const wanted = requestId(query['id']) ?? found.rows[0]?.id ?? null
  const chosen = wanted === null ? null : await readRequest(db, tenant, wanted)
  if (query['id'] !== undefined && chosen === null) throw new SiteProblem('not_found')
  const last = found.rows.at(-1)
  const at = { q, show, ...(after !== null && { after }) }
  return renderRequests({
    frame,
    at,
    requests: found.rows.map(shownRequest),
    chosen: chosen === null ? null : { ...shownRequest(chosen), sent: chosen.sent, answered: chosen.answered },
    errors: await countErrors(db, tenant, MOST_COUNTED),
    mostCounted: MOST_COUNTED,
    older: found.hasMore && last !== undefined ? requestsHref({ q, show, after: last.id }) : null,
    now,
  })
}

/** The id of a request, a part of a path, or else a key by its id or name. */
function parseSearch(q: string): RequestSearch {
  if (q === '') return {}
  if (isId('request', q)) return { id: q }
  const isObject = /^[a-z]+_[0-9a-z]{26}$/.test(q)
  return q.includes('/') || isObject ? { path: q } : { key: q.replace(/^key_/, '') }
}

function shownRequest(row: ListedRequest): RequestShown {
  return {
    id: row.id,
    key: row.key_name ?? row.key_id,
    method: row.method,
    path: row.path,
    status: row.status,
    durationMs: row.duration_ms,
    code: row.code,
    at: row.at,
  }
}
