import type { Tenant } from '../../db/db.ts'
import { listSettlementActions } from '../../db/operator/actions.ts'
import { listPaymentAttention, readSaleTimes, searchPayments } from '../../db/operator/payments.ts'
import { listDecisions, type StoredDecision } from '../../db/payments/decisions.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { readTimeline, type TimelineEntry } from '../../db/payments/timeline.ts'
import { readParts } from '../../db/settlement/parts.ts'
import { type PayoutView, readPayout } from '../../db/settlement/payouts.ts'
import { describeCommand, describeStepToOperator } from '../../domain/payment/operator-texts.ts'
import type { PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { type PaymentSnapshot, toSnapshot } from '../../domain/payment/snapshot.ts'
import { getFailure, type PartStanding } from '../../domain/settlement/part.ts'
import { type CommandContext, Refusal } from '../call.ts'
import { describeAct } from '../settlement-acts.ts'
import { describeEntry, readContext } from './entry-lines.ts'
import { describeEffect, listMoneyLines } from './money-lines.ts'

const MOST_ENTRIES = 1000

export async function explainPayment(context: CommandContext): Promise<number> {
  const { db, say, give } = context
  const id = await findOnePayment(context)
  const state = await loadPayment(db, id)
  const { payment } = state
  const tenant: Tenant = { merchantId: payment.merchantId, livemode: db.livemode }
  const scope = { chainId: context.settings.CHAIN_ID, token: context.settings.USDC_ADDRESS }
  const [payout, parts, attention, acts, timeline, decisions, askedAt] = await Promise.all([
    readPayout(db, id),
    readParts(db, scope),
    listPaymentAttention(db, id),
    listSettlementActions(db, { subject: id, limit: MOST_ENTRIES }),
    readTimeline(db, tenant, {
      paymentId: id,
      reader: 'operator',
      page: { limit: MOST_ENTRIES, after: null, before: null },
    }),
    listDecisions(db, id),
    readSaleTimes(db, id),
  ])
  const snapshot = toSnapshot(state)
  give('payment', payment)
  give('version', payment.version)
  give('next_step', snapshot.next)
  give('reviews', payment.reviews)
  give('answers', snapshot.answers)
  give('attention', attention)
  give('attempts', state.attempts)
  give(
    'sales',
    state.sales.map(({ units, gross, fill, ...sale }) => ({
      ...sale,
      units: String(units),
      gross: String(gross),
      fill: fill === null ? null : String(fill),
    })),
  )
  give(
    'payout',
    payout && { ...payout, proof: payout.proof && { ...payout.proof, gasWei: String(payout.proof.gasWei) } },
  )
  give('acts', acts)
  give('decisions', decisions)
  give('timeline', timeline.rows)

  const explained = { state, payout, decisions, askedAt }
  for (const line of [...listStanding(state, snapshot, timeline.rows), ...listHold(state, decisions)]) say(line)
  for (const line of [...listMoneyLines(explained), ...listWaiting(payout, parts)]) say(line)
  // The reviews are printed above.
  const others = attention.filter(({ kind }) => kind !== 'review')
  for (const { kind, detail, since } of others) say(`WARNING: ${kind} since ${since}: ${detail ?? 'no detail'}`)
  for (const line of listCommands(state, snapshot)) say(line)
  say('')
  for (const entry of timeline.rows) say(describeEntry(entry))
  for (const act of acts) say(describeAct(act))
  if (timeline.hasMore) say(`only ${MOST_ENTRIES} entries are shown: the API lists all of them`)
  return attention.length === 0 ? 0 : 1
}

function listCommands(state: PaymentWithAttempts, { id, answers, version }: PaymentSnapshot): string[] {
  return answers.flatMap((answer) => {
    const effect = describeEffect(state, answer)
    return [`decide: ${describeCommand(id, answer, version)}`, ...(effect === null ? [] : [`  ${effect}`])]
  })
}

function listStanding(
  { payment }: PaymentWithAttempts,
  snapshot: PaymentSnapshot,
  timeline: readonly TimelineEntry[],
): string[] {
  const by = readContext(timeline.findLast((entry) => entry.to_status === payment.status))
  const status = `${payment.status}${by === null ? '' : ` by ${by.operator}`}`
  const exception = payment.exception === null ? '' : `, ${payment.exception}`
  return [
    `${payment.id}  ${status}${exception}  ${payment.amountText} ${payment.amount.currency}, version ${payment.version}`,
    `merchant ${payment.merchantId}${payment.reference === null ? '' : `, reference ${payment.reference}`}`,
    `created ${payment.createdAt}, expires ${payment.expiresAt}`,
    `${describeStepToOperator(snapshot)}${payment.reviewSince === null ? '' : ` Waiting since ${payment.reviewSince}.`}`,
    ...payment.reviews.map(
      ({ reason, attemptId, text }) => `${reason}${attemptId === null ? '' : ` (${attemptId})`}: ${text}`,
    ),
  ]
}

function listHold({ payment }: PaymentWithAttempts, decisions: readonly StoredDecision[]): string[] {
  const known = decisions.findLast(({ say }) => say === 'hold')
  return payment.held && known !== undefined ? [`held by ${known.operator}: ${known.reason}`] : []
}

/** Lists why settlement does not sign or send the payout now. */
function listWaiting(payout: PayoutView | null, parts: readonly PartStanding[]): string[] {
  if (payout === null || payout.proof !== null || payout.stopReason !== null) return []
  const reasons = parts.flatMap((standing) => (standing.part === 'deposits' ? [] : (getFailure(standing) ?? [])))
  return [...new Set(reasons)].map((why) => `payouts wait: ${why} (see \`pinrail settlement status\`)`)
}

/** Accepts everything that `payments find` accepts, if exactly one payment matches. */
async function findOnePayment({ db, subjects: [text = ''] }: CommandContext): Promise<string> {
  const [found, ...others] = await searchPayments(db, { text, merchantId: undefined, status: undefined, limit: 2 })
  if (found === undefined) throw new Refusal(`no payment matches ${text}: see \`pinrail payments find\``)
  if (others.length > 0) throw new Refusal(`several payments match ${text}: see \`pinrail payments find ${text}\``)
  return found.id
}
