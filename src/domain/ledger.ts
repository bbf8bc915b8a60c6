import { nth } from './ids.ts'
import { isZero, type MicroUsdc, type Money, subtract } from './money.ts'
import type { Part } from './payment/money/parts.ts'

/**
 * Double entry: each business fact as a list of lines that sums to zero per asset. Debits are positive, credits
 * negative. The database refuses a transaction that does not balance, and a second one for the same fact.
 */

export type Account =
  | 'partner_receivable'
  | 'conversion'
  | 'treasury'
  | 'deposits'
  | 'exchange'
  | 'merchant_payable'
  | 'fee_revenue'
  | 'gas_expense'
  | 'gas_float'
  | 'chargeback_loss'
  | 'suspense'

/** A currency code, `USDC` in micro-USDC, or `POL` in wei. */
export type Asset = string

export type Line = { readonly account: Account; readonly asset: Asset; readonly amount: string }

export type Booking = {
  readonly kind:
    | 'fiat_confirmed'
    | 'fiat_suspended'
    | 'fiat_given_back'
    | 'converted'
    | 'fill_suspended'
    | 'fill_used'
    | 'fill_kept'
    | 'settled'
    | 'topped_up'
    | 'withdrawn'
    | 'acknowledged'
    | 'claimed'
    | 'deposited'
    | 'deposit_used'
    | 'deposit_returned'
    | 'deposit_kept'
    | 'payout_unwound'
    | 'swept'
    | 'gas'
    | 'chargeback'
    | 'chargeback_won'
  /** With the kind, the identity of the fact: booking it twice is refused. */
  readonly reference: string
  readonly paymentId: string | null
  readonly lines: readonly Line[]
}

const negative = (amount: string): string => subtract('0', amount)
const nonZero = (lines: Line[]): Line[] => lines.filter((line) => !isZero(line.amount))

/** What is known of a payment's USDC once it is converted; null before. */
type Usdc = { readonly gross: MicroUsdc; readonly fee: MicroUsdc; readonly net: MicroUsdc }

/**
 * Books a part of money, asset by asset. Null if the part changes nothing. USDC at a deposit address was booked when the
 * chain proved it (`deposited`), and stays in suspense until it is converted or returned.
 */
export function bookingOfPart(
  part: Part,
  payment: { readonly id: string; readonly usdc: Usdc | null; readonly paidAttemptId: string | null },
): Booking | null {
  if (part.asset === 'USDC') return bookingOfUsdc(part, payment)
  const minor = part.kind === 'receipt' ? part.units : negative(part.units)
  const fact = { paymentId: payment.id, reference: part.key, received: { minor, currency: part.asset } }
  // Of the payment's own money alone: another order's was never sold.
  const isSold = payment.usdc !== null && payment.paidAttemptId === part.attemptId
  const isOurLoss = part.account === 'merchant_payable' && isSold
  switch (part.kind) {
    case 'receipt':
      // The merchant was paid for it before the partner took it back: what was our loss is none any more.
      if (isOurLoss) return fiatLines('chargeback_won', fact, ['partner_receivable', 'chargeback_loss'])
      // The partner owes us the money, and we owe it to the merchant, or to whomever an operator finds.
      return part.account === 'suspense'
        ? fiatLines('fiat_suspended', fact, ['partner_receivable', 'suspense'])
        : fiatLines('fiat_confirmed', fact, ['partner_receivable', 'merchant_payable'])
    case 'reversal':
      return isOurLoss
        ? fiatLines('chargeback', fact, ['chargeback_loss', 'partner_receivable'])
        : fiatLines('fiat_given_back', fact, [part.account, 'partner_receivable'])
    case 'return':
      // What was converted was sold for our own account, once its payout is void.
      return fiatLines('fiat_given_back', fact, [isOurLoss ? 'conversion' : part.account, 'partner_receivable'])
    case 'return_outside':
      // Paid from elsewhere: what the partner still owes us is ours.
      return fiatLines('fiat_given_back', fact, [isOurLoss ? 'conversion' : part.account, 'exchange'])
    case 'reversal_outside':
      // Had it twice, the buyer: what was ours at the partner is gone.
      return fiatLines('fiat_given_back', fact, ['exchange', 'partner_receivable'])
    case 'kept':
      // Nothing of a fiat currency is worth less than its smallest unit.
      return null
  }
}

