import { listAllRefunds, loadRefund, readPaymentRefunds } from '../../db/refunds/refunds.ts'
import { isId } from '../../domain/ids.ts'
import { formatAmount, formatUsdc } from '../../domain/money.ts'
import { FUNDING_REFUSALS, REFUND_FAILURES, type Refund } from '../../domain/refund/refund.ts'
import { renderRefund } from '../../domain/refund/refund-object.ts'
import { type CommandContext, Refusal, readLimit, sayList } from '../call.ts'

const USUAL_LINES = 20

/** The refunds of a payment, or else the newest. With `--status open` those that are not over. */
export async function listRefunds(context: CommandContext): Promise<number> {
  const { db, subjects, options, say, give } = context
  const [paymentId] = subjects
  if (options.status !== undefined && options.status !== 'open') throw new Refusal('--status must be open')
  if (paymentId !== undefined && !isId('payment', paymentId)) throw new Refusal(`${paymentId} must be a payment’s id`)
  const refunds =
    paymentId === undefined
      ? await listAllRefunds(db, { isOpen: options.status === 'open', limit: readLimit(context, USUAL_LINES) })
      : await readPaymentRefunds(db, paymentId)
  give('refunds', refunds.map(renderRefund))
  return sayList(say, {
    none: 'no refund found',
    head: ['refund', 'status', 'amount', 'required', 'received', 'payment', 'created'],
    rows: refunds.map((refund) => [
      refund.id,
      refund.statusReason === null ? refund.status : `${refund.status} (${refund.statusReason})`,
      `${formatAmount(refund.amount)} ${refund.amount.currency}`,
      formatUsdc(refund.requiredMicro),
      formatUsdc(refund.receivedMicro),
      refund.paymentId,
      refund.createdAt,
    ]),
  })
}

export async function showRefund({ db, subjects, say, give }: CommandContext): Promise<number> {
  const [id = ''] = subjects
  const refund = isId('refund', id) ? await loadRefund(db, id).catch(() => null) : null
  if (refund === null) throw new Refusal(`there is no refund ${id}: \`pinrail refunds list\` shows them`)
  give('refund', renderRefund(refund))
  for (const line of describe(refund)) say(line)
  return 0
}

const describe = (refund: Refund): string[] => [
  `${refund.id}: refund ${refund.number} of ${refund.paymentId}, ${formatAmount(refund.amount)} ${refund.amount.currency}`,
  `status: ${refund.status}${refund.statusReason === null ? '' : ` (${REFUND_FAILURES[refund.statusReason]})`}`,
  `USDC: ${formatUsdc(refund.receivedMicro)} of ${formatUsdc(refund.requiredMicro)} at ${refund.place?.address ?? 'no address yet'}`,
  `to be final until: ${refund.expiresAt}`,
  ...(refund.fundingRefusal === null
    ? []
    : [`the wallet’s transfer is refused: ${FUNDING_REFUSALS[refund.fundingRefusal]}`]),
  `what is left goes back to: ${refund.wallet}${refund.returnedTxHash === null ? '' : ` (last in ${refund.returnedTxHash})`}`,
  `at the partner: ${refund.partnerKey === null ? 'not asked' : `asked under ${refund.partnerKey}, attempt ${refund.attemptId}`}`,
]
