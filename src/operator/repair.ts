import { randomUUID } from 'node:crypto'
import type { Rpc } from '../chain/rpc/rpc.ts'
import { createSettlementJournal } from '../db/settlement/journal.ts'
import {
  COMPARED_BLOCKS,
  concludeLost,
  endPause,
  type LostTransfer,
  listProofBlocks,
  READ_AGAIN,
  type TakenBack,
  takeBack,
} from '../db/settlement/observer/reversal.ts'
import type { Hex } from '../domain/hex.ts'
import { plural } from '../domain/plural.ts'
import { REVERSAL_PAUSE } from '../domain/settlement/payout.ts'
import type { Operation } from './payouts.ts'
import { connectNodes, knownTreasuries, readFromCursor, takeLead } from './rebuild.ts'

const TOGETHER = 20

type Found = {
  readonly gone: readonly Hex[]
  readonly oldest: number
  readonly cursorIsGone: boolean
}

/**
 * Repairs a reversal of finality: final blocks by which payouts were ended have been replaced. Everything that depends
 * on them is taken back and the chain is read again. A payout that is on the new chain too ends again at once. The
 * others are sent again with the same nonce, so that the token decides. A dry run only prints what it finds.
 */
export async function repairFinality(operation: Operation): Promise<number> {
  const { db, settings, hooks, dryRun, say } = operation
  const scope = { livemode: db.livemode, chainId: settings.CHAIN_ID, token: settings.USDC_ADDRESS }
  const context = { db, scope, hooks }
  const journal = createSettlementJournal(context)
  const rpc = connectNodes(operation)
  const cursor = await journal.readCursor()
  if (cursor === null) throw new Error('the chain was never read: there is nothing to repair')
  const blocks = await listProofBlocks(db, scope, Math.max(0, cursor.number - COMPARED_BLOCKS))
  const found = await compare(rpc, blocks, cursor)
  say(`${found.gone.length} of ${blocks.length} blocks that contain proofs have left the chain`)
  const isWhole = found.gone.length === 0 && !found.cursorIsGone
  // The pause of a reversal remains if an earlier repair was killed, or if the blocks have come back.
  const isPaused = cursor.pausedReason?.startsWith(REVERSAL_PAUSE) === true
  if (isWhole) say(`block ${cursor.number} is unchanged${isPaused ? ', but a repair must still end the pause' : ''}`)
  if (dryRun) return isWhole && !isPaused ? 0 : 1

  const number = Math.max(cursor.firstNumber, found.oldest - READ_AGAIN)
  const to = await agreedHash(rpc, number)
  const owner = randomUUID()
  const lead = await takeLead(journal, { owner, start: { number, hash: to } })
  try {
    const takenBack = await db.transaction(async (tx) => {
      const ended = await takeBack(tx, context, { lease: lead.lease, gone: found.gone, to: { number, hash: to } })
      printTakenBack(ended, say)
      return ended
    })
    say(`${plural(takenBack.ownerIds.length, 'payout')} had a proof there; read again from block ${number + 1}`)
    // Throws for a block without a quorum: that one is not proved gone.
    const again = await takeLead(journal, { owner, start: cursor })
    await readFromCursor(operation, { rpc, journal, lead: again, treasuries: await knownTreasuries(operation) })
    return await conclude(operation, takenBack)
  } finally {
    await journal.releaseLead(owner)
  }
}

async function compare(
  rpc: Rpc,
  blocks: readonly { number: number; hash: Hex }[],
  cursor: { number: number; hash: Hex },
): Promise<Found> {
  const final = await rpc.finalized()
  if (final === null || final.number < cursor.number)
    throw new Error(`the chain is not final up to block ${cursor.number} again: wait, then try again`)
  const gone: { number: number; hash: Hex }[] = []
  for (let start = 0; start < blocks.length; start += TOGETHER) {
    const part = blocks.slice(start, start + TOGETHER)
    const now = await Promise.all(part.map((block) => agreedHash(rpc, block.number)))
    gone.push(...part.filter((block, index) => now[index] !== block.hash))
  }
  const cursorIsGone = (await agreedHash(rpc, cursor.number)) !== cursor.hash
  const oldest = Math.min(cursor.number, ...gone.map((block) => block.number))
  return { gone: gone.map(({ hash }) => hash), oldest, cursorIsGone }
}

async function agreedHash(rpc: Rpc, number: number): Promise<Hex> {
  const block = await rpc.agreed((node) => node.block(number))
  if (block === null) throw new Error(`the nodes do not agree on block ${number}: try again`)
  return block.value.hash
}

/**
 * Books back what is not on the new chain, prints what an operator must check, which no later repair would print, and
 * ends the pause. Also concludes an earlier run that was killed before this.
 */
async function conclude({ db, settings, hooks, say }: Operation, takenBack: TakenBack): Promise<number> {
  const scope = { livemode: db.livemode, chainId: settings.CHAIN_ID, token: settings.USDC_ADDRESS }
  const { gone, isPaused } = await db.transaction(async (tx) => {
    const gone = await concludeLost(tx, scope)
    for (const one of gone) if ('movement' in one) await hooks.onTreasuryMovement(tx, one.movement)
    for (const one of gone) say(`WARNING: ${describe(one)}`)
    return { gone, isPaused: await endPause(tx, { db, scope, hooks }) }
  })
  say(isPaused ? 'still paused: unknown transfers left the treasury' : 'the lanes continue')
  return isPaused || gone.length + takenBack.unsendable.length > 0 ? 1 : 0
}

/** Printed before it is taken back: if this repair is killed, the next one no longer knows it. */
function printTakenBack({ ownerIds, unsendable }: TakenBack, say: Operation['say']): void {
  for (const { wallet, nonce } of unsendable)
    say(
      `WARNING: lane ${wallet} cannot send nonce ${nonce} again, because its bytes were dropped: an empty transfer ` +
        'will use up the nonce, and its payouts go out with another one',
    )
  for (const ownerId of ownerIds) say(`${ownerId} had its proof in a block that is gone`)
}

function describe(gone: LostTransfer): string {
  if ('movement' in gone) {
    const { micro, direction, counterparty, txHash } = gone.movement
    return `${micro} micro-USDC ${direction} (${counterparty}) in ${txHash} is no longer on chain: booked back`
  }
  const { units, token, paymentId, txHash } = gone
  return `${units} of ${token} at the address of ${paymentId} in ${txHash} is no longer on chain, but the payment still counts it`
}
