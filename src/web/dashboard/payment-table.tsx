import type { ComponentChildren } from 'preact'
import { merchantUsdc, type Payment } from '../../domain/payment/payment-object.ts'
import { RowLink, Table } from '../kit/table.tsx'
import { Recent } from '../kit/time.tsx'
import { Fiat, methodText, receivesNothing, Status, Usdc } from './payment-words.tsx'

type PaymentTableProps = {
  readonly caption: string
  readonly payments: readonly Payment[]
  readonly now: string
  /** The head of the last column, such as a link that sorts. */
  readonly created?: ComponentChildren
  readonly sort?: 'ascending' | 'descending'
}

export function PaymentTable({ caption, payments, now, created = 'Created', sort }: PaymentTableProps) {
  return (
    <Table<Payment>
      caption={caption}
      rows={payments}
      columns={[
        {
          name: 'Amount',
          look: 'num fit',
          place: 'a',
          cell: ({ id, amount }) => (
            <RowLink href={`/dashboard/payments/${id}`}>
              <Fiat money={amount} />
            </RowLink>
          ),
        },
        { name: 'Status', look: 'fit', place: 'b', cell: (payment) => <Status {...payment} /> },
        { name: 'Description', look: 'clip', place: 'c', cell: (payment) => <Described payment={payment} /> },
        {
          name: 'Method',
          look: 'fit',
          cell: (payment) => {
            const method = methodText(payment)
            return method === null ? <span class="soft amt">Not chosen yet</span> : <span class="amt">{method}</span>
          },
        },
        {
          name: 'You receive',
          look: 'num',
          cell: (payment) => <Received payment={payment} />,
        },
        {
          name: created,
          look: 'num',
          place: 'd',
          ...(sort !== undefined && { sort }),
          cell: ({ createdAt }) => <Recent at={createdAt} now={now} />,
        },
      ]}
    />
  )
}

function Received({ payment }: { payment: Payment }) {
  const usdc = merchantUsdc(payment)
  if (usdc !== null) return <Usdc micro={usdc.net} decimals={2} />
  return (
    <span class="soft">
      <span aria-hidden="true">–</span>
      <span class="unseen">{receivesNothing(payment)}</span>
    </span>
  )
}

function Described({ payment: { reference, description, id } }: { payment: Payment }) {
  if (reference === null && description === null) return <span class="soft">{id}</span>
  return (
    <>
      {reference !== null && <b>{reference}</b>} {description !== null && <span class="soft">{description}</span>}
    </>
  )
}
