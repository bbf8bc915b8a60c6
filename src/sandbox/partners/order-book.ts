import type { FailureCode } from '../../domain/payment/partner.ts'
import type { SimulatedAction } from '../../domain/simulation.ts'
import { arriving, type Faults } from './faults.ts'
import {
  ACTION_FROM,
  confirming,
  countRefundable,
  declined,
  dueChange,
  isRefundable,
  isSameRequest,
  LATE_FROM,
  type OpenRequest,
  received,
  type SandboxOrder,
  withRefund,
} from './order.ts'
import type { PartnerEntry, PartnerState } from './state.ts'

export type ActRequest = {
  readonly action: SimulatedAction
  /** The amount that arrives, in minor units. Default: the price, or the amount of a fault. */
  readonly receivedMinor?: string | undefined
  /** The buyer who pays. A new buyer must pass the identity check first. */
  readonly buyer?: string | undefined
  /** Seconds for which the payment is confirming. */
  readonly seconds?: number | undefined
  readonly failureCode?: FailureCode | undefined
}

type Opening = { readonly kind: 'opened' | 'declined'; readonly order: SandboxOrder } | { readonly kind: 'conflict' }
type ActResult =
  | { readonly kind: 'done'; readonly order: SandboxOrder }
  | { readonly kind: 'refused'; readonly order: SandboxOrder }
export type RefundRequest = { readonly key: string; readonly minor?: string | undefined }
type Refund = { readonly kind: 'done' | 'pending' } | { readonly kind: 'refused'; readonly reason: string }

/** The orders of one simulated partner. Every change is on disk before it is answered. */
export type OrderBook = {
  open(request: OpenRequest): Promise<Opening>
  find(attemptId: string): Promise<SandboxOrder | null>
  findByReference(reference: string): Promise<SandboxOrder | null>
  cancel(attemptId: string): Promise<SandboxOrder | null>
  /** `minor`: absent for all that is left. */
  refund(attemptId: string, request: RefundRequest): Promise<Refund | null>
  /** Null: there is no such order, or `change` refuses. */
  update(attemptId: string, change: (order: SandboxOrder) => SandboxOrder | null): Promise<SandboxOrder | null>
  act(attemptId: string, request: ActRequest): Promise<ActResult | null>
  /** Applies what time has changed to every order. */
  sweep(): Promise<void>
  list(): Promise<SandboxOrder[]>
}

export type BookDeps = {
  readonly state: PartnerState
  readonly append: (...entries: PartnerEntry[]) => Promise<void>
  readonly settled: () => Promise<void>
  readonly faults: Faults
  readonly clock: () => number
  readonly newReference: () => string
  readonly callbacksFor: (order: SandboxOrder) => PartnerEntry[]
}

/** Percent of the price that arrives if the fault names none. */
const UNDERPAID_PERCENT = 50
const OVERPAID_PERCENT = 150
const DELAY_SECONDS = 60
/** Number of calls about an order that fail while its partner is down. */
const DOWN_TIMES = 5

