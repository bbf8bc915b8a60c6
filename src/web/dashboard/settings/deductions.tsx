import type { MicroUsdc } from '../../../domain/money.ts'
import { DEDUCTION_DAYS, LEAST_PAYOUT_MICRO } from '../../../domain/refund/deduction.ts'
import { Curl, curlText } from '../../kit/curl.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { ErrorSummary, Field, type FormErrors } from '../../kit/field.tsx'
import { PostForm } from '../../kit/form.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { type Frame, renderFramed } from '../frame.tsx'
import { Usdc, usdcText } from '../payment-words.tsx'

export type DeductionsView = {
  readonly frame: Frame
  /** The sum that open refunds can require of the next payouts together, in micro-USDC; null: payouts pay for none. */
  readonly limit: MicroUsdc | null
  /** The text that the person typed, if it was refused. */
  readonly written: string | null
  readonly errors: FormErrors
  readonly mayChange: boolean
  readonly publicUrl: string
}

export function renderDeductions(view: DeductionsView): string {
  const { frame, limit, mayChange, publicUrl } = view
  return renderFramed({
    frame,
    title: 'Deductions',
    narrow: true,
    children: (
      <>
        <PageHead
          title="Deductions"
          lead="Your next payouts can pay for refunds, so that nobody has to send USDC. It is off until an owner allows it."
        />
        {mayChange ? (
          <Form view={view} />
        ) : (
          <div class="card">
            <Facts>
              <Fact name="Open refunds can require together">
                {limit === null ? 'Nothing: it is off' : <Usdc micro={limit} />}
              </Fact>
            </Facts>
            <p class="hint">An owner of the account can change it.</p>
          </div>
        )}
        <p class="hint">
          {`Whoever can create refunds can then choose “Your next payouts”. We deduct what the refund requires from the next payouts, leave at least ${usdcText(LEAST_PAYOUT_MICRO.toString(), 2)} USDC of each, and lock the rate for ${DEDUCTION_DAYS} days. What a refund does not take is released to your wallet. `}
          <a href="/docs/refunds">Read the guide</a>
        </p>
        <Curl command={curlText(`${publicUrl}/v1/settings/deductions`, { method: 'PUT', body: { limit_usdc: 500 } })} />
      </>
    ),
  })
}

function Form({ view: { frame, limit, written, errors } }: { view: DeductionsView }) {
  const shown = limit === null ? '' : (BigInt(limit) / 1_000_000n).toString()
  return (
    <PostForm action="/dashboard/deductions" csrf={frame.csrf} look="form card">
      <ErrorSummary errors={errors} />
      <Field
        name="limit_usdc"
        label="Most USDC for open refunds together"
        hint="Whole USDC, at most 10000. Leave empty to turn it off; refunds that are open continue."
        optional
        errors={errors}
      >
        {(attributes) => (
          <input {...attributes} inputMode="numeric" autocomplete="off" maxLength={40} value={written ?? shown} />
        )}
      </Field>
      <div class="row">
        <button type="submit" class="button fill big">
          Save
        </button>
      </div>
    </PostForm>
  )
}
