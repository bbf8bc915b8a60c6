import { leaveNotice } from '../../db/accounts/account-notices.ts'
import type { Db, Tx } from '../../db/db.ts'
import { endAnswer, type TakenAnswer, takeDueAnswers, wakeReading } from '../../db/disputes/dispute-answers.ts'
import { forgetReminder, readDispute, takeUnanswered } from '../../db/disputes/disputes.ts'
import { recordEvent } from '../../db/webhooks/events.ts'
import type { Dispute } from '../../domain/dispute/dispute.ts'
import { renderDispute } from '../../domain/dispute/dispute-object.ts'
import type { AnswerKind } from '../../domain/dispute/evidence.ts'
import type { ProviderName } from '../../domain/methods.ts'
import type { Logger } from '../../runtime/log.ts'

export type DisputeRequest = {
  /** The partner's id. */
  readonly dispute: string
  readonly key: string
  readonly kind: AnswerKind
  readonly submit: boolean
  readonly texts: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, Uint8Array>>
}

type Result = { readonly kind: 'taken' } | { readonly kind: 'refused'; readonly reason: string }

export type DisputeAnswerDeps = {
  readonly db: Db
  /** Null: the partner's driver cannot answer. No answer means unknown: then it throws, and is called again. */
  readonly ask: (provider: ProviderName, request: DisputeRequest) => Promise<Result> | null
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly log: Logger
}

/** A round holds the files of all its answers. */
const PER_ROUND = 5
const REMINDERS_PER_ROUND = 50

const CANNOT = 'the partner takes evidence only in its own dashboard'

/**
 * Passes stored answers to the partners of disputes, and reminds merchants of deadlines. An answer is stored before the
 * partner is asked, and its id is the key, so that a crash at any step or a lost response leads to no second one. What the
 * partner did with it is shown by the next reading of the order.
 */
export function createDisputeAnswers({ db, ask, clock, log }: DisputeAnswerDeps): () => Promise<number> {
  const getTime = (): string => new Date(clock()).toISOString()

  return async function tick() {
    const taken = await takeDueAnswers(db, PER_ROUND)
    for (const answer of taken)
      await pass(answer).catch((error: unknown) => {
        log.warn({ err: error, answer: answer.id }, 'an answer to a dispute could not be passed on yet; tried again')
      })
    const reminded = await remind()
    return taken.length + reminded
  }

  async function pass(answer: TakenAnswer): Promise<void> {
    const { texts, files } = answer.content
    const result = await (ask(answer.provider, {
      dispute: answer.partnerDispute,
      key: answer.id,
      kind: answer.kind,
      submit: answer.submit,
      texts,
      files: Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text, 'base64')])),
    }) ?? { kind: 'refused', reason: CANNOT })
    const refusal = result.kind === 'refused' ? result.reason : null
    await db.transaction(async (tx) => {
      if (!(await endAnswer(tx, { id: answer.id, refusal }))) return
      if (refusal !== null) await forgetReminder(tx, answer.disputeId)
      await wakeReading(tx, answer)
      if (refusal !== null) await announceRefusal(tx, answer)
    })
    log.info({ answer: answer.id, kind: answer.kind, result: result.kind }, 'an answer to a dispute was passed on')
  }

  /** The answer is a part of what the merchant sees, and no reading of the order shows that it was refused. */
  async function announceRefusal(tx: Tx, { disputeId, merchantId }: TakenAnswer): Promise<void> {
    const tenant = { merchantId, livemode: tx.livemode }
    const dispute = await readDispute(tx, tenant, disputeId)
    if (dispute === null) return
    const about = { paymentId: dispute.paymentId, object: renderDispute(dispute), at: getTime() }
    await recordEvent(tx, { ...tenant, type: 'dispute.updated', ...about })
  }

  function remind(): Promise<number> {
    return db.transaction(async (tx) => {
      const unanswered = await takeUnanswered(tx, REMINDERS_PER_ROUND)
      for (const dispute of unanswered)
        await leaveNotice(tx, dispute, { kind: 'dispute.evidence_due', data: describe(dispute) })
      return unanswered.length
    })
  }
}

const describe = (dispute: Dispute) => {
  const { id, payment, amount_minor, amount_decimal, currency, evidence_due_at, evidence_through } =
    renderDispute(dispute)
  return { id, payment, amount_minor, amount_decimal, currency, evidence_due_at, evidence_through }
}