export function createOrderBook(deps: BookDeps): OrderBook {
  const { state, clock } = deps

  async function change(order: SandboxOrder, ...more: PartnerEntry[]): Promise<SandboxOrder> {
    await deps.append({ kind: 'order', order }, ...more, ...deps.callbacksFor(order))
    return order
  }

  /** Returns the order, after applying what time has changed since the last read. */
  async function current(attemptId: string | undefined): Promise<SandboxOrder | null> {
    const order = attemptId === undefined ? undefined : state.orders.get(attemptId)
    if (order === undefined) return null
    const due = dueChange(order, clock())
    if (due !== null) return change(due)
    await deps.settled()
    return state.orders.get(order.attemptId) ?? null
  }

  return {
    open: async (request) => open(deps, request, await current(request.attemptId)),
    find: current,
    findByReference: (reference) => current(state.attemptIds.get(reference)),
    async cancel(attemptId) {
      const order = await current(attemptId)
      if (order === null || !ACTION_FROM.cancel.includes(order.status)) return order
      return change({ ...order, status: 'canceled', expectedMinor: null })
    },
    async refund(attemptId, request) {
      const order = await current(attemptId)
      return order === null ? null : refund(deps, { order, ...request, change })
    },
    async update(attemptId, make) {
      const order = await current(attemptId)
      const made = order && make(order)
      return made && change(made)
    },
    async act(attemptId, request) {
      const order = await current(attemptId)
      if (order === null) return null
      const isLate =
        request.action === 'pay' &&
        LATE_FROM.includes(order.status) &&
        deps.faults.take('late_money', attemptId) !== null
      if (!isLate && !ACTION_FROM[request.action].includes(order.status)) return { kind: 'refused', order }
      if (request.action === 'partner_down') {
        await deps.faults.set({ fault: 'server_error', attemptId, times: DOWN_TIMES })
        return { kind: 'done', order }
      }
      const next = apply(deps, { order, request, isLate })
      const isVerified = request.action === 'verify' && order.buyer !== null
      await change(next, ...(isVerified ? [{ kind: 'buyer' as const, buyer: order.buyer ?? '' }] : []))
      if (next.status === 'paid' && deps.faults.take('pay_twice', attemptId) !== null)
        for (const other of payableTwins(state, next)) await change(received(other, 'paid', other.minor))
      return { kind: 'done', order: next }
    },
    async sweep() {
      const due = [...state.live].map((attemptId) => state.orders.get(attemptId)).flatMap((order) => order ?? [])
      for (const order of due) {
        const changed = dueChange(order, clock())
        if (changed !== null) await change(changed)
      }
    },
    async list() {
      await deps.settled()
      return [...state.orders.values()]
    },
  }
}

const withDisputeWon = (order: SandboxOrder): SandboxOrder =>
  order.dispute === null ? order : { ...order, dispute: { ...order.dispute, status: 'won' } }

const NEW_DISPUTE = { status: 'needs_response', answer: null, submissions: 0, evidence: [] as string[] } as const

/** A repeated opening returns the order of the first one. */
async function open(deps: BookDeps, request: OpenRequest, existing: SandboxOrder | null): Promise<Opening> {
  if (existing !== null) {
    if (!isSameRequest(existing, request)) return { kind: 'conflict' }
    return { kind: existing.declinedAtOpening ? 'declined' : 'opened', order: existing }
  }
  const decline = deps.faults.take('decline_opening', request.attemptId)
  const order = newOrder(request, { reference: deps.newReference(), now: deps.clock() })
  const opened = decline === null ? order : declined(order, decline.failureCode ?? 'declined')
  await deps.append({ kind: 'order', order: { ...opened, declinedAtOpening: decline !== null } })
  return { kind: decline === null ? 'opened' : 'declined', order: opened }
}

function newOrder(request: OpenRequest, made: { reference: string; now: number }): SandboxOrder {
  return {
    ...request,
    reference: made.reference,
    status: 'open',
    receivedMinor: null,
    failureCode: null,
    declinedAtOpening: false,
    buyer: null,
    expectedMinor: null,
    confirmAt: null,
    refunds: [],
    dispute: null,
    openedAt: made.now,
  }
}

type Acting = { readonly order: SandboxOrder; readonly request: ActRequest; readonly isLate: boolean }

function apply(deps: BookDeps, acting: Acting): SandboxOrder {
  const { order, request } = acting
  const expected = order.expectedMinor ?? order.minor
  switch (request.action) {
    case 'pay':
      return pay(deps, acting)
    case 'under':
      return pay(deps, withAmount(acting, UNDERPAID_PERCENT))
    case 'over':
      return pay(deps, withAmount(acting, OVERPAID_PERCENT))
    case 'late':
      return withDisputeWon(received(order, 'paid', request.receivedMinor ?? order.minor))
    case 'partner_down':
      return order
    case 'verify':
      return completePayment(deps, order, { minor: expected })
    case 'fail_verification':
      return declined(order, 'verification_failed')
    case 'require_verification':
      return { ...order, status: 'verification_required', buyer: request.buyer ?? null }
    case 'decline':
      return declined(order, request.failureCode ?? 'declined')
    case 'top_up':
      return received(order, 'paid', request.receivedMinor ?? order.minor)
    case 'reverse':
      return request.receivedMinor === undefined
        ? { ...declined(order, 'reversed'), dispute: NEW_DISPUTE }
        : received(order, 'paid', request.receivedMinor)
    case 'cancel':
      return { ...order, status: 'canceled', expectedMinor: null }
    case 'expire':
      return { ...order, status: 'expired', expectedMinor: null }
    case 'hold':
      return received(order, 'on_hold', request.receivedMinor ?? expected)
    case 'release':
      return received(order, 'paid', order.receivedMinor ?? order.minor)
    case 'confirm':
      return received(order, 'paid', request.receivedMinor ?? expected)
  }
}

