import { add, isZero, type Money, subtract } from '../../money.ts'

/**
 * Money comes in parts. Each receipt, reversal and return is a fact that never changes; only its owner state does. Every
 * amount of a payment, of an attempt or in the ledger is a sum over parts.
 */

/**
 * Who owns the units of a part. `counted`: the payment. `surplus`: nobody yet, an operator decides. `late`: the same, but
 * the payment had stopped listening. `returning`: they are on their way back to the buyer. `returned`, `reversed`: they
 * came and are gone again, by our decision or by the partner's; all parts in such a state sum to zero, but for what was
 * gone before (`reversal_outside`).
 */
export const PART_STATES = ['counted', 'surplus', 'late', 'returning', 'returned', 'reversed'] as const
export type PartState = (typeof PART_STATES)[number]

export const PART_KINDS = ['receipt', 'reversal', 'return', 'return_outside', 'reversal_outside', 'kept'] as const

export type Part = {
  /** The natural key: the partner's order and the place and sum of its report, or chain, transaction and log. */
  readonly key: string
  readonly attemptId: string
  /**
   * `return_outside`: the buyer was paid from elsewhere; what the partner, or our address, still has of it is ours.
   * `reversal_outside`: the partner took that back, too. It was no owner's any more, so it is taken from none.
   * `kept`: too little to be worth anything to anybody, and ours when the payment is over.
   */
  readonly kind: (typeof PART_KINDS)[number]
  /** A fiat currency, or `USDC`. */
  readonly asset: string
  /** The asset's smallest units: positive for a receipt, negative for a reversal or a return. */
  readonly units: string
  /** The same in minor units of the attempt's currency; equal to `units` where the asset is that currency. */
  readonly chargeMinor: string
  readonly state: PartState
  /** Only while it is `returning`: the state that it has again when the partner refuses. */
  readonly stateBefore?: PartState | null
}

/** A final deposit of USDC, as the chain proves it. */
export type UsdcReceipt = { readonly key: string; readonly micro: string }

/** The states in which units are still with us or with the partner. */
export const STILL_HERE: readonly PartState[] = ['counted', 'surplus', 'late', 'returning']

type Filter = { readonly attemptId?: string | null; readonly states?: readonly PartState[] }

export function partsOf(parts: readonly Part[], { attemptId, states = STILL_HERE }: Filter): Part[] {
  return parts.filter(
    (part) => (attemptId === undefined || part.attemptId === attemptId) && states.includes(part.state),
  )
}

/** Minor units of the attempts' currency: what is there now, in these states. */
export function chargeSum(parts: readonly Part[], filter: Filter): string {
  return chargeSumOf(partsOf(parts, filter))
}

/** Units of the asset itself, of one attempt: its parts have one asset. */
export function unitSum(parts: readonly Part[], filter: Filter): string {
  return partsOf(parts, filter).reduce((sum, { units }) => add(sum, units), '0')
}

/** What the attempt holds of the buyer's money, in its currency. */
export function heldOf(parts: readonly Part[], attemptId: string): string {
  return chargeSum(parts, { attemptId })
}

/** What was returned from elsewhere, and the partner has still: ours, in minor units of the attempt's currency. */
export function returnedOutside(parts: readonly Part[], attemptId: string): string {
  const sumOf = (kind: Part['kind']) =>
    chargeSumOf(parts.filter((part) => part.attemptId === attemptId && part.kind === kind))
  return subtract(sumOf('reversal_outside'), sumOf('return_outside'))
}

const chargeSumOf = (parts: readonly Part[]): string =>
  parts.reduce((sum, { chargeMinor }) => add(sum, chargeMinor), '0')

/** What the partner has received of the attempt and not given back, by our books: what its reports are compared with. */
export function atPartner(parts: readonly Part[], attemptId: string): string {
  return add(heldOf(parts, attemptId), returnedOutside(parts, attemptId))
}