function bookingOfUsdc({ kind, key, units, account }: Part, payment: { readonly id: string }): Booking | null {
  // What was converted left suspense then, and is unwound with the payout.
  if (kind === 'receipt' || account !== 'suspense') return null
  // The buyer had it back from elsewhere, or it is rounding: what came is ours.
  const fact = { paymentId: payment.id, reference: key, micro: negative(units) }
  return usdcLines(kind === 'kept' ? 'deposit_kept' : 'deposit_returned', fact, ['suspense', 'exchange'])
}

function fiatLines(
  kind: Booking['kind'],
  {
    paymentId,
    reference,
    received,
  }: { paymentId: string; reference: string; received: { minor: string; currency: Asset } },
  [debit, credit]: [Account, Account],
): Booking {
  const { minor, currency } = received
  return {
    kind,
    reference,
    paymentId,
    lines: nonZero([
      { account: debit, asset: currency, amount: minor },
      { account: credit, asset: currency, amount: negative(minor) },
    ]),
  }
}

/**
 * The fiat debt to the merchant became a USDC debt of `net`, at the locked rate. The converter owes us its fill; what
 * the fill differs from the locked rate is ours, in `exchange`.
 */
export function converted(fact: {
  paymentId: string
  received: Money
  gross: MicroUsdc
  fee: MicroUsdc
  net: MicroUsdc
  filled: MicroUsdc
}): Booking {
  return {
    kind: 'converted',
    reference: fact.paymentId,
    paymentId: fact.paymentId,
    lines: nonZero([
      { account: 'merchant_payable', asset: fact.received.currency, amount: fact.received.minor },
      { account: 'conversion', asset: fact.received.currency, amount: negative(fact.received.minor) },
      { account: 'conversion', asset: 'USDC', amount: fact.filled },
      { account: 'merchant_payable', asset: 'USDC', amount: negative(fact.net) },
      { account: 'fee_revenue', asset: 'USDC', amount: negative(fact.fee) },
      { account: 'exchange', asset: 'USDC', amount: subtract(fact.gross, fact.filled) },
    ]),
  }
}

/** What the converter filled. `order` counts the orders of the payment from 1: each is filled once at most. */
type FillFact = { readonly paymentId: string; readonly order: number; readonly micro: MicroUsdc }

const fillReference = ({ paymentId, order }: FillFact): string => `${paymentId}${nth(order)}`

/** The converter filled the order too far off the locked rate. It owes us the USDC; whose it is, an operator decides. */
export function fillSuspended(fact: FillFact): Booking {
  return usdcLines('fill_suspended', { ...fact, reference: fillReference(fact) }, ['conversion', 'suspense'])
}

/** The payment takes the fill that was set aside: `converted` then books it as if it had just come. */
export function fillUsed(fact: FillFact): Booking {
  return usdcLines('fill_used', { ...fact, reference: fillReference(fact) }, ['suspense', 'conversion'])
}

/** The payment ended without taking the fill that was set aside: the USDC is ours. */
export function fillKept(fact: FillFact): Booking {
  return usdcLines('fill_kept', { ...fact, reference: fillReference(fact) }, ['suspense', 'exchange'])
}

/**
 * The payout is void and the buyer's money is not ours any more: the USDC that was bought for it is. `lost`: the fiat
 * money that was written off when the partner took it back; what it was sold for makes up for it.
 */
export function payoutUnwound(fact: { paymentId: string; usdc: Usdc; lost: Money | null }): Booking {
  const { gross, fee, net } = fact.usdc
  const lost = fact.lost === null ? [] : [fact.lost]
  return {
    kind: 'payout_unwound',
    reference: fact.paymentId,
    paymentId: fact.paymentId,
    lines: nonZero([
      ...lost.flatMap(({ minor, currency }): Line[] => [
        { account: 'conversion', asset: currency, amount: minor },
        { account: 'chargeback_loss', asset: currency, amount: negative(minor) },
      ]),
      { account: 'merchant_payable', asset: 'USDC', amount: net },
      { account: 'fee_revenue', asset: 'USDC', amount: fee },
      { account: 'exchange', asset: 'USDC', amount: negative(gross) },
    ]),
  }
}

