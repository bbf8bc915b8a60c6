import type { LocalAccount } from 'viem/accounts'
import type { Hex } from '../../domain/hex.ts'
import type { LaneBooks } from '../../domain/settlement/lead.ts'
import { type Envelope, type Lane, LeaseLostError } from '../../domain/settlement/payout.ts'
import { createMinutely, RETAINED_STATES, type SettlementDeps } from '../context.ts'
import { type BlockMemo, createBlockMemo } from './block-memo.ts'
import { chooseFees } from './fees.ts'
import { STRANDED_BLOCKS, STRANDED_MS } from './rescue.ts'
import { createRound, type LaneRound } from './round.ts'
import { type ChainView, resumeEnvelope, type Sender } from './sender.ts'

/** A wallet that sends transactions. `oneMore`: the maximum wei that one transaction can cost. */
export type LaneWallet = {
  readonly account: LocalAccount
  readonly wallet: Hex
  readonly oneMore: (maxFee: bigint) => bigint
  readonly standing: BlockMemo<Standing>
  readonly mayLog: () => boolean
}

/** The number of nonces that the wallet has used at a block, and its balance there. */
type Standing = { readonly nonce: number; readonly wei: bigint }

export const createLaneWallet = (
  deps: SettlementDeps,
  { account, oneMore }: Pick<LaneWallet, 'account' | 'oneMore'>,
): LaneWallet => ({
  account,
  oneMore,
  wallet: account.address.toLowerCase() as Hex,
  standing: createBlockMemo(),
  mayLog: createMinutely(deps.clock),
})

/**
 * Advances one lane: signs what was reserved, sends stored bytes again, raises the price of the lowest unmined nonce.
 * After a crash this is the whole recovery.
 */
export async function advanceLane(
  deps: SettlementDeps,
  { account, wallet, oneMore, mayLog, ...known }: LaneWallet,
  view: ChainView,
): Promise<LaneRound> {
  const { options } = deps
  const standing = await known.standing(view.head.hash, () => readStanding(deps, wallet, view))
  const { lane, envelopes } =
    view.lanes.find((one) => one.lane.wallet === wallet) ?? (await openLane(deps, wallet, view))
  const mined = standing.nonce
  const sender: Sender = { deps, account, lane, view, wei: standing.wei, mined, mayLog }
  const unmined = envelopes.filter(({ nonce }) => nonce >= mined)
  if (lane.status === 'quarantined') return createRound(sender, { stuck: unmined })
  if (view.cursor.pausedReason !== null || view.isTooExpensive) return createRound(sender, {})
  // Also while the lane is in doubt: these bytes are public anyway, and whoever has the key can do no more with them.
  const refused = await resumeAll(sender, unmined)
  // Nothing passes a nonce that does not get through.
  const slow = unmined[0] !== undefined && isSlow(unmined[0], view) ? unmined : []
  const doubted = view.doubts.get(wallet)
  if (doubted !== undefined) return createRound(sender, { stuck: [...doubted.map((nonce) => ({ nonce })), ...slow] })
  if (refused || slow.length > 0) return createRound(sender, { stuck: slow, isRefused: refused })
  const { maxFee } = chooseFees(view.fees, options.maxFeeWei)
  const needed = oneMore(maxFee) * BigInt(unmined.length + 1)
  const funded = await checkGasMoney(deps, lane, { needed, balance: standing.wei })
  // Nonces that the chain has used and the journal has not wait until they are final. Then they are examined.
  const isKnown = mined <= lane.nextNonce
  if (!isKnown) view.doubts.set(wallet, [])
  // The opposite: gas money that another engine has sent and ended since is not in the balances of this block.
  const isNew = mined >= endedBelow(lane, envelopes)
  const slots = funded && isKnown && isNew ? Math.max(0, options.maxInFlight - unmined.length) : 0
  return createRound(sender, { slots, spare: standing.wei - sumCosts(unmined, options.maxFeeWei) })
}

/** Opens the lane of a wallet that sends for the first time, after the nonces that final blocks have used. */
async function openLane({ journal, rpc, token }: SettlementDeps, wallet: Hex, view: ChainView): Promise<LaneBooks> {
  const { number } = view.head.number - view.cursor.number > RETAINED_STATES ? view.head : view.cursor
  const nextNonce = await rpc.demand(`how many nonces ${wallet} has used`, (node) =>
    node.transactionCount(wallet, number),
  )
  await journal.openLane(wallet, nextNonce)
  return { lane: { chainId: token.chainId, wallet, lease: view.lease, nextNonce, status: 'open' }, envelopes: [] }
}

/** Returns the maximum wei that the envelopes can cost, at any price to which they may be raised. */
const sumCosts = (envelopes: readonly Envelope[], maxFee: bigint): bigint =>
  envelopes.reduce((sum, { value, gasLimit }) => sum + value + gasLimit * maxFee, 0n)

/** Returns the nonce after the last ended one. A block at which the wallet has used fewer is older than that end. */
function endedBelow({ nextNonce }: Lane, open: readonly Envelope[]): number {
  const nonces = new Set(open.map(({ nonce }) => nonce))
  let below = nextNonce
  while (nonces.has(below - 1)) below -= 1
  return below
}

/**
 * Resumes each envelope. Returns true if one could not be resumed: its key may refuse to sign now, which stops no other
 * one.
 */
async function resumeAll(sender: Sender, unmined: readonly Envelope[]): Promise<boolean> {
  let refused = false
  for (const envelope of unmined)
    try {
      await resumeEnvelope(sender, envelope, envelope.nonce === sender.mined)
    } catch (error) {
      if (error instanceof LeaseLostError) throw error
      refused = true
      const about = { wallet: sender.lane.wallet, nonce: envelope.nonce, err: error }
      sender.deps.log.warn(about, 'a transaction could not be sent again; tried again next round')
    }
  return refused
}

function isSlow({ ageMs, attempts }: Envelope, view: ChainView): boolean {
  const since = attempts[0]?.signedBlock ?? 0
  return ageMs >= STRANDED_MS && view.head.number - since >= STRANDED_BLOCKS
}

function readStanding({ rpc }: SettlementDeps, wallet: Hex, { head: { number } }: ChainView): Promise<Standing> {
  return rpc.demand(`where ${wallet} stands`, async (node) => {
    const [nonce, wei] = await Promise.all([node.transactionCount(wallet, number), node.balance(wallet, number)])
    return { nonce, wei }
  })
}

/** Returns true if the wallet can pay for all envelopes in flight and one more. A lane that cannot, waits. */
async function checkGasMoney(
  deps: SettlementDeps,
  lane: Lane,
  { needed, balance }: { needed: bigint; balance: bigint },
): Promise<boolean> {
  const funded = balance >= needed
  if (funded !== (lane.status === 'open')) {
    const reason = funded ? null : `${balance} wei, ${needed} needed`
    deps.log.warn({ wallet: lane.wallet, balance, needed, funded }, 'gas money of a lane')
    await deps.journal.setLaneStatus(lane, { status: funded ? 'open' : 'paused_gas', reason })
  }
  return funded
}
