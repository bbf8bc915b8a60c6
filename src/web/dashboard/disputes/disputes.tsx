import type { Dispute, DisputeStatus } from '../../../domain/dispute/dispute.ts'
import { Curl, curlText } from '../../kit/curl.tsx'
import { Icon } from '../../kit/icon.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { type Frame, renderFramed } from '../frame.tsx'
import { Pager } from '../pager.tsx'
import { DisputeTable } from './dispute-table.tsx'
import { DISPUTE_LOOKS } from './dispute-words.tsx'

export type DisputesView = {
  readonly frame: Frame
  /** Null shows all. */
  readonly status: DisputeStatus | null
  readonly disputes: readonly Dispute[]
  /** The URLs of the previous and the next page; null if there is none. */
  readonly newer: string | null
  readonly older: string | null
  readonly now: string
  readonly publicUrl: string
}

const PATH = '/dashboard/disputes'
const TABS: readonly (DisputeStatus | null)[] = [null, 'needs_response', 'under_review', 'won', 'lost']

export const disputesHref = (status: DisputeStatus | null): string =>
  status === null ? PATH : `${PATH}?status=${status}`

export function renderDisputes({ frame, status, disputes, newer, older, now, publicUrl }: DisputesView): string {
  return renderFramed({
    frame,
    title: 'Disputes',
    children: (
      <>
        <PageHead title="Disputes" lead="Buyers who asked their bank for the money of a payment." />
        <nav class="tabs" aria-label="Views">
          {TABS.map((tab) => (
            <a key={tab} href={disputesHref(tab)} aria-current={tab === status ? 'page' : undefined}>
              {tab === null ? 'All' : DISPUTE_LOOKS[tab].word}
            </a>
          ))}
        </nav>
        <div class="table-box">
          {disputes.length > 0 ? <DisputeTable disputes={disputes} now={now} /> : <Empty status={status} />}
          <Pager newer={newer} older={older} />
        </div>
        <Curl command={curlText(`${publicUrl}/v1/disputes${status === null ? '' : `?status=${status}`}`)} />
      </>
    ),
  })
}

function Empty({ status }: Pick<DisputesView, 'status'>) {
  return (
    <div class="empty stack">
      <span class="pin large">
        <Icon name="shield" />
      </span>
      <h2>{status === null ? 'No disputes yet' : 'No disputes found'}</h2>
      <p class="soft">If a buyer disputes a payment, you see it here with the deadline for your evidence.</p>
      <p class="actions">
        <a class="button" href={status === null ? '/docs/disputes' : PATH}>
          {status === null ? 'Learn how' : 'Show all disputes'}
        </a>
      </p>
    </div>
  )
}
