import type { Dispute } from '../../../domain/dispute/dispute.ts'
import { METHOD_LABELS } from '../../../domain/methods.ts'
import type { Customer } from '../../../domain/payment/buyer.ts'
import { getItemAmount } from '../../../domain/payment/invoice.ts'
import { isOpen } from '../../../domain/payment/payment.ts'
import {
  type Attempt,
  checkoutUrl,
  type Deduction,
  explorerUrl,
  merchantUsdc,
  type Payment,
} from '../../../domain/payment/payment-object.ts'
import { findDueDay, type ReserveTerms } from '../../../domain/payment/reserve.ts'
import type { Refund } from '../../../domain/refund/refund.ts'
import type { Amounts } from '../../checkout/amounts.ts'
import { getStamp } from '../../checkout/live.ts'
import { CopyButton } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { Copy, shorten } from '../../kit/copy.tsx'
import { Curl } from '../../kit/curl.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { PostButton } from '../../kit/form.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Note } from '../../kit/note.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { State } from '../../kit/state.tsx'
import { timeText } from '../../kit/time.tsx'
import { getProofPage } from '../../proof-page.ts'
import { DisputesCard } from '../disputes/dispute-table.tsx'
import { type Frame, renderFramed } from '../frame.tsx'
import {
  CodedAmount,
  describeStepToMerchant,
  Fiat,
  fiatText,
  isOver,
  methodText,
  receivesNothing,
  statusLook,
  Usdc,
  usdcText,
} from '../payment-words.tsx'
import { RefundsCard } from '../refunds/refund-table.tsx'
import { type DatedStop, Stops } from '../stops.tsx'
import type { TimelineItem } from './facts.tsx'
import { type Group, Timeline } from './timeline.tsx'

export type PaymentView = {
  readonly frame: Frame
  readonly payment: Payment
  /** The data of the buyer that the account has; undefined: none. */
  readonly customer: Customer | undefined
  readonly attempts: readonly Attempt[]
  /** The amounts of the payment, with a part of the price that has arrived at its deposit address. */
  readonly amounts: Amounts
  /** The hosts of the account's endpoints by id, for the timeline. */
  readonly endpoints: ReadonlyMap<string, string>
  readonly timeline: readonly TimelineItem[]
  readonly show: Group
  /** True if this person can cancel payments, and the payment can be canceled. */
  readonly cancelable: boolean
  readonly now: string
  /** The disputes about the payment, newest first. */
  readonly disputes: readonly Dispute[]
  /** The refunds of the payment, newest first. */
  readonly refunds: readonly Refund[]
  /** True if this person can refund payments, and the payment has something to refund. */
  readonly refundable: boolean
  readonly problem: string | null
  readonly publicUrl: string
}

export function renderPaymentPage(view: PaymentView): string {
  const { frame, payment, attempts, timeline, show, publicUrl } = view
  const { id, amount } = payment
  const { word, tone, icon } = statusLook(payment)
  return renderFramed({
    frame,
    title: `${fiatText(amount)} ${amount.currency}`,
    follow: `${new URL(checkoutUrl(publicUrl, payment.checkoutToken)).pathname}/live?knows=${getStamp(view)}`,
    children: (
      <>
        <PageHead
          back={{ href: '/dashboard/payments', name: 'Payments' }}
          title={
            <>
              <span class="huge">
                {fiatText(amount)} {amount.currency}
              </span>{' '}
              <State tone={tone} icon={icon}>
                {word}
              </State>
            </>
          }
          lead={<span class="lead">{describeStepToMerchant(payment, view.amounts)}</span>}
          actions={<Actions view={view} />}
        >
          <Stops stops={listStops(payment)} />
        </PageHead>
        {view.problem !== null && <Note tone="problem" icon="warning" strong={view.problem} />}
        <div class="cols">
          <div class="col">
            <Timeline items={timeline} show={show} about={view} />
          </div>
          <div class="side">
            <Money payment={payment} amounts={view.amounts} />
            <OtherPayments amounts={view.amounts} />
            <DisputesCard disputes={view.disputes} now={view.now} />
            <RefundsCard payment={payment} attempts={attempts} refunds={view.refunds} now={view.now} />
            <Details payment={payment} customer={view.customer} />
            <Items payment={payment} />
            <Ids payment={payment} attempts={attempts} publicUrl={publicUrl} />
            <Curl command={`curl ${publicUrl}/v1/payments/${id} \\\n  -H "authorization: Bearer $SECRET_KEY"`} />
          </div>
        </div>
      </>
    ),
  })
}

