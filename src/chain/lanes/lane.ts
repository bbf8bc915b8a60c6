import type { LocalAccount } from 'viem/accounts'
import type { Hex } from '../../domain/hex.ts'
import {
  type Envelope,
  type EnvelopeEnd,
  type FinalTransaction,
  type Lane,
  LeaseLostError,
} from '../../domain/settlement/payout.ts'
import { createMinutely, KEPT_STATES, type SettlementDeps } from '../context.ts'
import { isReplaced } from '../observer/replaced.ts'
import { NodeFailure } from '../rpc/failure.ts'
import { createStint, type Stint } from '../stint.ts'
import { type BlockMemo, createBlockMemo } from './block-memo.ts'
import { chooseFees } from './fees.ts'
import { areExplained } from './foreign.ts'
import { createRound, type LaneRound } from './round.ts'
import { type ChainView, resumeEnvelope, type Sender } from './sender.ts'
import { STRANDED_BLOCKS, STRANDED_MS } from './stranded.ts'

/** A wallet that sends transactions, and the most wei that one of them can cost. */
export type LaneWallet = {
  readonly account: LocalAccount
  readonly oneMore: (maxFee: bigint) => bigint
  readonly stint: Stint
  readonly finalNonce: BlockMemo<number | null>
  readonly standing: BlockMemo<Standing>
  /** True once a minute. */
  readonly mayLog: () => boolean
}

/** The number of nonces that the wallet has used at a block, and its balance there. */
type Standing = { readonly nonce: number; readonly wei: bigint }

const lower = (value: string): Hex => value.toLowerCase() as Hex

export const createLaneWallet = (
  deps: SettlementDeps,
  wallet: Pick<LaneWallet, 'account' | 'oneMore'>,
): LaneWallet => ({
  ...wallet,
  stint: createStint(deps, { lane: lower(wallet.account.address) }),
  finalNonce: createBlockMemo(),
  standing: createBlockMemo(),
  mayLog: createMinutely(deps.clock),
})

/**
 * Advances one lane: ends envelopes that finalized blocks have decided, signs what was reserved, sends stored bytes
 * again, raises the price of the lowest unmined nonce. After a crash this is the whole recovery. Null when another
 * engine has the lane, or may have it because its key refuses here.
 */
export async function advanceLane(
  deps: SettlementDeps,
  { account, oneMore, stint, mayLog, ...known }: LaneWallet,
  view: ChainView,
): Promise<LaneRound | null> {
  const { journal, options } = deps
  if (stint.rests()) return null
  const wallet = lower(account.address)
  const readFinal = () => known.finalNonce(view.cursor.hash, () => readFinalNonce(deps, wallet, view))
  const readNow = () => known.standing(view.head.hash, () => readStanding(deps, wallet, view))
  const firstNonce = async (): Promise<number> => (await readFinal()) ?? (await readNow()).nonce
  const lane = await journal.leaseLane(wallet, { ...options, firstNonce })
  if (lane === null) return null
  // Without the final one nothing is ended, and everything else goes on.
  const [final, standing] = await Promise.all([readFinal(), readNow()])
  const mined = standing.nonce
  const envelopes = await journal.readEnvelopes(lane)
  const ends = final === null ? [] : await readEnds(deps, envelopes, { final, view })
  // Read before anything is written: when a read fails, the next round tries again.
  const trust = await judge(deps, lane, { strangers: strangeNonces(lane, ends, final ?? 0), view })
  const sender: Sender = { deps, account, lane, view, wei: standing.wei, mined, mayLog }
  if (trust !== 'in_doubt') await adopt(deps, lane, final ?? 0)
  await conclude(sender, decided(ends, trust))
  const unmined = envelopes.filter(({ nonce }) => nonce >= Math.max(mined, final ?? 0))
  if (trust === 'quarantined') return createRound(sender, { stuck: unmined })
  if (view.cursor.pausedReason !== null || view.isTooDear) return createRound(sender, {})
  // Also while an explanation is missing: these bytes are known anyway, and whoever has the key can do no more with them.
  const refused = await resumeAll(sender, unmined)
  await stint.ended(refused)
  // Behind a nonce that does not get through nothing else does.
  const slow = unmined[0] !== undefined && isSlow(unmined[0], view) ? unmined : []
  if (trust === 'in_doubt') return createRound(sender, { stuck: [...ends.filter(isForeign), ...slow] })
  if (refused || slow.length > 0) return createRound(sender, { stuck: slow })
  const { maxFee } = chooseFees(view.fees, options.maxFeeWei)
  const needed = oneMore(maxFee) * BigInt(unmined.length + 1)
  const funded = await checkGasMoney(deps, lane, { needed, balance: standing.wei })
  // Nonces that the chain has used and the journal has not wait until they are final.
  const isKnown = mined <= Math.max(lane.nextNonce, final ?? 0)
  // And the other way round: gas money that another engine has sent and ended since is not in the balances of this block.
  const isNew = mined >= endedBelow(lane, envelopes)
  const slots = funded && isKnown && isNew ? Math.max(0, options.maxInFlight - unmined.length) : 0
  return createRound(sender, { slots, spare: standing.wei - costOf(unmined, options.maxFeeWei) })
}

