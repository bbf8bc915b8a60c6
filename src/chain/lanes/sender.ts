import type { LocalAccount } from 'viem/accounts'
import type { Hex } from '../../domain/hex.ts'
import type { Sweep } from '../../domain/settlement/deposit.ts'
import type { Lead } from '../../domain/settlement/lead.ts'
import type {
  ChainCursor,
  Envelope,
  EnvelopeAttempt,
  Lane,
  Reserved,
  Sending,
  SignedPayout,
  TopUpRefusal,
} from '../../domain/settlement/payout.ts'
import { keccak256 } from '../../evm/keccak.ts'
import { type Authorization, countGasItems } from '../codec.ts'
import { isRecent, type SettlementDeps } from '../context.ts'
import { createSweepAuthorization } from '../deposits/sweep-authorization.ts'
import type { Block, FeeHistory } from '../rpc/node.ts'
import type { SendOutcome } from '../rpc/send-outcome.ts'
import type { Doubts } from './doubts.ts'
import { atMost, bumpFees, cheaper, chooseFees, type Fees, isOverdue, leastPrice } from './fees.ts'

export type ChainView = Pick<Lead, 'lease' | 'lanes'> & {
  readonly head: Block
  readonly cursor: ChainCursor
  readonly fees: FeeHistory
  /** True if gas for the next block costs more than the maximum price: then nothing is sent. */
  readonly isTooExpensive: boolean
  readonly doubts: Doubts
}

export type Sender = {
  readonly deps: SettlementDeps
  readonly account: LocalAccount
  readonly lane: Lane
  readonly view: ChainView
  /** Balance of the wallet at the newest block. */
  readonly wei: bigint
  /** Number of nonces that the wallet has used at that block. */
  readonly mined: number
  readonly mayLog: () => boolean
}

type Call = Sending & { readonly value?: bigint }
type Signed = { readonly nonce: number; readonly txHash: Hex; readonly raw: Hex }

/**
 * Sends payouts in one transaction: reserves the lane's next nonce, signs, stores, then sends. Returns the number sent.
 */
export async function sendBatch(sender: Sender, payouts: readonly SignedPayout[]): Promise<number> {
  if (payouts.length === 0) return 0
  const encode = (free: readonly SignedPayout[]): Sending => encodeBatch(sender.deps, free)
  return dispatch(sender, await sender.deps.journal.reserve(sender.lane, { payouts, encode }))
}

export async function sendSweeps(sender: Sender, sweeps: readonly Sweep[]): Promise<number> {
  const encode = (free: readonly Sweep[]): Sending =>
    encodeBatch(
      sender.deps,
      free.map((sweep) => createSweepAuthorization(sweep)),
    )
  return dispatch(sender, await sender.deps.journal.reserveSweeps(sender.lane, { sweeps, encode }))
}

/** Sends a transfer that a merchant has signed, alone in its transaction. */
export async function sendFunding(sender: Sender, funding: Sweep): Promise<number> {
  const encode = (free: readonly Sweep[]): Sending =>
    encodeBatch(
      sender.deps,
      free.map((sweep) => createSweepAuthorization(sweep, true)),
    )
  return dispatch(sender, await sender.deps.journal.reserveSweeps(sender.lane, { sweeps: [funding], encode }))
}

function encodeBatch({ codec, token }: SettlementDeps, items: readonly Authorization[]): Sending {
  return { ...codec.encode(token.address, items), gasLimit: codec.gasLimit(countGasItems(items)) }
}

export const TRANSFER_GAS = 21_000n

/** Up to `wei`, as far as the daily limit allows; nothing if that is less than `least`. */
export type TopUp = {
  readonly target: Hex
  readonly wei: bigint
  readonly least: bigint
  readonly maxWeiPerDay: bigint
}

