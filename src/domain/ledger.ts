import { isZero, type MicroUsdc, type Money, subtract } from './money.ts'

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
    | 'settled'
    | 'topped_up'
    | 'withdrawn'
    | 'deposited'
    | 'deposit_used'
    | 'swept'
    | 'gas'
    | 'chargeback'
  /** With the kind, the identity of the fact: booking it twice is refused. */
  readonly reference: string
  readonly paymentId: string | null
  readonly lines: readonly Line[]
}

const negative = (amount: string): string => subtract('0', amount)
const nonZero = (lines: Line[]): Line[] => lines.filter((line) => !isZero(line.amount))

/** The partner confirmed the buyer's money: it owes us, and we owe the merchant. */
export function fiatConfirmed(fact: { paymentId: string; attemptId: string; received: Money }): Booking {
  return twoLines('fiat_confirmed', fact, ['partner_receivable', 'merchant_payable'])
}

/** Money that belongs to no open payment: the second payment, or one that came too late. */
export function fiatSuspended(fact: { paymentId: string; attemptId: string; received: Money }): Booking {
  return twoLines('fiat_suspended', fact, ['partner_receivable', 'suspense'])
}

/** The partner took the money back, or we refunded it, before it was converted. */
export function fiatGivenBack(fact: {
  paymentId: string
  attemptId: string
  received: Money
  from: 'merchant_payable' | 'suspense'
}): Booking {
  return twoLines('fiat_given_back', fact, [fact.from, 'partner_receivable'])
}

/** The partner took money back after it had been converted: the loss is ours. */
export function chargeback(fact: { paymentId: string; attemptId: string; received: Money }): Booking {
  return twoLines('chargeback', fact, ['chargeback_loss', 'partner_receivable'])
}

function twoLines(
  kind: Booking['kind'],
  fact: { paymentId: string; attemptId: string; received: Money },
  [debit, credit]: [Account, Account],
): Booking {
  const { minor, currency } = fact.received
  return {
    kind,
    reference: fact.attemptId,
    paymentId: fact.paymentId,
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

/** The converter filled the order too far off the locked rate. It owes us the USDC; whose it is, an operator decides. */
export function fillSuspended(fact: { paymentId: string; micro: MicroUsdc }): Booking {
  return usdcLines('fill_suspended', { ...fact, reference: fact.paymentId }, ['conversion', 'suspense'])
}

/** The payment takes the fill that was set aside: `converted` then books it as if it had just come. */
export function fillUsed(fact: { paymentId: string; micro: MicroUsdc }): Booking {
  return usdcLines('fill_used', { ...fact, reference: fact.paymentId }, ['suspense', 'conversion'])
}

/** The payout was voided and the buyer's money given back: the USDC that was bought for it is ours, in `suspense`. */
export function refundedAfterVoid(fact: {
  paymentId: string
  attemptId: string
  received: Money
  gross: MicroUsdc
  fee: MicroUsdc
  net: MicroUsdc
}): Booking {
  const { received } = fact
  return {
    kind: 'fiat_given_back',
    reference: fact.attemptId,
    paymentId: fact.paymentId,
    lines: nonZero([
      { account: 'conversion', asset: received.currency, amount: received.minor },
      { account: 'partner_receivable', asset: received.currency, amount: negative(received.minor) },
      { account: 'merchant_payable', asset: 'USDC', amount: fact.net },
      { account: 'fee_revenue', asset: 'USDC', amount: fact.fee },
      { account: 'suspense', asset: 'USDC', amount: negative(fact.gross) },
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
  return {
    kind: 'topped_up',
    reference: fact.reference,
    paymentId: null,
    lines: [
      { account: 'treasury', asset: 'USDC', amount: fact.micro },
      { account: 'conversion', asset: 'USDC', amount: negative(fact.micro) },
    ],
  }
}

/** USDC left the treasury without a payout of ours: an operator finds out why, until then it is in `suspense`. */
export function withdrawn(fact: { reference: string; micro: MicroUsdc }): Booking {
  return {
    kind: 'withdrawn',
    reference: fact.reference,
    paymentId: null,
    lines: [
      { account: 'suspense', asset: 'USDC', amount: fact.micro },
      { account: 'treasury', asset: 'USDC', amount: negative(fact.micro) },
    ],
  }
}

/** USDC is final at the address of a payment. Until the payment takes it, it belongs to nobody: `suspense`. */
export function deposited(fact: { paymentId: string; reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('deposited', fact, ['deposits', 'suspense'])
}

/** The payment takes what came to its address: it is what a converter would have delivered. */
export function depositUsed(fact: { paymentId: string; micro: MicroUsdc }): Booking {
  return usdcLines('deposit_used', { ...fact, reference: fact.paymentId }, ['suspense', 'conversion'])
}

/** What came to the address of a payment is in the treasury. */
export function swept(fact: { paymentId: string; reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('swept', fact, ['treasury', 'deposits'])
}

function usdcLines(
  kind: Booking['kind'],
  fact: { paymentId: string; reference: string; micro: MicroUsdc },
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