/** Most wei that they may cost, at any price to which they may be raised. */
const costOf = (envelopes: readonly Envelope[], maxFee: bigint): bigint =>
  envelopes.reduce((sum, { value, gasLimit }) => sum + value + gasLimit * maxFee, 0n)

/** The nonce after the last one that has ended. A block at which the wallet has used fewer is older than that end. */
function endedBelow({ nextNonce }: Lane, open: readonly Envelope[]): number {
  const nonces = new Set(open.map(({ nonce }) => nonce))
  let below = nextNonce
  while (nonces.has(below - 1)) below -= 1
  return below
}

/** Ends what final blocks have decided of a lane whose key is gone: that needs no signature. */
export async function endLane(deps: SettlementDeps, lane: Lane, view: ChainView): Promise<void> {
  const final = await readFinalNonce(deps, lane.wallet, view)
  if (final === null) return
  const ends = await readEnds(deps, await deps.journal.readEnvelopes(lane), { final, view })
  // What it did not send after these is looked at if its key comes back.
  const trust = await judge(deps, lane, { strangers: foreignNonces(ends), view })
  await conclude({ deps, lane, view }, decided(ends, trust))
}

/** Resumes each envelope. Answers whether one could not be: its key may refuse to sign now, which stops no other one. */
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

/**
 * How many nonces of the wallet final blocks have used, by quorum. Null when it cannot be known now: also when the last
 * final block that was read is so old that nodes no longer have its state.
 */
async function readFinalNonce({ rpc }: SettlementDeps, wallet: Hex, view: ChainView): Promise<number | null> {
  if (view.head.number - view.cursor.number > KEPT_STATES) return null
  const count = await rpc.agreed((node) => node.transactionCount(wallet, view.cursor.number))
  return count?.value ?? null
}

/** By quorum, at the head. */
function readStanding({ rpc }: SettlementDeps, wallet: Hex, { head: { number } }: ChainView): Promise<Standing> {
  return rpc.demand(`where ${wallet} stands`, async (node) => {
    const [nonce, wei] = await Promise.all([node.transactionCount(wallet, number), node.balance(wallet, number)])
    return { nonce, wei }
  })
}

/**
 * Nonces that finalized blocks have used and this journal has not: after a restore, or when somebody else has the key.
 */
function strangeNonces(lane: Lane, ends: readonly EnvelopeEnd[], final: number): number[] {
  const unknown = Array.from({ length: Math.max(0, final - lane.nextNonce) }, (_nonce, at) => lane.nextNonce + at)
  return [...foreignNonces(ends), ...unknown]
}

const isForeign = ({ state }: EnvelopeEnd): boolean => state === 'foreign'

const foreignNonces = (ends: readonly EnvelopeEnd[]): number[] => ends.filter(isForeign).map(({ nonce }) => nonce)

/** Who has the key of a lane. `in_doubt`: its nonces were used by transactions that the nodes do not show now. */
type Trust = 'ours' | 'in_doubt' | 'quarantined'