function withAmount(acting: Acting, percent: number): Acting {
  const { order, request } = acting
  return { ...acting, request: { ...request, receivedMinor: arriving(order.minor, {}, percent) } }
}

function pay(deps: BookDeps, { order, request, isLate }: Acting): SandboxOrder {
  const minor = request.receivedMinor ?? arrivingMinor(deps.faults, order)
  const buyer = request.buyer ?? null
  const isUnknown = buyer !== null && !deps.state.buyers.has(buyer)
  const needsCheck = isUnknown || deps.faults.take('identity_check', order.attemptId) !== null
  if (needsCheck && !isLate) return { ...order, status: 'verification_required', buyer, expectedMinor: minor }
  return completePayment(deps, { ...order, buyer }, { minor, seconds: request.seconds })
}

/** Returns the order after the buyer has paid. Faults decide if and when the money arrives. */
function completePayment(
  deps: BookDeps,
  order: SandboxOrder,
  payment: { readonly minor: string; readonly seconds?: number | undefined },
): SandboxOrder {
  const { faults, clock } = deps
  const decline = faults.take('decline', order.attemptId)
  if (decline !== null) return declined(order, decline.failureCode ?? 'declined')
  if (faults.take('hold', order.attemptId) !== null) return received(order, 'on_hold', payment.minor)
  const delay = faults.take('delay', order.attemptId)
  const seconds = payment.seconds ?? (delay === null ? null : (delay.seconds ?? DELAY_SECONDS))
  if (seconds !== null) return confirming(order, payment.minor, clock() + seconds * 1000)
  return received(order, 'paid', payment.minor)
}

function arrivingMinor(faults: Faults, order: SandboxOrder): string {
  const under = faults.take('underpay', order.attemptId)
  if (under !== null) return arriving(order.minor, under, UNDERPAID_PERCENT)
  const over = faults.take('overpay', order.attemptId)
  return over === null ? order.minor : arriving(order.minor, over, OVERPAID_PERCENT)
}

/** Returns other orders of the same checkout that can still be paid, found by their equal return URL. */
function payableTwins(state: PartnerState, order: SandboxOrder): SandboxOrder[] {
  return [...state.orders.values()].filter(
    (other) =>
      other.attemptId !== order.attemptId &&
      other.returnUrl === order.returnUrl &&
      (other.status === 'open' || LATE_FROM.includes(other.status)),
  )
}

type Refunding = RefundRequest & {
  readonly order: SandboxOrder
  readonly change: (order: SandboxOrder) => Promise<SandboxOrder>
}

async function refund(deps: BookDeps, { order, key, minor, change }: Refunding): Promise<Refund> {
  const known = order.refunds.find((one) => one.key === key)
  if (known?.isDone === true) return { kind: 'done' }
  if (known !== undefined) {
    if (deps.faults.take('refund_refused', order.attemptId) === null) return { kind: 'pending' }
    await deps.append({ kind: 'order', order: { ...order, refunds: order.refunds.filter((one) => one !== known) } })
    return { kind: 'refused', reason: 'the balance is too low' }
  }
  const left = countRefundable(order)
  if (order.refunds.length > 0 && left <= 0n) return { kind: 'refused', reason: 'already refunded' }
  if (!isRefundable(order)) return { kind: 'refused', reason: 'nothing was received' }
  if (BigInt(minor ?? left) > left) return { kind: 'refused', reason: 'more than is left' }
  if (deps.faults.take('refund_refused', order.attemptId) !== null)
    return { kind: 'refused', reason: 'the balance is too low' }
  const pending = deps.faults.take('refund_pending', order.attemptId)
  const made = { key, minor: minor ?? left.toString(), doneAt: deps.clock(), isDone: pending === null }
  if (pending === null) {
    await change(withRefund(order, made))
    return { kind: 'done' }
  }
  const doneAt = made.doneAt + (pending.seconds ?? DELAY_SECONDS) * 1000
  await deps.append({ kind: 'order', order: withRefund(order, { ...made, doneAt }) })
  return { kind: 'pending' }
}
