import { insertDecision, isProofUsed } from '../../db/payments/decisions.ts'
import { loadRefund } from '../../db/refunds/refunds.ts'
import { isId } from '../../domain/ids.ts'
import { formatUsdc } from '../../domain/money.ts'
import type { Refund } from '../../domain/refund/refund.ts'
import { renderRefund } from '../../domain/refund/refund-object.ts'
import { whyRefundNotDecidable } from '../../domain/refund/refund-step.ts'
import { createNote } from '../../domain/timeline.ts'
import { changeRefund } from '../../payments/change-refund.ts'
import { type CommandContext, Refusal, signedBy, UsageError } from '../call.ts'

const OUTCOMES = ['succeeded', 'failed'] as const

/**
 * Records how a refund has ended whose partner does not answer: it is the change that the partner's answer would make. Its
 * workflow sees it when it acts next, and asks no more.
 */
export async function endRefund(context: CommandContext): Promise<number> {
  const { db, settings, subjects, options, say, give } = context
  const [id = '', word = ''] = subjects
  const outcome = OUTCOMES.find((name) => name === word)
  if (outcome === undefined) throw new UsageError(`the outcome is one of ${OUTCOMES.join(', ')}`)
  const signed = signedBy(context)
  const proof = options.proof?.trim()
  if (!proof) throw new UsageError('--proof must name what proves it, such as a reference of the partner')
  const known = isId('refund', id) ? await loadRefund(db, id).catch(() => null) : null
  if (known === null) throw new Refusal(`there is no refund ${id}: \`pinrail refunds list\` shows them`)
  const changing = { publicUrl: settings.PUBLIC_URL, now: Date.now }
  const { refund } = await changeRefund(db, changing, {
    id,
    change: async ({ refund: before, setRefund, payment }, tx) => {
      const why = whyRefundNotDecidable(before, Date.now())
      if (why !== null) throw new Refusal(`${id} cannot be ended: ${why}`)
      if (await isProofUsed(tx, proof))
        throw new Refusal('this proof was recorded for something else: nothing was changed')
      const { attemptId, paymentId } = before
      const decision = `refund_${outcome}` as const
      const version = payment.state.payment.version + 1
      const facts = { ...signed, proof, attemptId, paymentId, version, say: decision, outside: false, at: payment.at }
      await insertDecision(tx, facts)
      payment.addNote(createNote(`decision.${decision}`, { ...signed, proof, refund: id, attempt_id: attemptId }))
      setRefund(outcome === 'succeeded' ? { status: 'succeeded' } : { status: 'failed', statusReason: 'refused' })
    },
  })
  give('refund', renderRefund(refund))
  say(`${id} is ${refund.status}: ${describeUsdc(refund)}`)
  return 0
}

function describeUsdc({ status, requiredMicro, receivedMicro, fundFrom }: Refund): string {
  if (status === 'succeeded') return `the platform keeps ${formatUsdc(requiredMicro)} USDC`
  const way = fundFrom === 'wallet' ? 'goes back to the wallet of the payment' : 'is released to the merchant'
  return `${formatUsdc(receivedMicro)} USDC ${way}`
}
