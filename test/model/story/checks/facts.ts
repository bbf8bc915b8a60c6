import type { Attempt, PaymentWithAttempts } from '../../../../src/domain/payment/payment-object.ts'
import type { Refund } from '../../../../src/domain/refund/refund.ts'
import type { SandboxOrder } from '../../../../src/sandbox/partners/order.ts'
import { heldBy, listAttempts, listUnread, readDeposits, readOrder } from '../../fixture/books.ts'
import type { TestPayment } from '../../fixture/payment.ts'

/** The facts of a story, each read from the party that owns it. */

/** An attempt as the row has it, and as its partner, or the chain, has it. */
export type Order = {
  readonly attempt: Attempt
  /** Null: the partner does not know it, or it is an address of the platform. */
  readonly order: SandboxOrder | null
  /** The buyer's money that is there, by the party that has it; null: the party does not report it. */
  readonly there: bigint | null
}

/** A refund as the row has it, with its USDC by the chain, and the refund as its partner has it. */
export type RefundFact = {
  readonly refund: Refund
  /** Micro-USDC of recorded transfers. */
  readonly received: bigint
  readonly taken: bigint
  readonly back: bigint
  /** Null: the partner has none with its key. */
  readonly made: SandboxOrder['refunds'][number] | null
}

export type Facts = {
  readonly testPayment: TestPayment
  readonly row: PaymentWithAttempts
  readonly orders: readonly Order[]
  readonly refunds: readonly RefundFact[]
  /** The attempts with readings that are not applied yet. */
  readonly unread: ReadonlySet<string>
  readonly ledger: ReadonlyMap<string, bigint>
  readonly payout: { readonly state: string; readonly micro_usdc: string } | null
  /** Micro-USDC that the chain has paid out. */
  readonly paidOut: string | null
  /** The rows of the attention list. */
  readonly listed: readonly {
    readonly kind: string
    readonly detail: string | null
    readonly attempt_id: string | null
  }[]
  /** The last time of every kind of entry, and of every sentence: Unix milliseconds. */
  readonly notes: ReadonlyMap<string, number>
}

export async function readFacts(testPayment: TestPayment): Promise<Facts> {
  const { db, system, paymentId } = testPayment
  const row = await system.loadPayment(db, paymentId)
  const orders = await readOrders(testPayment, row)
  const rows = async (statement: string) => (await db.query(statement, [paymentId])).rows
  const ledger = await rows(
    `select account, asset, sum(amount)::text as amount from ledger_entry e join ledger_transaction t on t.id = e.transaction_id
     where t.payment_id = $1 group by 1, 2`,
  )
  const notes = await rows('select kind, message, at from timeline_entry where payment_id = $1 order by id')
  const payout = await rows('select state, micro_usdc::text from payout where payment_id = $1')
  const listed = await rows('select kind, detail, attempt_id from attention where payment_id = $1')
  return {
    testPayment,
    row,
    orders,
    refunds: await readRefunds(testPayment, orders),
    unread: await listUnread(testPayment),
    notes: new Map(
      notes.flatMap(({ kind, message, at }): [string, number][] => {
        const when = (at as Date).getTime()
        return [
          [kind as string, when],
          [message as string, when],
        ]
      }),
    ),
    ledger: new Map(ledger.map((each) => [`${each['account']} ${each['asset']}`, BigInt(each['amount'] as string)])),
    payout: (payout[0] as Facts['payout'] | undefined) ?? null,
    paidOut: testPayment.engine.paid(),
    listed: listed as Facts['listed'],
  }
}

async function readOrders(testPayment: TestPayment, { attempts }: PaymentWithAttempts): Promise<Order[]> {
  const deposits = await readDeposits(testPayment)
  const orders: Order[] = []
  for (const { id } of await listAttempts(testPayment)) {
    const attempt = attempts.find((one) => one.id === id)
    if (attempt === undefined) continue
    const order = await readOrder(testPayment, attempt)
    const isAddress = attempt.provider === 'crypto' && attempt.status !== 'declined'
    orders.push({ attempt, order, there: isAddress ? deposits : heldBy(order) })
  }
  return orders
}

