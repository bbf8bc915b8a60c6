import {
  countUndelivered,
  type EventSearch,
  type ListedEvent,
  listEventRows,
  readEventRow,
} from '../../../../db/webhooks/event-list.ts'
import { readEvent } from '../../../../db/webhooks/event-log.ts'
import { hasAbility } from '../../../../domain/account/roles.ts'
import { isId } from '../../../../domain/ids.ts'
import { WEBHOOK_EVENT_TYPES } from '../../../../domain/webhook.ts'
import { renderEvent } from '../../../../web/dashboard/developers/events/event.tsx'
import type { EventShown } from '../../../../web/dashboard/developers/events/event-words.tsx'
import { eventsHref, renderEvents } from '../../../../web/dashboard/developers/events/events.tsx'
import { SiteProblem } from '../../site-problem.ts'
import { definePage, type Page, type PageCall } from '../page.ts'
import { readCursors } from '../pager.ts'

export type EventPageDeps = { readonly publicUrl: string; readonly clock: () => number }

const PER_PAGE = 50
const MOST_COUNTED = 1000

export function eventPages(deps: EventPageDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: '/dashboard/events',
      needs: 'look',
      lists: 'at once',
      handle: async (call) => ({ html: await list(deps, call) }),
    }),
    definePage({
      method: 'get',
      path: '/dashboard/events/:id',
      needs: 'look',
      handle: async ({ db, tenant, params, frame, role }) => {
        const { id = '' } = params
        const found = isId('event', id) ? await readEventRow(db, tenant, id) : null
        const body = found === null ? null : await readEvent(db, tenant, id)
        if (found === null || body === null) throw new SiteProblem('not_found')
        const html = renderEvent({
          frame,
          event: shownEvent(found.event),
          body: body.toString('utf8'),
          sent: found.sent.map((row) => ({
            endpoint: row.endpoint_id,
            url: row.url,
            off: row.endpoint_disabled,
            status: row.status,
            attempts: row.attempts,
            lastAt: row.last_attempt_at,
          })),
          mayChange: hasAbility(role, 'develop'),
          now: new Date(deps.clock()).toISOString(),
          publicUrl: deps.publicUrl,
        })
        return { html }
      },
    }),
  ]
}

async function list({ publicUrl, clock }: EventPageDeps, call: PageCall): Promise<string> {
  const { db, tenant, query, frame } = call
  const q = (query['q'] ?? '').trim().slice(0, 200)
  const show = query['show'] === 'undelivered' ? 'undelivered' : 'all'
  const { after } = readCursors(query, 'event')
  const page = { limit: PER_PAGE, after, before: null }
  const search = { ...parseSearch(q), undelivered: show === 'undelivered' }
  const found = await listEventRows(db, tenant, { search, page })
  if (found === null) throw new SiteProblem('not_found')
  const last = found.rows.at(-1)
  return renderEvents({
    frame,
    q,
    show,
    events: found.rows.map(shownEvent),
    undelivered: await countUndelivered(db, tenant, MOST_COUNTED),
    mostCounted: MOST_COUNTED,
    older: found.hasMore && last !== undefined ? eventsHref({ q, show, after: last.id }) : null,
    now: new Date(clock()).toISOString(),
    publicUrl,
  })
}

/** The id of an event or a payment, a part of a type, or else a payment's reference. */
function parseSearch(q: string): EventSearch {
  if (q === '') return {}
  if (isId('event', q)) return { id: q }
  if (isId('payment', q)) return { payment: q }
  const types = WEBHOOK_EVENT_TYPES.filter((type) => type.includes(q.toLowerCase()))
  return types.length > 0 ? { types } : { reference: q }
}

function shownEvent(row: ListedEvent): EventShown {
  return {
    id: row.id,
    sequence: row.sequence,
    type: row.type,
    payment: row.payment_id,
    about: row.about,
    at: row.created_at,
    endpoints: row.endpoints,
    delivered: row.delivered,
    givenUp: row.given_up,
    retrying: row.retrying,
  }
}
