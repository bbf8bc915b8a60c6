import type { CurrentTreasury, Elsewhere, RetiredTreasury } from '../db/settlement/signing/treasuries.ts'
import type { Hex } from '../domain/hex.ts'
import { timeOfPayment } from '../domain/ids.ts'
import type { HoldReason, Payout } from '../domain/settlement/payout.ts'
import { payoutNonce } from '../evm/payout-nonce.ts'
import type { SettlementDeps } from './context.ts'
import type { Rpc } from './rpc/rpc.ts'
import { readToken } from './token/token-state.ts'

/** Most seconds by which the clocks of api, database, engines and chain may differ. */
export const CLOCK_MARGIN = 600

/** The Unix second after which nothing can be valid that a treasury signed before `stopped`. */
export const deadAfter = (stopped: number, authorizationSeconds: number): number =>
  stopped + authorizationSeconds + CLOCK_MARGIN

/** A void that waits for a proof, which takes 55 minutes or for ever, is looked at again after so many seconds. */
export const VOID_REST_SECONDS = 60

/** What keeps a payout from being signed, or voided, until a person has looked. */
export const PAID_ELSEWHERE = 'another treasury of the platform has paid or canceled this payment'

export type Decision =
  | { readonly kind: 'sign' }
  /** Nothing to do now: it is paid or cancelled on chain (the observer will read the log), or waits for funds. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'hold'; readonly reason: HoldReason; readonly detail: string }

type Unproved = Exclude<Decision, { kind: 'sign' }>

/** What forbids each payout, null where nothing does; and the nonces that were looked at. */
export type Rotation = { readonly forbidden: readonly (Unproved | null)[]; readonly elsewhere: readonly Elsewhere[] }

/**
 * Whether an earlier treasury has paid the payments, or still may. After a rotation a database that was restored from an
 * older backup queues on the new treasury what the old one has signed, and whose transaction may be in a pool: two
 * treasuries, two nonces, and the token accepts both. So nothing is signed unless a quorum says that the nonce under each
 * earlier treasury is unused at a final block later than the rotation plus the longest validity, or it is cancelled. A
 * payment whose id was made after the rotation was never known to the earlier treasury. A payout that stands on an earlier
 * treasury needs the same proof about the current one: it may have signed the payment on another backup, restored before.
 */
export async function checkRotation(
  deps: SettlementDeps,
  payouts: readonly Payout[],
  retired: readonly RetiredTreasury[],
): Promise<Rotation> {
  const current = await readCurrentBeside(deps, payouts, retired)
  const { forbidden, elsewhere } = await checkElsewhere(
    deps,
    payouts.map((payout) => ({ ...payout, others: othersOf(payout, { retired, current, here: null }) })),
  )
  return { forbidden: payouts.map((payout, at) => queuedTooLate(payout, retired) ?? forbidden[at] ?? null), elsewhere }
}

/** A payout to be voided, and the Unix second after which its payment was certainly not at the current treasury. */
export type Unwanted = Pick<Payout, 'paymentId' | 'treasury'> & { readonly here: number }

/**
 * The same of payouts that are to be voided: a refund, too, needs that no other treasury has paid, or still may. One that
 * stands on an earlier treasury may have been at the current one, in a time that a restored backup has forgotten. What
 * another one has paid is told to people.
 */
export async function checkVoids(deps: SettlementDeps, payouts: readonly Unwanted[]): Promise<Rotation['forbidden']> {
  const { journal } = deps
  const retired = await journal.readRetired()
  const current = await readCurrentBeside(deps, payouts, retired)
  const asked = payouts.map((payout) => ({ ...payout, others: othersOf(payout, { ...payout, retired, current }) }))
  const { forbidden } = await checkElsewhere(deps, asked)
  const paid = payouts.flatMap(({ paymentId }, index) => {
    const why = forbidden[index]
    return why?.kind === 'hold' && why.reason === 'policy' ? [{ paymentId, detail: why.detail }] : []
  })
  if (paid.length > 0) await journal.storePaidElsewhere(paid)
  return forbidden
}

/** A treasury that signs nothing more for a payment since then. Unix seconds. */
type Other = Pick<RetiredTreasury, 'treasury' | 'retiredAt'>

const isEarlier = ({ treasury }: Pick<Payout, 'treasury'>, retired: readonly RetiredTreasury[]): boolean =>
  retired.some((one) => one.treasury === treasury)

/** The current treasury, where one of the payouts stands on an earlier one: only then does it matter. */
async function readCurrentBeside(
  { journal }: SettlementDeps,
  payouts: readonly Pick<Payout, 'treasury'>[],
  retired: readonly RetiredTreasury[],
): Promise<CurrentTreasury | null> {
  return payouts.some((payout) => isEarlier(payout, retired)) ? journal.readCurrentTreasury() : null
}

/**
 * The treasuries that may have signed the payment of a payout. The current one, too, of a payout that stands on an earlier
 * one: until `here`, and until the database was restored; null: not at all as far as this database knows.
 */
