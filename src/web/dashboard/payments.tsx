import type { ComponentChildren } from 'preact'
import { CURRENCIES } from '../../domain/currencies.ts'
import { PROVIDERS, USED_PROVIDER_NAMES } from '../../domain/methods.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../../domain/payment/payment.ts'
import type { Payment } from '../../domain/payment/payment-object.ts'
import { Curl } from '../kit/curl.tsx'
import { HiddenFields } from '../kit/form.tsx'
import { Icon } from '../kit/icon.tsx'
import { PageHead } from '../kit/page-head.tsx'
import { SearchForm } from '../kit/search.tsx'
import { type Frame, renderFramed } from './frame.tsx'
import { NewPayment } from './new-payment.tsx'
import { Pager } from './pager.tsx'
import { PaymentTable } from './payment-table.tsx'
import { Status } from './payment-words.tsx'

/** The views of the list, with the statuses that each shows. An empty list shows all. */
export const VIEWS: readonly {
  readonly key: string
  readonly name: string
  readonly statuses: readonly PaymentStatus[]
}[] = [
  { key: 'all', name: 'All', statuses: [] },
  { key: 'in_flight', name: 'In progress', statuses: ['pending', 'processing', 'settling'] },
  { key: 'under_review', name: 'Under review', statuses: ['under_review'] },
  { key: 'succeeded', name: 'Succeeded', statuses: ['succeeded'] },
  { key: 'failed', name: 'Failed', statuses: ['failed'] },
]

export const PERIODS = { today: 'Today', '7d': 'Last 7 days', '30d': 'Last 30 days', month: 'This month' } as const
export type Period = keyof typeof PERIODS

/** The query of the page, which is its only state. */
export type PaymentsQuery = {
  readonly view: string
  readonly q: string
  readonly status: readonly PaymentStatus[]
  readonly provider: string
  readonly currency: string
  readonly created: Period | ''
  readonly sort: 'newest' | 'oldest'
}

export type PaymentsView = {
  readonly frame: Frame
  readonly query: PaymentsQuery
  readonly payments: readonly Payment[]
  readonly counts: ReadonlyMap<PaymentStatus, number>
  /** The URLs of the previous and the next page; null if there is none. */
  readonly newer: string | null
  readonly older: string | null
  readonly now: string
  readonly curl: string
}

const PATH = '/dashboard/payments'

/** Returns the URL of the list with the changes applied. It omits default values. */
export function paymentsHref(query: PaymentsQuery, changes: Partial<PaymentsQuery> = {}, path = PATH): string {
  const { view, q, status, provider, currency, created, sort } = { ...query, ...changes }
  const set = new URLSearchParams()
  if (view !== 'all') set.set('view', view)
  if (q !== '') set.set('q', q)
  if (status.length > 0) set.set('status', status.join(','))
  if (provider !== '') set.set('provider', provider)
  if (currency !== '') set.set('currency', currency)
  if (created !== '') set.set('created', created)
  if (sort !== 'newest') set.set('sort', sort)
  const text = set.toString()
  return text === '' ? path : `${path}?${text}`
}

export function renderPayments(view: PaymentsView): string {
  const { frame, query, payments, now } = view
  const isAny = [...view.counts.values()].some((count) => count > 0)
  return renderFramed({
    frame,
    title: 'Payments',
    children: (
      <>
        <PageHead
          title="Payments"
          actions={
            <>
              {isAny && <Export query={query} />}
              <NewPayment frame={frame} />
            </>
          }
        />
        {isAny && <Tabs view={view} />}
        {isAny && <Filters query={query} />}
        <div class="table-box">
          {payments.length > 0 ? (
            <PaymentTable
              caption={`Payments, ${query.sort === 'newest' ? 'newest' : 'oldest'} first`}
              payments={payments}
              now={now}
              sort={query.sort === 'newest' ? 'descending' : 'ascending'}
              created={
                <a href={paymentsHref(query, { sort: query.sort === 'newest' ? 'oldest' : 'newest' })}>Created</a>
              }
            />
          ) : (
            <Empty query={query} isAny={isAny} />
          )}
          <Pager newer={view.newer} older={view.older} />
        </div>
        <Curl command={view.curl} />
      </>
    ),
  })
}

const FILES = [
  ['CSV for Excel', 'csv', 'for=excel'],
  ['CSV', 'csv', ''],
  ['JSON', 'json', ''],
] as const

function Export({ query }: { query: PaymentsQuery }) {
  return (
    <details class="dropdown">
      <summary class="button">
        <Icon name="save" />
        Export
      </summary>
      <ul class="menu">
        {FILES.map(([name, extension, more]) => {
          const href = paymentsHref(query, {}, `${PATH}.${extension}`)
          return (
            <li key={name}>
              <a href={more === '' ? href : `${href}${href.includes('?') ? '&' : '?'}${more}`}>
                {name}, everything listed
              </a>
            </li>
          )
        })}
      </ul>
    </details>
  )
}

