import type { Dispute } from '../../../domain/dispute/dispute.ts'
import { Card } from '../../kit/card.tsx'
import { RowLink, Table } from '../../kit/table.tsx'
import { Recent } from '../../kit/time.tsx'
import { Fiat } from '../payment-words.tsx'
import { DisputeState, REASON_WORDS } from './dispute-words.tsx'

type DisputeTableProps = { readonly disputes: readonly Dispute[]; readonly now: string }

export function DisputeTable({ disputes, now }: DisputeTableProps) {
  return (
    <Table<Dispute>
      caption="Disputes, newest first"
      rows={disputes}
      columns={[
        {
          name: 'Amount',
          look: 'num fit',
          place: 'a',
          cell: ({ id, amount }) => (
            <RowLink href={`/dashboard/disputes/${id}`}>
              <Fiat money={amount} />
            </RowLink>
          ),
        },
        { name: 'Status', look: 'fit', place: 'b', cell: ({ status }) => <DisputeState status={status} /> },
        { name: 'Reason', look: 'clip', place: 'c', cell: ({ reason }) => REASON_WORDS[reason] },
        {
          name: 'Evidence until',
          look: 'num',
          cell: ({ status, evidenceDueAt }) =>
            status === 'needs_response' && evidenceDueAt !== null ? <Recent at={evidenceDueAt} now={now} /> : '–',
        },
        { name: 'Opened', look: 'num', place: 'd', cell: ({ createdAt }) => <Recent at={createdAt} now={now} /> },
      ]}
    />
  )
}

/** The disputes of a payment, on its page. */
export function DisputesCard({ disputes, now }: DisputeTableProps) {
  if (disputes.length === 0) return null
  return (
    <Card id="disputes" title="Disputes" flush>
      <DisputeTable disputes={disputes} now={now} />
    </Card>
  )
}
