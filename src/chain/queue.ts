import type { HoldReason, Payout, PayoutSignature } from '../domain/payout.ts'
import { PolicyRefusal } from './authorization.ts'
import type { SettlementDeps } from './context.ts'
import { readTokenState, type TokenState } from './token-state.ts'

/** How many payouts are looked at and signed in one round: about a third of a second of signing. */
const ROUND = 400

export type Decision =
  | { readonly kind: 'sign' }
  /** Nothing to do now: paid or cancelled on chain already (the observer finds the log), or waiting for funds. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'hold'; readonly reason: HoldReason; readonly detail: string }

/**
 * Decides about payouts in their order. What a payout needs is taken from `available`; when it does not suffice, that
 * payout and the later ones of the same recipient wait, and other recipients go on, so that a large payout does not
 * starve small ones of other merchants and a merchant's payouts keep their order.
 */
export function decidePayouts(
  payouts: readonly Payout[],
  state: TokenState,
  funds: { available: bigint; heldAfter: Date },
): Decision[] {
  let { available } = funds
  const short = new Set<string>()
  return payouts.map((payout, index): Decision => {
    const seen = state.payouts[index]
    if (seen === undefined || seen.used) return { kind: 'wait' }
    if (state.paused) return { kind: 'hold', reason: 'paused', detail: 'the USDC contract is paused' }
    if (state.treasuryBlacklisted)
      return { kind: 'hold', reason: 'paused', detail: 'the USDC contract has blacklisted the treasury' }
    if (seen.blacklisted)
      return { kind: 'hold', reason: 'blacklisted', detail: `${payout.recipient} is on the USDC blacklist` }
    const micro = BigInt(payout.microUsdc)
    if (short.has(payout.recipient) || micro > available) {
      short.add(payout.recipient)
      if (payout.createdAt > funds.heldAfter) return { kind: 'wait' }
      return { kind: 'hold', reason: 'funds', detail: 'the treasury has less USDC than its open payouts' }
    }
    available -= micro
    return { kind: 'sign' }
  })
}

const unixSeconds = (date: Date): number => Math.floor(date.getTime() / 1000)

/** The deadline of a signature made now: by the later of our clock and the chain's, so that it is not born expired. */
export function deadline(deps: SettlementDeps, chainTime: number): number {
  return Math.max(unixSeconds(deps.clock()), chainTime) + deps.options.authorizationSeconds
}

/** Signs transfers; a payout that the policy refuses is held and does not stop the others. */
export async function signTransfers(
  deps: SettlementDeps,
  payouts: readonly Payout[],
  validBefore: number,
): Promise<void> {
  const signed: { paymentId: string; signature: PayoutSignature }[] = []
  for (const payout of payouts) {
    try {
      signed.push({ paymentId: payout.paymentId, signature: await deps.treasury.signTransfer(payout, validBefore) })
    } catch (refusal) {
      if (!(refusal instanceof PolicyRefusal)) throw refusal
      await hold(deps, payout, { reason: 'policy', detail: refusal.message })
    }
  }
  if (signed.length > 0) await deps.journal.storeSignatures(signed)
}

export async function hold(
  deps: SettlementDeps,
  payout: Payout,
  why: { reason: HoldReason; detail: string },
): Promise<void> {
  if (payout.holdReason === why.reason) return
  deps.log.warn({ paymentId: payout.paymentId, ...why }, 'payout held')
  await deps.journal.hold({ paymentId: payout.paymentId, ...why })
}

/** queued → authorized: checks the token, reserves funds, signs. */
export async function authorizeQueued(deps: SettlementDeps, chainTime: number): Promise<void> {
  const { journal, rpc, token, treasury, options } = deps
  const payouts = await journal.readPayable(ROUND)
  if (payouts.length === 0) return
  const state = await rpc.any((provider) =>
    readTokenState(provider, treasury.address, { token: token.address, payouts }),
  )
  const reserved = await journal.readReserved(treasury.address)
  const decisions = decidePayouts(payouts, state, {
    available: state.balance - reserved,
    heldAfter: new Date(deps.clock().getTime() - options.fundsGraceMs),
  })
  const toSign: Payout[] = []
  for (const [index, payout] of payouts.entries()) {
    const decision = decisions[index]
    if (decision?.kind === 'sign') toSign.push(payout)
    if (decision?.kind === 'hold') await hold(deps, payout, decision)
  }
  await signTransfers(deps, toSign, deadline(deps, chainTime))
}

/** Signs the cancellations that were asked for. */
export async function authorizeCancellations(deps: SettlementDeps): Promise<void> {
  const payouts = await deps.journal.readUncancelled(ROUND)
  const signed: { paymentId: string; signature: PayoutSignature }[] = []
  for (const payout of payouts)
    signed.push({ paymentId: payout.paymentId, signature: await deps.treasury.signCancellation(payout) })
  if (signed.length > 0) await deps.journal.storeSignatures(signed)
}
