import { setImmediate } from 'node:timers/promises'
import type { Hex } from '../domain/hex.ts'
import type { Payout, PayoutSignature, PayoutStopReason } from '../domain/settlement/payout.ts'
import type { TreasurySigner } from './authorization.ts'
import { assertNotBehind, CLOCK_MARGIN, NOTHING, type Progress, type SettlementDeps } from './context.ts'
import type { StillLeads } from './lead.ts'
import { findRest, type Rests } from './rests.ts'
import { SettlementRefusal } from './startup.ts'
import { readTokenState, type TokenState } from './token/token-state.ts'

/** Maximum number of payouts decided in one round: about 0.2 s of signing. */
export const ROUND = 800

/**
 * Signing waits while this many authorizations are not sent: three lanes carry that many, and authorizations expire.
 */
const MAX_WAITING = 2400

/** Signatures stored at once: two full batches. The lanes send them while the next ones are signed. */
const STORED_TOGETHER = 200

/** Signatures made at once, in about 5 ms. Then other work of the process gets its turn. */
const SIGNED_TOGETHER = 25

const DAY_MS = 24 * 3_600_000

const FUNDS_SHORT = 'the treasury has less USDC than its open payouts'
const LIMIT_REACHED = 'the limit of what the treasury signs in 24 hours is reached'

export type Decision =
  | { readonly kind: 'sign' }
  /** The payout is paid or canceled on chain (the observer will read the log), or waits for funds. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'stop'; readonly reason: PayoutStopReason; readonly detail: string }

type Limits = {
  /** Micro-USDC in the treasury that no signature reserves. */
  readonly available: bigint
  /** Micro-USDC that the treasury may still authorize within 24 hours. */
  readonly spendable: bigint
  /** Owners whose payouts were signed before: a second signature of a payout does not count again. */
  readonly signedBefore: ReadonlySet<string>
  readonly heldAfter: Date
}

/**
 * Decides about payouts in their order. Each takes its amount from `available` (micro-USDC) and, if it was not signed
 * before, from `spendable`. If that is too little, the payout waits, and so do later ones of its recipient: a
 * merchant's payouts keep their order. Other recipients continue, so a large payout does not starve the small ones of
 * other merchants.
 */
export function decidePayouts(payouts: readonly Payout[], state: TokenState, limits: Limits): Decision[] {
  let { available, spendable } = limits
  const short = new Map<string, 'funds' | 'limit'>()
  return payouts.map((payout, index): Decision => {
    const seen = state.payouts[index]
    if (seen === undefined || seen.used) return { kind: 'wait' }
    if (seen.blacklisted)
      return { kind: 'stop', reason: 'blacklisted', detail: `${payout.recipient} is on the USDC blacklist` }
    const micro = BigInt(payout.microUsdc)
    const fresh = !limits.signedBefore.has(payout.ownerId)
    const own = micro > available ? 'funds' : fresh && micro > spendable ? 'limit' : null
    const reason = short.get(payout.recipient) ?? own
    if (reason !== null) {
      short.set(payout.recipient, reason)
      if (payout.createdAt > limits.heldAfter) return { kind: 'wait' }
      return { kind: 'stop', reason, detail: reason === 'funds' ? FUNDS_SHORT : LIMIT_REACHED }
    }
    available -= micro
    if (fresh) spendable -= micro
    return { kind: 'sign' }
  })
}

const unixSeconds = (date: Date): number => Math.floor(date.getTime() / 1000)

/**
 * Returns the deadline of a signature made now, in Unix seconds. It starts from the worker's clock, limited to the
 * range from the chain's time to CLOCK_MARGIN after it: a clock that is a year ahead must not make authorizations that
 * are valid for a year.
 */
export function deadline({ clock, options }: Pick<SettlementDeps, 'clock' | 'options'>, chainTime: number): number {
  const ours = Math.max(unixSeconds(clock()), chainTime)
  return Math.min(ours, chainTime + CLOCK_MARGIN) + options.authorizationSeconds
}

type Signed = { readonly ownerId: string; readonly treasury: Hex; readonly signature: PayoutSignature }

/** `refusals`: the errors of keys that refused to sign now. */
type Signing = { readonly signed: readonly Signed[]; readonly refusals: readonly unknown[] }

type Signatures = {
  readonly how: (treasury: TreasurySigner, payout: Payout) => Promise<PayoutSignature>
  readonly stillLeads: StillLeads
}

