import type { LocalAccount } from 'viem/accounts'
import type { Sweep } from '../../domain/deposit.ts'
import type { Envelope, EnvelopeEnd, Hex, Lane, SignedPayout } from '../../domain/payout.ts'
import type { SettlementDeps } from '../context.ts'
import { chooseFees } from './fees.ts'
import { areExplained } from './foreign.ts'
import { type ChainView, resumeEnvelope, type Sender, sendBatch, sendSweeps } from './sender.ts'

/** One relayer wallet in one round. */
export type LaneRound = {
  /** How many more envelopes may be sent now. */
  free(): number
  send(payouts: readonly SignedPayout[]): Promise<void>
  sweep(sweeps: readonly Sweep[]): Promise<void>
}

const lower = (value: string): Hex => value.toLowerCase() as Hex

/**
 * Brings one lane forward: ends envelopes that the finalized chain has decided, signs what was reserved, sends stored
 * bytes again, raises the price of the lowest unmined nonce. After a crash this is the whole recovery. Null when another
 * engine has the lane.
 */
export async function advanceLane(
  deps: SettlementDeps,
  account: LocalAccount,
  view: ChainView,
): Promise<LaneRound | null> {
  const { journal, rpc, options } = deps
  const wallet = lower(account.address)
  const final = await rpc.agreed((provider) => provider.transactionCount(wallet, view.cursor.number))
  if (final === null) return null
  const lane = await journal.leaseLane(wallet, { ...options, firstNonce: final.value })
  if (lane === null) return null
  const mined = await rpc.any((provider) => provider.transactionCount(wallet, 'latest'))
  const envelopes = await journal.readEnvelopes(lane)
  const foreign = await adopt(deps, lane, final.value)
  const used = envelopes.filter(({ nonce }) => nonce < final.value)
  foreign.push(...(await conclude(deps, lane, { used, view })))
  const quarantined = lane.status === 'quarantined' || (await quarantine(deps, lane, { foreign, view }))
  const sender: Sender = { deps, account, lane, view }
  const round = (slots: number): LaneRound => {
    let free = slots
    return {
      free: () => free,
      send(payouts) {
        free -= 1
        return sendBatch(sender, payouts)
      },
      sweep(sweeps) {
        free -= 1
        return sendSweeps(sender, sweeps)
      },
    }
  }
  if (quarantined || view.cursor.pausedReason !== null) return round(0)
  const unmined = envelopes.filter(({ nonce }) => nonce >= Math.max(mined, final.value))
  for (const envelope of unmined) await resumeEnvelope(sender, envelope, envelope.nonce === mined)
  const funded = await checkGasMoney(deps, lane, { view, unmined: unmined.length })
  // Nonces used on chain beyond what is known here wait until they are final.
  const behind = lane.nextNonce < mined && lane.nextNonce >= final.value
  return round(funded && !behind ? Math.max(0, options.maxInFlight - unmined.length) : 0)
}

/** Takes over the nonces that the chain has used and the journal has not: after a restore, or a foreign use of the key. */
async function adopt(deps: SettlementDeps, lane: Lane, final: number): Promise<number[]> {
  if (lane.nextNonce >= final) return []
  deps.log.warn(
    { wallet: lane.wallet, from: lane.nextNonce, to: final },
    'the chain used nonces unknown to this journal',
  )
  await deps.journal.adoptNonces(lane, final)
  return Array.from({ length: final - lane.nextNonce }, (_nonce, index) => lane.nextNonce + index)
}

/** Stops a lane whose key somebody else seems to use. Its payouts are free again, and go out by the other lanes. */
async function quarantine(
  deps: SettlementDeps,
  lane: Lane,
  used: { foreign: readonly number[]; view: ChainView },
): Promise<boolean> {
  if (used.foreign.length === 0) return false
  if (await areExplained(deps, lane.wallet, { nonces: used.foreign, final: used.view.cursor.number })) return false
  deps.log.error(
    { wallet: lane.wallet, nonces: used.foreign },
    'somebody else uses the key of this lane: it is stopped',
  )
  const reason = `nonces ${used.foreign.join(', ')} were used by transactions that are not ours`
  await deps.journal.setLaneStatus(lane, { status: 'quarantined', reason })
  return true
}

/** Whether the wallet can pay for everything in flight and one more full batch. A lane without gas money waits. */
async function checkGasMoney(
  deps: SettlementDeps,
  lane: Lane,
  round: { view: ChainView; unmined: number },
): Promise<boolean> {
  const { maxFee } = chooseFees(round.view.fees, deps.options.maxFeeWei)
  const needed = deps.codec.gasLimit(deps.codec.maxItems) * maxFee * BigInt(round.unmined + 1)
  const balance = await deps.rpc.any((provider) => provider.balance(lane.wallet))
  const funded = balance >= needed
  if (funded !== (lane.status === 'open')) {
    const reason = funded ? null : `${balance} wei, ${needed} needed`
    deps.log.warn({ wallet: lane.wallet, balance, needed, funded }, 'gas money of a lane')
    await deps.journal.setLaneStatus(lane, { status: funded ? 'open' : 'paused_gas', reason })
  }
  return funded
}

/** Ends envelopes whose nonces the finalized chain has used. Answers the nonces that somebody else has used. */
async function conclude(
  deps: SettlementDeps,
  lane: Lane,
  { used, view }: { used: readonly Envelope[]; view: ChainView },
): Promise<number[]> {
  const ends = (await Promise.all(used.map((envelope) => readEnd(deps, envelope, view)))).filter((end) => end !== null)
  if (ends.length === 0) return []
  const refused = await deps.journal.endEnvelopes(lane, ends)
  if (refused.length > 0) deps.log.warn({ wallet: lane.wallet, refused }, 'payouts refused in a batch')
  const foreign = ends.filter(({ state }) => state === 'foreign').map(({ nonce }) => nonce)
  if (foreign.length > 0)
    deps.log.error({ wallet: lane.wallet, nonces: foreign }, 'nonces were used by transactions that are not ours')
  return foreign
}

/** How the nonce of an envelope was used: by one of our attempts, or by somebody else. Null: not known yet. */
async function readEnd(deps: SettlementDeps, envelope: Envelope, view: ChainView): Promise<EnvelopeEnd | null> {
  const { nonce } = envelope
  for (const attempt of envelope.attempts) {
    const receipt = await deps.rpc.agreed(async (provider) => {
      // A node that is behind does not know the receipt yet, which must not be taken for its absence.
      const head = await provider.block('latest')
      if (head.number < view.head.number) throw new Error(`${provider.name} is behind`)
      return provider.receipt(attempt.txHash)
    })
    if (receipt === null) return null
    const won = receipt.value
    if (won === null) continue
    return won.blockNumber > view.cursor.number ? null : { nonce, state: 'finalized', ...won }
  }
  return { nonce, state: 'foreign' }
}
