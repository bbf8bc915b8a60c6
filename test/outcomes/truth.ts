import type { Money } from '../../src/domain/money.ts'
import type { Attempt, PaymentWithAttempts } from '../../src/domain/payment/payment-object.ts'
import type { ReadPage } from './page.ts'

/**
 * Rules for every page of a payment, whatever its story: each rule reads the rows and the page, and none of the page's
 * own input. All of it is English as the buyer reads it.
 */
export type Seen = { readonly row: PaymentWithAttempts; readonly page: ReadPage }

const OPEN = ['created', 'pending']
/** Orders whose money cannot come any more, or has come. */
const OVER = ['declined', 'canceled', 'expired', 'refunded', 'paid']
const COMING = ['confirming', 'on_hold', 'paid']

const NOT_CHARGED = /Nothing was charged|Not charged|None of your money was kept/
const PAID = /You paid|\bPaid\b[.,:]|has your payment/
const DO_NOT_PAY = /don’t pay again|do not pay again/i
const NEW_LINK = /ask .{1,40} for a new payment link/
const STILL_COUNTS = /A payment that arrives late still counts/
const STILL_SAFE = /Money that still arrives is safe/
const ENDED: Readonly<Record<string, RegExp>> = {
  expired: /expired/i,
  canceled: /cancel+ed/i,
  refunded: /returned/i,
}

type Facts = {
  readonly status: string
  readonly isOpen: boolean
  /**
   * In minor units of the requested amount: the money at the platform or the partner, and the part that does not belong
   * to the payment.
   */
  readonly held: bigint
  readonly surplus: bigint
  /** True if some money went back to the buyer. */
  readonly returned: boolean
  /** True if an address of the platform is open, at which a transfer is visible before its payment has it. */
  readonly isAddressOpen: boolean
  /** True if an order can still be paid, and its money has not come. */
  readonly mayCome: boolean
  /** True if the partner has money, or reports that it is coming: the buyer must not be asked for more. */
  readonly isComing: boolean
  readonly charged: Money | null
}

/** The money of an order that the buyer has not got back, in minor units of the requested amount. */
export function freeMinor({ asked, askedMicro, held, outside, provider }: Attempt): bigint {
  const free = BigInt(held) - BigInt(outside)
  if (provider !== 'crypto') return free
  return askedMicro === null ? 0n : (BigInt(asked.minor) * free) / BigInt(askedMicro)
}

const addHeld = (attempts: readonly Attempt[]): bigint =>
  attempts.reduce((total, attempt) => total + freeMinor(attempt), 0n)

export function getFacts({ payment, attempts }: PaymentWithAttempts): Facts {
  return {
    status: payment.status,
    isOpen: OPEN.includes(payment.status),
    held: addHeld(attempts),
    surplus: addHeld(attempts) - BigInt(payment.confirmed?.minor ?? 0),
    returned: attempts.some(({ returned }) => returned),
    isAddressOpen: attempts.some(({ provider, status }) => provider === 'crypto' && status === 'open'),
    mayCome: attempts.some(({ status }) => !OVER.includes(status)),
    isComing: attempts.some(({ status }) => COMING.includes(status)),
    charged: payment.confirmed,
  }
}

type Rule = {
  readonly says: string
  readonly isBroken: (page: ReadPage, facts: Facts, row: PaymentWithAttempts) => boolean
}

