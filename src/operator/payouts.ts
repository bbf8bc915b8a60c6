import type { OperatorConfig } from '../config/config.ts'
import type { Db, Tx } from '../db/db.ts'
import { recordAction, type Signed } from '../db/operator/actions.ts'
import { loadPayment } from '../db/payments/payments.ts'
import { acceptDifference } from '../db/reserves/releases.ts'
import { acknowledgeMissing, bookMovement, storeDifference } from '../db/settlement/balance.ts'
import { doOrTry, lockPaymentsFirst, type SettlementHooks } from '../db/settlement/context.ts'
import { readCursor } from '../db/settlement/cursor.ts'
import { abandonLane, acknowledgeTransfers, listUnclaimed, releaseLane } from '../db/settlement/operator.ts'
import {
  type PayoutView,
  readMerchant,
  readPayout,
  requestVoid,
  resumePayout,
  stopPayout,
} from '../db/settlement/payouts.ts'
import type { Hex } from '../domain/hex.ts'
import { isId } from '../domain/ids.ts'
import { formatUsdc } from '../domain/money.ts'
import { plural } from '../domain/plural.ts'
import { createNote } from '../domain/timeline.ts'
import { type Change, type ChangeContext, changeLockedPayment } from '../payments/change-payment.ts'
import { holdBackAgain } from '../settlement/release-round.ts'
import { Refusal } from './call.ts'

export type Operation = {
  readonly db: Db
  readonly settings: OperatorConfig
  readonly hooks: SettlementHooks
  readonly dryRun: boolean
  readonly say: (line: string) => void
  readonly give?: ((name: string, value: unknown) => void) | undefined
}

/** The transaction of the operation stores the operator and the reason. */
export type Act = Operation & { readonly signed: Signed }

export type ActName =
  | 'void'
  | 'stop'
  | 'resume'
  | 'acknowledge'
  | 'reopen'
  | 'abandon_lane'
  | 'take_over'
  | 'refill'
  | 'end_refill'
  | 'accept_rate'

/** `merchantId`: the owner of the payout. Null for a lane, a treasury or a transfer. */
export function recordAct(
  tx: Tx,
  { signed }: Act,
  { name, subject, merchantId = null }: { name: ActName; subject: string; merchantId?: string | null },
): Promise<void> {
  const action = { ...signed, kind: `settlement.${name}`, data: { subject } }
  return recordAction(tx, { merchantId, livemode: tx.livemode }, action)
}

const toScope = ({ CHAIN_ID, USDC_ADDRESS }: OperatorConfig) => ({ chainId: CHAIN_ID, token: USDC_ADDRESS })

const describe = (payout: PayoutView): string =>
  `${payout.ownerId}: ${stateText(payout.state, payout.stopReason)}, ` +
  `${payout.microUsdc} micro-USDC to ${payout.recipient}${payout.txHash === null ? '' : `, ${payout.txHash}`}`

export function stateText(state: string, reason: string | null): string {
  return reason === null ? state : `${state}(${reason})`
}

export type PayoutChange = Extract<ActName, 'void' | 'stop' | 'resume'>

/** False if the state of the payout forbids the change. */
async function carryOut(
  tx: Tx,
  { hooks, settings }: Act,
  { name, ownerId }: { name: PayoutChange; ownerId: string },
): Promise<boolean> {
  const isReserve = isId('reserveRelease', ownerId)
  if (name === 'void') {
    if (isReserve) return requestVoid(tx, ownerId)
    return voidPayout(tx, { publicUrl: settings.PUBLIC_URL, now: Date.now }, ownerId)
  }
  if (name === 'resume') {
    const context = { publicUrl: settings.PUBLIC_URL, now: Date.now }
    if (isReserve && (await holdBackAgain(tx, context, ownerId))) return true
    if (!isReserve) await refuseStopped(tx, ownerId)
    if (!(await resumePayout(tx, ownerId))) return false
    await hooks.onResumed(tx, { ownerId })
    return true
  }
  const detail = 'stopped by an operator at the command line'
  if (!(await stopPayout(tx, ownerId, detail))) return false
  await hooks.onStopped(tx, { ownerId, reason: 'operator', detail })
  return true
}

async function voidPayout(tx: Tx, context: ChangeContext, paymentId: string): Promise<boolean> {
  if (!(await requestVoid(tx, paymentId))) return false
  const change: Change = ({ state, setPayment, addNote, relayChange }) => {
    // Also voids a payout that waits to be handed over again.
    const { payout, takenSale } = state.payment
    if (takenSale !== null && payout !== 'paid') setPayment({ payout: 'voiding', stoppedFor: null })
    addNote({ ...createNote('payment.void_asked'), actor: 'operator' })
    relayChange()
  }
  await changeLockedPayment(tx, context, { id: paymentId, change })
  return true
}

/** The partner must first confirm that money which has waited is still there: a decision leads to that. */
async function refuseStopped(tx: Tx, paymentId: string): Promise<void> {
  const { payout, held } = (await loadPayment(tx, paymentId)).payment
  if (payout === 'handed' || held) return
  const todo =
    payout === 'stopped'
      ? `needs a decision: pinrail payments decide ${paymentId} settle`
      : 'is not handed over: its payment continues when the partner has confirmed that the money is still there'
  throw new Refusal(`${paymentId} ${todo}`)
}

