import { Card } from '../../../kit/card.tsx'
import { Copy } from '../../../kit/copy.tsx'
import { Icon } from '../../../kit/icon.tsx'
import { Note } from '../../../kit/note.tsx'
import { PageHead } from '../../../kit/page-head.tsx'
import { SearchForm } from '../../../kit/search.tsx'
import { Table } from '../../../kit/table.tsx'
import { Recent, Time, timeText } from '../../../kit/time.tsx'
import { type Frame, renderFramed } from '../../frame.tsx'
import { Older } from '../../pager.tsx'
import { msText } from '../webhooks/webhook-words.tsx'

export type RequestShown = {
  readonly id: string
  /** The name of the key; its id if the name is no longer stored. */
  readonly key: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly code: string | null
  readonly at: string
}

export type RequestsAt = { readonly q: string; readonly show: 'all' | 'errors'; readonly after?: string }

export type RequestsView = {
  readonly frame: Frame
  readonly at: RequestsAt
  readonly requests: readonly RequestShown[]
  readonly chosen: (RequestShown & { readonly sent: string | null; readonly answered: string | null }) | null
  /** The number of requests with an error response, counted up to `mostCounted`. */
  readonly errors: number
  readonly mostCounted: number
  readonly older: string | null
  readonly now: string
}

const PATH = '/dashboard/requests'

export function requestsHref({ q, show, after, id }: RequestsAt & { readonly id?: string }): string {
  const set = new URLSearchParams()
  if (q !== '') set.set('q', q)
  if (show !== 'all') set.set('show', show)
  if (after !== undefined) set.set('after', after)
  if (id !== undefined) set.set('id', id)
  const text = set.toString()
  return text === '' ? PATH : `${PATH}?${text}`
}

export function renderRequests(view: RequestsView): string {
  const { frame, requests, chosen } = view
  return renderFramed({
    frame,
    title: 'Request log',
    children: (
      <>
        <PageHead
          title="Request log"
          lead="Every request made with your keys in the last 30 days. Secrets are removed and long texts are shortened."
        />
        <Search view={view} />
        {requests.length === 0 ? (
          <div class="table-box">
            <Empty view={view} />
          </div>
        ) : (
          <div class="cols">
            <div class="col">
              <Rows view={view} />
            </div>
            {chosen !== null && <Chosen chosen={chosen} />}
          </div>
        )}
      </>
    ),
  })
}

function Search({ view: { at, errors, mostCounted } }: { view: RequestsView }) {
  const { q, show } = at
  const count = errors >= mostCounted ? `${mostCounted}+` : String(errors)
  return (
    <search class="row">
      <SearchForm
        action={PATH}
        label="Search requests"
        value={q}
        placeholder="Request id, path, key"
        fields={show === 'all' ? [] : [['show', show]]}
      />
      <nav class="seg" aria-label="Show">
        <a href={requestsHref({ q, show: 'all' })} aria-current={show === 'all' ? 'true' : undefined}>
          All
        </a>
        <a href={requestsHref({ q, show: 'errors' })} aria-current={show === 'errors' ? 'true' : undefined}>
          {`Errors ${count}`}
        </a>
      </nav>
    </search>
  )
}

function Answered({ status }: { status: number }) {
  return <code class={`toned ${status < 400 ? 'success' : 'problem'}`}>{status}</code>
}

function Rows({ view: { at, requests, chosen, older, now } }: { view: RequestsView }) {
  return (
    <div class="table-box">
      <Table<RequestShown>
        caption="Requests, newest first"
        rows={requests}
        rowLook={({ id }) => (id === chosen?.id ? 'tinted' : '')}
        columns={[
          { name: 'Status', place: 'b', look: 'fit', cell: ({ status }) => <Answered status={status} /> },
          {
            name: 'Request',
            place: 'a',
            look: 'clip',
            cell: ({ id, method, path }) => (
              <a
                class="row-link"
                href={`${requestsHref({ ...at, id })}#req`}
                aria-current={id === chosen?.id ? 'true' : undefined}
              >
                <code>
                  <b>{method}</b> {path}
                </code>
              </a>
            ),
          },
          { name: 'Key', place: 'c', look: 'clip', cell: ({ key }) => key },
          { name: 'Took', look: 'num', cell: ({ durationMs }) => msText(durationMs) },
          { name: 'Time', place: 'd', look: 'num', cell: ({ at: made }) => <Recent at={made} now={now} /> },
        ]}
      />
      <Older href={older} />
    </div>
  )
}

function Chosen({ chosen }: { chosen: NonNullable<RequestsView['chosen']> }) {
  const { id, method, path, status, code, at, sent, answered } = chosen
  return (
    <Card id="req" title={`${method} ${path.split('?')[0]}`} lead={<Copy value={id} />}>
      <p>
        <Answered status={status} /> at {timeText(at, 'seconds')}, <Time at={at} style="date" /> (UTC)
      </p>
      {code !== null && (
        <Note tone="problem" icon="warning" strong={code}>
          {findDetail(answered)} <a href={`/docs/errors#${code}`}>How to fix it</a>
        </Note>
      )}
      <Body title="You sent" text={sent} none={method === 'GET' ? 'A GET has no body.' : 'No readable body.'} />
      <Body title="We responded" text={answered} none="The body of a read request is not stored." />
    </Card>
  )
}

function Body({ title, text, none }: { title: string; text: string | null; none: string }) {
  return (
    <>
      <h3>{title}</h3>
      {text === null ? (
        <p class="soft">{none}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        <pre tabIndex={0} aria-label={title}>
          <code>{indent(text)}</code>
        </pre>
      )}
    </>
  )
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The log shortens long bodies.
    return undefined
  }
}

function indent(text: string): string {
  const value = parseBody(text)
  return value === undefined ? text : JSON.stringify(value, null, 2)
}

function findDetail(answered: string | null): string {
  const value = answered === null ? undefined : parseBody(answered)
  if (typeof value !== 'object' || value === null || !('detail' in value)) return ''
  return typeof value.detail === 'string' ? value.detail : ''
}

function Empty({ view: { at } }: { view: RequestsView }) {
  if (at.q === '' && at.show === 'all')
    return (
      <div class="empty stack">
        <span class="pin large">
          <Icon name="log" />
        </span>
        <h2>No requests yet</h2>
        <p class="soft">Requests that your programs make with a key appear here within a second.</p>
        <p class="actions">
          <a class="button" href="/dashboard/keys">
            API keys
          </a>
        </p>
      </div>
    )
  return (
    <div class="empty stack">
      <h2>Nothing found</h2>
      <p class="soft">{at.q === '' ? 'No request got an error.' : `No request matches “${at.q}”.`}</p>
      <p class="actions">
        <a class="button" href={PATH}>
          Show all requests
        </a>
      </p>
    </div>
  )
}