/** Returns why it was not sent; null if it was. */
export async function sendTopUp(sender: Sender, { wei, ...ask }: TopUp): Promise<TopUpRefusal | null> {
  const call = { target: ask.target, gasLimit: TRANSFER_GAS, calldata: '0x' } as const
  const { lane, mined } = sender
  const reserved = await sender.deps.journal.reserveTopUp(lane, { ...ask, ...call, value: wei, mined })
  if ('refused' in reserved) return reserved.refused
  const { nonce, value } = reserved
  sender.deps.log.info({ from: lane.wallet, to: ask.target, wei: value }, 'gas money is sent to a lane')
  await dispatch(sender, { ...call, nonce, value, items: 1 })
  return null
}

/** Signs a reserved transaction at the current price, stores it, and sends it. Returns the number of its items. */
async function dispatch(sender: Sender, reserved: (Reserved & Call) | null): Promise<number> {
  if (reserved === null) return 0
  const fees = chooseFees(sender.view.fees, sender.deps.options.maxFeeWei)
  await broadcast(sender, await signAndStore(sender, reserved, fees))
  return reserved.items
}

/**
 * Does what an unmined envelope needs now. An envelope without a signature, because of a crash, is signed; otherwise
 * its stored bytes are sent again. The lane's lowest nonce, which blocks all others, may get a higher price.
 */
export async function resumeEnvelope(sender: Sender, envelope: Envelope, lowest: boolean): Promise<void> {
  const { deps, lane, view } = sender
  const { nonce } = envelope
  const { last, current, payable } = choosePrices(sender, envelope)
  if (last === undefined) {
    if (await isOver(sender, envelope)) await useUp(sender, nonce, current)
    else await signAgain(sender, envelope, current)
    return
  }
  const about = { wallet: lane.wallet, nonce, attempts: envelope.attempts.length }
  const late = isOverdue(last, view.head.number, deps.options)
  const fees = bumpFees(last, view.fees, payable)
  // Before its stored bytes are sent again: they would only pay for refusals.
  if (lowest && late && fees !== null && (await isOver(sender, envelope))) return useUp(sender, nonce, fees)
  const outcome = isDue(deps, last) ? await broadcast(sender, await stored(sender, envelope, last)) : 'unknown'
  if (!lowest || !(late || outcome === 'underpriced')) return
  if (fees === null) {
    if (await useUpInstead(sender, envelope)) return
    const prices = { maxFee: last.maxFee, payable, leastPrice: leastPrice(view.fees) }
    if (sender.mayLog())
      deps.log.error({ ...about, ...prices }, 'a transaction is stuck at the highest price it may have')
    return
  }
  if (!late && (await isOver(sender, envelope))) return useUp(sender, nonce, fees)
  deps.log.info({ ...about, ...fees }, 'raising the price of a stuck transaction')
  await signAgain(sender, envelope, fees)
}

/**
 * Returns the envelope's newest transaction that nodes take, the price of a new one now, and the highest payable price:
 * the cap, the wallet's balance, or less than a price that a quorum of nodes has refused as too high. Otherwise a
 * transaction that was signed while gas was expensive or the wallet had more would keep a cheaper one from ever
 * being sent again. `last` is undefined if no stored transaction is payable, but a new one would be.
 */
function choosePrices({ deps, view, wei }: Sender, { attempts, gasLimit, value }: Envelope) {
  const { maxFeeWei } = deps.options
  const current = chooseFees(view.fees, maxFeeWei)
  const refused = attempts.filter(({ isTooExpensive }) => isTooExpensive).map(({ maxFee }) => cheaper(maxFee))
  const most = refused.reduce(atMost, (wei - value) / gasLimit)
  const stored = attempts.findLast(({ maxFee }) => maxFee <= most)
  const last = stored ?? (current.maxFee > most ? attempts.at(-1) : undefined)
  return { last, current, payable: atMost(most, maxFeeWei) }
}

/**
 * Returns true if nothing that the envelope carries is still wanted, or none of its authorizations is valid any more:
 * then it would only pay for refusals.
 */
async function isOver({ deps, lane, view }: Sender, { nonce }: Envelope): Promise<boolean> {
  if (!(await deps.journal.isWanted(lane, nonce))) return true
  const deadline = deps.codec.deadline(await deps.journal.readCalldata(lane, nonce))
  return deadline !== null && view.head.timestamp >= deadline
}