/**
 * Signs each payout with its treasury, as long as this engine leads. A payout that the key refuses now waits for the
 * next round, and the others continue. If the key refuses a whole group, the rest waits too.
 */
export async function sign(
  deps: SettlementDeps,
  payouts: readonly Payout[],
  { how, stillLeads }: Signatures,
): Promise<Signing> {
  const signed: Signed[] = []
  const refusals: unknown[] = []
  const signOne = async (payout: Payout): Promise<void> => {
    const treasury = deps.treasuries.find(({ address }) => address === payout.treasury)
    if (treasury === undefined) throw new Error(`no key for treasury ${payout.treasury}`)
    const { ownerId } = payout
    signed.push({ ownerId, treasury: payout.treasury, signature: await how(treasury, payout) })
  }
  const trySigning = (payout: Payout): Promise<unknown> =>
    signOne(payout).catch((failure: unknown) => refusals.push(failure))
  // Concurrently, because a key service is slow; in groups, so that it is not flooded.
  for (const group of chunks(payouts, SIGNED_TOGETHER)) {
    if (!(await stillLeads())) break
    const before = refusals.length
    await Promise.all(group.map(trySigning))
    if (refusals.length - before === group.length) break
    await setImmediate()
  }
  return { signed, refusals }
}

export async function store(deps: SettlementDeps, signed: readonly Signed[]): Promise<void> {
  if (signed.length === 0) return
  for (const { ownerId, error } of await deps.journal.storeSignatures(signed, deps.options))
    deps.log.error({ ownerId, err: error }, 'the payout continues, but its owner could not be notified')
}

/** Throws if the key signed nothing. Otherwise logs the refusals, which the next round tries again. */
export function report(
  { log }: SettlementDeps,
  { signed, refusals }: { signed: number; refusals: readonly unknown[] },
): void {
  if (refusals.length === 0) return
  if (signed === 0) throw refusals[0]
  log.warn({ refused: refusals.length, signed, err: refusals[0] }, 'a key refused to sign; tried again next round')
}

/**
 * Signs transfers with the deadline, for the first time or again. The nonce is always the owner's. Each signature is
 * stored, even if a later one fails. Returns the number signed.
 */
async function signTransfers(
  deps: SettlementDeps,
  payouts: readonly Payout[],
  { validBefore, stillLeads }: { validBefore: number; stillLeads: StillLeads },
): Promise<number> {
  const refusals: unknown[] = []
  let storing = Promise.resolve()
  let count = 0
  try {
    for (const together of chunks(payouts, STORED_TOGETHER)) {
      // The previous group is stored at the same time. Its failure is thrown below.
      storing.catch(() => undefined)
      const round = await sign(deps, together, {
        how: (treasury, payout) => treasury.signTransfer(payout, validBefore),
        stillLeads,
      })
      await storing
      storing = store(deps, round.signed)
      count += round.signed.length
      refusals.push(...round.refusals)
      // A key service that refuses now is asked again in the next round.
      if (round.signed.length === 0 && round.refusals.length > 0) break
    }
  } finally {
    await storing
  }
  report(deps, { signed: count, refusals })
  return count
}

/**
 * Stops a payout. If its owner cannot be notified, the payout is not stopped, but it is not signed or sent in this
 * round either. Other payouts continue.
 */
export async function stop(
  deps: SettlementDeps,
  payout: Payout,
  why: { reason: PayoutStopReason; detail: string },
): Promise<void> {
  if (payout.stopReason === why.reason) return
  const { ownerId } = payout
  const result = await deps.journal.stop({ ownerId, reason: why.reason, detail: why.detail })
  if (result === 'stopped') deps.log.warn({ ownerId, ...why }, 'payout stopped')
  else if (result !== 'unchanged')
    deps.log.error(
      { ownerId, ...why, err: result.error },
      'could not stop a payout, because its owner could not be notified; tried again',
    )
}

export type Authorizer = {
  /** Stamps the list of treasuries before anything is signed. Throws SettlementRefusal if another list is stamped. */
  record(): Promise<void>
  /**
   * queued → authorized: checks the token, reserves funds, signs. `final`: the last final block that was read.
   * `isBehind`: signed payouts wait to be sent.
   */
  authorize(final: number, isBehind: boolean): Promise<Progress>
}

/**
 * Signs in rounds. It remembers only the recipient after whom the next round begins, and whether the list of treasuries
 * is stamped.
 */