const RULES: readonly Rule[] = [
  { says: 'one filled button at most', isBroken: ({ filled }) => filled.length > 1 },
  {
    says: 'no way to pay where the payment is not open, or its money is coming',
    isBroken: ({ asksToPay }, { isOpen, isComing }) => asksToPay && (!isOpen || isComing),
  },
  {
    says: 'no filled button while the buyer waits for us',
    isBroken: ({ filled }, { status }) =>
      filled.length > 0 && ['processing', 'settling', 'under_review'].includes(status),
  },
  {
    says: 'an end leads back to the merchant, and nowhere else',
    isBroken: ({ filled }, { status }) =>
      ['succeeded', 'expired', 'canceled', 'failed', 'refunded'].includes(status) &&
      filled.some((words) => !words.startsWith('Back to')),
  },
  {
    says: '"nothing was charged" only where no money is, and none can come',
    isBroken: ({ text }, { held, mayCome, returned }) => NOT_CHARGED.test(text) && (held > 0n || mayCome || returned),
  },
  {
    says: '"paid" only of money that counts',
    isBroken: ({ title, label, heading }, { status, charged }) =>
      PAID.test(`${title} ${label}: ${heading}`) && charged === null && status !== 'succeeded',
  },
  {
    says: 'the title says "paid" of what has arrived at the merchant, and of nothing else',
    isBroken: ({ title }, { status }) => title.startsWith('Paid') !== (status === 'succeeded'),
  },
  {
    says: 'the title asks to pay only where one can',
    isBroken: ({ title }, { isOpen, isComing }) => title.startsWith('Pay ') && (!isOpen || isComing),
  },
  {
    says: 'the amount is what was charged, and the price before',
    isBroken: ({ sum }, { charged }, { payment }) => sum !== formatTruthAmount(charged ?? payment.amount),
  },
  {
    says: '"you pay" only where one can, "you paid" once it counts, "not charged" only where nothing is or comes',
    isBroken: ({ label }, facts) => !listLabels(facts).includes(label),
  },
  {
    says: '"do not pay again" without a way to pay, and no "ask for a new link"',
    isBroken: ({ text, asksToPay, page }) =>
      DO_NOT_PAY.test(text) && ((asksToPay && page !== 'returning') || NEW_LINK.test(text)),
  },
  {
    says: '"ask for a new link" only where the money of this one is not there and cannot come',
    isBroken: ({ text }, { held, mayCome }) => NEW_LINK.test(text) && (held > 0n || mayCome),
  },
  {
    says: '"late money counts" only where some can arrive that the merchant gets without an operator',
    isBroken: ({ text }, { mayCome, status }, { payment }) =>
      STILL_COUNTS.test(text) && (!mayCome || payment.listenEnded || status === 'failed'),
  },
  {
    says: '"late money is safe" only where some can come, and a person decides about it',
    isBroken: ({ text }, { mayCome, status }, { payment }) =>
      STILL_SAFE.test(text) && (!mayCome || !(payment.listenEnded || status === 'failed')),
  },
  {
    says: 'an end is named where it is one, and nowhere else',
    isBroken: ({ title, heading }, { status }) =>
      Object.entries(ENDED).some(([end, words]) => words.test(`${title} ${heading}`) !== (status === end)),
  },
  {
    says: 'a live page follows; one that has ended follows while money may come',
    isBroken: ({ follows }, { status, isOpen, mayCome }) =>
      !follows && (isOpen || mayCome || ['processing', 'settling', 'under_review'].includes(status)),
  },
  {
    says: 'money that is held in addition to the payment is named',
    isBroken: ({ text }, { status, surplus }) => status === 'succeeded' && surplus > 0n && !/hold/i.test(text),
  },
  {
    says: 'each amount on the page is one of the payment’s own',
    isBroken: ({ text }, facts, row) => !facts.isOpen && strangeAmounts(text, row).length > 0,
  },
  {
    says: 'the page is of the state that the rows have',
    isBroken: ({ stamp }, _facts, { payment, attempts }) =>
      stamp !==
      [payment.version, attempts.length, attempts.at(-1)?.status].filter((part) => part !== undefined).join('-'),
  },
]

/** The rules that the page breaks, in words. */
export function untruths({ page, row }: Seen): string[] {
  const facts = getFacts(row)
  return RULES.filter(({ isBroken }) => isBroken(page, facts, row)).map(({ says }) => says)
}

/** Two decimals, as all currencies of these stories have. */
export function formatTruthAmount({ minor, currency }: Money): string {
  return `${minor.slice(0, -2)}.${minor.slice(-2)} ${currency}`
}

function listLabels({ status, isOpen, isAddressOpen, held, returned, mayCome, charged }: Facts): string[] {
  if (status === 'refunded') return [charged === null ? 'Price' : 'Returned']
  if (charged !== null || status === 'succeeded') return ['You paid']
  if (isOpen && held > 0n) return ['Price']
  if (isOpen && isAddressOpen) return ['You pay', 'Price']
  if (isOpen || status === 'processing') return ['You pay']
  if (status === 'under_review') return ['Price']
  return held > 0n || mayCome || returned ? ['Price'] : ['Not charged']
}

/** Amounts of fiat money that are neither the price nor a received sum, nor a difference of the two. */
function strangeAmounts(text: string, { payment, attempts }: PaymentWithAttempts): string[] {
  const asked = [payment.amount, ...attempts.map((attempt) => attempt.asked)].map(({ minor }) => BigInt(minor))
  const came = [...attempts.map(freeMinor), addHeld(attempts)]
  const charged = payment.confirmed === null ? [] : [BigInt(payment.confirmed.minor)]
  const own = new Set([...asked, ...came, ...charged])
  for (const a of asked) for (const b of [...came, ...charged]) own.add(a > b ? a - b : b - a)
  return [...text.matchAll(/[€₹$](\d[\d,]*\.\d\d)/g)]
    .map(([, digits = '']) => digits)
    .filter((digits) => !own.has(BigInt(digits.replace(/[.,]/g, ''))))
}
