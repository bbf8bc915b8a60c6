import { shorten } from '../../../kit/copy.tsx'
import { Curl, curlText } from '../../../kit/curl.tsx'
import { Icon } from '../../../kit/icon.tsx'
import { PageHead } from '../../../kit/page-head.tsx'
import { SearchForm } from '../../../kit/search.tsx'
import { RowLink, Table } from '../../../kit/table.tsx'
import { Recent } from '../../../kit/time.tsx'
import { type Frame, renderFramed } from '../../frame.tsx'
import { Older } from '../../pager.tsx'
import { type EventShown, EventState, endpointsText } from './event-words.tsx'

export type EventsView = {
  readonly frame: Frame
  readonly q: string
  readonly show: 'all' | 'undelivered'
  readonly events: readonly EventShown[]
  /** The number of events that an endpoint has not received, counted up to `mostCounted`. */
  readonly undelivered: number
  readonly mostCounted: number
  readonly older: string | null
  readonly now: string
  readonly publicUrl: string
}

const PATH = '/dashboard/events'

export function eventsHref({ q, show, after }: { q: string; show: string; after?: string }): string {
  const set = new URLSearchParams()
  if (q !== '') set.set('q', q)
  if (show !== 'all') set.set('show', show)
  if (after !== undefined) set.set('after', after)
  const text = set.toString()
  return text === '' ? PATH : `${PATH}?${text}`
}

export function renderEvents(view: EventsView): string {
  const { frame, q, show, events, undelivered, mostCounted, older, publicUrl } = view
  const count = undelivered >= mostCounted ? `${mostCounted}+` : String(undelivered)
  return renderFramed({
    frame,
    title: 'Events',
    children: (
      <>
        <PageHead
          title="Events"
          lead="What happened, in order. The sequence has no gaps, so you can tell if you missed one. Events are kept for 90 days."
        />
        <search class="row">
          <SearchForm
            action={PATH}
            label="Search events"
            value={q}
            placeholder="Type, order, payment or event id"
            fields={show === 'all' ? [] : [['show', show]]}
          />
          <nav class="seg" aria-label="Show">
            <a href={eventsHref({ q, show: 'all' })} aria-current={show === 'all' ? 'true' : undefined}>
              All
            </a>
            <a href={eventsHref({ q, show: 'undelivered' })} aria-current={show === 'all' ? undefined : 'true'}>
              {`Not delivered ${count}`}
            </a>
          </nav>
        </search>
        <div class="table-box">
          {events.length === 0 ? <Empty q={q} show={show} /> : <Rows view={view} />}
          <Older href={older} />
        </div>
        <Curl title="Read them with curl" command={curlText(`${publicUrl}/v1/events?after_sequence=0&limit=100`)} />
      </>
    ),
  })
}

function Rows({ view: { events, now } }: { view: EventsView }) {
  return (
    <Table<EventShown>
      caption="Events, newest first"
      rows={events}
      columns={[
        { name: 'Sequence', look: 'num fit', cell: ({ sequence }) => sequence },
        {
          name: 'Type',
          place: 'a',
          cell: ({ id, type }) => (
            <RowLink href={`${PATH}/${id}`}>
              <code>{type}</code>
            </RowLink>
          ),
        },
        {
          name: 'About',
          place: 'c',
          look: 'clip',
          cell: ({ about, payment }) => about ?? (payment === null ? '–' : shorten(payment, 12, 5)),
        },
        { name: 'Delivery', place: 'b', cell: (event) => <EventState event={event} /> },
        { name: 'Sent to', cell: ({ endpoints }) => endpointsText(endpoints) },
        { name: 'Time', place: 'd', look: 'num', cell: ({ at }) => <Recent at={at} now={now} /> },
      ]}
    />
  )
}

function Empty({ q, show }: { q: string; show: EventsView['show'] }) {
  if (q === '' && show === 'all')
    return (
      <div class="empty stack">
        <span class="pin large">
          <Icon name="events" />
        </span>
        <h2>No events yet</h2>
        <p class="soft">Your first payment creates the first event.</p>
      </div>
    )
  return (
    <div class="empty stack">
      <h2>Nothing found</h2>
      <p class="soft">{q === '' ? 'All events have been delivered.' : `No event matches “${q}”.`}</p>
      <p class="actions">
        <a class="button" href={PATH}>
          Show all events
        </a>
      </p>
    </div>
  )
}
