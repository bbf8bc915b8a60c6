import type { Currency } from '../../../domain/currencies.ts'
import { PROVIDER_NAMES, PROVIDERS } from '../../../domain/methods.ts'
import { groupedAmount } from '../../../domain/money.ts'
import { Field, type FormErrors } from '../../kit/field.tsx'
import { Fold } from '../../kit/fold.tsx'
import type { Hint, LinkDraft } from '../link-draft.ts'

type FieldsProps = { readonly draft: LinkDraft; readonly errors: FormErrors }

type HowMuchProps = FieldsProps & { readonly currencies: readonly Currency[]; readonly hint: Hint }

export function About({ draft, errors }: FieldsProps) {
  return (
    <fieldset>
      <legend>What is it for?</legend>
      <Field name="title" label="Title" errors={errors}>
        {(attributes) => <input {...attributes} required maxLength={100} value={draft.title} />}
      </Field>
      <Field name="description" label="Description" optional errors={errors}>
        {(attributes) => <textarea {...attributes} rows={2} maxLength={500} value={draft.description} />}
      </Field>
    </fieldset>
  )
}

/** Shows the fields of the chosen kind. Browsers without `:has()` show the fields of both. */
export function HowMuch({ draft, currencies, errors, hint }: HowMuchProps) {
  const { kind } = draft
  return (
    <fieldset>
      <legend>How much?</legend>
      <div class="seg">
        <label>
          <input type="radio" name="kind" value="fixed" checked={kind === 'fixed'} />
          Fixed amount
        </label>
        <label>
          <input type="radio" name="kind" value="open" checked={kind === 'open'} />
          Buyer decides
        </label>
      </div>
      <div class="inline">
        <div class="grow fixed">
          <MoneyField name="amount" label="Amount" draft={draft} errors={errors} />
        </div>
        <div class="grow open">
          <MoneyField name="min_amount" label="At least" optional draft={draft} errors={errors} />
        </div>
        <div class="grow open">
          <MoneyField name="max_amount" label="At most" optional draft={draft} errors={errors} />
        </div>
        <div class="short">
          <CurrencyField currency={draft.currency} currencies={currencies} errors={errors} />
        </div>
      </div>
      <LiveHint name="amount" hint={hint} />
    </fieldset>
  )
}

type MoneyFieldProps = FieldsProps & {
  readonly name: 'amount' | 'min_amount' | 'max_amount'
  readonly label: string
  readonly optional?: boolean
}

function MoneyField({ name, label, optional = false, draft, errors }: MoneyFieldProps) {
  return (
    <Field name={name} label={label} optional={optional} errors={errors}>
      {(attributes) => (
        <input {...attributes} inputMode="decimal" autocomplete="off" maxLength={40} value={draft[name]} />
      )}
    </Field>
  )
}

/** With JavaScript, the hint changes while a person types. */
export function LiveHint({ name, hint }: { name: string; hint: Hint | null }) {
  return (
    <p class={`hint toned ${hint?.tone ?? 'quiet'}`} data-hint={name} aria-live="polite">
      {hint?.text ?? ''}
    </p>
  )
}

const WHERE: Readonly<Record<(typeof PROVIDER_NAMES)[number], string>> = {
  wallet_app: 'EU and EEA',
  card_partner: 'US and EU',
  local_partner: 'India',
}

type PaidProps = { readonly draft: Pick<LinkDraft, 'provider'>; readonly errors: FormErrors }

export function HowPaid({ draft, errors }: PaidProps) {
  const error = errors['provider']
  return (
    <fieldset id="provider" tabIndex={-1}>
      <legend>How may they pay?</legend>
      {error !== undefined && <p class="error">{error}</p>}
      <div class="options">
        <Way value="" name="Buyer picks" what="Shows what works in their country" draft={draft} />
        {PROVIDER_NAMES.map((name) => {
          const { label, minimum, maximum } = PROVIDERS[name]
          const from = minimum.currency === maximum.currency ? '' : ` ${minimum.currency}`
          const limits = `${groupedAmount(minimum)}${from} to ${groupedAmount(maximum)} ${maximum.currency}`
          return <Way key={name} value={name} name={label} what={`${WHERE[name]} · ${limits}`} draft={draft} />
        })}
      </div>
    </fieldset>
  )
}

