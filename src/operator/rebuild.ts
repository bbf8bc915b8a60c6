import { randomUUID } from 'node:crypto'
import { type LocalAccount, toAccount } from 'viem/accounts'
import { multicallCodec } from '../chain/codec.ts'
import { SETTLEMENT_DEFAULTS, type SettlementDeps } from '../chain/context.ts'
import { type Fact, readFacts, treasuryLogs } from '../chain/observer/facts.ts'
import { rescan } from '../chain/observer/rescan.ts'
import { connectRpc, type Rpc } from '../chain/rpc/rpc.ts'
import { listPossibleReleases } from '../db/reserves/forgotten-releases.ts'
import type { JournalContext } from '../db/settlement/context.ts'
import { createSettlementJournal, type SettlementJournal } from '../db/settlement/journal.ts'
import { markRestored, nameForgotten } from '../db/settlement/observer/forgotten-payouts.ts'
import { listOwing, listRelayers, listTreasuries, rewindCursor } from '../db/settlement/rebuild.ts'
import { stampTreasuries } from '../db/settlement/signing/treasuries.ts'
import type { Hex } from '../domain/hex.ts'
import { plural } from '../domain/plural.ts'
import type { Lead } from '../domain/settlement/lead.ts'
import type { ChainCursor } from '../domain/settlement/payout.ts'
import { isPlausiblePayout, isPlausibleRelease, transferLimits } from '../domain/settlement/transfers.ts'
import { payoutNonce } from '../evm/payout-nonce.ts'
import { type Operation, stateText } from './payouts.ts'

/** Blocks per request, as in the observer. */
const RANGE = 1000

type Findings = {
  /** Paid on chain without a payout here: the payments hand them over again, or are notified. */
  readonly forgotten: readonly { readonly paymentId: string; readonly txHash: Hex; readonly logIndex: number }[]
  /** Releases of reserves that were paid on chain and are unknown here: the workers make them again. */
  readonly forgottenReleases: number
  /** Paid on chain as agreed, but not settled here. */
  readonly unsettled: number
  readonly settled: number
  readonly problems: readonly string[]
}

/**
 * Rebuilds the settlements from only the logs of the chain and the lists of payments and releases. A dry run only prints what it
 * finds. Otherwise the observer reads the chain again from the first block and ends what is proved. Repeating it
 * changes only the time since which the database counts as restored.
 */
export async function rebuild(operation: Operation): Promise<number> {
  const { db, settings, hooks, dryRun, say } = operation
  const scope = { livemode: db.livemode, chainId: settings.CHAIN_ID, token: settings.USDC_ADDRESS }
  const rpc = connectNodes(operation)
  const treasuries = await knownTreasuries(operation)
  if (treasuries.length === 0) throw new Error('no treasury is known: set TREASURIES')
  const context = { db, scope, hooks }
  const journal = createSettlementJournal(context)
  // First of all: the mark then remains if a later step fails, and precedes every payment that is newer than the list.
  if (!dryRun) await markAndStamp(operation, context)
  await refuseReplaced(rpc, await journal.readCursor())
  const start = Math.max(0, settings.SETTLEMENT_START_BLOCK - 1)
  const facts = await readChain(rpc, { token: scope.token, treasuries }, start)
  say(`${plural(facts.length, 'log')} of ${plural(treasuries.length, 'treasury', 'treasuries')} since block ${start}`)
  const found = await compare({ ...operation, scope, treasuries }, facts)
  say(`payouts settled here and on chain: ${found.settled}; paid on chain and open here: ${found.unsettled}`)
  say(`paid on chain and unknown here: ${found.forgotten.length}`)
  say(`releases of reserves paid on chain and unknown here: ${found.forgottenReleases}`)
  for (const problem of found.problems) say(`WARNING: ${problem}`)
  if (dryRun) return found.problems.length === 0 ? 0 : 1

  const owner = randomUUID()
  const first = await rpc.agreed((node) => node.block(start))
  if (first === null) throw new Error(`the nodes do not agree on block ${start}`)
  const lead = await takeLead(journal, { owner, start: first.value })
  try {
    // The cursor may have been created just now.
    await markRestored(db, scope)
    await rewindCursor(context, lead.lease, first.value)
    const parts = { rpc, journal, lead, treasuries }
    await readFromCursor(operation, parts)
    await nameForgotten(db, scope, found.forgotten)
    if ((await journal.queueForgotten()) > 0) await readFromCursor(operation, parts)
  } finally {
    await journal.releaseLead(owner)
  }
  say(`read to block ${(await journal.readCursor())?.number}`)
  return found.problems.length === 0 ? 0 : 1
}

