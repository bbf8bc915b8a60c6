import type { Tenant } from '../../db/db.ts'
import { listSettlementActions } from '../../db/operator/actions.ts'
import { attentionOf, searchPayments } from '../../db/operator/payments.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { readTimeline } from '../../db/payments/timeline.ts'
import { readParts } from '../../db/settlement/parts.ts'
import { type PayoutView, readPayout } from '../../db/settlement/payouts.ts'
import { isCurrency } from '../../domain/currencies.ts'
import { formatAmount, formatUsdc } from '../../domain/money.ts'
import { DECISIONS, whyRefused } from '../../domain/payment/decision.ts'
import { PARK_REASONS } from '../../domain/payment/payment.ts'
import { explorerUrl, type PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { returnableAttempts } from '../../domain/payment/refund.ts'
import { OPERATOR_DECISIONS, type OperatorDecision } from '../../domain/payment/requests.ts'
import {
  lateAttempts,
  needsOperator,
  nextStep,
  type PaymentSnapshot,
  snapshotOf,
} from '../../domain/payment/snapshot.ts'
import { getFailure, type PartStanding } from '../../domain/settlement/part.ts'
import { type Office, Refusal } from '../call.ts'
import { stateText } from '../payouts.ts'
import { describeAct } from '../settlement-acts.ts'

/** In words, for somebody who has not read the code. */
const STEPS: Readonly<Record<ReturnType<typeof nextStep>, string>> = {
  await_buyer: 'No money has arrived. Waiting for the buyer.',
  await_partner: 'The partner is confirming the buyer’s money. Nothing has been converted.',
  convert: 'The partner has the buyer’s money. It is being converted to USDC.',
  transfer: 'Converted. The USDC is on its way to the merchant, and counts when its block is final.',
  await_operator: 'It waits for an operator. The money is safe where it is.',
  end_conversion: 'Closed. The conversion is still open: the converter is asked until it has filled or ended it.',
  listen: 'Closed. An unfinished partner order may still bring money.',
  done: 'Nothing is left to do.',
}

/** Entries of the timeline that are shown. */
const MOST_ENTRIES = 1000

/** For asking what would be accepted. */
const SOMEBODY = { operator: 'somebody', reason: 'to know what would be accepted' }

/** The decisions that give money back, and from where. */
const RETURNS = { refund: 'partner', recordExternalRefund: 'outside' } as const

/** How it is decided about. */
const DECIDE = 'decide: pinrail payments decide'
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
  const decisions = OPERATOR_DECISIONS.filter(
    (name) =>
      whyRefused(name, { ...SOMEBODY, version: payment.version }, snapshot) === null &&
      (!isReturn(name) || namedBy(name, state).length > 0),
  )
  give('payment', payment)
  give('version', payment.version)
  give('next_step', nextStep(snapshot))
  give('waits_for_operator', needsOperator(snapshot))
  give('decisions', decisions)
  give('attention', attention)
  give('attempts', state.attempts)
  give('parts', state.parts)
  give('intents', state.intents)
  give(
    'payout',
    payout && { ...payout, proof: payout.proof && { ...payout.proof, gasWei: String(payout.proof.gasWei) } },
  )
  give('acts', acts)
  give('timeline', timeline.rows)

  for (const line of [...standing(state, snapshot), ...money(state, payout), ...waiting(payout, parts)]) say(line)
  for (const { kind, detail, since } of attention) say(`WARNING: ${kind} since ${since}: ${detail ?? 'no detail'}`)
  for (const line of commands(state, decisions)) say(line)
  say('')
  for (const { at, message, actor } of timeline.rows) say(`${at}  ${message}${actor === 'system' ? '' : ` (${actor})`}`)
  for (const act of acts) say(describeAct(act))
  if (timeline.hasMore) say(`only ${MOST_ENTRIES} entries are shown: the API lists all of them`)
  return attention.length === 0 ? 0 : 1
}

type ReturnDecision = keyof typeof RETURNS
const isReturn = (name: OperatorDecision): name is ReturnDecision => name in RETURNS

/** The attempts whose money the decision can give back; late money is decided in its own workflow. */
function namedBy(name: ReturnDecision, state: PaymentWithAttempts): string[] {
  const late = lateAttempts(snapshotOf(state))
  return returnableAttempts(state, RETURNS[name]).filter((attempt) => !late.includes(attempt))
}

/** Each command as it is accepted. Those that give money back name its attempt. */
function commands(state: PaymentWithAttempts, decisions: readonly OperatorDecision[]): string[] {
  const { id, version } = state.payment
  const late = lateAttempts(snapshotOf(state))
  const signed = (name: OperatorDecision) =>
    DECISIONS[name].accepts === true ? `--version ${version} ${SIGNED}` : SIGNED
  const returns = Object.keys(RETURNS) as ReturnDecision[]
  return [
    ...decisions.filter((name) => !isReturn(name)).map((name) => `${DECIDE} ${id} ${name} ${signed(name)}`),
    ...returns
      .filter((name) => decisions.includes(name))
      .flatMap((name) =>
        namedBy(name, state).map((attempt) => `${DECIDE} ${id} ${name} --attempt ${attempt} ${signed(name)}`),
      ),
    ...returns.flatMap((name) =>
      returnableAttempts(state, RETURNS[name])
        .filter((attempt) => late.includes(attempt))
        .map((attempt) => `${DECIDE} ${attempt} ${name} ${signed(name)}`),
    ),
  ]
}

function standing({ payment }: PaymentWithAttempts, snapshot: PaymentSnapshot): string[] {
  const reason = needsOperator(snapshot)
  const exception = payment.exception === null ? '' : `, ${payment.exception}`
  return [
    `${payment.id}  ${payment.status}${exception}  ${payment.amountText} ${payment.amount.currency}, version ${payment.version}`,
    `merchant ${payment.merchantId}${payment.reference === null ? '' : `, reference ${payment.reference}`}`,
    `created ${payment.createdAt}, expires ${payment.expiresAt}`,
    STEPS[nextStep(snapshot)],
    ...(reason === null ? [] : [`${reason}: ${PARK_REASONS[reason].text}`]),
    ...(payment.held ? ['An operator holds it: it settles only after `release`.'] : []),
  ]
}

function money({ payment, attempts, parts, intents }: PaymentWithAttempts, payout: PayoutView | null): string[] {
  const lines = attempts.map(
    ({ id, provider, method, status, partnerReference }) =>
      `attempt ${id}  ${provider} ${method}  ${status}  at the partner: ${partnerReference ?? 'unknown'}`,
  )
  for (const { kind, units, asset, state, attemptId } of parts)
    lines.push(`${kind} of ${amountText(units, asset)}  ${state}  ${attemptId}`)
  for (const { kind, state, attemptId } of intents)
    lines.push(`${kind} under way (${state})  ${attemptId ?? ''}`.trimEnd())
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

const amountText = (units: string, asset: string): string =>
  `${isCurrency(asset) ? formatAmount({ minor: units, currency: asset }) : formatUsdc(units)} ${asset}`

/** By whatever `payments find` takes, where only one payment fits. */
async function paymentIdOf({ db, subjects: [text = ''] }: Office): Promise<string> {
  const [found, ...others] = await searchPayments(db, { text, merchantId: undefined, status: undefined, limit: 2 })
  if (found === undefined) throw new Refusal(`no payment matches ${text}: see \`pinrail payments find\``)
  if (others.length > 0) throw new Refusal(`several payments match ${text}: see \`pinrail payments find ${text}\``)
  return found.id
}
