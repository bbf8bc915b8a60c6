import { linkStatus, type PaymentLink } from '../../../domain/link/link.ts'
import { PROVIDERS } from '../../../domain/methods.ts'
import type { Money } from '../../../domain/money.ts'
import { Curl, curlText } from '../../kit/curl.tsx'
import { Icon } from '../../kit/icon.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { SearchForm } from '../../kit/search.tsx'
import { RowLink, Table } from '../../kit/table.tsx'
import { Recent } from '../../kit/time.tsx'
import { LinkState } from '../../links/maker/link-words.tsx'
import { type Frame, renderFramed } from '../frame.tsx'
import { Pager } from '../pager.tsx'
import { Fiat, fiatText } from '../payment-words.tsx'

export const LINK_VIEWS = { active: 'Active', paused: 'Paused', all: 'All' } as const
export type LinkViewName = keyof typeof LINK_VIEWS

export type LinksQuery = { readonly q: string; readonly s: LinkViewName }

export type LinksView = {
  readonly frame: Frame
  readonly query: LinksQuery
  readonly links: readonly PaymentLink[]
  readonly newer: string | null
  readonly older: string | null
  readonly mayChange: boolean
  readonly now: string
  readonly publicUrl: string
}

const PATH = '/dashboard/links'

export function linksHref({ q, s }: LinksQuery): string {
  const set = new URLSearchParams({ ...(s !== 'active' && { s }), ...(q !== '' && { q }) }).toString()
  return set === '' ? PATH : `${PATH}?${set}`
}

export function renderLinks(view: LinksView): string {
  const { frame, query, links, mayChange, publicUrl } = view
  const active = query.s === 'all' ? '' : `?active=${query.s === 'active'}`
  return renderFramed({
    frame,
    title: 'Payment links',
    children: (
      <>
        <PageHead
          title="Payment links"
          lead="Each time a buyer presses Continue, the link creates a payment."
          actions={mayChange ? <NewLink look="button fill" /> : undefined}
        />
        <Search query={query} />
        {links.length === 0 ? (
          <Empty query={query} mayChange={mayChange} />
        ) : (
          <div class="table-box">
            <LinkTable view={view} />
            <Pager newer={view.newer} older={view.older} />
          </div>
        )}
        <Curl command={curlText(`${publicUrl}/v1/payment_links${active}`)} />
      </>
    ),
  })
}

function NewLink({ look }: { look: string }) {
  return (
    <a class={look} href={`${PATH}/new`}>
      <Icon name="plus" />
      New link
    </a>
  )
}

function Search({ query }: { query: LinksQuery }) {
  return (
    <search class="row">
      <SearchForm
        action={PATH}
        label="Search links"
        value={query.q}
        placeholder="Title, reference, code"
        fields={query.s === 'active' ? [] : [['s', query.s]]}
      />
      <nav class="seg" aria-label="Show">
        {Object.entries(LINK_VIEWS).map(([s, name]) => (
          <a
            key={s}
            href={linksHref({ ...query, s: s as LinkViewName })}
            aria-current={s === query.s ? 'true' : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
    </search>
  )
}

function LinkTable({ view: { links, now } }: { view: LinksView }) {
  return (
    <Table<PaymentLink>
      caption="Payment links, newest first"
      rows={links}
      columns={[
        {
          name: 'Title',
          place: 'a',
          look: 'clip',
          cell: ({ id, title }) => <RowLink href={`${PATH}/${id}`}>{title}</RowLink>,
        },
        { name: 'Amount', place: 'c', look: 'num', cell: (link) => <Asked link={link} /> },
        {
          name: 'Method',
          look: 'fit',
          cell: ({ provider }) => (
            <span class="amt">{provider === null ? 'Buyer picks' : PROVIDERS[provider].label}</span>
          ),
        },
        { name: 'Payments', place: 'd', look: 'num', cell: (link) => <Count link={link} /> },
        { name: 'Status', place: 'b', look: 'fit', cell: (link) => <LinkState status={linkStatus(link, now)} /> },
        { name: 'Created', look: 'num', cell: ({ createdAt }) => <Recent at={createdAt} now={now} /> },
      ]}
    />
  )
}

function Asked({ link: { price } }: { link: PaymentLink }) {
  const { amount, min, max, currency } = price
  if (amount !== null) return <Fiat money={amount} />
  const short = (money: Money): string => fiatText(money).replace(/\.00$/, '')
  const bounds =
    min !== null && max !== null
      ? `, ${short(min)} to ${short(max)}`
      : min !== null
        ? `, from ${short(min)}`
        : max === null
          ? ''
          : `, up to ${short(max)}`
  return (
    <>
      <span class="soft">{`Buyer decides${bounds}`}</span> <span class="cur">{currency}</span>
    </>
  )
}

/** The number of open and paid payments, which count towards the maximum. */
function Count({ link: { paymentsCount, maxPayments } }: { link: PaymentLink }) {
  return (
    <span class="amt">
      <b>{paymentsCount}</b>
      {maxPayments !== null && <span class="soft">{` of ${maxPayments}`}</span>}
    </span>
  )
}

function Empty({ query, mayChange }: { query: LinksQuery; mayChange: boolean }) {
  const isFiltered = query.q !== '' || query.s === 'paused'
  return (
    <section class="card empty stack">
      <Icon name="link" />
      <h2>{isFiltered ? 'Nothing found' : 'No links yet'}</h2>
      {isFiltered ? (
        <p>
          {query.q === '' ? 'No links are paused.' : `Nothing has “${query.q}” in its title, reference or code.`}{' '}
          <a href={linksHref({ q: '', s: 'all' })}>Show all links</a>
        </p>
      ) : (
        <p>A link is a payment page that you can send, print or show as a QR code.</p>
      )}
      {!isFiltered && mayChange && (
        <p class="actions">
          <NewLink look="button" />
        </p>
      )}
    </section>
  )
}
