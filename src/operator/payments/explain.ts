import type { Tenant } from '../../db/db.ts'
import { listSettlementActions } from '../../db/operator/actions.ts'
import { attentionOf, searchPayments } from '../../db/operator/payments.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { readTimeline } from '../../db/payments/timeline.ts'
import { readParts } from '../../db/settlement/parts.ts'
import { type PayoutView, readPayout } from '../../db/settlement/payouts.ts'
import { formatAmount, formatUsdc } from '../../domain/money.ts'
import { describeOffered } from '../../domain/payment/decision.ts'
import { freeUnits } from '../../domain/payment/funds/account.ts'
import { findOwnAccount } from '../../domain/payment/funds/funds.ts'
import { toAccount, toFunds, toMoney } from '../../domain/payment/funds/stored-funds.ts'
import { type Attempt, explorerUrl, type PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { type NextStep, type PaymentSnapshot, snapshotOf } from '../../domain/payment/snapshot.ts'
import { getFailure, type PartStanding } from '../../domain/settlement/part.ts'
import { type Office, Refusal } from '../call.ts'
import { stateText } from '../payouts.ts'
import { describeAct } from '../settlement-acts.ts'

/** In words, for somebody who has not read the code. */
const STEPS: Readonly<Record<NextStep, string>> = {
  await_buyer: 'No money has arrived. Waiting for the buyer.',
  await_partner: 'Waiting for the partner.',
  sell: 'The partner has the buyer’s money. It is being converted to USDC.',
  hand_over: 'Converted. The payout is about to be handed over.',
  await_payout: 'Converted. The USDC is on its way to the merchant, and counts when its block is final.',
  end_sale: 'A conversion that is not needed is still open: the converter is asked until it has filled or ended it.',
  give_back: 'The money is going back to the buyer through the partner.',
  void: 'The payout is about to be voided.',
  review: 'It waits for an operator. The money is safe where it is.',
  await_release: 'An operator holds it. It settles only after `release`.',
  done: 'Nothing is left to do.',
}

/** Entries of the timeline that are shown. */
const MOST_ENTRIES = 1000

const SIGNED = '--operator <name> --reason <text>'

/** Everything about one payment: where it stands, whose money is where, what may be decided, and what happened. */
export async function explainPayment(office: Office): Promise<number> {
  const { db, say, give } = office
  const id = await paymentIdOf(office)
  const state = await loadPayment(db, id)
  const { payment } = state
  const tenant: Tenant = { merchantId: payment.merchantId, livemode: db.livemode }
  const scope = { chainId: office.settings.CHAIN_ID, token: office.settings.USDC_ADDRESS }
  const [payout, parts, attention, acts, timeline] = await Promise.all([
    readPayout(db, id),
    readParts(db, scope),
    attentionOf(db, id),
    listSettlementActions(db, { subject: id, limit: MOST_ENTRIES }),
    readTimeline(db, tenant, {
      paymentId: id,
      reader: 'operator',
      page: { limit: MOST_ENTRIES, after: null, before: null },
    }),
  ])
  const snapshot = snapshotOf(state)
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
  give('timeline', timeline.rows)

  for (const line of [...standing(state, snapshot), ...money(state, payout), ...waiting(payout, parts)]) say(line)
  for (const { kind, detail, since } of attention) say(`WARNING: ${kind} since ${since}: ${detail ?? 'no detail'}`)
  for (const line of commands(payment.id, snapshot)) say(line)
  say('')
  for (const { at, message, actor } of timeline.rows) say(`${at}  ${message}${actor === 'system' ? '' : ` (${actor})`}`)
  for (const act of acts) say(describeAct(act))
  if (timeline.hasMore) say(`only ${MOST_ENTRIES} entries are shown: the API lists all of them`)
  return attention.length === 0 ? 0 : 1
}

/** Each command as it is accepted. */
function commands(id: string, { answers, version }: PaymentSnapshot): string[] {
  return describeOffered(answers).map(
    (answer) => `decide: pinrail payments decide ${id} ${answer} --version ${version} ${SIGNED}`,
  )
}

function standing({ payment }: PaymentWithAttempts, { next }: PaymentSnapshot): string[] {
  const exception = payment.exception === null ? '' : `, ${payment.exception}`
  return [
    `${payment.id}  ${payment.status}${exception}  ${payment.amountText} ${payment.amount.currency}, version ${payment.version}`,
    `merchant ${payment.merchantId}${payment.reference === null ? '' : `, reference ${payment.reference}`}`,
    `created ${payment.createdAt}, expires ${payment.expiresAt}`,
    STEPS[next],
    ...payment.reviews.map(
      ({ reason, attemptId, text }) => `${reason}${attemptId === null ? '' : ` (${attemptId})`}: ${text}`,
    ),
  ]
}

function money({ payment, attempts, sales }: PaymentWithAttempts, payout: PayoutView | null): string[] {
  const own = findOwnAccount(toFunds({ payment, attempts, sales }))
  const lines = attempts.flatMap((attempt) => [
    `attempt ${attempt.id}  ${attempt.provider} ${attempt.method}  ${attempt.status}  at the partner: ${attempt.partnerReference ?? 'unknown'}`,
    ...describeHeld(attempt, own?.id ?? null),
  ])
  for (const { number, state, units, accountId } of sales)
    lines.push(`sale ${number} of ${describeUnits(attempts, accountId, units)}  ${state}`)
  const { usdc } = payment
  if (usdc !== null)
    lines.push(
      `USDC: ${formatUsdc(usdc.gross)} bought, ${formatUsdc(usdc.fee)} fee, ${formatUsdc(usdc.net)} to the merchant`,
    )
  if (payout !== null) {
    const why = payout.holdReason === null ? '' : ` (${payout.holdDetail ?? 'no detail'})`
    lines.push(`payout ${stateText(payout.state, payout.holdReason)}${why} to ${payout.recipient}`)
    if (payout.txHash !== null) lines.push(`transaction ${explorerUrl(payment) ?? payout.txHash}`)
  }
  return lines
}

/** Lists why settlement does not sign or send the payout now. */
function waiting(payout: PayoutView | null, parts: readonly PartStanding[]): string[] {
  if (payout === null || payout.proof !== null || payout.holdReason !== null) return []
  const reasons = parts.flatMap((standing) => (standing.part === 'deposits' ? [] : (getFailure(standing) ?? [])))
  return [...new Set(reasons)].map((why) => `payouts wait: ${why} (see \`pinrail settlement status\`)`)
}

/** Lists the money that the partner holds of it, whose that is, and what is going back. */
function describeHeld(attempt: Attempt, ownId: string | null): string[] {
  const { held, outside, back, returned, id } = attempt
  if (held === '0' && outside === '0' && !returned) return []
  const whose = id === ownId ? 'the payment’s' : 'the buyer’s'
  return [
    `  the partner holds ${amountText(attempt, BigInt(held))}`,
    ...(freeUnits(toAccount(attempt)) === 0n
      ? []
      : [`  of it ${amountText(attempt, freeUnits(toAccount(attempt)))} is ${whose}`]),
    ...(outside === '0' ? [] : [`  the buyer got ${amountText(attempt, BigInt(outside))} from elsewhere`]),
    ...(back === 'no' ? [] : ['  it is going back through the partner']),
    ...(returned ? ['  money of it was given back'] : []),
  ]
}

const describeUnits = (attempts: readonly Attempt[], id: string, units: bigint): string => {
  const attempt = attempts.find((one) => one.id === id)
  return attempt === undefined ? units.toString() : amountText(attempt, units)
}

const amountText = (attempt: Attempt, units: bigint): string =>
  attempt.provider === 'crypto'
    ? `${formatUsdc(units.toString())} USDC`
    : `${formatAmount(toMoney(attempt, units))} ${attempt.asked.currency}`

/** By whatever `payments find` takes, where only one payment fits. */
async function paymentIdOf({ db, subjects: [text = ''] }: Office): Promise<string> {
  const [found, ...others] = await searchPayments(db, { text, merchantId: undefined, status: undefined, limit: 2 })
  if (found === undefined) throw new Refusal(`no payment matches ${text}: see \`pinrail payments find\``)
  if (others.length > 0) throw new Refusal(`several payments match ${text}: see \`pinrail payments find ${text}\``)
  return found.id
}