export function createAuthorizer(
  deps: SettlementDeps,
  { rests, stillLeads }: { rests: Rests; stillLeads: StillLeads },
): Authorizer {
  const { journal, rpc } = deps
  const keys = deps.treasuries.map(({ address }) => address)
  let lastRecipient: Hex | null = null
  let recorded = false

  async function record(): Promise<void> {
    if (recorded || keys.length === 0) return
    const refusal = await journal.stampTreasuries({ list: deps.treasuryList, keys })
    if (refusal !== null) throw new SettlementRefusal(refusal)
    recorded = true
  }

  return {
    record,
    async authorize(final, isBehind) {
      await record()
      const waiting = isBehind ? await journal.countWaiting(rests.treasuries()) : 0
      if (waiting >= MAX_WAITING) return { ...NOTHING, ahead: true }
      const { payouts, next } = await journal.readPayable({ keys, limit: ROUND, after: lastRecipient })
      if (payouts.length === 0) return NOTHING
      lastRecipient = next
      const allowed = await stopRefused(deps, payouts)
      const resting = rests.treasuries()
      const treasuries = new Set(allowed.map((payout) => payout.treasury).filter((one) => !resting.includes(one)))
      let done = 0
      const failures: unknown[] = []
      for (const treasury of treasuries)
        try {
          const { block: head } = await rpc.newest(final)
          const ofTreasury = allowed.filter((payout) => payout.treasury === treasury)
          const toSign = await choosePayable(deps, { rests, treasury, payouts: ofTreasury, head: head.number })
          done += await signTransfers(deps, toSign, { validBefore: deadline(deps, head.timestamp), stillLeads })
        } catch (failure) {
          // The key of another treasury may still sign.
          failures.push(failure)
        }
      report(deps, { signed: done, refusals: failures })
      return { ...NOTHING, done, more: done > 0 && payouts.length === ROUND, rest: rests.first() }
    },
  }
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_chunk, at) => items.slice(at * size, (at + 1) * size))
}

/**
 * Stops the payouts that their treasury must never sign, and returns the others. This precedes funds and limits: a
 * payout that is never paid takes neither from the others.
 */
async function stopRefused(deps: SettlementDeps, payouts: readonly Payout[]): Promise<Payout[]> {
  const allowed: Payout[] = []
  for (const payout of payouts) {
    const detail = deps.treasuries.find(({ address }) => address === payout.treasury)?.whyRefused(payout) ?? null
    if (detail === null) allowed.push(payout)
    else await stop(deps, payout, { reason: 'policy', detail })
  }
  return allowed
}

/**
 * Returns the treasury's payouts that it may sign now. If the token or the treasury cannot pay, begins a rest and
 * returns none.
 */
async function choosePayable(
  deps: SettlementDeps,
  { rests, treasury, payouts, head }: { rests: Rests; treasury: Hex; payouts: readonly Payout[]; head: number },
): Promise<Payout[]> {
  const { journal, rpc, token, options } = deps
  // Read before the balance: a payout that is paid in between is still in the balance of this block.
  const promised = await journal.readReserved(treasury, head)
  assertNotBehind({ number: head }, promised.final)
  // At one block, so that the nodes that have it can agree.
  const state = await rpc.demand('what the state of token and treasury is', (node) =>
    readTokenState(node, treasury, { token: token.address, payouts, at: head }),
  )
  const rest = findRest(treasury, state)
  if (rest !== null) {
    rests.begin(treasury, rest)
    return []
  }
  const now = deps.clock().getTime()
  const inTreasury = state.balance - promised.micro
  const underLimit = options.maxMicroPerDay - (await journal.readAuthorizedSince(treasury, new Date(now - DAY_MS)))
  const ids = payouts.map(({ ownerId }) => ownerId)
  const decisions = decidePayouts(payouts, state, {
    available: inTreasury,
    spendable: underLimit,
    signedBefore: underLimit < inTreasury ? await journal.readSignedBefore(ids) : new Set(),
    heldAfter: new Date(now - options.fundsGraceMs),
  })
  const toSign: Payout[] = []
  for (const [index, payout] of payouts.entries()) {
    const decision = decisions[index]
    if (decision?.kind === 'sign') toSign.push(payout)
    if (decision?.kind === 'stop') await stop(deps, payout, decision)
  }
  return toSign
}
