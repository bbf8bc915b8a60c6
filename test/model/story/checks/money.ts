import type { Part } from '../../../../src/domain/payment/money/parts.ts'
import type { SandboxOrder } from '../../../../src/sandbox/partners/order.ts'
import { attemptsOf, orderOf, readStatement } from '../../world/books.ts'
import { balance, type Facts, HERE, sum } from './facts.ts'

/** Every unit has one owner, and nothing is paid that is not kept. */

/** The partners' own books against ours, currency by currency, and the chain's for USDC. */
export async function checkPartners(facts: Facts): Promise<string[]> {
  const { shop, row } = facts
  const there = new Map<string, bigint>()
  const counted = new Map<string, bigint>()
  const unfitting = new Set<string>()
  for (const attempt of await attemptsOf(shop)) {
    const order = await orderOf(shop, attempt)
    if (order === null) continue
    const mine = row.parts.filter((part) => part.attemptId === attempt.id)
    const known = sum(mine.filter(({ state }) => HERE.includes(state)).map(({ units }) => units))
    // What an operator has acknowledged is counted as anything else.
    const { asked, acknowledgedMinor } = row.attempts.find(({ id }) => id === attempt.id) ?? {}
    const isOther = asked?.minor !== order.minor && acknowledgedMinor !== order.minor
    // Once it is over and holds nothing, it does not matter what was asked for; what never fitted was never counted.
    const isOdd = isOther || order.receivedMinor === null || mine.length === 0
    if (!isEmpty(order) && isOdd) unfitting.add(order.currency)
    // What was returned from elsewhere is nobody's part any more; what the partner has not taken back of it is ours.
    const unitsOf = (what: string) => sum(mine.filter(({ kind }) => kind === what).map(({ units }) => units))
    const outside = unitsOf('reversal_outside') - unitsOf('return_outside')
    const holds = order.status === 'on_hold' ? known + outside : holdsOf(order)
    if (
      outside > 0n &&
      !shop.asks.some(({ what, answer }) => what === 'recordExternalRefund' && answer?.startsWith('{'))
    )
      return [`${outside} booked as returned, which nobody has returned`]
    there.set(order.currency, (there.get(order.currency) ?? 0n) + holds)
    counted.set(order.currency, (counted.get(order.currency) ?? 0n) + outside + known)
  }
  const wrong: string[] = []
  const wasMisfit =
    facts.incidents.includes('misfit') || facts.notes.has('The partner’s report does not match the order')
  for (const asset of facts.ledger.keys())
    if (asset.startsWith('partner_receivable ')) there.set(asset.slice(19), there.get(asset.slice(19)) ?? 0n)
  for (const [currency, holds] of there) {
    const ours = balance(facts, 'partner_receivable', currency)
    const isMisfit = wasMisfit && unfitting.has(currency)
    if (ours !== holds && !isMisfit) wrong.push(`the partner holds ${holds} ${currency}, the ledger says ${ours}`)
    if ((counted.get(currency) ?? 0n) !== holds && !isMisfit)
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

const isEmpty = ({ status, receivedMinor }: SandboxOrder): boolean =>
  status === 'refunded' || (['declined', 'canceled', 'expired'].includes(status) && BigInt(receivedMinor ?? '0') === 0n)

/** What the partner has of the buyer's money for us, as it says itself. What it only holds is not said to be ours. */
function holdsOf({ status, receivedMinor }: SandboxOrder): bigint {
  const isOurs = ['paid', 'declined', 'canceled', 'expired'].includes(status)
  return isOurs ? BigInt(receivedMinor ?? '0') : 0n
}

/** What is owed, to the buyer or to the merchant, is what its owners have. */
export function checkBooks(facts: Facts): string[] {
  const { row } = facts
  const { payment, parts } = row
  const wrong: string[] = []
  const isSold = payment.usdc !== null && !isVoid(payment)
  const isOwed = ({ attemptId, state }: Part) =>
    HERE.includes(state) && !(isSold && state === 'counted' && attemptId === payment.paidAttemptId)
  const assets = new Set(['USDC', ...[...facts.ledger.keys()].map((key) => key.split(' ')[1] ?? '')])
  for (const asset of assets) {
    const free = sum(parts.filter((part) => part.asset === asset && isOwed(part)).map(({ units }) => units))
    const net = asset === 'USDC' && isSold && payment.transfer === null ? BigInt(payment.usdc?.net ?? '0') : 0n
    const owed = -balance(facts, 'suspense', asset) - balance(facts, 'merchant_payable', asset)
    if (owed !== free + net)
      wrong.push(`${owed} ${asset} is owed by the books, ${free + net} by its owners (${payment.status})`)
  }
  const elsewhere = parts.filter(({ attemptId, state }) => state === 'counted' && attemptId !== payment.paidAttemptId)
  if (payment.paidAttemptId !== null && sum(elsewhere.map(({ units }) => units)) !== 0n)
    wrong.push(`money of another attempt than the paid one is counted (${payment.status})`)
  return wrong
}

const isVoid = ({ status, parkReason, transfer }: Facts['row']['payment']): boolean =>
  transfer === null && (status === 'refunded' || parkReason === 'payout_voided')

/** What is ours: of the money that was sold, and of the USDC that was bought, paid out and kept. */
export function checkOurs(facts: Facts): string[] {
  const { row, paidOut, shop } = facts
  const { usdc, status } = row.payment
  const wrong: string[] = []
  const expect = (account: string, asset: string, expected: bigint): void => {
    const booked = balance(facts, account, asset)
    if (booked !== expected) wrong.push(`${account} has ${booked} ${asset}, it should be ${expected} (${status})`)
  }
  expect('treasury', 'USDC', -BigInt(paidOut ?? '0'))
  expect('fee_revenue', 'USDC', isVoid(row.payment) ? 0n : -BigInt(usdc?.fee ?? '0'))
  wrong.push(...checkLoss(facts))
  if (shop.troubles.conflicts() > 0) wrong.push('the converter was asked for another amount under a key that it knows')
  // Before an operator has decided, the converter is asked again only by a retry, or by the end.
  const mayBeUnknown = row.sales.some(({ state }) => state === 'asked') && status === 'under_review'
  if (mayBeUnknown) return wrong
  const statement = readStatement(shop, row.sales.length)
  expect('conversion', 'USDC', statement.bought)
  const currencies = [...facts.ledger.keys()].filter((key) => key.startsWith('conversion ')).map((key) => key.slice(11))
  // Whatever became of a payment afterwards: a sale stays in the books.
  for (const currency of new Set([...currencies, ...statement.sold.keys()]))
    if (currency !== 'USDC') expect('conversion', currency, -(statement.sold.get(currency) ?? 0n))
  return wrong
}

/** What the partner took back of a payment that was paid out is our loss, until the partner has it again. */
function checkLoss(facts: Facts): string[] {
  const { row } = facts
  const { status, confirmed, paidAttemptId, providerUsed } = row.payment
  if (status !== 'succeeded' || confirmed === null || providerUsed === 'crypto') return []
  const own = row.parts.filter(({ attemptId }) => attemptId === paidAttemptId)
  const unitsOf = (of: (part: Part) => boolean) => sum(own.filter(of).map(({ units }) => units))
  const lost = BigInt(confirmed.minor) - unitsOf(({ state }) => state === 'counted')
  const booked = balance(facts, 'chargeback_loss', confirmed.currency)
  if (booked !== lost) return [`${lost} of ${confirmed.minor} is lost, the books say ${booked}`]
  const isMore = unitsOf(({ state }) => state === 'surplus' || state === 'late') > 0n
  const isAsked =
    facts.intents.some(({ kind }) => kind === 'refund') ||
    own.some(({ kind }) => kind !== 'receipt' && kind !== 'reversal')
  return lost > 0n && isMore && !isAsked ? ['what was lost came again, and is nobody’s'] : []
}

export function checkParts({ row }: Facts): string[] {
  const sums = new Map<string, bigint>()
  // What the partner takes back of what is ours was gone before.
  for (const { attemptId, state, units, kind } of row.parts)
    if (kind !== 'reversal_outside')
      sums.set(`${state} of ${attemptId}`, (sums.get(`${state} of ${attemptId}`) ?? 0n) + BigInt(units))
  return [...sums].flatMap(([what, total]) => {
    if (total < 0n) return [`parts ${what.slice(0, 12)} sum to ${total}`]
    const isGone = what.startsWith('returned') || what.startsWith('reversed')
    return isGone && total !== 0n ? [`parts ${what.slice(0, 12)} sum to ${total}, not zero`] : []
  })
}

/** What we had the partner give back was known to be ours to give. */
export async function checkReturned({ shop, row, paidOut }: Facts): Promise<string[]> {
  const paid = (await attemptsOf(shop)).find(({ id }) => id === row.payment.paidAttemptId)
  const order = paid === undefined ? null : await orderOf(shop, paid)
  const isReturned = order?.status === 'refunded' && order.refund !== null
  const isKnown = row.parts.some(({ attemptId, kind }) => attemptId === paid?.id && kind.startsWith('return'))
  return isReturned && !isKnown && paidOut !== null ? ['given back by our refund, and paid out'] : []
}

/** What waits for its partner, or as too little, goes on when the partner says that all of the price is there. */
export async function checkGoesOn({ shop, row }: Facts): Promise<string[]> {
  const { payment, attempts, intents, parts } = row
  const { status, parkReason, held, paidAttemptId } = payment
  const paid = attempts.find(({ id }) => id === paidAttemptId)
  const isWaiting =
    status === 'under_review' && ['partner_hold', 'order_changed', 'underpaid'].includes(parkReason ?? '')
  const isOut = parts.some(({ kind }) => kind === 'return_outside')
  if (paid === undefined || !isWaiting || held || isOut || intents.length > 0) return []
  const order = await orderOf(shop, paid)
  const isFitting = order?.minor === paid.asked.minor || order?.minor === paid.acknowledgedMinor
  const isAll = order?.status === 'paid' && BigInt(order.receivedMinor ?? '0') >= BigInt(paid.asked.minor)
  return isFitting && isAll ? [`all of the money is there, and it waits: ${parkReason}`] : []
}

/** The rest of the price completes the payment. */
export function checkCompleted({ row, intents }: Facts): string[] {
  const { payment, parts } = row
  const mine = parts.filter(({ attemptId }) => attemptId === payment.paidAttemptId)
  // What came beside the whole price, and was taken back before anything of that, is no rest of it.
  const isTopUp = sum(mine.filter(({ state }) => state === 'surplus').map(({ units }) => units)) > 0n
  const isOpen = payment.status === 'under_review' && payment.parkReason === 'underpaid'
  return isOpen && isTopUp && intents.every(({ state }) => state === 'refused')
    ? ['paid too little, and the rest of it is surplus']
    : []
}

export function checkPayout(facts: Facts): string[] {
  const { row, payout, paidOut, incidents } = facts
  const { payment, parts } = row
  const wrong: string[] = []
  const { status, usdc } = payment
  const kept = sum(
    parts
      .filter(({ attemptId, state }) => attemptId === payment.paidAttemptId && state === 'counted')
      .map(({ chargeMinor }) => chargeMinor),
  )
  const isPaid = paidOut !== null
  const isSeen = incidents.includes('unexpected_settlement') || payment.parkReason === 'unexpected_settlement'
  if (isPaid && paidOut !== usdc?.net) wrong.push(`paid ${paidOut}, net is ${usdc?.net}`)
  const isLossSeen = incidents.includes('chargeback') || (status === 'refunded' && isSeen)
  if (isPaid && kept < BigInt(payment.confirmed?.minor ?? '0') && !isLossSeen)
    wrong.push(`paid out, and of ${payment.confirmed?.minor} only ${kept} is kept: no chargeback`)
  if (isPaid !== (status === 'succeeded') && !isSeen)
    wrong.push(`the payout is ${payout?.state ?? 'none'}, the payment ${status}`)
  const isEnded = ['refunded', 'failed', 'expired', 'canceled'].includes(status)
  if (isEnded && payout !== null && payout.state !== 'voided' && !isSeen)
    wrong.push(`${status} with a payout that is ${payout.state}`)
  if (isEnded && sum(parts.filter(({ state }) => state === 'counted').map(({ units }) => units)) !== 0n)
    wrong.push(`${status}, with money that is counted`)
  const bought = facts.shop.troubles.bought()
  const off = usdc !== null && bought?.kind === 'filled' ? BigInt(bought.microUsdc) - BigInt(usdc.gross) : 0n
  if (
    status === 'succeeded' &&
    usdc !== null &&
    // What came in USDC needs no fill; one for money that had come before was not taken.
    payment.providerUsed !== 'crypto' &&
    !payment.agreed &&
    (off < 0n ? -off : off) * 100n > BigInt(usdc.gross) * 2n
  )
    wrong.push(`a fill that is ${off} off was taken`)
  if (status === 'succeeded' && usdc === null) wrong.push('succeeded without USDC')
  return wrong
}

/**
 * A payment is settled if one account has the whole price at the end, unless somebody has decided otherwise. By the
 * partners' own books.
 */
export async function checkSettled({ shop, row }: Facts): Promise<string[]> {
  const { payment, attempts } = row
  const hasDecided = shop.asks.some(({ what }) => !what.startsWith('click') && what !== 'cancel')
  const isUnsettled =
    ['pending', 'expired', 'canceled'].includes(payment.status) || UNSETTLED.includes(payment.parkReason ?? '')
  if (hasDecided || !isUnsettled || payment.usdc !== null) return []
  for (const attempt of await attemptsOf(shop)) {
    const order = await orderOf(shop, attempt)
    const { asked, status } = attempts.find(({ id }) => id === attempt.id) ?? {}
    const isPaid = order?.status === 'paid' && order.minor === asked?.minor && status !== 'late'
    if (isPaid && BigInt(order.receivedMinor ?? '0') * 100n >= BigInt(order.minor) * 99n)
      return [`a partner has the whole price, and the payment is ${payment.status} (${payment.parkReason})`]
  }
  return []
}

const UNSETTLED: readonly string[] = ['underpaid', 'partner_hold', 'partner_silent', 'order_changed', 'wrong_asset']