export async function knownTreasuries({ db, settings }: Operation): Promise<Hex[]> {
  const scope = { livemode: db.livemode, chainId: settings.CHAIN_ID, token: settings.USDC_ADDRESS }
  const named = settings.TREASURIES.map(({ address }) => address)
  return [...new Set([...named, ...(await listTreasuries(db, scope))])]
}

async function markAndStamp({ db, settings }: Operation, context: JournalContext): Promise<void> {
  await markRestored(db, context.scope)
  const list = settings.TREASURIES
  const refusal = list.length === 0 ? null : await stampTreasuries(context, { list, keys: null })
  if (refusal !== null) throw new Error(refusal)
}

/** Transfers of blocks that have left the chain are already booked. Reading again would count them twice. */
async function refuseReplaced(rpc: Rpc, cursor: ChainCursor | null): Promise<void> {
  if (cursor === null) return
  const { number, hash } = cursor
  const now = await rpc.demand(`what block ${number} is`, (node) => node.block(number))
  if (now.hash !== hash)
    throw new Error(`block ${number} was final as ${hash} and is ${now.hash} now: run repair-finality first`)
}

/** Throws if a worker leads. `start`: the first block to read, if nothing was read yet. */
export async function takeLead(
  journal: SettlementJournal,
  { owner, start }: { owner: string; start: { number: number; hash: Hex } },
): Promise<Lead> {
  await journal.openCursor(start)
  const lead = await journal.lead({ owner, leaseMs: 60_000, wallets: [], treasuries: [] })
  if (lead === null || 'othersMs' in lead) throw new Error('a worker is reading the chain: stop the workers first')
  return lead
}

/** Reads up to the final block, without keys. */
export async function readFromCursor(
  { db, settings, say }: Operation,
  parts: { rpc: Rpc; journal: SettlementJournal; lead: Lead; treasuries: readonly Hex[] },
): Promise<void> {
  const { rpc, journal, lead, treasuries } = parts
  const log = { info: () => undefined, warn: warnBy(say), error: warnBy(say) }
  const deps: SettlementDeps = {
    journal,
    rpc,
    log,
    codec: multicallCodec,
    clock: () => new Date(),
    treasuries: [],
    deposits: { keys: null, wrongTokens: settings.DEPOSIT_WRONG_TOKENS },
    relayers: (await listRelayers(db, settings.CHAIN_ID)).map(keylessRelayer),
    funding: null,
    token: { chainId: settings.CHAIN_ID, address: settings.USDC_ADDRESS, name: '' },
    treasuryList: treasuries.map((address) => ({ address, firstId: null })),
    options: { ...READING, limits: transferLimits(settings) },
  }
  await rescan(deps, lead)
}

/**
 * The observer must know which transactions belong to the platform: their transfers are not unknown, even if a restored
 * backup has forgotten the payment.
 */
function keylessRelayer(address: Hex): LocalAccount {
  const refuse = (): never => {
    throw new Error(`${address} signs nothing here`)
  }
  return toAccount({ address, signMessage: refuse, signTransaction: refuse, signTypedData: refuse })
}

/** An observer that only reads signs nothing and pays no gas. */
const READING = { ...SETTLEMENT_DEFAULTS, owner: '', maxFeeWei: 0n, maxMicroPerDay: 0n }

const warnBy =
  (say: (line: string) => void) =>
  (_fields: object, message: string): void =>
    say(message)

type Nodes = {
  readonly settings: Pick<Operation['settings'], 'POLYGON_RPC_URLS' | 'FINALITY_QUORUM' | 'CHAIN_ID'>
  readonly say: Operation['say']
}

