import type { Dispute, DisputeReason } from '../../../domain/dispute/dispute.ts'
import {
  EVIDENCE_FILES,
  EVIDENCE_TEXTS,
  type EvidenceFileName,
  type EvidenceTextName,
} from '../../../domain/dispute/evidence.ts'
import { Card } from '../../kit/card.tsx'
import { ErrorSummary, Field, type FormErrors } from '../../kit/field.tsx'
import { Fold } from '../../kit/fold.tsx'
import { PostButton, PostForm } from '../../kit/form.tsx'
import type { Frame } from '../frame.tsx'

/** The texts as the person typed them. Files must be chosen again. */
export type EvidenceDraft = Readonly<Partial<Record<EvidenceTextName, string>>>

type FormView = {
  readonly frame: Frame
  readonly dispute: Dispute
  readonly draft: EvidenceDraft
  readonly errors: FormErrors
  readonly once: string
}

type Asked = { readonly texts: readonly EvidenceTextName[]; readonly files: readonly EvidenceFileName[] }

const DELIVERY: Asked = {
  texts: ['shipping_carrier', 'shipping_tracking_number', 'shipping_date', 'shipping_address'],
  files: ['shipping_documentation', 'customer_communication'],
}
const BUYER: Asked = {
  texts: ['customer_name', 'customer_email', 'customer_ip', 'billing_address'],
  files: ['receipt', 'customer_communication', 'customer_signature'],
}
const REFUND: Asked = {
  texts: ['refund_policy_disclosure', 'refund_refusal_explanation'],
  files: ['refund_policy', 'customer_communication'],
}

/** The evidence that convinces a bank for each reason; everything else is in a fold. */
const ASKED: Readonly<Record<DisputeReason, Asked>> = {
  fraudulent: BUYER,
  unrecognized: BUYER,
  duplicate: { texts: ['duplicate_charge_explanation'], files: ['receipt', 'customer_communication'] },
  product_not_received: DELIVERY,
  product_unacceptable: { texts: ['product_description', ...REFUND.texts], files: REFUND.files },
  credit_not_processed: REFUND,
  subscription_canceled: {
    texts: ['cancellation_rebuttal', 'access_activity_log'],
    files: ['cancellation_policy', 'customer_communication'],
  },
  other: { texts: ['product_description'], files: ['receipt', 'customer_communication'] },
}

const isLong = (name: EvidenceTextName): boolean => EVIDENCE_TEXTS[name].most > 500

export function EvidenceForm({ view }: { view: FormView }) {
  const { dispute, frame, errors, once } = view
  const { texts, files } = ASKED[dispute.reason]
  const first: readonly EvidenceTextName[] = ['explanation', ...texts]
  const otherTexts = (Object.keys(EVIDENCE_TEXTS) as EvidenceTextName[]).filter((name) => !first.includes(name))
  const otherFiles = (Object.keys(EVIDENCE_FILES) as EvidenceFileName[]).filter((name) => !files.includes(name))
  return (
    <PostForm
      action={`/dashboard/disputes/${dispute.id}/evidence`}
      csrf={frame.csrf}
      look="form card"
      enctype="multipart/form-data"
      fields={{ once }}
    >
      <h2>Evidence</h2>
      <ErrorSummary errors={errors} />
      {first.map((name) => (
        <TextField key={name} name={name} view={view} />
      ))}
      {files.map((name) => (
        <FileField key={name} name={name} errors={errors} />
      ))}
      <Fold title="More evidence" icon="down">
        <div class="stack">
          {otherTexts.map((name) => (
            <TextField key={name} name={name} view={view} />
          ))}
          {otherFiles.map((name) => (
            <FileField key={name} name={name} errors={errors} />
          ))}
        </div>
      </Fold>
      <p class="hint">
        The bank gets one submission, and it cannot be changed afterwards. Files are PDF, JPEG or PNG, at most 4 MB
        together. We delete texts and files as soon as the partner has them.
      </p>
      <div class="row">
        <button type="submit" class="button fill big" name="submit" value="yes">
          Submit evidence
        </button>
        <button type="submit" class="button" name="submit" value="no">
          Store for later
        </button>
      </div>
    </PostForm>
  )
}

function TextField({ name, view: { draft, errors } }: { name: EvidenceTextName; view: FormView }) {
  const { label, hint, most } = EVIDENCE_TEXTS[name]
  const value = draft[name] ?? ''
  return (
    <Field name={name} label={label} hint={hint === '' ? undefined : hint} optional errors={errors}>
      {(attributes) =>
        isLong(name) ? (
          <textarea {...attributes} rows={4} maxLength={most}>
            {value}
          </textarea>
        ) : (
          <input {...attributes} autocomplete="off" maxLength={most} value={value} />
        )
      }
    </Field>
  )
}

function FileField({ name, errors }: { name: EvidenceFileName; errors: FormErrors }) {
  return (
    <Field name={`file_${name}`} label={EVIDENCE_FILES[name]} optional errors={errors}>
      {(attributes) => <input {...attributes} type="file" accept="application/pdf,image/jpeg,image/png" />}
    </Field>
  )
}

export function AcceptCard({ view: { dispute, frame, once } }: { view: FormView }) {
  return (
    <Card id="accept" title="Or accept the dispute">
      <p>If the buyer is right, accept it. The buyer keeps the money, and this cannot be undone.</p>
      <PostButton
        action={`/dashboard/disputes/${dispute.id}/accept`}
        csrf={frame.csrf}
        fields={{ once }}
        look="button danger"
      >
        Accept the dispute
      </PostButton>
    </Card>
  )
}