function Actions({ view: { payment, publicUrl, cancelable, refundable, frame } }: { view: PaymentView }) {
  const checkout = checkoutUrl(publicUrl, payment.checkoutToken)
  return (
    <>
      <a class="button" href={payment.status === 'succeeded' ? `${checkout}/receipt` : checkout}>
        <Icon name="receipt" />
        {payment.status === 'succeeded' ? 'Receipt' : isOpen(payment.status) ? 'Open checkout' : 'What the buyer sees'}
      </a>
      {isOpen(payment.status) && <CopyButton value={checkout}>Copy checkout link</CopyButton>}
      {refundable && (
        <a class="button" href={`/dashboard/payments/${payment.id}/refund`}>
          <Icon name="back" />
          Refund
        </a>
      )}
      {cancelable && (
        <PostButton action={`/dashboard/payments/${payment.id}/cancel`} csrf={frame.csrf} look="button danger">
          Cancel payment
        </PostButton>
      )}
    </>
  )
}

function listStops({ createdAt, paidAt, rate, usdc, succeededAt }: Payment): DatedStop[] {
  return [
    { name: 'Created', at: createdAt },
    { name: 'Paid', at: paidAt },
    { name: 'Converted', at: usdc === null ? null : (rate?.lockedAt ?? paidAt) },
    { name: 'In your wallet', at: succeededAt },
  ]
}

function ExpectedAmounts({ payment, amounts: { short } }: MoneyProps) {
  const { amount, quote } = payment
  const isNothing = isOver(payment)
  return (
    <Card id="money" title="Money">
      <Facts>
        <Fact name="Asked">
          <Fiat money={amount} />
        </Fact>
        {short !== null && (
          <>
            <Fact name="Paid">
              <Fiat money={short.received} />
            </Fact>
            <Fact name="Missing">
              <Fiat money={short.missing} />
            </Fact>
          </>
        )}
        <Fact name={isNothing ? 'You receive' : 'You would receive'}>
          {isNothing ? (
            receivesNothing(payment)
          ) : (
            <CodedAmount number={`≈ ${usdcText(quote.netMicro, 2)}`} code="USDC" />
          )}
        </Fact>
      </Facts>
      {!isNothing && (
        <p class="hint">
          At the rate when the payment was created, less our fee of {payment.feePercent}%. The rate is locked when the
          buyer pays.
        </p>
      )}
    </Card>
  )
}

type MoneyProps = { readonly payment: Payment; readonly amounts: Amounts }

function OtherPayments({ amounts: { surplus, returned } }: { amounts: Amounts }) {
  if (surplus.length + returned.length === 0) return null
  return (
    <Card id="others" title="Other payments of the buyer">
      <Facts>
        {surplus.map(({ attempt, amount, micro }) => (
          <Fact key={attempt.id} name={`${METHOD_LABELS[attempt.method]}, held for the buyer`}>
            {micro === null ? <Fiat money={amount} /> : <Usdc micro={micro} />}
          </Fact>
        ))}
        {returned.map(({ attempt, amount, micro }) => (
          <Fact key={attempt.id} name={`${METHOD_LABELS[attempt.method]}, returned`}>
            {micro === null ? <Fiat money={amount} /> : <Usdc micro={micro} />}
          </Fact>
        ))}
      </Facts>
    </Card>
  )
}

function Money({ payment, amounts }: MoneyProps) {
  const { amount, confirmed, rate } = payment
  const usdc = merchantUsdc(payment)
  if (usdc === null) return <ExpectedAmounts payment={payment} amounts={amounts} />
  const paid = confirmed ?? amount
  return (
    <Card id="money" title="Money">
      <table class="calc">
        <caption class="unseen">
          From {fiatText(paid)} {paid.currency} to USDC
        </caption>
        <tbody>
          <tr>
            <th scope="row">Buyer paid</th>
            <td>
              <Fiat money={paid} />
            </td>
          </tr>
          {rate !== null && (
            <tr>
              <th scope="row">
                Rate for 1 {paid.currency}, locked {timeText(rate.lockedAt, 'seconds')}
              </th>
              <td>
                <CodedAmount number={rate.rate} code="USDC" />
              </td>
            </tr>
          )}
          <tr>
            <th scope="row">Converted</th>
            <td>
              <Usdc micro={usdc.gross} />
            </td>
          </tr>
          <tr>
            <th scope="row">Fee, {payment.feePercent}%</th>
            <td>
              <CodedAmount number={`−${usdcText(usdc.fee, 6)}`} code="USDC" />
            </td>
          </tr>
          <tr>
            <th scope="row">You receive</th>
            <td>
              <Usdc micro={usdc.net} />
            </td>
          </tr>
          {payment.reserve !== null && <Reserve payment={payment} reserve={payment.reserve} />}
          {payment.deduction !== null && <Deducted deduction={payment.deduction} />}
        </tbody>
      </table>
      <p class="hint">The fee covers partner, conversion and gas. You pay it only when a payment succeeds.</p>
    </Card>
  )
}