/** Stops a lane whose key somebody else seems to use. Its payouts go out by the other lanes. */
async function judge(
  deps: SettlementDeps,
  lane: Lane,
  { strangers, view }: { strangers: readonly number[]; view: ChainView },
): Promise<Trust> {
  if (lane.status === 'quarantined') return 'quarantined'
  if (strangers.length === 0) return 'ours'
  const about = { wallet: lane.wallet, nonces: strangers }
  const used = { nonces: strangers, final: view.cursor.number, head: view.head.number }
  const explained = await areExplained(deps, lane.wallet, used).catch((error: unknown) => {
    if (!(error instanceof NodeFailure)) throw error
    deps.log.warn(
      { ...about, err: error },
      'who used these nonces cannot be known now: nothing new is sent by the lane',
    )
    return null
  })
  if (explained === null) return 'in_doubt'
  if (explained) return 'ours'
  deps.log.error(about, 'somebody else uses the key of this lane: it is stopped')
  const reason = `nonces ${strangers.join(', ')} were used by transactions that are not ours`
  await deps.journal.setLaneStatus(lane, { status: 'quarantined', reason })
  return 'quarantined'
}

/** What can be ended now. A foreign end stays open until it is explained: the next round asks again by it. */
const decided = (ends: readonly EnvelopeEnd[], trust: Trust): EnvelopeEnd[] =>
  ends.filter((end) => trust !== 'in_doubt' || !isForeign(end))

/** Records the nonces that the journal does not know. */
async function adopt(deps: SettlementDeps, lane: Lane, final: number): Promise<void> {
  if (lane.nextNonce >= final) return
  const range = { from: lane.nextNonce, to: final }
  deps.log.warn({ wallet: lane.wallet, ...range }, 'the chain used nonces unknown to this journal')
  await deps.journal.adoptNonces(lane, final)
}

/** Whether the wallet can pay for all envelopes in flight and one more. A lane that cannot, waits. */
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

/**
 * The known ends of envelopes whose nonces finalized blocks have used. None while the last block that was read is another
 * one: the payouts in the new blocks are not read yet, and their gas would be booked for the lane, and for them again.
 */
async function readEnds(
  deps: SettlementDeps,
  envelopes: readonly Envelope[],
  { final, view }: { final: number; view: ChainView },
): Promise<EnvelopeEnd[]> {
  const used = envelopes.filter(({ nonce }) => nonce < final)
  const ends = (await Promise.all(used.map((envelope) => readEnd(deps, envelope, view)))).filter((end) => end !== null)
  return ends.length > 0 && (await isReplaced(deps.rpc, view.cursor)) ? [] : ends
}

async function conclude(
  { deps, lane, view }: Pick<Sender, 'deps' | 'lane' | 'view'>,
  ends: readonly EnvelopeEnd[],
): Promise<void> {
  if (ends.length === 0) return
  const refused = await deps.journal.endEnvelopes(lane, { ends, chainTime: view.head.timestamp })
  if (refused.length > 0) deps.log.warn({ wallet: lane.wallet, refused }, 'payouts refused in a batch')
  const foreign = foreignNonces(ends)
  if (foreign.length > 0)
    deps.log.error({ wallet: lane.wallet, nonces: foreign }, 'nonces were used by transactions that are not ours')
}

/** How many blocks after a final block a node has its receipts: it may have the block and its state a moment before. */
const RECEIPTS_KNOWN = 2

/** Whether the nonce of an envelope was used by one of its transactions or by somebody else. Null: not known yet. */
async function readEnd(deps: SettlementDeps, envelope: Envelope, view: ChainView): Promise<EnvelopeEnd | null> {
  const { nonce, attempts } = envelope
  const endBy = (won: FinalTransaction, isUnread: boolean): EnvelopeEnd | null =>
    won.blockNumber > view.cursor.number ? null : { nonce, state: 'finalized', isUnread, ...won }
  // Its receipt was read with the payouts in it, and has every log of them.
  const read = attempts.find(({ final }) => final !== null)?.final
  if (read) return endBy(read, false)
  for (const attempt of attempts) {
    const receipt = await deps.rpc.agreed(async (node) => {
      const head = await node.block('latest')
      const found = await node.receipt(attempt.txHash)
      // A node that is behind does not know the receipt yet. That must not count as an absent receipt.
      if (found === null && head.number < view.cursor.number + RECEIPTS_KNOWN) throw new Error(`${node.name} is behind`)
      if (found === null) return null
      // Bor adds its own log to each transaction.
      const logs = await node.receiptLogs(attempt.txHash)
      return { ...found, hasLogs: logs?.some(({ address }) => address === deps.token.address) !== false }
    })
    if (receipt === null) return null
    const won = receipt.value
    if (won !== null) return endBy(won, won.hasLogs)
  }
  return { nonce, state: 'foreign' }
}
