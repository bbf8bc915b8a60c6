import type { ProviderName } from '../../../src/domain/methods.ts'
import { LATE_FROM, type SandboxOrder } from '../../../src/sandbox/partners/order.ts'
import { type Attempt, listAttempts, readOrder } from '../fixture/books.ts'
import { SCOPE } from '../fixture/chain.ts'
import type { TestPayment } from '../fixture/payment.ts'
import type { Arrival, PartnerAct, Step } from './steps.ts'

/** The actions of a partner with its order, or of somebody on the chain, and how readings of them arrive. */

/** `seen`: the version at which the operator last looked. `sold`: the sale of the last step. */
export type Playing = { readonly testPayment: TestPayment; seen: number | null; sold: number | null }

export async function atPartner(playing: Playing, step: Extract<Step, { do: 'partner' }>): Promise<void> {
  const { testPayment } = playing
  const attempt = (await listAttempts(testPayment))[step.of]
  if (attempt === undefined || attempt.provider === 'crypto') return
  const order = await readOrder(testPayment, attempt)
  if (order === null) return
  // The passing of time alone confirmed it.
  if (order.status === 'paid' && !testPayment.came.has(attempt.id)) testPayment.came.set(attempt.id, 1)
  const { book, faults } = testPayment.testServices.sandbox.partners[attempt.provider as ProviderName]
  const getShare = (minor: string) => ((BigInt(minor) * BigInt(step.percent)) / 100n).toString()
  const share = getShare(order.minor)
  const asked = await readAsked(testPayment, attempt)
  const done = step.act === 'fit again' ? fitAgain(order, asked, getShare(asked)) : change(order, step.act, share)
  if (done === 'no') return
  if (done === 'ask') {
    if (step.act === 'pay late') await faults.set({ fault: 'late_money', attemptId: attempt.id, times: 1 })
    const { action, ...more } = ACTIONS[step.act] ?? { action: 'pay' as const }
    const answer = await book.act(attempt.id, {
      action,
      ...more,
      // Cumulative: earlier amounts are included.
      ...(TAKES_AMOUNT.includes(step.act) ? { receivedMinor: addAmounts(order.receivedMinor, share) } : {}),
    })
    if (answer?.kind !== 'done') return
  }
  await remember(testPayment, attempt, asked)
  testPayment.unreported.add(attempt.id)
  await spread(testPayment, attempt, step.arrival)
}

/** Records how often the partner has reported money, and since when it has had the whole price. */
async function remember(
  { timeline, testServices, paidSince, came }: TestPayment,
  attempt: Attempt,
  asked: string,
): Promise<void> {
  const order = await readOrder({ testServices }, attempt)
  const received = BigInt(order?.receivedMinor ?? '0')
  const isWhole = order?.status === 'paid' && order.minor === asked && received >= BigInt(asked)
  if (order?.status === 'paid') came.set(attempt.id, (came.get(attempt.id) ?? 0) + 1)
  if (!isWhole) paidSince.delete(attempt.id)
  else if (!paidSince.has(attempt.id)) paidSince.set(attempt.id, timeline.now())
}

const addAmounts = (before: string | null, share: string): string => (BigInt(before ?? '0') + BigInt(share)).toString()

const TAKES_AMOUNT: readonly PartnerAct[] = ['pay', 'pay slowly', 'confirm', 'hold', 'pay late']
const ACTIONS: Readonly<
  Partial<
    Record<
      PartnerAct,
      {
        action:
          | 'pay'
          | 'require_verification'
          | 'verify'
          | 'fail_verification'
          | 'reverse'
          | 'hold'
          | 'release'
          | 'confirm'
          | 'decline'
          | 'expire'
        seconds?: number
      }
    >
  >
> = {
  pay: { action: 'pay' },
  'pay late': { action: 'pay' },
  'pay slowly': { action: 'pay', seconds: 7200 },
  'ask for a check': { action: 'require_verification' },
  'pass the check': { action: 'verify' },
  'fail the check': { action: 'fail_verification' },
  'take all back': { action: 'reverse' },
  hold: { action: 'hold' },
  release: { action: 'release' },
  confirm: { action: 'confirm' },
  decline: { action: 'decline' },
  expire: { action: 'expire' },
}

async function readAsked({ db }: TestPayment, { id }: Attempt): Promise<string> {
  const { rows } = await db.query('select amount_minor::text as asked from attempt where id = $1', [id])
  return rows[0]?.['asked'] as string
}

