import { formatAmount, isMore, type MicroUsdc, type Money } from '../../../domain/money.ts'
import { isClosed } from '../../../domain/payment/payment.ts'
import type { Payment } from '../../../domain/payment/payment-object.ts'
import { DEDUCTION_DAYS, LEAST_PAYOUT_MICRO } from '../../../domain/refund/deduction.ts'
import type { Refundable } from '../../../domain/refund/refundable.ts'
import { Card } from '../../kit/card.tsx'
import { Curl, curlText } from '../../kit/curl.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { ErrorSummary, Field, type FormErrors } from '../../kit/field.tsx'
import { FormEnd, PostForm } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { timeText } from '../../kit/time.tsx'
import { type Frame, renderFramed } from '../frame.tsx'
import { CodedAmount, Fiat, fiatText, methodText, Usdc, usdcText } from '../payment-words.tsx'
import { LOCKED_MINUTES } from './refund-words.tsx'

/** The fields as the person typed them. */
export type RefundDraft = { readonly amount: string; readonly reason: string; readonly source: string }

type FormView = { readonly frame: Frame; readonly payment: Payment; readonly publicUrl: string }

export type RefundFormView = FormView & {
  readonly draft: RefundDraft
  readonly errors: FormErrors
  /** The part that can be refunded; null: nothing. */
  readonly refundable: Pick<Refundable, 'fundFrom' | 'left'> | null
  readonly once: string
  /** The sum that open refunds can require of the next payouts together, in micro-USDC; null: payouts pay for none. */
  readonly deductionLimit: MicroUsdc | null
}

/** The first step: the amount, and why. */
export function renderRefundForm(view: RefundFormView): string {
  const { frame, payment, refundable, publicUrl } = view
  const body = {
    ...(refundable?.fundFrom === 'wallet' && { amount: formatAmount(refundable.left) }),
    reason: 'One ticket was returned',
  }
  return renderFramed({
    frame,
    title: 'Refund',
    narrow: true,
    children: (
      <>
        <RefundHead payment={payment} />
        {refundable === null && (
          <Note tone="wait" icon="warning" strong="This payment cannot be refunded here.">
            {describeNothingLeft(payment)}
          </Note>
        )}
        {refundable?.fundFrom === 'wallet' && <AmountForm view={view} left={refundable.left} />}
        {refundable?.fundFrom === 'payment' && <WholeForm view={view} left={refundable.left} />}
        <Curl command={curlText(`${publicUrl}/v1/payments/${payment.id}/refunds`, { method: 'POST', body })} />
      </>
    ),
  })
}

type PartProps = { readonly view: RefundFormView; readonly left: Money }

function AmountForm({ view: { frame, payment, draft, errors, deductionLimit }, left }: PartProps) {
  return (
    <PostForm action={`/dashboard/payments/${payment.id}/refund`} csrf={frame.csrf} look="form card">
      <ErrorSummary errors={errors} />
      <Field
        name="amount"
        label={`Amount in ${left.currency}`}
        hint={`At most ${fiatText(left)} ${left.currency}. The buyer gets it back the way it was paid${wayText(payment)}.`}
        errors={errors}
      >
        {(attributes) => (
          <input {...attributes} inputMode="decimal" autocomplete="off" required maxLength={40} value={draft.amount} />
        )}
      </Field>
      {deductionLimit !== null && <SourceField draft={draft} limit={deductionLimit} />}
      <ReasonField draft={draft} errors={errors} />
      <FormEnd back={`/dashboard/payments/${payment.id}`}>See what it costs</FormEnd>
    </PostForm>
  )
}

/** Before the settlement the whole payment goes back, so nothing is asked but the reason. */
function WholeForm({ view: { frame, payment, draft, errors, once }, left }: PartProps) {
  const path = `/dashboard/payments/${payment.id}`
  return (
    <PostForm action={`${path}/refunds`} csrf={frame.csrf} look="form card" fields={{ amount: '', source: '', once }}>
      <ErrorSummary errors={errors} />
      <p>
        {`The payment is not settled yet, so the whole ${fiatText(left)} ${left.currency} go back to the buyer the way it was paid${wayText(payment)}. You pay nothing for it, there is no fee, and you do not receive the payment’s USDC. To refund only a part, wait until its USDC is in your wallet.`}
      </p>
      <ReasonField draft={draft} errors={errors} />
      <FormEnd back={path}>Refund the whole payment</FormEnd>
    </PostForm>
  )
}

function SourceField({ draft, limit }: { readonly draft: RefundDraft; readonly limit: MicroUsdc }) {
  return (
    <Field
      name="source"
      label="You pay with"
      hint={`Your next payouts can pay for up to ${usdcText(limit, 6)} USDC of open refunds together.`}
    >
      {(attributes) => (
        <select {...attributes}>
          <option value="wallet" selected={draft.source !== 'next_payouts'}>
            USDC from a wallet, now
          </option>
          <option value="next_payouts" selected={draft.source === 'next_payouts'}>
            Your next payouts
          </option>
        </select>
      )}
    </Field>
  )
}

