import type { Db, Tenant } from '../../../src/db/db.ts'
import type { NewAnswer } from '../../../src/db/disputes/dispute-answers.ts'
import { lockDisputes, writeDispute } from '../../../src/db/disputes/disputes.ts'
import type { Dispute, ReportedDispute } from '../../../src/domain/dispute/dispute.ts'
import { openDispute } from '../../../src/domain/dispute/dispute-change.ts'
import { newId } from '../../../src/ids.ts'

const DAY_MS = 86_400_000

/** A dispute as Stripe reports it, with a deadline in fourteen days. */
export const aReport = (changes: Partial<ReportedDispute> = {}): ReportedDispute => ({
  id: 'du_1',
  kind: 'chargeback',
  status: 'needs_response',
  reason: 'fraudulent',
  reasonText: 'fraudulent, 10.4',
  amount: { minor: '4999', currency: 'EUR' },
  takenMinor: '4999',
  fee: { minor: '2000', currency: 'EUR' },
  openedAt: new Date(Date.now() - DAY_MS).toISOString(),
  evidenceDueAt: new Date(Date.now() + 14 * DAY_MS).toISOString(),
  isEvidenceSubmitted: false,
  answeredAt: 'api',
  ...changes,
})

type Planted = { readonly attemptId: string } & Partial<ReportedDispute>

/** A dispute about the attempt, as a reading of its order stores it. */
export function plantDispute(db: Db, tenant: Tenant, { attemptId, ...changes }: Planted): Promise<Dispute> {
  return db.transaction(async (tx) => {
    const { rows } = await tx.query('select payment_id, provider from attempt where id = $1', [attemptId])
    const { payment_id: paymentId, provider } = rows[0] as { payment_id: string; provider: string }
    const owner = { ...tenant, paymentId, attemptId, provider }
    const report = aReport(changes)
    const after = openDispute(report, { id: newId('dispute'), owner, at: new Date().toISOString() })
    await writeDispute(tx, { before: null, after, event: 'dispute.created' })
    const [stored] = (await lockDisputes(tx, paymentId)).filter(({ id }) => id === after.id)
    return stored as Dispute
  })
}

export const anAnswer = ({ id: disputeId }: Dispute, changes: Partial<NewAnswer> = {}): NewAnswer => ({
  id: newId('disputeAnswer'),
  disputeId,
  request: null,
  kind: 'evidence',
  submit: true,
  content: { texts: { explanation: 'The buyer signed for it.' }, files: {} },
  at: new Date().toISOString(),
  ...changes,
})