/** Attempts with units in one of these states, in the order of their first part. */
export function attemptsWith(parts: readonly Part[], states: readonly PartState[]): string[] {
  const ids = [...new Set(parts.map(({ attemptId }) => attemptId))]
  return ids.filter((attemptId) => !isZero(unitSum(parts, { attemptId, states })))
}

/** Parts of the attempt in one of these states get another one. What is on its way back knows the state it had. */
export function restated(
  parts: readonly Part[],
  attemptId: string,
  { from, to }: { readonly from: readonly PartState[]; readonly to: PartState },
): Part[] {
  return parts.map((part) => {
    if (part.attemptId !== attemptId || !from.includes(part.state)) return part
    return { ...part, state: to, stateBefore: to === 'returning' ? part.state : null }
  })
}

/** What was on its way back to the buyer is where it was, part by part. */
export function putBack(parts: readonly Part[], attemptId: string): Part[] {
  return parts.map((part) => {
    const isBack = part.attemptId === attemptId && part.state === 'returning'
    return isBack ? { ...part, state: part.stateBefore ?? part.state, stateBefore: null } : part
  })
}

/** What is counted of the attempt once a refund is refused, in minor units of its currency. */
export const countedAgain = (parts: readonly Part[], attemptId: string): string =>
  chargeSum(putBack(parts, attemptId), { attemptId, states: ['counted'] })

/** Attempts beside this one whose money is counted. What is less than the smallest unit of the price is not. */
export function countedBeside(parts: readonly Part[], attemptId: string): string[] {
  return attemptsWith(parts, ['counted']).filter(
    (id) => id !== attemptId && !isZero(chargeSum(parts, { attemptId: id, states: ['counted'] })),
  )
}

export type Owner = Pick<Part, 'state' | 'stateBefore'>

/** What a partner's cumulative report says beyond the parts that are known: one receipt. */
export function fiatReceipt(
  parts: readonly Part[],
  attemptId: string,
  report: { readonly total: Money; readonly owner: Owner },
): Part {
  const units = subtract(report.total.minor, atPartner(parts, attemptId))
  return {
    key: reportKey(parts, attemptId, report.total.minor),
    attemptId,
    kind: 'receipt',
    asset: report.total.currency,
    units,
    chargeMinor: units,
    ...report.owner,
  }
}

/** Deposits that are not among the parts yet. `toCharge` gives the sum of the deposits in the attempt's currency. */
export function usdcReceipts(
  parts: readonly Part[],
  attemptId: string,
  news: {
    readonly receipts: readonly UsdcReceipt[]
    readonly toCharge: (micro: string) => string
    readonly state: PartState
  },
): Part[] {
  const known = new Set(parts.map(({ key }) => key))
  let micro = unitSum(parts, { attemptId, states: PART_STATES })
  return news.receipts
    .filter((receipt) => !known.has(receipt.key) && !isZero(receipt.micro))
    .map((receipt): Part => {
      const before = news.toCharge(micro)
      micro = add(micro, receipt.micro)
      return {
        key: receipt.key,
        attemptId,
        kind: 'receipt',
        asset: 'USDC',
        units: receipt.micro,
        // The difference of two floored sums, so that the parts sum to what the whole is worth.
        chargeMinor: subtract(news.toCharge(micro), before),
        state: news.state,
      }
    })
}

/** The fact that takes all units of the attempt in these states away; none if there is nothing. */
export function takeAll(
  parts: readonly Part[],
  attemptId: string,
  taking: { readonly kind: 'reversal' | 'return' | 'return_outside'; readonly states?: readonly PartState[] },
): Part[] {
  const there = partsOf(parts, { attemptId, ...(taking.states === undefined ? {} : { states: taking.states }) })
  const [first] = there
  const units = there.reduce((sum, part) => add(sum, part.units), '0')
  if (first === undefined || isZero(units)) return []
  return [
    {
      key: `${attemptId}:${taking.kind}:${parts.length}`,
      attemptId,
      kind: taking.kind,
      asset: first.asset,
      units: subtract('0', units),
      chargeMinor: subtract('0', chargeSumOf(there)),
      state: taking.kind === 'reversal' ? 'reversed' : 'returned',
    },
  ]
}

