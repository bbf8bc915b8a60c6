import type { Session } from '../../../../db/db.ts'
import { insertAnswer, type NewAnswer, readRequestedAnswer } from '../../../../db/disputes/dispute-answers.ts'
import { whyNotAnswerable } from '../../../../domain/dispute/answerable.ts'
import type { Dispute } from '../../../../domain/dispute/dispute.ts'
import { renderDispute } from '../../../../domain/dispute/dispute-object.ts'
import { newId } from '../../../../ids.ts'
import type { Caller } from '../../../auth/auth.ts'
import { ACCEPTED_DISPUTE, ANSWERED_DISPUTE } from '../../../document/dispute-examples.ts'
import { Problem } from '../../../http/problems.ts'
import { defineOperation } from '../../../operation.ts'
import { idPath } from '../fields.ts'
import { requireTestKey, type StepUp, TEST_KEYS_ONLY } from '../step-up.ts'
import { disputeObject, type EvidenceBody, evidenceBody, listTexts } from './dispute-schemas.ts'
import { loadDispute } from './disputes.ts'

export type DisputeDeps = StepUp & {
  /** Unix milliseconds. */
  readonly clock: () => number
}

export const submitDisputeEvidence = defineOperation({
  name: 'submitDisputeEvidence',
  method: 'post',
  path: '/v1/disputes/{id}/evidence',
  tag: 'Disputes',
  summary: 'Submit evidence for a dispute',
  description:
    'The evidence is stored, and a worker passes it to the partner, once: read the dispute until `answer.status` is `sent` or `refused`. With `submit: false` the partner stores it, and a later request can add to it or submit it. After it is submitted nothing can be changed. Pinrail deletes texts and files as soon as the partner has them.',
  scope: 'payments:write',
  audited: (body: EvidenceBody) => ({ submit: body.submit, fields: listFields(body) }),
  hasDocuments: true,
  problems: ['not_possible_now', 'idempotency_key_reused'],
  params: idPath,
  body: evidenceBody,
  answers: { 202: disputeObject },
  example: {
    body: {
      explanation: 'The parcel was delivered on 2 November, and the buyer signed for it.',
      shipping_tracking_number: '00340434161094042557',
    },
    answer: ANSWERED_DISPUTE,
  },
  handle: async ({ caller, db, params, body, claim }, deps: DisputeDeps) => {
    const files = Object.entries(body.files).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]]))
    const content = { texts: Object.fromEntries(listTexts(body)), files: Object.fromEntries(files) }
    const asked = { id: params.id, request: claim?.key ?? null }
    return answer(deps, { caller, db }, { ...asked, kind: 'evidence', submit: body.submit, content })
  },
})

export const acceptDispute = defineOperation({
  name: 'acceptDispute',
  method: 'post',
  path: '/v1/disputes/{id}/accept',
  tag: 'Disputes',
  summary: 'Accept a dispute, which loses it',
  description: `${TEST_KEYS_ONLY} The buyer keeps the money, and no evidence can be submitted any more. This cannot be undone.`,
  scope: 'payments:write',
  audited: () => ({}),
  problems: ['step_up_required', 'not_possible_now', 'idempotency_key_reused'],
  params: idPath,
  answers: { 202: disputeObject },
  example: { answer: ACCEPTED_DISPUTE },
  handle: async ({ caller, db, params, claim }, deps: DisputeDeps) => {
    // The platform bears what the reserve of the payment lacks.
    requireTestKey(deps, caller, 'disputes')
    const asked = { id: params.id, request: claim?.key ?? null }
    const content = { texts: {}, files: {} }
    return answer(deps, { caller, db }, { ...asked, kind: 'accept', submit: true, content })
  },
})

const listFields = (body: EvidenceBody): string[] => [
  ...listTexts(body).map(([name]) => name),
  ...Object.keys(body.files),
]

type Asking = { readonly caller: Caller; readonly db: Session }
type Asked = Omit<NewAnswer, 'id' | 'disputeId' | 'at'> & { readonly id: string }

/** An answer is stored here, and the loop `dispute_answers` of a worker carries it out. */
async function answer({ clock }: DisputeDeps, { caller, db }: Asking, { id, ...asked }: Asked) {
  const dispute = await loadDispute(db, caller, id)
  const at = new Date(clock()).toISOString()
  const made = { ...asked, id: newId('disputeAnswer'), disputeId: dispute.id, at }
  if (!(await isMade(db, caller, made))) {
    refuseUnlessAnswerable(dispute, at)
    if (!(await insertAnswer(db, caller, made)) && !(await isMade(db, caller, made)))
      refuseUnlessAnswerable(await loadDispute(db, caller, id), at)
  }
  return { status: 202, body: renderDispute(await loadDispute(db, caller, id)) }
}

/** True if the same request has stored it, and its process died before the response was stored. */
async function isMade(db: Session, caller: Caller, { request, ...answer }: NewAnswer): Promise<boolean> {
  const known = request === null ? null : await readRequestedAnswer(db, caller, { ...answer, request })
  if (known === null || known.isSame) return known !== null
  throw new Problem(
    'idempotency_key_reused',
    'This Idempotency-Key was already used for another answer. Use a new key.',
    {
      param: 'Idempotency-Key',
    },
  )
}

function refuseUnlessAnswerable(dispute: Dispute, now: string): void {
  const why = whyNotAnswerable(dispute, now)
  if (why !== null) throw new Problem('not_possible_now', why, { members: { dispute_status: dispute.status } })
}