function Reserve({ payment, reserve }: { payment: Payment; reserve: ReserveTerms }) {
  const { reservedMicro, reserveReleasedMicro, transfer } = payment
  const when =
    transfer === null ? `${reserve.days} days` : `until ${timeText(findDueDay(transfer.finalizedAt, reserve), 'date')}`
  return (
    <>
      <tr>
        <th scope="row">{`Of that held back, ${when}`}</th>
        <td>
          <Usdc micro={reservedMicro} />
        </td>
      </tr>
      {reserveReleasedMicro !== '0' && (
        <tr>
          <th scope="row">{`Of that held back, ${reserve.percent}%, and released`}</th>
          <td>
            <Usdc micro={reserveReleasedMicro} />
          </td>
        </tr>
      )}
    </>
  )
}

function Deducted({ deduction: { refundId, micro, releaseId } }: { deduction: Deduction }) {
  return (
    <tr>
      <th scope="row">
        Of that deducted for a <a href={`/dashboard/refunds/${refundId}`}>refund</a>
        {releaseId !== null && ', and released'}
      </th>
      <td>
        <Usdc micro={micro} />
      </td>
    </tr>
  )
}

function Details({ payment, customer }: Pick<PaymentView, 'payment' | 'customer'>) {
  const { description, reference, provider, metadata, invoice } = payment
  return (
    <Card id="det" title="Details">
      <Facts>
        {description !== null && <Fact name="Description">{description}</Fact>}
        {reference !== null && <Fact name="Reference">{reference}</Fact>}
        {customer?.email && <Fact name="Buyer’s e-mail">{customer.email}</Fact>}
        {customer?.taxId && <Fact name="Buyer’s tax ID">{customer.taxId}</Fact>}
        {invoice?.number && <Fact name="Invoice number">{invoice.number}</Fact>}
        {invoice?.taxId && <Fact name="Your tax ID">{invoice.taxId}</Fact>}
        <Fact name="Method">
          {methodText(payment) ?? 'The buyer picks'} {provider !== null && <span class="tag">pinned</span>}
        </Fact>
        {metadata !== null &&
          Object.entries(metadata).map(([key, value]) => (
            <Fact key={key} name={key}>
              <code>{value}</code>
            </Fact>
          ))}
      </Facts>
    </Card>
  )
}

function Items({ payment: { invoice, amount } }: { payment: Payment }) {
  if (invoice === null || invoice.items.length === 0) return null
  return (
    <Card id="items" title="Items">
      <Facts>
        {invoice.items.map((item, place) => (
          <Fact key={`${place}`} name={item.quantity === 1 ? item.name : `${item.quantity} × ${item.name}`}>
            <Fiat money={getItemAmount(item, amount.currency)} />
          </Fact>
        ))}
      </Facts>
    </Card>
  )
}

function Ids({
  payment,
  attempts,
  publicUrl,
}: {
  readonly payment: Payment
  readonly attempts: readonly Attempt[]
  readonly publicUrl: string
}) {
  const { id, transfer, destination } = payment
  const explorer = explorerUrl(payment)
  return (
    <Card id="ids" title="IDs">
      <Facts>
        <Fact name="Payment">
          <Copy value={id} short={shorten(id, 12, 5)} />
        </Fact>
        <Fact name="Wallet">
          <Copy value={destination} short={shorten(destination, 6, 4)} />
        </Fact>
        {transfer !== null && (
          <Fact name="Transaction">
            <Copy value={transfer.txHash} short={shorten(transfer.txHash)} />
          </Fact>
        )}
        {attempts.flatMap(({ partnerReference: reference }) =>
          reference === null
            ? []
            : [
                <Fact key={reference} name="Partner order">
                  <Copy value={reference} short={shorten(reference)} />
                </Fact>,
              ],
        )}
      </Facts>
      {transfer !== null && (
        <a href={getProofPage(new URL(checkoutUrl(publicUrl, payment.checkoutToken)).pathname)}>Prove the transfer</a>
      )}
      {explorer !== null && (
        <a class="with-icon" href={explorer} rel="noreferrer">
          View on a block explorer
          <Icon name="out" />
        </a>
      )}
    </Card>
  )
}
