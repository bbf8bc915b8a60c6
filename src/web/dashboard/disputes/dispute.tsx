import { DISPUTE_REASONS, type Dispute } from '../../../domain/dispute/dispute.ts'
import { isZero } from '../../../domain/money.ts'
import { Card } from '../../kit/card.tsx'
import { Copy, shorten } from '../../kit/copy.tsx'
import { Curl, curlText } from '../../kit/curl.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { Note } from '../../kit/note.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { Time } from '../../kit/time.tsx'
import { type Frame, renderFramed } from '../frame.tsx'
import { Fiat, Usdc } from '../payment-words.tsx'
import { Stops } from '../stops.tsx'
import { DisputeState, describeDispute, disputeText, REASON_WORDS } from './dispute-words.tsx'
import { AcceptCard, type EvidenceDraft, EvidenceForm } from './evidence-form.tsx'

export type DisputeView = {
  readonly frame: Frame
  readonly dispute: Dispute
  /** True if this person can answer, and the dispute takes an answer. */
  readonly answerable: boolean
  readonly draft: EvidenceDraft
  readonly errors: Readonly<Record<string, string>>
  readonly problem: string | null
  /** The idempotency key of the forms. */
  readonly once: string
  readonly now: string
  readonly publicUrl: string
}

export function renderDisputePage(view: DisputeView): string {
  const { frame, dispute, now, problem, publicUrl, answerable } = view
  const { id, status, paymentId } = dispute
  return renderFramed({
    frame,
    title: `Dispute of ${disputeText(dispute)}`,
    children: (
      <>
        <PageHead
          back={{ href: `/dashboard/payments/${paymentId}`, name: 'Payment' }}
          title={
            <>
              <span class="huge">{disputeText(dispute)}</span> <DisputeState status={status} />
            </>
          }
          lead={<span class="lead">{describeDispute(dispute, now)}</span>}
        >
          <Stops
            stops={[
              { name: 'Opened', at: dispute.openedAt ?? dispute.createdAt },
              { name: 'Evidence', at: dispute.evidenceSubmittedAt },
              { name: 'Decided', at: dispute.closedAt },
            ]}
          />
        </PageHead>
        {problem !== null && <Note tone="problem" icon="warning" strong={problem} />}
        <div class="cols">
          <div class="col">
            <Answer dispute={dispute} />
            <Reason dispute={dispute} />
            {answerable && <EvidenceForm view={view} />}
            {answerable && <AcceptCard view={view} />}
          </div>
          <div class="side">
            <Costs dispute={dispute} />
            <Details dispute={dispute} />
            <Curl command={curlText(`${publicUrl}/v1/disputes/${id}`)} />
          </div>
        </div>
      </>
    ),
  })
}

const ANSWERS = {
  sending: 'It is on its way to the partner. Reload the page in a minute.',
  sent: 'The partner has it.',
  refused: 'The partner refused it, and it had no effect. Correct it, and send it again.',
} as const

/** The last answer, with the names of what was in it: its content is deleted once the partner has it. */
function Answer({ dispute: { answer } }: { dispute: Dispute }) {
  if (answer === null) return null
  const { kind, state, submit, texts, files, refusal, createdAt } = answer
  const names = [...texts, ...files].map((name) => name.replaceAll('_', ' '))
  const isStored = kind === 'evidence' && state === 'sent' && !submit
  return (
    <Card id="answer" title={kind === 'accept' ? 'You accepted the dispute' : 'Your evidence'}>
      <p>{isStored ? 'The partner has stored it. Submit it before the deadline.' : ANSWERS[state]}</p>
      <Facts>
        <Fact name="Sent">
          <Time at={createdAt} />
        </Fact>
        {names.length > 0 && <Fact name="With">{names.join(', ')}</Fact>}
        {refusal !== null && <Fact name="Refused">{refusal}</Fact>}
      </Facts>
    </Card>
  )
}

function Reason({ dispute: { reason } }: { dispute: Dispute }) {
  return (
    <Card id="reason" title={REASON_WORDS[reason]}>
      <p>{DISPUTE_REASONS[reason]}</p>
    </Card>
  )
}

function Costs({ dispute }: { dispute: Dispute }) {
  const { amount, takenMinor, fee, fromReserveMicro, fromPlatformMicro } = dispute
  const isLoss = !isZero(fromReserveMicro) || !isZero(fromPlatformMicro)
  return (
    <Card id="costs" title="What it costs">
      <Facts>
        <Fact name="Taken by the bank">
          <Fiat money={{ minor: takenMinor, currency: amount.currency }} />
        </Fact>
        {isLoss && (
          <Fact name="From your reserve">
            <Usdc micro={fromReserveMicro} />
          </Fact>
        )}
        {isLoss && (
          <Fact name="Borne by us">
            <Usdc micro={fromPlatformMicro} />
          </Fact>
        )}
        <Fact name="Partner’s fee, borne by us">{fee === null ? 'Not known' : <Fiat money={fee} />}</Fact>
      </Facts>
      <p class="hint">What is held back of this payment is taken first. You keep what was paid out.</p>
    </Card>
  )
}

function Details({ dispute }: { dispute: Dispute }) {
  const { id, kind, reason, reasonText, partnerDispute } = dispute
  return (
    <Card id="det" title="Details">
      <Facts>
        <Fact name="Kind">{kind === 'inquiry' ? 'Inquiry: no money is taken yet' : 'Chargeback'}</Fact>
        <Fact name="Reason">{REASON_WORDS[reason]}</Fact>
        {reasonText !== null && <Fact name="Partner’s words">{reasonText}</Fact>}
        <Fact name="Dispute">
          <Copy value={id} short={shorten(id, 12, 5)} />
        </Fact>
        <Fact name="At the partner">
          <Copy value={partnerDispute} short={shorten(partnerDispute, 8, 5)} />
        </Fact>
      </Facts>
    </Card>
  )
}