function Way({
  value,
  name,
  what,
  draft,
}: {
  value: string
  name: string
  what: string
  draft: Pick<LinkDraft, 'provider'>
}) {
  return (
    <label class="option">
      <input type="radio" name="provider" value={value} checked={draft.provider === value} />
      <span>
        <b>{name}</b>
        <small>{what}</small>
      </span>
    </label>
  )
}

const MORE = ['max_payments', 'expires_at', 'reference', 'success_url', 'inactive_message'] as const

export function More({ draft, errors, open = false }: FieldsProps & { open?: boolean }) {
  const isFilled = MORE.some((name) => draft[name] !== '' || errors[name] !== undefined)
  return (
    <Fold title="More options: limit, end, reference, return page" open={open || isFilled}>
      <div class="stack">
        <div class="stack even">
          <Field name="max_payments" label="Maximum number of payments" optional errors={errors}>
            {(attributes) => <input {...attributes} inputMode="numeric" maxLength={9} value={draft.max_payments} />}
          </Field>
          <Field name="expires_at" label="Last day, in UTC" optional errors={errors}>
            {(attributes) => <input {...attributes} type="date" value={draft.expires_at} />}
          </Field>
        </div>
        <ReferenceField reference={draft.reference} errors={errors} />
        <Field
          name="success_url"
          label="Return page"
          hint="Where the buyer can continue after paying. {PAYMENT_ID} in it is replaced by the payment's id."
          optional
          errors={errors}
        >
          {(attributes) => (
            <input {...attributes} type="url" placeholder="https://" maxLength={2048} value={draft.success_url} />
          )}
        </Field>
        <Field
          name="inactive_message"
          label="Message while it is paused"
          hint="Buyers see it while the link is paused."
          optional
          errors={errors}
        >
          {(attributes) => <input {...attributes} maxLength={500} value={draft.inactive_message} />}
        </Field>
        <fieldset class="tight">
          <legend>What the URL can prefill</legend>
          <label class="choice">
            <input type="checkbox" name="prefill_reference" checked={draft.prefill_reference !== ''} />
            <span>
              The reference, as <code>?reference=INV-7</code>
            </span>
          </label>
          <label class="choice open">
            <input type="checkbox" name="prefill_amount" checked={draft.prefill_amount !== ''} />
            <span>
              The amount, as <code>?amount=49.90</code>, where the buyer decides
            </span>
          </label>
        </fieldset>
      </div>
    </Fold>
  )
}

/** The link's page as a buyer sees it on a phone. With JavaScript, it is updated while a person types. */
export function Preview({ src }: { src: string }) {
  return (
    <aside class="side" aria-label="Preview">
      <h2>What your buyer sees</h2>
      <div class="phone">
        <iframe src={src} title="Preview: what your buyer sees on a phone" inert />
      </div>
      <noscript>
        <p class="hint">Submit the form to update it.</p>
      </noscript>
    </aside>
  )
}

export function draftQuery(draft: LinkDraft): string {
  return new URLSearchParams(Object.entries(draft).filter(([, value]) => value !== '')).toString()
}

type CurrencyProps = {
  readonly currency: string
  /** The currencies that can be charged here. */
  readonly currencies: readonly Currency[]
  readonly errors: FormErrors
}

export function CurrencyField({ currency, currencies, errors }: CurrencyProps) {
  return (
    <Field name="currency" label="Currency" errors={errors}>
      {(attributes) => (
        <select {...attributes}>
          {currencies.toSorted().map((code) => (
            <option key={code} value={code} selected={code === currency}>
              {code}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

export function ReferenceField({ reference, errors }: { reference: string; errors: FormErrors }) {
  return (
    <Field
      name="reference"
      label="Reference"
      hint="Your own number. The buyer does not see it."
      optional
      errors={errors}
    >
      {(attributes) => <input {...attributes} maxLength={200} value={reference} />}
    </Field>
  )
}
