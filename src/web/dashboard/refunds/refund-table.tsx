import { isZero } from '../../../domain/money.ts'
import { type Attempt, countRefundable, countRefunded, type Payment } from '../../../domain/payment/payment-object.ts'
import type { Refund } from '../../../domain/refund/refund.ts'
import { Card } from '../../kit/card.tsx'
import { RowLink, Table } from '../../kit/table.tsx'
import { Recent } from '../../kit/time.tsx'
import { Fiat, fiatText, Usdc } from '../payment-words.tsx'
import { RefundState } from './refund-words.tsx'

type RefundTableProps = { readonly refunds: readonly Refund[]; readonly now: string }

export function RefundTable({ refunds, now }: RefundTableProps) {
  return (
    <Table<Refund>
      caption="Refunds, newest first"
      rows={refunds}
      columns={[
        {
          name: 'Amount',
          look: 'num fit',
          place: 'a',
          cell: ({ id, amount }) => (
            <RowLink href={`/dashboard/refunds/${id}`}>
              <Fiat money={amount} />
            </RowLink>
          ),
        },
        { name: 'Status', look: 'fit', place: 'b', cell: ({ status }) => <RefundState status={status} /> },
        {
          name: 'Reason',
          look: 'clip',
          place: 'c',
          cell: ({ reason, id }) => reason ?? <span class="soft">{id}</span>,
        },
        { name: 'Costs', look: 'num', cell: ({ requiredMicro }) => <Usdc micro={requiredMicro} decimals={2} /> },
        { name: 'Created', look: 'num', place: 'd', cell: ({ createdAt }) => <Recent at={createdAt} now={now} /> },
      ]}
    />
  )
}

type RefundsCardProps = RefundTableProps & { readonly payment: Payment; readonly attempts: readonly Attempt[] }

/** The refunds of a payment, on its page. */
export function RefundsCard({ payment, attempts, refunds, now }: RefundsCardProps) {
  const { confirmed } = payment
  if (refunds.length === 0 || confirmed === null) return null
  const { currency } = confirmed
  const left = countRefundable(payment)
  const text = (minor: string): string => `${fiatText({ minor, currency })} ${currency}`
  return (
    <Card
      id="refunds"
      title="Refunds"
      lead={`${text(countRefunded(payment, attempts))} refunded, ${isZero(left) ? 'nothing' : text(left)} left to refund`}
      flush
    >
      <RefundTable refunds={refunds} now={now} />
    </Card>
  )
}