/** A change of the amount is undone: the next one has the same words. */
function fitAgain(order: SandboxOrder, asked: string, share: string): 'done' | 'no' {
  if (order.status !== 'paid' || order.minor === asked) return 'no'
  Object.assign(order, { minor: asked, receivedMinor: share })
  return 'done'
}

/** Writes into the simulators' books what they have no action for. */
function change(order: SandboxOrder, act: PartnerAct, share: string): 'done' | 'no' | 'ask' {
  const put = (fields: Partial<SandboxOrder>): 'done' => {
    Object.assign(order, { expectedMinor: null, confirmAt: null, ...fields })
    return 'done'
  }
  const received = BigInt(order.receivedMinor ?? '0')
  const isPaid = order.status === 'paid' && order.receivedMinor !== null
  const isOpen = order.status === 'open' || order.status === 'confirming'
  switch (act) {
    case 'top up':
      return isPaid ? put({ receivedMinor: (received + BigInt(share)).toString() }) : 'no'
    case 'take some back':
      return isPaid && received > BigInt(share) ? put({ receivedMinor: (received - BigInt(share)).toString() }) : 'no'
    case 'send all back':
      return isPaid || order.status === 'confirming' ? put({ status: 'refunded' }) : 'no'
    case 'hold what was paid':
      return isPaid ? put({ status: 'on_hold' }) : 'no'
    case 'cancel with money':
      return isOpen && share !== '0' ? put({ status: 'canceled', receivedMinor: share }) : 'no'
    case 'decline with money':
      return isOpen && share !== '0' ? put({ status: 'declined', receivedMinor: share }) : 'no'
    case 'once more':
      // The money that it had sent back automatically.
      return order.status === 'refunded' && received > 0n && order.refunds.length === 0 ? put({ status: 'paid' }) : 'no'
    case 'confirm without end':
      return order.status === 'open' ? put({ status: 'confirming' }) : 'no'
    case 'pay without an amount':
      return isOpen ? put({ status: 'paid', receivedMinor: null }) : 'no'
    case 'change the amount':
      // Once it is paid: more, less, or as much money as before.
      return isOpen || isPaid || LATE_FROM.includes(order.status)
        ? put({ status: 'paid', minor: `${order.minor}0`, receivedMinor: share, failureCode: null })
        : 'no'
    default:
      return 'ask'
  }
}

export async function spread(testPayment: TestPayment, attempt: Attempt, arrival: Arrival): Promise<void> {
  if (arrival === 'later') return
  testPayment.unreported.delete(attempt.id)
  await testPayment.storeCallback(attempt.provider, attempt.id)
  if (arrival === 'signaled' || arrival === 'twice') testPayment.signalCallback(attempt.id)
  if (arrival === 'twice') testPayment.signalCallback(attempt.id)
}

let deposits = 0

export async function deposit(testPayment: TestPayment, step: Extract<Step, { do: 'deposit' }>): Promise<void> {
  const { db, system, paymentId, timeline } = testPayment
  const { rows } = await db.query(
    'select address, attempt_id, asked_micro::text, token from deposit where payment_id = $1 and attempt_id is not null',
    [paymentId],
  )
  const row = rows[0] as
    | { address: `0x${string}`; attempt_id: string; asked_micro: string; token: `0x${string}` }
    | undefined
  if (row === undefined) return
  const log = {
    address: row.address,
    token: step.token === 'usdc' ? row.token : (`0x${'9'.repeat(40)}` as const),
    sender: `0x${'8'.repeat(40)}` as const,
    units: ((BigInt(row.asked_micro) * BigInt(step.percent)) / 100n).toString(),
    txHash: `0x${(++deposits).toString(16).padStart(24, '0')}${Date.now().toString(16).padStart(40, '0')}` as const,
    logIndex: 1,
    blockNumber: 1,
    blockHash: `0x${'4'.repeat(64)}` as const,
  }
  const hooks = system.createSettlementHooks({ publicUrl: 'http://127.0.0.1:9', now: timeline.now })
  await db.transaction(async (tx) => {
    const context = { db, scope: SCOPE, hooks }
    await system.insertDeposits(tx, context, {
      logs: [log],
      blockTimes: new Map([[log.blockHash, new Date(timeline.now())]]),
    })
    await tx.query('update deposit_log set applied_at = now() where tx_hash = $1', [log.txHash])
    const owner = { attemptId: row.attempt_id }
    await hooks.onDeposit(tx, { ...log, paymentId, owner, expected: step.token === 'usdc' })
  })
  testPayment.repeatCallbacks()
}