function ReasonField({ draft, errors }: Pick<RefundFormView, 'draft' | 'errors'>) {
  return (
    <Field name="reason" label="Reason" hint="Only your team sees it." optional errors={errors}>
      {(attributes) => <input {...attributes} maxLength={500} value={draft.reason} />}
    </Field>
  )
}

/** Why nothing of the payment can be refunded, and what to do. */
function describeNothingLeft({ providerUsed, payout, status }: Payment): string {
  if (providerUsed === 'crypto')
    return 'The buyer paid in USDC, possibly from a wallet that an exchange shares. Ask the buyer for an address, and send the USDC there yourself.'
  if (payout === 'paid') return 'Everything is refunded already, or the buyer charged it back.'
  return isClosed(status)
    ? 'You received nothing for it, so there is nothing to refund.'
    : 'Its money is not confirmed, is going back already, or waits for our decision. If that changes, you can refund it.'
}

export type RefundQuoteView = FormView & {
  readonly draft: RefundDraft
  readonly amount: Money
  /** USDC for one major unit. */
  readonly rate: string
  readonly requiredMicro: MicroUsdc
  /** Until when the rate is locked if the refund is created now, ISO 8601. */
  readonly expiresAt: string
  /** The idempotency key of the form, so that a form that is sent again creates no second refund. */
  readonly once: string
}

/** The second step: what the buyer gets, and what that costs. */
export function renderRefundQuote(view: RefundQuoteView): string {
  const { frame, payment, draft, amount, rate, requiredMicro, expiresAt, once } = view
  const path = `/dashboard/payments/${payment.id}`
  return renderFramed({
    frame,
    title: 'Refund',
    narrow: true,
    children: (
      <>
        <RefundHead payment={payment} />
        <Card id="quote" title="What it costs">
          <Facts>
            <Fact name={`The buyer gets back${wayText(payment)}`}>
              <Fiat money={amount} />
            </Fact>
            <Fact name={`Rate for 1 ${amount.currency}`}>
              <CodedAmount number={rate} code="USDC" />
            </Fact>
            <Fact name={<b>You pay</b>}>
              <b>
                <Usdc micro={requiredMicro} />
              </b>
            </Fact>
            {payment.usdc !== null && (
              <Fact name="Fee of the payment, not given back">
                <Usdc micro={payment.usdc.fee} />
              </Fact>
            )}
            {draft.reason.trim() !== '' && <Fact name="Reason">{draft.reason}</Fact>}
          </Facts>
          <Compared payment={payment} amount={amount} requiredMicro={requiredMicro} />
          <p class="hint">
            {draft.source === 'next_payouts'
              ? `If you create the refund now, we deduct this USDC from your next payouts, the earliest first, and leave at least ${usdcText(LEAST_PAYOUT_MICRO.toString(), 2)} USDC of each. When enough of them are final, the buyer gets the money back. The rate is locked for ${DEDUCTION_DAYS} days, until ${timeText(expiresAt, 'long')} UTC. If that is not enough, the refund expires, and we release what was deducted to your wallet.`
              : `If you create the refund now, the rate is locked for ${LOCKED_MINUTES} minutes, until ${timeText(expiresAt, 'time')} UTC. Pay within that time, from the wallet of the payment without gas, or from any wallet. If you do not pay, the refund expires and costs nothing.`}
          </p>
          <PostForm action={`${path}/refunds`} csrf={frame.csrf} fields={{ ...draft, once }}>
            <FormEnd back={`${path}/refund`}>Create refund</FormEnd>
          </PostForm>
        </Card>
      </>
    ),
  })
}

/** A full refund costs more than the payment brought, because the fee is not given back. */
function Compared({
  payment: { usdc, confirmed },
  amount,
  requiredMicro,
}: Pick<RefundQuoteView, 'payment' | 'amount' | 'requiredMicro'>) {
  if (usdc === null || confirmed === null || isMore(confirmed, amount)) return null
  const more = BigInt(requiredMicro) - BigInt(usdc.net)
  if (more <= 0n) return null
  return (
    <p class="hint">
      {`You received ${usdcText(usdc.net, 6)} USDC for this payment. The refund costs ${usdcText(more.toString(), 6)} USDC more.`}
    </p>
  )
}

function RefundHead({ payment }: { payment: Payment }) {
  const { id, amount, reference } = payment
  return (
    <PageHead
      back={{ href: `/dashboard/payments/${id}`, name: 'Payment' }}
      title="Refund"
      lead={`Of the payment of ${fiatText(amount)} ${amount.currency}${reference === null ? '' : `, ${reference}`}`}
    />
  )
}

const wayText = (payment: Payment): string => {
  const way = methodText(payment)
  return way === null ? '' : ` (${way})`
}