/** The payout is final on chain. */
export function settled(fact: { paymentId: string; net: MicroUsdc }): Booking {
  return {
    kind: 'settled',
    reference: fact.paymentId,
    paymentId: fact.paymentId,
    lines: [
      { account: 'merchant_payable', asset: 'USDC', amount: fact.net },
      { account: 'treasury', asset: 'USDC', amount: negative(fact.net) },
    ],
  }
}

/** USDC arrived in the treasury: the converter delivered. */
export function toppedUp(fact: { reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('topped_up', { ...fact, paymentId: null }, ['treasury', 'conversion'])
}

/** USDC left the treasury without a payout of ours: an operator finds out why, until then it is in `suspense`. */
export function withdrawn(fact: { reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('withdrawn', { ...fact, paymentId: null }, ['suspense', 'treasury'])
}

/**
 * An operator has found out why it left: it was ours to spend. Where it was a refund by hand, the return of the money leaves
 * as much in `exchange`.
 */
export function acknowledged(fact: { reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('acknowledged', { ...fact, paymentId: null }, ['exchange', 'suspense'])
}

/** A transfer that was booked as nobody's turns out to be a payout: it leaves that account, and `settled` books it. */
export function claimed(fact: { reference: string; micro: MicroUsdc; from: 'suspense' | 'exchange' }): Booking {
  return usdcLines('claimed', { ...fact, paymentId: null }, ['treasury', fact.from])
}

/** USDC is final at the address of a payment. Until the payment takes it, it belongs to nobody: `suspense`. */
export function deposited(fact: { paymentId: string; reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('deposited', fact, ['deposits', 'suspense'])
}

/**
 * The payment takes what was counted at its address: it owes the merchant `net` for it. No fiat money is in these books;
 * what came beyond the locked rate's `gross` is rounding, and ours.
 */
export function depositUsed(fact: { paymentId: string; usdc: Usdc; counted: MicroUsdc }): Booking {
  const { gross, fee, net } = fact.usdc
  return {
    kind: 'deposit_used',
    reference: fact.paymentId,
    paymentId: fact.paymentId,
    lines: nonZero([
      { account: 'suspense', asset: 'USDC', amount: fact.counted },
      { account: 'merchant_payable', asset: 'USDC', amount: negative(net) },
      { account: 'fee_revenue', asset: 'USDC', amount: negative(fee) },
      { account: 'exchange', asset: 'USDC', amount: subtract(gross, fact.counted) },
    ]),
  }
}

/** What came to the address of a payment is in the treasury. */
export function swept(fact: { paymentId: string; reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('swept', fact, ['treasury', 'deposits'])
}

function usdcLines(
  kind: Booking['kind'],
  fact: { paymentId: string | null; reference: string; micro: MicroUsdc },
  [debit, credit]: [Account, Account],
): Booking {
  return {
    kind,
    reference: fact.reference,
    paymentId: fact.paymentId,
    lines: nonZero([
      { account: debit, asset: 'USDC', amount: fact.micro },
      { account: credit, asset: 'USDC', amount: negative(fact.micro) },
    ]),
  }
}

/** Gas of one transaction of a relayer lane, in wei of the chain's coin. */
export function gasSpent(fact: { reference: string; wei: string }): Booking {
  return {
    kind: 'gas',
    reference: fact.reference,
    paymentId: null,
    lines: [
      { account: 'gas_expense', asset: 'POL', amount: fact.wei },
      { account: 'gas_float', asset: 'POL', amount: negative(fact.wei) },
    ],
  }
}

/** The lines of a booking, summed per asset; all zero, or the booking is wrong. */
export function imbalances(booking: Booking): Record<Asset, string> {
  const totals: Record<Asset, bigint> = {}
  for (const line of booking.lines) totals[line.asset] = (totals[line.asset] ?? 0n) + BigInt(line.amount)
  return Object.fromEntries(
    Object.entries(totals)
      .filter(([, total]) => total !== 0n)
      .map(([asset, total]) => [asset, total.toString()]),
  )
}
