import { hasAbility } from '../../domain/account/roles.ts'
import type { Currency } from '../../domain/currencies.ts'
import { Curl, curlText } from '../kit/curl.tsx'
import { ErrorSummary, Field, type FormErrors } from '../kit/field.tsx'
import { FormEnd, PostForm } from '../kit/form.tsx'
import { Icon } from '../kit/icon.tsx'
import { PageHead } from '../kit/page-head.tsx'
import { CurrencyField, HowPaid, ReferenceField } from '../links/maker/link-form.tsx'
import { type Frame, renderFramed } from './frame.tsx'
import { WalletNeeded } from './wallet-needed.tsx'

export type PaymentDraft = {
  readonly amount: string
  readonly currency: string
  readonly provider: string
  readonly description: string
  readonly reference: string
  readonly customer_email: string
}

export type NewPaymentView = {
  readonly frame: Frame
  readonly draft: PaymentDraft
  readonly currencies: readonly Currency[]
  readonly errors: FormErrors
  /** The idempotency key of the form, so that a form that is sent again creates no second payment. */
  readonly once: string
  readonly hasWallet: boolean
  readonly publicUrl: string
}

/** A link to the form, for roles that can create payments. */
export function NewPayment({ frame: { role } }: { frame: Frame }) {
  if (role === null || !hasAbility(role, 'sell')) return null
  return (
    <a class="button fill" href="/dashboard/payments/new">
      <Icon name="plus" />
      New payment
    </a>
  )
}

export function renderNewPayment({
  frame,
  draft,
  currencies,
  errors,
  once,
  hasWallet,
  publicUrl,
}: NewPaymentView): string {
  const body = { amount: '49.90', currency: 'EUR', description: 'Order 1001' }
  return renderFramed({
    frame,
    title: 'New payment',
    narrow: true,
    children: (
      <>
        <PageHead back={{ href: '/dashboard/payments', name: 'Payments' }} title="New payment" />
        {!hasWallet && <WalletNeeded href="/dashboard">The USDC of the payment goes there.</WalletNeeded>}
        <PostForm action="/dashboard/payments" csrf={frame.csrf} fields={{ once }} look="form card">
          <ErrorSummary errors={errors} />
          <div class="inline">
            <div class="grow">
              <Field name="amount" label="Amount" errors={errors}>
                {(attributes) => (
                  <input
                    {...attributes}
                    inputMode="decimal"
                    autocomplete="off"
                    required
                    maxLength={40}
                    value={draft.amount}
                  />
                )}
              </Field>
            </div>
            <div class="short">
              <CurrencyField currency={draft.currency} currencies={currencies} errors={errors} />
            </div>
          </div>
          <Field name="description" label="Description" hint="The buyer sees it." optional errors={errors}>
            {(attributes) => <input {...attributes} maxLength={500} value={draft.description} />}
          </Field>
          <ReferenceField reference={draft.reference} errors={errors} />
          <Field
            name="customer_email"
            label="The buyer’s e-mail address"
            hint="The receipt goes there. Without it, the checkout asks the buyer."
            optional
            errors={errors}
          >
            {(attributes) => (
              <input {...attributes} type="email" autocomplete="off" maxLength={254} value={draft.customer_email} />
            )}
          </Field>
          <HowPaid draft={draft} errors={errors} />
          <FormEnd back="/dashboard/payments">Create payment</FormEnd>
        </PostForm>
        <Curl command={curlText(`${publicUrl}/v1/payments`, { method: 'POST', body })} />
      </>
    ),
  })
}
