import { lateMoneyWorkflowId } from '../../../src/domain/ids.ts'
import type { PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import { needsOperator, nextStep, snapshotOf } from '../../../src/domain/payment/snapshot.ts'
import { isWebhookEventType } from '../../../src/domain/webhook.ts'
import { attemptsOf, orderOf } from '../world/books.ts'
import type { Shop } from '../world/shop.ts'

/** What must be true of every story, once everything was given time to end. Facts are asked of those whose they are. */

type Balances = ReadonlyMap<string, bigint>
type Facts = {
  readonly shop: Shop
  readonly row: PaymentWithAttempts
  readonly ledger: Balances
  readonly payout: { readonly state: string; readonly micro_usdc: string } | null
  readonly incidents: readonly string[]
  readonly intents: readonly { kind: string; state: string; attempt_id: string | null }[]
}

export async function checkStory(shop: Shop): Promise<string[]> {
  const facts = await readFacts(shop)
  return [
    ...(await checkPartners(facts)),
    ...checkBooks(facts),
    ...checkParts(facts),
    ...checkPayout(facts),
    ...(await checkWakers(facts)),
    ...checkAnswers(facts),
    ...(await checkEvents(facts)),
  ]
}

async function readFacts(shop: Shop): Promise<Facts> {
  const { db, system, paymentId } = shop
  const row = await system.loadPayment(db, paymentId)
  const ledger = await db.query(
    `select account, asset, sum(amount)::text as amount from ledger_entry e join ledger_transaction t on t.id = e.transaction_id
     where t.payment_id = $1 group by 1, 2`,
    [paymentId],
  )
  const payout = await db.query('select state, micro_usdc::text from payout where payment_id = $1', [paymentId])
  const incidents = await db.query('select kind from incident where payment_id = $1', [paymentId])
  const intents = await db.query('select kind, state, attempt_id from intent where payment_id = $1', [paymentId])
  return {
    shop,
    row,
    ledger: new Map(ledger.rows.map((each) => [`${each.account} ${each.asset}`, BigInt(each.amount)])),
    payout: payout.rows[0] ?? null,
    incidents: incidents.rows.map(({ kind }) => kind),
    intents: intents.rows,
  }
}

const balance = ({ ledger }: Facts, account: string, asset: string): bigint => ledger.get(`${account} ${asset}`) ?? 0n
const sum = (units: readonly string[]): bigint => units.reduce((total, each) => total + BigInt(each), 0n)
const HERE = ['counted', 'surplus', 'late', 'returning']

/** The partners' own books against ours, currency by currency, and the chain's for USDC. */
async function checkPartners(facts: Facts): Promise<string[]> {
  const { shop, row } = facts
  const there = new Map<string, bigint>()
  const counted = new Map<string, bigint>()
  for (const attempt of await attemptsOf(shop)) {
    const order = await orderOf(shop, attempt)
    if (order === null) continue
    const holds = order.status === 'paid' ? BigInt(order.receivedMinor ?? '0') : 0n
    const mine = row.parts.filter((part) => part.attemptId === attempt.id)
    // What was returned from elsewhere is nobody's part any more, and still with the partner: there it is ours.
    const outside =
      order.status === 'paid'
        ? -sum(mine.filter(({ kind }) => kind === 'return_outside').map(({ units }) => units))
        : 0n
    if (
      outside > 0n &&
      !shop.asks.some(({ what, answer }) => what === 'recordExternalRefund' && answer?.startsWith('{'))
    )
      return [`${outside} booked as returned, which nobody has returned`]
    there.set(order.currency, (there.get(order.currency) ?? 0n) + holds)
    counted.set(
      order.currency,
      (counted.get(order.currency) ?? 0n) +
        outside +
        sum(mine.filter(({ state }) => HERE.includes(state)).map(({ units }) => units)),
    )
  }
  const wrong: string[] = []
  for (const [currency, holds] of there) {
    const ours = balance(facts, 'partner_receivable', currency)
    const isMisfit = facts.incidents.includes('misfit') || row.payment.parkReason === 'amount_mismatch'
    if (ours !== holds && !isMisfit) wrong.push(`the partner holds ${holds} ${currency}, the ledger says ${ours}`)
    if (counted.get(currency) !== holds && !isMisfit)
      wrong.push(`the partner holds ${holds} ${currency}, the parts say ${counted.get(currency)}`)
  }
  const { rows } = await shop.db.query(
    'select coalesce(sum(l.units), 0)::text as micro from deposit_log l join deposit d using (payment_id) where payment_id = $1 and l.token = d.token',
    [row.payment.id],
  )
  const came = BigInt((rows[0] as { micro: string }).micro)
  if (balance(facts, 'deposits', 'USDC') !== came)
    wrong.push(`${came} micro-USDC came, the ledger says ${balance(facts, 'deposits', 'USDC')}`)
  const parts = sum(
    row.parts.filter(({ asset, kind }) => asset === 'USDC' && kind === 'receipt').map(({ units }) => units),
  )
  if (parts !== came) wrong.push(`${came} micro-USDC came, the parts say ${parts}`)
  return wrong
}

/** Every liability is what its owners have in it. */
function checkBooks(facts: Facts): string[] {
  const { row, payout } = facts
  const { payment, parts } = row
  const wrong: string[] = []
  const isUnwound = payment.status === 'refunded' || facts.ledger.size === 0
  const assets = new Set([...parts.map(({ asset }) => asset), 'USDC'])
  for (const asset of assets) {
    const inSuspense = parts.filter(
      (part) =>
        part.asset === asset &&
        part.account === 'suspense' &&
        HERE.includes(part.state) &&
        !(asset === 'USDC' && part.state === 'counted' && payment.usdc !== null),
    )
    const unusedFill =
      asset === 'USDC' && payment.fill !== null && payment.usdc === null && !isUnwound ? BigInt(payment.fill.micro) : 0n
    const owned = sum(inSuspense.map(({ units }) => units)) + unusedFill
    const held = -balance(facts, 'suspense', asset)
    if (owned !== held)
      wrong.push(`suspense has ${held} ${asset}, its owners ${owned} (${payment.status}, ${payment.parkReason})`)
    if (asset === 'USDC') continue
    const kept = parts.filter(
      (part) => part.asset === asset && part.account === 'merchant_payable' && HERE.includes(part.state),
    )
    const owed = payment.usdc === null ? sum(kept.map(({ units }) => units)) : 0n
    const payable = -balance(facts, 'merchant_payable', asset)
    if (owed !== payable)
      wrong.push(`the merchant is owed ${payable} ${asset}, by its parts ${owed} (${payment.status})`)
  }
  const net = payment.usdc === null || payout?.state === 'settled' || isUnwound ? 0n : BigInt(payment.usdc.net)
  const payable = -balance(facts, 'merchant_payable', 'USDC')
  if (payable !== net) wrong.push(`the merchant is owed ${payable} USDC, by the payment ${net} (${payment.status})`)
  return wrong
}

function checkParts({ row }: Facts): string[] {
  const sums = new Map<string, bigint>()
  for (const { attemptId, state, units } of row.parts)
    sums.set(`${state} of ${attemptId}`, (sums.get(`${state} of ${attemptId}`) ?? 0n) + BigInt(units))
  return [...sums].flatMap(([what, total]) => {
    if (total < 0n) return [`parts ${what.slice(0, 12)} sum to ${total}`]
    const isGone = what.startsWith('returned') || what.startsWith('reversed')
    return isGone && total !== 0n ? [`parts ${what.slice(0, 12)} sum to ${total}, not zero`] : []
  })
}

function checkPayout(facts: Facts): string[] {
  const { row, payout, incidents } = facts
  const { payment, parts } = row
  const wrong: string[] = []
  const { status, usdc } = payment
  const kept = sum(
    parts
      .filter(({ attemptId, state }) => attemptId === payment.paidAttemptId && state === 'counted')
      .map(({ chargeMinor }) => chargeMinor),
  )
  const isPaid = payout?.state === 'settled'
  const isSeen = incidents.includes('unexpected_settlement') || payment.parkReason === 'unexpected_settlement'
  if (isPaid && payout.micro_usdc !== usdc?.net) wrong.push(`paid ${payout.micro_usdc}, net is ${usdc?.net}`)
  if (isPaid && kept < BigInt(payment.confirmed?.minor ?? '0') && !incidents.includes('chargeback'))
    wrong.push(`paid out, and of ${payment.confirmed?.minor} only ${kept} is kept: no chargeback`)
  if (isPaid !== (status === 'succeeded') && !isSeen)
    wrong.push(`the payout is ${payout?.state ?? 'none'}, the payment ${status}`)
  const isEnded = ['refunded', 'failed', 'expired', 'canceled'].includes(status)
  if (isEnded && payout !== null && payout.state !== 'voided' && !isSeen)
    wrong.push(`${status} with a payout that is ${payout.state}`)
  if (isEnded && sum(parts.filter(({ state }) => state === 'counted').map(({ units }) => units)) !== 0n)
    wrong.push(`${status}, with money that is counted`)
  const isOff = usdc !== null && !payment.fill?.accepted && status === 'succeeded' && payment.providerUsed !== 'crypto'
  const gain = balance(facts, 'exchange', 'USDC')
  if (isOff && (gain < 0n ? -gain : gain) * 100n > BigInt(usdc.gross) * 2n)
    wrong.push(`a fill that is ${gain} off was taken`)
  if (status === 'succeeded' && usdc === null) wrong.push('succeeded without USDC')
  return wrong
}

/** After all that time only what waits for an operator, visibly, is open. */
async function checkWakers({ shop, row, intents }: Facts): Promise<string[]> {
  const wrong: string[] = []
  const snapshot = snapshotOf(row)
  const step = nextStep(snapshot)
  const { status, parkReason } = row.payment
  const run = shop.server.running(row.payment.id)
  const reason = needsOperator(snapshot)
  if (step !== 'done' && step !== 'await_operator') wrong.push(`after all that time it is ${status} and waits: ${step}`)
  if (step === 'await_operator' && run === null)
    wrong.push(`waits for an operator (${status}, ${reason}) without a workflow`)
  if (run !== null && reason !== null && run.attributes.get('NeedsOperator') !== true)
    wrong.push(`waits for an operator (${status}, ${reason}), and NeedsOperator is not set`)
  if (status === 'under_review' && parkReason === null) wrong.push('parked without a reason')
  if (status === 'under_review' && parkReason === 'funds_reversed') wrong.push('funds_reversed has no end')
  for (const attemptId of snapshot.late ?? [])
    if (shop.server.running(lateMoneyWorkflowId(attemptId)) === null) wrong.push('late money without a workflow')
  for (const { kind, state } of intents)
    if (state === 'asked' || state === 'pending') wrong.push(`a ${kind} is still ${state}`)
  const unread = await shop.db.query(
    'select 1 from partner_event e join attempt a on a.id = e.attempt_id where a.payment_id = $1 and applied_at is null',
    [row.payment.id],
  )
  if (unread.rows.length > 0) wrong.push(`${unread.rows.length} news unread (${status}, ${parkReason})`)
  const isClosed = await shop.db.query('select closed_at from payment where id = $1', [row.payment.id])
  if ((step === 'done') !== (isClosed.rows[0]?.closed_at !== null))
    wrong.push(`closed_at does not fit: ${status}, ${step}`)
  if (step === 'done' && run !== null) wrong.push(`${status}, nothing is left, and the workflow runs on`)
  return wrong
}

function checkAnswers({ shop }: Facts): string[] {
  return shop.asks.flatMap(({ what, answer }) => {
    if (answer === null) return [`no answer: ${what}`]
    return /TypeError|no transition|undefined/.test(answer) ? [`${what}: ${answer}`] : []
  })
}

type Event = { readonly type: string; readonly object: { readonly status: string } }

/** What the merchant was told agrees with the row. */
async function checkEvents({ shop, row, payout, incidents }: Facts): Promise<string[]> {
  const { rows } = await shop.db.query(
    "select type, convert_from(body, 'UTF8')::jsonb -> 'data' -> 'object' as object from event where payment_id = $1 order by sequence",
    [row.payment.id],
  )
  const events = rows as Event[]
  const wrong: string[] = []
  const moves = events.filter(({ type }) => type !== 'payment.chargeback')
  const { status } = row.payment
  const last = moves.at(-1)
  if (isWebhookEventType(`payment.${status}`) && last?.type !== `payment.${status}`)
    wrong.push(`the row is ${status}, the merchant was told ${last?.type}`)
  for (const { type, object } of events)
    if (type !== 'payment.chargeback' && type !== `payment.${object.status}`)
      wrong.push(`${type} shows ${object.status}`)
  const paid = events.filter(({ type }) => type === 'payment.succeeded').length
  if (paid > 1) wrong.push(`succeeded was told ${paid} times`)
  if (paid === 1 && payout?.state !== 'settled') wrong.push('succeeded was told, and nothing was paid')
  if (incidents.includes('chargeback') !== events.some(({ type }) => type === 'payment.chargeback'))
    wrong.push('a chargeback and its event do not go together')
  // What was committed by a process that was killed then is announced by the sweep of overdue deliveries.
  const unsent = await shop.db.query(
    'select type from event e where payment_id = $1 and not exists (select 1 from delivery d where d.event_id = e.id)',
    [row.payment.id],
  )
  for (const { type } of unsent.rows) wrong.push(`${type} has no delivery`)
  return wrong
}
