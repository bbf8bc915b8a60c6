import type { Hex } from '../../domain/hex.ts'
import { MINED_IN_VAIN, type Sweep, type Unswept } from '../../domain/settlement/deposit.ts'
import { signTransferAuthorization } from '../authorization.ts'
import { deadline } from '../authorizer.ts'
import type { SettlementDeps } from '../context.ts'
import { chooseFees, mostItems } from '../lanes/fees.ts'
import type { LaneRound } from '../lanes/round.ts'
import type { ChainView } from '../lanes/sender.ts'
import { simulate } from '../simulate.ts'
import { type DepositKeys, sweepNonce } from './deposit-keys.ts'
import { createSweepAuthorization } from './sweep-authorization.ts'

/** Maximum number of sweeps signed in one round. With its key derivation, a sweep takes about as long as a payout. */
const SIGNED_AT_ONCE = 100

/** Maximum number of merchants' authorizations of one round: each is simulated alone, and payouts wait for the round. */
const FUNDED_AT_ONCE = 10

/** A sweep that expires sooner is signed again before it is sent. */
const RENEWAL_SECONDS = 10 * 60

/**
 * Moves USDC from the deposit addresses to the treasury, and what a refund did not take back to the merchant. Each
 * address signs a transfer; the relayer lanes send it and pay the gas. Payouts precede sweeps, and a full lane is
 * skipped. A sweep that has expired, or that goes to an earlier treasury, is signed again with the same nonce. Throws
 * if a sweep could not be signed, after the others were sent. Memory contains the owners after which the next round
 * begins: as many as a round signs may have lost their seed.
 */
export function createSweeping(deps: SettlementDeps): (rounds: readonly LaneRound[], view: ChainView) => Promise<void> {
  const places: Places = { stale: '', unswept: '' }
  return (rounds, view) => sweepDeposits(deps, places, { rounds, view })
}

type Places = { stale: string; unswept: string }

/** Returns the owner of the last address of a full list. After a shorter list, the next round begins with the first. */
const getLastOwner = (list: readonly Unswept[]): string =>
  list.length < SIGNED_AT_ONCE ? '' : (list.at(-1)?.ownerId ?? '')

async function sweepDeposits(
  deps: SettlementDeps,
  places: Places,
  { rounds, view }: { rounds: readonly LaneRound[]; view: ChainView },
): Promise<void> {
  const { deposits, journal } = deps
  if (deposits === null || deposits.keys === null) return
  const treasury = deps.treasuries[0]?.address
  if (treasury === undefined) throw new Error('a sweep needs a treasury')
  const signing = { keys: deposits.keys, treasury, validBefore: deadline(deps, view.head.timestamp) }
  const validUntil = signing.validBefore - deps.options.authorizationSeconds + RENEWAL_SECONDS
  const failures: unknown[] = []
  // A missing seed of one address stops no other sweep.
  const trySigning = (unswept: Unswept): Promise<Sweep | null> =>
    signSweep(deps, signing, unswept).catch((failure: unknown) => {
      failures.push(failure)
      return null
    })
  const limit = SIGNED_AT_ONCE
  const stale = await journal.readStaleSweeps({ treasury, validUntil, after: places.stale, limit })
  places.stale = getLastOwner(stale)
  for (const one of stale) {
    const sweep = await trySigning(one)
    if (sweep !== null) await journal.renewSweep(sweep)
  }
  const unswept = await journal.readUnswept({ after: places.unswept, limit })
  places.unswept = getLastOwner(unswept)
  for (const one of unswept) {
    const sweep = await trySigning(one)
    if (sweep !== null) await journal.storeSweep(sweep)
  }
  await sendSigned(deps, { rounds, treasury, view })
  await sendFundings(deps, { rounds, view })
  if (failures.length > 0) throw failures[0]
}

async function sendSigned(
  deps: SettlementDeps,
  { rounds, treasury, view }: { rounds: readonly LaneRound[]; treasury: Hex; view: ChainView },
): Promise<void> {
  const { journal, codec, options, log } = deps
  const lane = rounds.find((round) => round.free() > 0)
  if (lane === undefined) return
  // A sweep that is expired or goes to an earlier treasury waits if it could not be signed again.
  const limit = mostItems(codec, chooseFees(view.fees, options.maxFeeWei).maxFee)
  const sweeps = await journal.readSendableSweeps({ treasury, validAt: view.head.timestamp, limit })
  if (sweeps.length === 0) return
  const good = await preflight(deps, sweeps)
  if (good.length > 0) await lane.sweep(good)
  if (good.length < sweeps.length)
    log.warn({ sweeps: sweeps.length - good.length }, 'sweeps that the token would refuse now wait')
}

/**
 * Sends merchants' authorizations that pay for refunds. Each has its own transaction: a wallet that is a contract checks
 * its signature itself, and could use up the gas of others.
 */
async function sendFundings(
  deps: SettlementDeps,
  { rounds, view }: { rounds: readonly LaneRound[]; view: ChainView },
): Promise<void> {
  const { journal } = deps
  for (const funding of await journal.readFundings({ validAt: view.head.timestamp, limit: FUNDED_AT_ONCE })) {
    const lane = rounds.find((round) => round.free() > 0)
    if (lane === undefined) return
    const reason = funding.refused === MINED_IN_VAIN ? funding.refused : await findRefusal(deps, funding)
    if (reason === null) await lane.fund(funding)
    else await journal.refuseFunding(funding, reason)
  }
}

async function findRefusal(deps: SettlementDeps, funding: Sweep): Promise<string | null> {
  const [simulated] = await simulate(deps, [funding], toFunding)
  return simulated?.reason ?? null
}

const toFunding = (funding: Sweep) => createSweepAuthorization(funding, true)

async function signSweep(
  { token }: SettlementDeps,
  { keys, treasury, validBefore }: { keys: DepositKeys; treasury: Hex; validBefore: number },
  unswept: Unswept,
): Promise<Sweep> {
  const account = keys.findAccount(unswept.ownerId, unswept.address)
  if (account === null) throw new Error(`the key of ${unswept.address} follows from no deposit seed that is here`)
  const authNonce = sweepNonce({ ...unswept, chainId: token.chainId, token: token.address })
  const { returnTo, address: sender, ...rest } = unswept
  const recipient = returnTo ?? treasury
  const signature = await signTransferAuthorization(account, token, {
    from: sender,
    to: recipient,
    micro: BigInt(unswept.micro),
    validBefore,
    nonce: authNonce,
  })
  return { ...rest, sender, recipient, authNonce, signature, validBefore }
}

/** Returns the sweeps that the token would accept, so that no gas is spent on others. */
async function preflight(deps: SettlementDeps, sweeps: readonly Sweep[]): Promise<Sweep[]> {
  const good: Sweep[] = []
  const refused: (Sweep & { reason: string })[] = []
  for (const { item, reason } of await simulate(deps, sweeps, (sweep) => createSweepAuthorization(sweep))) {
    if (reason === null) good.push(item)
    else if (/authorization is used or canceled/.test(reason)) await deps.journal.abandonSweep({ ...item, reason })
    else refused.push({ ...item, reason })
  }
  if (refused.length > 0) await deps.journal.refuseSweeps(refused)
  return good
}
