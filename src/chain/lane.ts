import type { LocalAccount } from 'viem/accounts'
import type { Envelope, Hex, Lane, SignedPayout } from '../domain/payout.ts'
import type { SettlementDeps } from './context.ts'
import { chooseFees } from './fees.ts'
import { type ChainView, resumeEnvelope, type Sender, sendBatch } from './sender.ts'

/** One relayer wallet in one round. */
export type LaneRound = {
  /** How many more envelopes may be sent now. */
  readonly free: number
  send(payouts: readonly SignedPayout[]): Promise<void>
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
  if (lane.nextNonce < final.value) {
    deps.log.warn(
      { wallet, from: lane.nextNonce, to: final.value },
      'the chain used nonces that this journal does not know',
    )
    await journal.adoptNonces(lane, final.value)
  }
  const sender: Sender = { deps, account, lane, view }
  const envelopes = await journal.readEnvelopes(lane)
  for (const envelope of envelopes.filter(({ nonce }) => nonce < final.value))
    await conclude(deps, lane, { envelope, view })
  if (view.cursor.pausedReason !== null) return { free: 0, send: (payouts) => sendBatch(sender, payouts) }
  const open = envelopes.filter(({ nonce }) => nonce >= final.value)
  const unmined = open.filter(({ nonce }) => nonce >= mined)
  for (const envelope of unmined) await resumeEnvelope(sender, envelope, envelope.nonce === mined)
  const funded = await checkGasMoney(deps, lane, { view, unmined: unmined.length })
  // Nonces used on chain beyond what is known here wait until they are final.
  const behind = lane.nextNonce < mined && lane.nextNonce >= final.value
  const free =
    funded && !behind && lane.status !== 'quarantined' ? Math.max(0, options.maxInFlight - unmined.length) : 0
  return { free, send: (payouts) => sendBatch(sender, payouts) }
}

/** Whether the wallet can pay for everything in flight and one more full batch. A lane without gas money waits. */
async function checkGasMoney(
  deps: SettlementDeps,
  lane: Lane,
  round: { view: ChainView; unmined: number },
): Promise<boolean> {
  if (lane.status === 'quarantined') return false
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

/** Ends an envelope whose nonce the finalized chain has used: by one of our attempts, or by somebody else. */
async function conclude(
  deps: SettlementDeps,
  lane: Lane,
  round: { envelope: Envelope; view: ChainView },
): Promise<void> {
  const { envelope, view } = round
  for (const attempt of envelope.attempts) {
    const receipt = await deps.rpc.agreed(async (provider) => {
      // A node that is behind does not know the receipt yet, which must not be taken for its absence.
      const head = await provider.block('latest')
      if (head.number < view.head.number) throw new Error(`${provider.name} is behind`)
      return provider.receipt(attempt.txHash)
    })
    if (receipt === null) return
    const won = receipt.value
    if (won === null) continue
    if (won.blockNumber > view.cursor.number) return
    const { refused } = await deps.journal.endEnvelope(lane, {
      nonce: envelope.nonce,
      end: { state: 'finalized', ...won },
    })
    if (refused.length > 0)
      deps.log.warn({ wallet: lane.wallet, nonce: envelope.nonce, refused }, 'payouts refused in a batch')
    return
  }
  deps.log.error({ wallet: lane.wallet, nonce: envelope.nonce }, 'a nonce was used by a transaction that is not ours')
  await deps.journal.endEnvelope(lane, { nonce: envelope.nonce, end: { state: 'foreign' } })
}