async function readRefunds(
  { system, db, paymentId, chain }: TestPayment,
  orders: readonly Order[],
): Promise<RefundFact[]> {
  const refunds = await system.readPaymentRefunds(db, paymentId)
  return refunds.map((refund) => {
    const recorded = chain.transfers.filter(({ refundId, recordedAt }) => refundId === refund.id && recordedAt !== null)
    const sum = (which: 'received' | 'taken' | 'back'): bigint =>
      recorded.reduce((total, { kind, micro }) => (kind === which ? total + micro : total), 0n)
    const order = orders.find(({ attempt }) => attempt.id === refund.attemptId)?.order
    const made = order?.refunds.find(({ key }) => key === (refund.partnerKey ?? refund.id)) ?? null
    return { refund, received: sum('received'), taken: sum('taken'), back: sum('back'), made }
  })
}

/** Minor units of paid-out money of the order that refunds, by their rows, have given to the buyer. */
export const getRefundedUnits = ({ refunds }: Pick<Facts, 'refunds'>, { attempt }: Order): bigint =>
  refunds.reduce(
    (total, { refund }) =>
      refund.attemptId === attempt.id && refund.fundFrom === 'wallet' && refund.status === 'succeeded'
        ? total + BigInt(refund.amount.minor)
        : total,
    0n,
  )

/** Sums the micro-USDC of refunds by the chain: at their addresses, in the treasury, the merchants', and spent. */
export function sumRefunds({ refunds }: Pick<Facts, 'refunds'>) {
  let [there, taken, owed, spent] = [0n, 0n, 0n, 0n]
  for (const { refund, ...usdc } of refunds) {
    const required = refund.status === 'succeeded' ? BigInt(refund.requiredMicro) : 0n
    there += usdc.received - usdc.taken - usdc.back
    taken += usdc.taken
    owed += usdc.received - usdc.back - required
    spent += required
  }
  return { there, taken, owed, spent }
}

/** Micro-USDC that the payout lacks for a refund of another payment. */
export const getDeducted = ({ row }: Pick<Facts, 'row'>): bigint => BigInt(row.payment.deduction?.micro ?? '0')

export const balance = ({ ledger }: Facts, account: string, asset: string): bigint =>
  ledger.get(`${account} ${asset}`) ?? 0n
export const getAsset = ({ provider, asked }: Attempt): string => (provider === 'crypto' ? 'USDC' : asked.currency)
export const positive = (units: bigint): bigint => (units > 0n ? units : 0n)
/** The money that the buyer has not got back, by the rows. */
export const getUnreturned = ({ held, outside }: Attempt): bigint => positive(BigInt(held) - BigInt(outside))

/** The money that was sold for the merchant while its payout can still be paid, or is paid. */
export function findSold({ row: { payment, attempts, sales } }: Facts) {
  const sale = payment.payout === 'void' ? undefined : sales.find(({ number }) => number === payment.takenSale)
  const attempt = attempts.find(({ id }) => id === sale?.accountId)
  return sale === undefined || attempt === undefined ? null : { sale, attempt }
}

/** The units that are there, or that were there in the last report that names them. */
export const lastThere = ({ there, attempt }: Order): bigint => there ?? BigInt(attempt.held)

/** True if the timeline has `reported` of the attempt after `done`: at `done` it was not known. Both are SQL. */
export async function isReportedAfter(
  { db, paymentId }: Pick<TestPayment, 'db' | 'paymentId'>,
  attemptId: string,
  { reported, done }: { readonly reported: string; readonly done: string },
): Promise<boolean> {
  const { rows } = await db.query(
    `select max(id) filter (where data ->> 'attempt_id' = $2 and ${reported}) > max(id) filter (where ${done}) as after
     from timeline_entry where payment_id = $1`,
    [paymentId, attemptId],
  )
  return rows[0]?.['after'] === true
}

/** The decisions that were carried out, or whose response was lost with the run. */
export const listDecided = ({ asks }: TestPayment) =>
  asks.filter(({ what, answer }) => SAYS.includes(what) && (answer === null || isNotRefused(answer)))
const isNotRefused = (answer: string): boolean => answer.startsWith('{') || answer.includes('ended before it answered')
export const SAYS: readonly string[] = ['settle', 'give_back', 'write_off', 'hold', 'release']
