import { PROVIDERS } from '../../../../src/domain/methods.ts'
import { isClosed } from '../../../../src/domain/payment/payment.ts'
import type { Attempt } from '../../../../src/domain/payment/payment-object.ts'
import { isWithPartner } from '../../../../src/domain/refund/refund.ts'
import { readStatement } from '../../fixture/books.ts'
import {
  balance,
  type Facts,
  findSold,
  getAsset,
  getDeducted,
  getRefundedUnits,
  getUnreturned,
  isReportedAfter,
  lastThere,
  listDecided,
  type Order,
  positive,
  sumRefunds,
} from './facts.ts'

/** Every unit has one owner, and only money that is there is paid. */

const sum = (units: readonly bigint[]): bigint => units.reduce((total, each) => total + each, 0n)

/** Compares the books of the partners and of the chain with the ledger, once all readings are applied. */
export function checkPartners(facts: Facts): string[] {
  return facts.orders.flatMap(({ attempt, order, there }) => {
    const held = BigInt(attempt.held)
    // A partner may report less than it has until it is done with an order.
    const isKnown = there === null ? held >= BigInt(order?.receivedMinor ?? '0') : held === there
    return isKnown ? [] : [`${there} ${getAsset(attempt)} are there, and ${held} are known (${attempt.status})`]
  })
}

/** The money of partners and chain that the rows know, in the books. */
export function checkReceivables(facts: Facts): string[] {
  const { orders } = facts
  const wrong = orders
    .filter(({ attempt }) => attempt.provider !== 'crypto')
    .map(({ attempt }) => attempt.asked.currency)
    .flatMap((currency) => {
      const mine = orders.filter(({ attempt }) => getAsset(attempt) === currency)
      const held = sum(mine.map(({ attempt }) => BigInt(attempt.held)))
      const booked = balance(facts, 'partner_receivable', currency)
      return booked === held ? [] : [`the partners hold ${held} ${currency}, the books say ${booked}`]
    })
  const came = orders.find(({ attempt, there }) => getAsset(attempt) === 'USDC' && there !== null)?.there ?? 0n
  const booked = balance(facts, 'deposits', 'USDC')
  const expected = came + sumRefunds(facts).there
  return booked === expected ? wrong : [...wrong, `${expected} micro-USDC are at addresses, the books say ${booked}`]
}

/** Less than this at an address has no owner. */
const DUST_MICRO = 10_000n

/** The debt to the buyer and the merchant is what they have not received. */
export function checkOwed(facts: Facts): string[] {
  const { row, orders, paidOut } = facts
  const sold = findSold(facts)
  const getDebt = (order: Order): bigint => {
    const { attempt } = order
    const rest = getUnreturned(attempt) + getRefundedUnits(facts, order)
    const units = attempt.id === sold?.attempt.id ? rest - sold.sale.units : getUnreturned(attempt)
    const isDust = getAsset(attempt) === 'USDC' && units < DUST_MICRO && attempt.id !== row.payment.paidAttemptId
    return isDust && attempt.id !== sold?.attempt.id ? 0n : positive(units)
  }
  // The ledger account `reserve` owes what is deducted for a refund.
  const net = sold === null ? 0n : BigInt(row.payment.usdc?.net ?? '0') - getDeducted(facts)
  const assets = new Set(['USDC', ...orders.map(({ attempt }) => getAsset(attempt))])
  return [...assets].flatMap((asset) => {
    const free = sum(orders.filter(({ attempt }) => getAsset(attempt) === asset).map(getDebt))
    const expected =
      asset === 'USDC' ? free + unread(facts) + net - BigInt(paidOut ?? '0') + sumRefunds(facts).owed : free
    const owed = -balance(facts, 'suspense', asset) - balance(facts, 'merchant_payable', asset)
    const isSo = owed === expected || (asset === 'USDC' && isRest(owed - expected))
    return isSo ? [] : [`the books owe ${owed} ${asset}, and the facts ${expected} (${row.payment.status})`]
  })
}

/** Money that the chain has proved, and that no reading has yet. */
function unread({ orders }: Facts): bigint {
  const order = orders.find(({ attempt, there }) => getAsset(attempt) === 'USDC' && there !== null)
  return (order?.there ?? 0n) - BigInt(order?.attempt.held ?? '0')
}

/** True if USDC without an owner is missing by less than the dust. */
const isRest = (units: bigint): boolean => units < 0n && units > -DUST_MICRO