function othersOf(
  payout: Pick<Payout, 'treasury'>,
  known: { retired: readonly RetiredTreasury[]; current: CurrentTreasury | null; here: number | null },
): readonly Other[] {
  const { retired, current } = known
  if (current === null || !isEarlier(payout, retired)) return retired
  const times = [known.here, current.restoredAt].filter((time) => time !== null)
  return times.length === 0 ? retired : [...retired, { treasury: current.treasury, retiredAt: Math.max(...times) }]
}

/** Another treasury's nonce for a payment, and the Unix second after which no signature of it is valid. */
type Suspect = Elsewhere & { readonly dead: number }

async function checkElsewhere(
  deps: SettlementDeps,
  payouts: readonly (Pick<Payout, 'paymentId' | 'treasury'> & { readonly others: readonly Other[] })[],
): Promise<Rotation> {
  const suspects = payouts.map((payout) => suspectsOf(deps, payout, payout.others))
  const elsewhere = suspects.flat()
  if (elsewhere.length === 0) return { forbidden: payouts.map(() => null), elsewhere }
  const cursor = await deps.journal.readCursor()
  const final = cursor && (await readFinal(deps, elsewhere, cursor))
  // The nodes do not agree now: whoever needs the proof waits for it.
  if (final === null)
    return { forbidden: suspects.map((nonces) => (nonces.length === 0 ? null : { kind: 'wait' })), elsewhere }
  const cancelled = await deps.journal.readCancelled(elsewhere.filter(({ authNonce }) => final.used.has(authNonce)))
  const forbid = ({ treasury, authNonce, dead }: Suspect): Unproved | null => {
    if (cancelled.has(authNonce)) return null
    if (final.used.has(authNonce)) return { kind: 'hold', reason: 'policy', detail: `${PAID_ELSEWHERE}: ${treasury}` }
    if (final.timestamp >= dead) return null
    const until = new Date(dead * 1000).toISOString()
    const detail = `treasury ${treasury} may have signed it before the rotation, or a restore: that ends at ${until}`
    return { kind: 'hold', reason: 'rotation', detail }
  }
  return { forbidden: suspects.map((nonces) => firstOf(nonces.map(forbid))), elsewhere }
}

/** What can end the waiting only by an operator comes first. */
function firstOf(reasons: readonly (Unproved | null)[]): Unproved | null {
  const found = reasons.filter((reason) => reason !== null)
  return found.find((reason) => reason.kind === 'hold' && reason.reason === 'policy') ?? found[0] ?? null
}

/** The nonces under other treasuries that may have paid the payment. */
function suspectsOf(
  deps: SettlementDeps,
  payout: Pick<Payout, 'paymentId' | 'treasury'>,
  others: readonly Other[],
): Suspect[] {
  const { paymentId } = payout
  const made = timeOfPayment(paymentId)
  return others
    .filter(({ treasury, retiredAt }) => {
      const after = made !== null && made / 1000 > retiredAt + CLOCK_MARGIN
      return treasury !== payout.treasury && !after
    })
    .map(({ treasury, retiredAt }) => {
      const place = { chainId: deps.token.chainId, token: deps.token.address, treasury, paymentId }
      const dead = deadAfter(retiredAt, deps.options.authorizationSeconds)
      return { paymentId, treasury, authNonce: payoutNonce(place), dead }
    })
}

/** A worker with an old configuration queues on a treasury that is retired: from then on only take-over moves it. */
function queuedTooLate({ treasury, createdAt }: Payout, retired: readonly RetiredTreasury[]): Unproved | null {
  const own = retired.find((one) => one.treasury === treasury)
  if (own === undefined || createdAt.getTime() / 1000 <= own.retiredAt) return null
  const detail = `queued on treasury ${treasury} after it was retired: a worker has an old configuration; take-over moves it`
  return { kind: 'hold', reason: 'policy', detail }
}

/** Which nonces are used at the block that was read last, and its time, when a quorum agrees on both. */
export async function readFinal(
  { rpc, token }: { readonly rpc: Rpc; readonly token: { readonly address: Hex } },
  nonces: readonly Elsewhere[],
  at: { readonly number: number; readonly hash: Hex },
): Promise<{ used: Set<Hex>; timestamp: number } | null> {
  const block = await rpc.agreed((node) => node.block(at.number))
  if (block === null || block.value.hash !== at.hash) return null
  const states = await rpc.agreed((node) =>
    readToken(node, token.address, {
      reads: nonces.map(({ treasury, authNonce }) => ({ view: 'authorizationState', args: [treasury, authNonce] })),
      at: at.number,
    }),
  )
  if (states === null) return null
  const used = nonces.filter((_nonce, index) => states.value[index] !== 0n)
  return { used: new Set(used.map(({ authNonce }) => authNonce)), timestamp: block.value.timestamp }
}
