import { searchPayments } from '../../db/operator/payments.ts'
import { type CommandContext, readLimit, sayList } from '../call.ts'

const USUAL_LINES = 20

/** Returns 1 if no payment matches. */
export async function findPayments(context: CommandContext): Promise<number> {
  const { db, subjects, options, say, give } = context
  const [text] = subjects
  const search = { text, merchantId: options.merchant, status: options.status, limit: readLimit(context, USUAL_LINES) }
  const payments = await searchPayments(db, search)
  give('payments', payments)
  return sayList(say, {
    none: 'no payment found',
    head: ['payment', 'status', 'amount', 'provider', 'created', 'merchant', 'reference'],
    rows: payments.map((payment) => [
      payment.id,
      payment.status_reason === null ? payment.status : `${payment.status} (${payment.status_reason})`,
      `${payment.amount_text} ${payment.currency}`,
      payment.provider ?? 'buyer picks',
      payment.created_at,
      payment.merchant_id,
      payment.reference,
    ]),
  })
}
