import type { ComponentChildren } from 'preact'
import { METHOD_LABELS } from '../../../domain/methods.ts'
import { merchantUsdc, type Payment } from '../../../domain/payment/payment-object.ts'
import { Fiat, receivesNothing, Status, Usdc } from '../../dashboard/payment-words.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Table } from '../../kit/table.tsx'
import { Recent } from '../../kit/time.tsx'

type Props = {
  readonly caption: string
  readonly payments: readonly Payment[]
  readonly now: string
  /** Links the amount to the payment's page. Absent if the reader cannot open that page. */
  readonly rowLink?: (payment: Payment, amount: ComponentChildren) => ComponentChildren
  readonly children: ComponentChildren
}

/** The payments of a link, for its account and for the owner of its secret URL. */
export function LinkPayments({ caption, payments, now, rowLink, children }: Props) {
  if (payments.length === 0)
    return (
      <section class="card empty stack">
        <Icon name="payments" />
        <h2>No payments yet</h2>
        <p>Payments appear here once a buyer presses Continue.</p>
      </section>
    )
  const toAmount = (payment: Payment): ComponentChildren => {
    const amount = <Fiat money={payment.amount} />
    return rowLink === undefined ? amount : rowLink(payment, amount)
  }
  return (
    <div class="table-box">
      <Table<Payment>
        caption={caption}
        rows={payments}
        columns={[
          { name: 'Amount', place: 'a', look: 'num fit', cell: toAmount },
          { name: 'Status', place: 'b', look: 'fit', cell: ({ status }) => <Status status={status} /> },
          {
            name: 'Method',
            place: 'c',
            cell: ({ methodUsed }) =>
              methodUsed === null ? <span class="soft">Not chosen yet</span> : METHOD_LABELS[methodUsed],
          },
          {
            name: 'You receive',
            look: 'num',
            cell: (payment) => {
              const usdc = merchantUsdc(payment)
              if (usdc !== null) return <Usdc micro={usdc.net} decimals={2} />
              return <span class="soft">{receivesNothing(payment)}</span>
            },
          },
          { name: 'Time', place: 'd', look: 'num', cell: ({ createdAt }) => <Recent at={createdAt} now={now} /> },
        ]}
      />
      {children}
    </div>
  )
}