/** The platform's share: of the money that was sold, and of the USDC that was bought, paid out and kept. */
export function checkOurs(facts: Facts): string[] {
  const { row, paidOut, testPayment } = facts
  const { status, usdc } = row.payment
  const sold = findSold(facts)
  const wrong: string[] = []
  const expect = (account: string, asset: string, expected: bigint): void => {
    const booked = balance(facts, account, asset)
    if (booked !== expected) wrong.push(`${account} has ${booked} ${asset}, it should be ${expected} (${status})`)
  }
  expect('treasury', 'USDC', sumRefunds(facts).taken - BigInt(paidOut ?? '0'))
  expect('reserve', 'USDC', sold === null ? 0n : -getDeducted(facts))
  expect('fee_revenue', 'USDC', sold === null ? 0n : -BigInt(usdc?.fee ?? '0'))
  for (const { attempt } of facts.orders) {
    const mine = facts.orders.filter((other) => getAsset(other.attempt) === getAsset(attempt))
    // While a refund is not over, it might account for what is missing.
    if (facts.refunds.some(({ refund }) => isWithPartner(refund))) continue
    const lost = mine.map((other) =>
      other.attempt.id === sold?.attempt.id
        ? sold.sale.units - getUnreturned(other.attempt) - getRefundedUnits(facts, other)
        : 0n,
    )
    expect('chargeback_loss', getAsset(attempt), sum(lost.map(positive)))
  }
  if (testPayment.troubles.conflicts() > 0)
    wrong.push('the converter was asked for another amount under a key that it knows')
  // The outcome of an open order is not known.
  if (row.sales.some(({ state }) => state === 'asked')) return wrong
  const statement = readStatement(testPayment, row.sales.length)
  expect('conversion', 'USDC', statement.bought)
  const currencies = [...facts.ledger.keys()].filter((key) => key.startsWith('conversion ')).map((key) => key.slice(11))
  // A sale stays in the books whatever becomes of the payment.
  for (const currency of new Set([...currencies, ...statement.sold.keys()]))
    if (currency !== 'USDC') expect('conversion', currency, -(statement.sold.get(currency) ?? 0n))
  return wrong
}

const isListed = ({ listed }: Facts, reason: string): boolean =>
  listed.some(({ kind, detail }) => kind === 'review' && detail?.startsWith(`${reason}: `) === true)

export function checkPayout(facts: Facts): string[] {
  const { row, payout, paidOut } = facts
  const { status, usdc, agreed } = row.payment
  const isPaid = paidOut !== null
  const wrong: string[] = []
  const sold = findSold(facts)
  if (isPaid !== (status === 'succeeded')) wrong.push(`the payout is ${payout?.state ?? 'none'}, the payment ${status}`)
  if (isPaid && sold === null) wrong.push('paid, and nothing was sold for it')
  const isSeen = agreed === `payout:${paidOut}` || isListed(facts, 'unexpected_payout')
  const due = BigInt(usdc?.net ?? '0') - getDeducted(facts)
  if (isPaid && BigInt(paidOut) !== due && !isSeen) wrong.push(`paid ${paidOut}, and ${due} is due`)
  const isOver = isClosed(status) && status !== 'succeeded'
  if (isOver && payout !== null && payout.state !== 'voided')
    wrong.push(`${status} with a payout that is ${payout.state}`)
  return sold === null ? wrong : [...wrong, ...checkSold(facts, sold)]
}

/** Money of a closed payment that arrives after its partner's time for late money does not belong to the payment. */
export function checkListening(facts: Facts): string[] {
  const sold = findSold(facts)
  const { paidAt } = facts.row.payment
  return sold !== null && isTooLate(facts, { paidAt, provider: sold.attempt.provider })
    ? ['money was sold after listening had ended']
    : []
}

/** True if the attempt's money arrived after the payment was closed, and after its partner's time for late money. */
function isTooLate(
  { row: { payment }, notes }: Facts,
  { paidAt: at, provider }: Pick<Attempt, 'paidAt' | 'provider'>,
): boolean {
  const paidAt = Date.parse(at ?? '')
  const wasClosed = ['payment.expired', 'payment.canceled'].some((kind) => (notes.get(kind) ?? Infinity) <= paidAt)
  const end = Date.parse(payment.canceledAt ?? payment.expiresAt)
  // By the reader's clock, which can be wrong.
  return wasClosed && paidAt > end + PROVIDERS[provider].listenHours * 3_600_000 + 60_000
}

/** An order of another amount is sold only by an operator's decision. `sold` is the amount that was sold before. */
export async function checkOdd(facts: Facts, sold: number | null): Promise<string[]> {
  const { takenSale } = facts.row.payment
  const attempt = findSold(facts)?.attempt
  const order = facts.orders.find((one) => one.attempt.id === attempt?.id)?.order
  const isOdd = order?.status === 'paid' && order.minor !== attempt?.asked.minor && !facts.unread.has(attempt?.id ?? '')
  const isSettled = listDecided(facts.testPayment).some(({ what }) => what === 'settle')
  if (takenSale === sold || attempt === undefined || !isOdd || isSettled) return []
  const said = { reported: "data ? 'misfit'", done: "kind = 'payment.converted'" }
  const isLater = await isReportedAfter(facts.testPayment, attempt.id, said)
  return isLater ? [] : ['an order of another amount was sold, and no operator has said so']
}

