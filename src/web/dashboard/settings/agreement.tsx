import { type Agreement, isWaiting, type UsedLimits } from '../../../domain/account/agreement.ts'
import { Card } from '../../kit/card.tsx'
import { Curl, curlText } from '../../kit/curl.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { ErrorSummary, Field, type FormErrors } from '../../kit/field.tsx'
import { PostForm } from '../../kit/form.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { Time } from '../../kit/time.tsx'
import { type Frame, renderFramed } from '../frame.tsx'
import { usdcText } from '../payment-words.tsx'
import { AGREEMENT_PATH, StatusNote } from '../status-note.tsx'

export type ApplicationDraft = { readonly web_address: string; readonly sells: string }

export type AgreementView = {
  readonly frame: Frame
  readonly agreement: Agreement
  readonly used: UsedLimits
  readonly draft: ApplicationDraft
  readonly errors: FormErrors
  readonly mayApply: boolean
  readonly publicUrl: string
}

export function renderAgreement(view: AgreementView): string {
  const { frame, agreement, mayApply, publicUrl } = view
  return renderFramed({
    frame,
    title: 'Agreement',
    narrow: true,
    children: (
      <>
        <PageHead title="Agreement" lead="What the operator has agreed with this account." />
        <StatusNote agreement={agreement} linked={false} />
        {isWaiting(agreement.status) &&
          (mayApply ? <Form view={view} /> : <p class="hint">Only an owner of the account can apply.</p>)}
        <Card id="agreed" title="Agreed">
          <Facts>
            <Fact name="Status">
              {STATUS_NAMES[agreement.status]}, since <Time at={agreement.statusSince} />
            </Fact>
            <Fact name="Fee">{agreement.feePercent}% of each payment that succeeds</Fact>
            {agreement.reserve.percent !== '0' && (
              <Fact name="Reserve">
                {agreement.reserve.percent}% of what you receive, held back for {agreement.reserve.days} days to cover
                chargebacks
              </Fact>
            )}
            {agreement.application !== null && (
              <>
                <Fact name="Web address">{agreement.application.webAddress}</Fact>
                <Fact name="What you sell">{agreement.application.sells}</Fact>
              </>
            )}
          </Facts>
          <p class="hint">A payment keeps the fee and the reserve with which it was created.</p>
        </Card>
        <Limits view={view} />
        <Curl command={curlText(`${publicUrl}/v1/account`)} />
      </>
    ),
  })
}

function Limits({
  view: {
    agreement: { limits },
    used,
    frame,
  },
}: {
  view: AgreementView
}) {
  const usdc = (micro: string | null) => (micro === null ? 'No limit' : `${usdcText(micro, 2)} USDC`)
  return (
    <Card id="limits" title="Limits">
      <Facts>
        <Fact name="A payment">{usdc(limits.paymentMicro)}</Fact>
        <Fact name="A day, UTC">
          {usdc(limits.dayMicro)}; {usdcText(used.dayMicro, 2)} USDC today
        </Fact>
        <Fact name="Open at once">
          {limits.openPayments.toLocaleString('en')} payments; {used.openPayments.toLocaleString('en')} now
        </Fact>
      </Facts>
      <p class="hint">
        Payments count at the rate of their creation, before the fee. Those that end unpaid do not count. Payment links
        leave half of a day, and of the open payments, to your server. For other limits, ask the operator
        {frame.platform.support === null ? '' : `: ${frame.platform.support}`}.
      </p>
    </Card>
  )
}

const STATUS_NAMES: Readonly<Record<Agreement['status'], string>> = {
  pending: 'Not approved yet',
  approved: 'Approved',
  rejected: 'Not approved',
  suspended: 'Suspended',
}

function Form({ view: { frame, draft, errors } }: { view: AgreementView }) {
  return (
    <PostForm action={AGREEMENT_PATH} csrf={frame.csrf} look="form card">
      <ErrorSummary errors={errors} />
      <Field
        name="web_address"
        label="Address of your shop"
        hint="The page on which you sell, such as https://shop.example."
        errors={errors}
      >
        {(attributes) => (
          <input
            {...attributes}
            type="url"
            required
            maxLength={500}
            autocomplete="url"
            placeholder="https://shop.example"
            value={draft.web_address}
          />
        )}
      </Field>
      <Field name="sells" label="What you sell" hint="And to whom, in one or two sentences." errors={errors}>
        {(attributes) => <textarea {...attributes} rows={3} required maxLength={500} value={draft.sells} />}
      </Field>
      <div class="row">
        <button type="submit" class="button fill big">
          Send to the operator
        </button>
      </div>
    </PostForm>
  )
}