function Tabs({ view: { query, counts } }: { view: PaymentsView }) {
  const total = (statuses: readonly PaymentStatus[]): number =>
    [...counts].reduce((sum, [status, n]) => sum + (statuses.length === 0 || statuses.includes(status) ? n : 0), 0)
  return (
    <nav class="tabs" aria-label="Views">
      {VIEWS.map(({ key, name, statuses }) => (
        <a
          key={key}
          href={paymentsHref({ ...query, status: [] }, { view: key })}
          aria-current={query.view === key && query.status.length === 0 ? 'page' : undefined}
        >
          {name}
          <span class="count">{total(statuses).toLocaleString('en')}</span>
        </a>
      ))}
    </nav>
  )
}

/** Returns the other filters as the fields of a form: each filter is a separate form. */
function otherFilters(query: PaymentsQuery, but: keyof PaymentsQuery): [name: string, value: string][] {
  const href = paymentsHref(query, { [but]: but === 'status' ? [] : but === 'view' ? 'all' : '' })
  return [...new URL(href, 'https://pinrail.invalid').searchParams]
}

function Filters({ query }: { query: PaymentsQuery }) {
  const isSet = paymentsHref(query, { view: 'all', sort: 'newest' }) !== PATH
  return (
    <search class="row tight">
      <SearchForm
        action={PATH}
        label="Search payments"
        value={query.q}
        placeholder="Order, description, buyer’s e-mail, id"
        fields={otherFilters(query, 'q')}
      />
      <div class="row tight">
        <Chip query={query} but="created" name="Created" value={query.created === '' ? '' : PERIODS[query.created]}>
          {Object.entries(PERIODS).map(([key, name]) => (
            <label key={key} class="choice">
              <input type="radio" name="created" value={key} checked={query.created === key} />
              {name}
            </label>
          ))}
        </Chip>
        <Chip query={query} but="status" name="Status" value={query.status.join(', ')}>
          {PAYMENT_STATUSES.map((status) => (
            <label key={status} class="choice">
              <input type="checkbox" name="status" value={status} checked={query.status.includes(status)} />
              <Status status={status} />
            </label>
          ))}
        </Chip>
        <Chip query={query} but="provider" name="Method" value={query.provider}>
          {USED_PROVIDER_NAMES.map((provider) => (
            <label key={provider} class="choice">
              <input type="radio" name="provider" value={provider} checked={query.provider === provider} />
              {PROVIDERS[provider].label}
            </label>
          ))}
        </Chip>
        <Chip query={query} but="currency" name="Currency" value={query.currency}>
          <select name="currency" aria-label="Currency">
            {CURRENCIES.map((code) => (
              <option key={code} selected={query.currency === code}>
                {code}
              </option>
            ))}
          </select>
        </Chip>
        {isSet && (
          <a class="button text" href={PATH}>
            Clear
          </a>
        )}
      </div>
    </search>
  )
}

function Chip({
  query,
  but,
  name,
  value,
  children,
}: {
  readonly query: PaymentsQuery
  readonly but: keyof PaymentsQuery
  readonly name: string
  readonly value: string
  readonly children: ComponentChildren
}) {
  return (
    <details class={value === '' ? 'chip' : 'chip on'} name="filter">
      <summary>
        {value === '' ? <Icon name="plus" /> : null}
        {value === '' ? name : `${name}: `}
        {value !== '' && <b>{value}</b>}
      </summary>
      <form class="pop stack tight" method="get" action={PATH}>
        <HiddenFields fields={otherFilters(query, but)} />
        <fieldset>
          <legend>{name}</legend>
          {children}
        </fieldset>
        <div class="actions">
          <button type="submit" class="button fill">
            Apply
          </button>
        </div>
      </form>
    </details>
  )
}

function Empty({ query, isAny }: { query: PaymentsQuery; isAny: boolean }) {
  if (isAny)
    return (
      <div class="empty stack">
        <h2>No payments found</h2>
        <p class="soft">
          {query.q === '' ? 'No payment matches these filters.' : `No payment matches “${query.q}” and the filters.`}
        </p>
        <p class="actions">
          <a class="button" href={PATH}>
            Show all payments
          </a>
        </p>
      </div>
    )
  return (
    <div class="empty stack">
      <span class="pin large">
        <Icon name="payments" />
      </span>
      <h2>No payments yet</h2>
      <p class="soft">A payment is one buyer paying you once. Your shop creates it with an API key.</p>
      <p class="actions">
        <a class="button" href="/docs/first-payment#create-a-payment">
          Learn how
        </a>
      </p>
    </div>
  )
}
