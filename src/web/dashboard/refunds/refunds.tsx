import type { Refund, RefundStatus } from '../../../domain/refund/refund.ts'
import { Curl, curlText } from '../../kit/curl.tsx'
import { Icon } from '../../kit/icon.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { type Frame, renderFramed } from '../frame.tsx'
import { Pager } from '../pager.tsx'
import { RefundTable } from './refund-table.tsx'
import { REFUND_LOOKS } from './refund-words.tsx'

export type RefundsView = {
  readonly frame: Frame
  /** Null shows all. */
  readonly status: RefundStatus | null
  readonly refunds: readonly Refund[]
  /** The URLs of the previous and the next page; null if there is none. */
  readonly newer: string | null
  readonly older: string | null
  readonly now: string
  readonly publicUrl: string
}

const PATH = '/dashboard/refunds'
const TABS: readonly (RefundStatus | null)[] = [null, 'awaiting_funds', 'pending', 'succeeded', 'failed']

export const refundsHref = (status: RefundStatus | null): string =>
  status === null ? PATH : `${PATH}?status=${status}`

export function renderRefunds({ frame, status, refunds, newer, older, now, publicUrl }: RefundsView): string {
  return renderFramed({
    frame,
    title: 'Refunds',
    children: (
      <>
        <PageHead title="Refunds" lead="Money back to your buyers. Open a payment to refund it." />
        <nav class="tabs" aria-label="Views">
          {TABS.map((tab) => (
            <a key={tab} href={refundsHref(tab)} aria-current={tab === status ? 'page' : undefined}>
              {tab === null ? 'All' : REFUND_LOOKS[tab].word}
            </a>
          ))}
        </nav>
        <div class="table-box">
          {refunds.length > 0 ? <RefundTable refunds={refunds} now={now} /> : <Empty status={status} />}
          <Pager newer={newer} older={older} />
        </div>
        <Curl command={curlText(`${publicUrl}/v1/refunds${status === null ? '' : `?status=${status}`}`)} />
      </>
    ),
  })
}

function Empty({ status }: Pick<RefundsView, 'status'>) {
  return (
    <div class="empty stack">
      <span class="pin large">
        <Icon name="back" />
      </span>
      <h2>{status === null ? 'No refunds yet' : 'No refunds found'}</h2>
      <p class="soft">You can refund a payment once its USDC is in your wallet, in whole or in part.</p>
      <p class="actions">
        <a class="button" href={status === null ? '/docs/refunds' : PATH}>
          {status === null ? 'Learn how' : 'Show all refunds'}
        </a>
      </p>
    </div>
  )
}