/** A dry run does the same and rolls back. */
export async function changePayout(act: Act, ownerId: string, name: PayoutChange): Promise<number> {
  const { db, dryRun, say } = act
  const before = await readPayout(db, ownerId)
  if (before === null && name === 'resume' && isId('reserveRelease', ownerId)) return acceptRelease(act, ownerId)
  if (before === null) throw new Error(`${ownerId} has no payout`)
  say(`before  ${describe(before)}`)
  return doOrTry(db, dryRun, async (tx) => {
    await lockPaymentsFirst(tx, [ownerId])
    const changed = await carryOut(tx, act, { name, ownerId })
    const after = await readPayout(tx, ownerId)
    if (!changed || after === null) {
      say('nothing changed: the state of the payout does not allow it')
      return 1
    }
    await recordAct(tx, act, { name, subject: ownerId, merchantId: await readMerchant(tx, ownerId) })
    say(`${dryRun ? 'would be' : 'after '}  ${describe(after)}`)
    return 0
  })
}

/** Has the workers store a release that a restored backup lacks, although the chain has paid another amount than is due. */
function acceptRelease(act: Act, releaseId: string): Promise<number> {
  const { db, dryRun, settings, say } = act
  return doOrTry(db, dryRun, async (tx) => {
    if (!(await acceptDifference(tx, toScope(settings), releaseId))) throw new Error(`${releaseId} has no payout`)
    await recordAct(tx, act, { name: 'resume', subject: releaseId })
    const does = dryRun ? 'would store' : 'store'
    say(
      `the workers ${does} ${releaseId} within ten minutes, as the chain has paid it. What is left is released under another day.`,
    )
    return 0
  })
}

/**
 * Accepts and books a transfer out of the treasury that no payout claims. If it was the last unknown one, the lanes
 * continue. `balance` means what the treasuries have less than the books without a transfer that shows it.
 */
export async function acknowledge(act: Act, subject: Hex | 'balance'): Promise<number> {
  const { db, settings, hooks, say } = act
  if (subject === 'balance') return acknowledgeBalance(act)
  const txHash = subject
  const left = await db.transaction(async (tx) => {
    const { all, unbooked } = await listUnclaimed(tx, toScope(settings), txHash)
    for (const movement of unbooked) await bookMovement(tx, { scope: toScope(settings), hooks }, movement)
    for (const movement of all) await hooks.onTreasuryMovement(tx, { ...movement, fate: 'acknowledged' })
    const remaining = await acknowledgeTransfers(tx, toScope(settings), txHash)
    if (remaining !== null) await recordAct(tx, act, { name: 'acknowledge', subject: txHash })
    return remaining
  })
  if (left === null) {
    say(`nothing changed: ${txHash} has no transfer that no payout claims; \`status\` shows what is paused`)
    return 1
  }
  const pausedReason = (await readCursor({ db, scope: { ...toScope(settings), livemode: db.livemode }, hooks }))
    ?.pausedReason
  if (left > 0) say(`${plural(left, 'unknown transfer is', 'unknown transfers are')} left: still paused`)
  else if (typeof pausedReason === 'string') say(`no unknown transfer is left; still paused: ${pausedReason}`)
  else say('no unknown transfer is left: the lanes continue')
  return left > 0 || typeof pausedReason === 'string' ? 1 : 0
}

async function acknowledgeBalance(act: Act): Promise<number> {
  const { db, settings, hooks, say } = act
  const { chainId, token } = toScope(settings)
  const missing = await db.transaction(async (tx) => {
    const found = await acknowledgeMissing(tx, { chainId, token })
    if (found === null) return null
    await storeDifference(tx, { scope: { chainId, token }, hooks }, { ...found, chainId, micro: -found.micro })
    await recordAct(tx, act, { name: 'acknowledge', subject: 'balance' })
    return found
  })
  say(
    missing === null
      ? 'nothing changed: the treasuries have what the books say'
      : `${formatUsdc(missing.micro.toString())} USDC are booked as spent: the next final block shows whether anything is missing`,
  )
  return missing === null ? 1 : 0
}

export async function reopen(act: Act, wallet: Hex): Promise<number> {
  const { db, settings, say } = act
  const opened = await db.transaction(async (tx) => {
    if (!(await releaseLane(tx, { chainId: settings.CHAIN_ID, wallet }))) return false
    await recordAct(tx, act, { name: 'reopen', subject: wallet })
    return true
  })
  say(opened ? `lane ${wallet} is open` : `lane ${wallet} was not quarantined`)
  return opened ? 0 : 1
}

/** For a lane whose key is lost or whose transactions are not mined: the other lanes take over its payouts. */
export async function abandon(act: Act, wallet: Hex): Promise<number> {
  const { db, settings, say } = act
  const left = await db.transaction(async (tx) => {
    const count = await abandonLane(tx, { chainId: settings.CHAIN_ID, wallet })
    if (count !== null) await recordAct(tx, act, { name: 'abandon_lane', subject: wallet })
    return count
  })
  if (left === null) {
    say(`${wallet} is not a lane: \`status\` shows the lanes`)
    return 1
  }
  say(`lane ${wallet} is abandoned; the other lanes take over ${plural(left, 'payout')}`)
  return 0
}