/** Too little money, and a fill far off the rate, are paid out only by an operator's decision. */
function checkSold({ testPayment, row }: Facts, { sale, attempt }: NonNullable<ReturnType<typeof findSold>>): string[] {
  const isSettled = listDecided(testPayment).some(({ what }) => what === 'settle')
  if (isSettled || attempt.provider === 'crypto') return []
  const off = positive((sale.fill ?? 0n) - sale.gross) + positive(sale.gross - (sale.fill ?? 0n))
  const wrong = off * 100n > sale.gross * 2n ? [`a fill that is ${off} off was taken (${row.payment.status})`] : []
  const isTooLittle = sale.units * 100n < BigInt(attempt.asked.minor) * 99n
  return isTooLittle ? [...wrong, 'too little was sold, and no operator has said so'] : wrong
}

/**
 * The loss of an attempt, by the parties that have its money: what was paid for and is not there, or what the buyer has
 * twice.
 */
export function computeLoss(facts: Facts, order: Order): bigint {
  const { attempt } = order
  const [held, outside] = [lastThere(order), BigInt(attempt.outside)]
  const sold = findSold(facts)
  const isPaidFor = facts.paidOut !== null && sold?.attempt.id === attempt.id
  const short = isPaidFor ? positive(sold.sale.units - positive(held - outside) - getRefundedUnits(facts, order)) : 0n
  return short + positive(outside - held)
}

/** Each loss is or was on the attention list. */
export function checkLosses(facts: Facts): string[] {
  return facts.orders.flatMap((order) => {
    const lost = computeLoss(facts, order)
    const isSeen = lost <= BigInt(order.attempt.writtenOff) || isListed(facts, 'loss')
    return isSeen ? [] : [`${lost} ${getAsset(order.attempt)} are lost, and not on the attention list`]
  })
}

/** Money that was given back is not paid for, and its partner is not asked to give it back again. */
export async function checkReturned(facts: Facts): Promise<string[]> {
  const sold = findSold(facts)
  const { rows } = await facts.testPayment.db.query(
    `select distinct a.attempt_id as id from decision a join decision b using (payment_id, attempt_id)
     where payment_id = $1 and a.say = 'give_back' and b.say = 'give_back' and not a.outside and b.outside and a.version > b.version`,
    [facts.row.payment.id],
  )
  const after = new Set(rows.map((row) => row['id'] as string))
  return facts.orders.flatMap(({ attempt, order }) => {
    const isOfMerchant = (key: string): boolean => facts.refunds.some(({ refund }) => refund.id === key)
    const isOurs = order?.status === 'refunded' && order.refunds.some(({ key }) => !isOfMerchant(key))
    const isTwice = isOurs && after.has(attempt.id) ? ['given back from elsewhere, and then through the partner'] : []
    const isPaidFor = isOurs && facts.paidOut !== null && sold?.attempt.id === attempt.id
    return isPaidFor && !facts.testPayment.engine.wasUnexpected()
      ? [...isTwice, 'given back by our refund, and paid out']
      : isTwice
  })
}

/** Only an operator records that the buyer was given money from elsewhere. */
export function checkOutside({ testPayment, orders }: Facts): string[] {
  const isSaid = listDecided(testPayment).some(({ argument }) => (argument as { outside?: boolean }).outside === true)
  const isBooked = orders.some(({ attempt }) => attempt.outside !== '0')
  return isBooked && !isSaid ? ['booked as given back from elsewhere, and nobody has said so'] : []
}

/** True if the partner has the whole price, as it was asked for. */
function isWhole({ attempt, order, there }: Order): boolean {
  const isPaid = order === null || (order.status === 'paid' && order.minor === attempt.asked.minor)
  const asked = BigInt(attempt.provider === 'crypto' ? (attempt.askedMicro ?? '0') : attempt.asked.minor)
  return isPaid && there !== null && asked > 0n && there * 100n >= asked * 99n
}

/**
 * A payment of which one account has the whole price at the end is settled, unless somebody has decided otherwise, or
 * must decide about something other than the money that came.
 */
export function checkSettled(facts: Facts): string[] {
  const { testPayment, row, orders } = facts
  const { payout, takenSale, status, listenEnded, closedAs } = row.payment
  const isTaken = takenSale !== null && payout !== 'void'
  const isOther = ['sale_stuck', 'far_fill', 'other_token'].some((reason) => isListed(facts, reason))
  if (isTaken || isOther || payout === 'void' || listDecided(testPayment).length > 0) return []
  if (listenEnded || closedAs === 'failed') return []
  const whole = orders.find((order) => isWhole(order) && !order.attempt.returned && !isTooLate(facts, order.attempt))
  return whole === undefined
    ? []
    : [`the whole price is there by ${whole.attempt.provider}, and the payment is ${status}`]
}