/** Uses up a nonce at the least cost, by an empty transfer to the wallet itself. */
async function useUp(sender: Sender, nonce: number, fees: Fees): Promise<void> {
  const { wallet } = sender.lane
  sender.deps.log.info(
    { wallet, nonce, ...fees },
    'nothing in this envelope is still wanted or valid: an empty transfer uses up its nonce',
  )
  const empty: Call = { target: wallet, calldata: '0x', gasLimit: TRANSFER_GAS }
  await broadcast(sender, await signAndStore(sender, { ...empty, nonce }, fees))
}

/**
 * Uses up the nonce if the price of what the envelope carried cannot be raised: an empty transfer costs a fraction of
 * it. Its own price is raised like any other. Returns true if the nonce is being used up.
 */
async function useUpInstead(sender: Sender, envelope: Envelope): Promise<boolean> {
  const { deps, view, wei } = sender
  const newest = envelope.attempts.at(-1)
  const fees = newest && bumpFees(newest, view.fees, atMost(wei / TRANSFER_GAS, deps.options.maxFeeWei))
  if (!newest || !fees || !(await isOver(sender, envelope))) return false
  if (isOverdue(newest, view.head.number, deps.options)) await useUp(sender, envelope.nonce, fees)
  return true
}

function isDue(deps: SettlementDeps, attempt: EnvelopeAttempt): boolean {
  const { lastBroadcastAt } = attempt
  const { rebroadcastMs } = deps.options
  return lastBroadcastAt === null || !isRecent(lastBroadcastAt.getTime(), deps.clock().getTime(), rebroadcastMs)
}

async function stored(sender: Sender, envelope: Envelope, attempt: EnvelopeAttempt): Promise<Signed> {
  const raw = await sender.deps.journal.readRaw(attempt.txHash)
  return { nonce: envelope.nonce, txHash: attempt.txHash, raw }
}

/** A replacement has the same nonce and calldata: whichever of them is mined carries the same payouts. */
async function signAgain(sender: Sender, envelope: Envelope, fees: Fees): Promise<void> {
  const calldata = await sender.deps.journal.readCalldata(sender.lane, envelope.nonce)
  await broadcast(sender, await signAndStore(sender, { ...envelope, calldata }, fees))
}

async function signAndStore(sender: Sender, call: Call & { nonce: number }, fees: Fees): Promise<Signed> {
  const { deps, account, lane, view } = sender
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: deps.token.chainId,
    nonce: call.nonce,
    to: call.target,
    data: call.calldata,
    gas: call.gasLimit,
    value: call.value ?? 0n,
    maxFeePerGas: fees.maxFee,
    maxPriorityFeePerGas: fees.tip,
  })
  const signed = { nonce: call.nonce, txHash: keccak256(raw), raw }
  await deps.journal.storeAttempt(lane, { ...signed, ...fees, signedBlock: view.head.number })
  return signed
}

async function broadcast(sender: Sender, signed: Signed): Promise<SendOutcome> {
  const { deps, lane } = sender
  const { outcome, answer } = await deps.rpc.broadcast(signed.raw)
  await deps.journal.markSent(lane, {
    nonce: signed.nonce,
    txHash: signed.txHash,
    at: deps.clock(),
    answer: outcome === 'accepted' ? outcome : `${outcome}: ${answer}`,
    accepted: outcome === 'accepted',
  })
  if (outcome === 'delegated' && (await carriesCode(sender)))
    await deps.journal.setLaneStatus(lane, {
      status: 'quarantined',
      reason: 'the wallet carries an EIP-7702 delegation',
    })
  return outcome
}

/**
 * Reads the code by quorum, only after a node reports a delegation: that node may lie while the others' answers are
 * lost.
 */
async function carriesCode({ deps, lane }: Sender): Promise<boolean> {
  const code = await deps.rpc.agreed((node) => node.code(lane.wallet))
  if (code?.value === '0x')
    deps.log.warn({ wallet: lane.wallet }, 'a node reports a delegated wallet, but a quorum finds no code there')
  return code !== null && code.value !== '0x'
}