export function connectNodes({ settings, say }: Nodes): Rpc {
  return connectRpc({
    urls: settings.POLYGON_RPC_URLS.map((url) => url.reveal()),
    quorum: settings.FINALITY_QUORUM,
    chainId: settings.CHAIN_ID,
    warn: (about, message) => say(`${message}: ${JSON.stringify(about)}`),
  })
}

async function readChain(rpc: Rpc, scope: { token: Hex; treasuries: readonly Hex[] }, start: number): Promise<Fact[]> {
  const final = await rpc.finalized()
  if (final === null) throw new Error('no block is final now')
  const facts: Fact[] = []
  for (let fromBlock = start; fromBlock <= final.number; fromBlock += RANGE) {
    const toBlock = Math.min(final.number, fromBlock + RANGE - 1)
    const logs = await rpc.agreed((node) => treasuryLogs(node, scope, { fromBlock, toBlock }))
    if (logs === null) throw new Error(`the nodes do not agree on the blocks ${fromBlock} to ${toBlock}`)
    facts.push(...readFacts(logs.value, scope.treasuries))
  }
  return facts
}

type Comparison = Operation & {
  readonly scope: { livemode: boolean; chainId: number; token: Hex }
  readonly treasuries: readonly Hex[]
}

async function compare({ db, settings, scope, treasuries }: Comparison, facts: readonly Fact[]): Promise<Findings> {
  const paid = new Map(facts.flatMap((fact) => (fact.kind === 'out' && fact.authNonce ? [[fact.authNonce, fact]] : [])))
  const forgotten: Findings['forgotten'][number][] = []
  const problems: string[] = []
  let [unsettled, settled] = [0, 0]
  const limits = transferLimits(settings)
  for await (const { ownerId, owed, payoutState, payoutTreasury } of listOwing(db, scope)) {
    const found = treasuries.flatMap((treasury) => {
      const fact = paid.get(payoutNonce({ ...scope, treasury, ownerId }))
      return fact === undefined ? [] : [fact]
    })
    if (found.length > 1) problems.push(`${ownerId} was paid by ${found.length} treasuries`)
    const [fact] = found
    if (fact === undefined) {
      if (payoutState === 'settled') problems.push(`${ownerId} is settled here and not paid on chain`)
      continue
    }
    const { counterparty, microUsdc, txHash, logIndex } = fact
    if (!isPlausiblePayout(fact, owed, limits))
      problems.push(
        `${ownerId} was paid ${microUsdc} to ${counterparty}, owed ${owed.net ?? `about ${owed.quotedNet}`} to ${owed.recipient}`,
      )
    else if (payoutTreasury !== null && payoutTreasury !== fact.treasury)
      problems.push(
        `${ownerId} was paid by ${fact.treasury} in ${txHash}, but the payout here is ${stateText(payoutState ?? 'unknown', null)} at ` +
          `another treasury, ${payoutTreasury}. The merchant has the money: do not refund it and do not pay it by hand. ` +
          `If the key of ${payoutTreasury} is lost, run pinrail settlement take-over ${payoutTreasury} again: the payout then ends by that transfer.`,
      )
    else if (payoutState === 'settled') settled += 1
    else if (payoutState !== null) unsettled += 1
    else forgotten.push({ paymentId: ownerId, txHash, logIndex })
  }
  let forgottenReleases = 0
  const today = new Date().toISOString().slice(0, 10)
  for (const release of await listPossibleReleases(db, scope, today))
    for (const treasury of treasuries) {
      const fact = paid.get(payoutNonce({ ...scope, treasury, ownerId: release.id }))
      if (fact === undefined) continue
      if (isPlausibleRelease(fact, release, limits)) forgottenReleases += 1
      else
        problems.push(
          `${release.id} was paid ${fact.microUsdc} to ${fact.counterparty}, and at most ${release.mostMicro} were due to ${release.recipient ?? 'a merchant without a wallet here'}`,
        )
    }
  return { forgotten, forgottenReleases, unsettled, settled, problems }
}