/**
 * The partner holds less than it did: what is missing is taken from the surplus first, then from what is counted. Each
 * fact has the state of what it is taken from, so that the rest of it stays where it is.
 */
export function takeSome(parts: readonly Part[], attemptId: string, missing: string): Part[] {
  const taken: Part[] = []
  let open = BigInt(missing)
  for (const { name, state, before } of TAKEN_IN_ORDER) {
    const there = partsOf(parts, { attemptId }).filter(
      (part) => part.state === state && (part.stateBefore ?? null) === before,
    )
    const first = there[0]
    const units = BigInt(chargeSum(there, {}))
    const some = units < open ? units : open
    if (first === undefined || some <= 0n) continue
    open -= some
    const minus = (-some).toString()
    const key = `${attemptId}:reversal:${parts.length}:${name}`
    taken.push({ ...first, key, kind: 'reversal', units: minus, chargeMinor: minus })
  }
  return taken
}

/** The partner takes back what is ours since the buyer had it from elsewhere: so much of it. */
export function takeOutside(parts: readonly Part[], attemptId: string, minor: string): Part[] {
  const returned = parts.find((part) => part.attemptId === attemptId && part.kind === 'return_outside')
  if (returned === undefined || isZero(minor)) return []
  const minus = subtract('0', minor)
  const key = `${attemptId}:reversal_outside:${parts.length}`
  return [{ ...returned, key, kind: 'reversal_outside', units: minus, chargeMinor: minus, state: 'reversed' }]
}

/** What a partner takes back is taken from these first; what is on its way back keeps the order that it had before. */
const TAKEN_FIRST = ['surplus', 'late', 'counted'] as const
const TAKEN_IN_ORDER = [
  ...TAKEN_FIRST.map((state) => ({ name: state, state, before: null })),
  ...TAKEN_FIRST.map((before) => ({ name: `returning:${before}`, state: 'returning', before })),
]

/**
 * What came of an attempt that the payment did not take, and is less than the smallest unit of the price: nobody can be
 * owed it. With the end of the payment it is ours; each fact leaves nothing counted.
 */
export function takeDust(parts: readonly Part[], paidAttemptId: string | null): Part[] {
  return attemptsWith(parts, ['counted']).flatMap((attemptId): Part[] => {
    const there = partsOf(parts, { attemptId, states: ['counted'] })
    const [first] = there
    if (first === undefined || attemptId === paidAttemptId || !isZero(chargeSum(there, {}))) return []
    const key = `${attemptId}:kept:${parts.length}`
    return [{ ...first, key, kind: 'kept', units: subtract('0', unitSum(there, {})), chargeMinor: '0' }]
  })
}

/** Less than a cent: the unit of many a currency is worth less still. */
const DUST_MICRO = 10_000n

/**
 * What comes when nobody waits for it, and is less than the smallest unit of the price or than 0.01 USDC, is ours at once:
 * anybody can send it to anybody's address for a part of a cent, and no person shall have to look at it.
 */
export function keepDust(parts: readonly Part[], receipts: readonly Part[]): Part[] {
  const [first] = receipts
  const units = receipts.reduce((sum, part) => add(sum, part.units), '0')
  const isLittle = first?.asset === 'USDC' && BigInt(units) < DUST_MICRO
  if (first === undefined || !(isLittle || receipts.every(({ chargeMinor }) => isZero(chargeMinor)))) return []
  const key = `${first.attemptId}:kept:${parts.length + receipts.length}`
  const chargeMinor = subtract('0', chargeSumOf(receipts))
  return [{ ...first, key, kind: 'kept', units: subtract('0', units), chargeMinor }]
}

/** Counted by place, because a sum may come twice: received, taken back, received again. */
function reportKey(parts: readonly Part[], attemptId: string, total: string): string {
  return `${attemptId}:${parts.filter((part) => part.attemptId === attemptId).length}:${total}`
}
