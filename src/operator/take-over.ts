import { SETTLEMENT_DEFAULTS } from '../chain/context.ts'
import { deadAfter, readFinal } from '../chain/rotation.ts'
import { readCursor } from '../db/settlement/cursor.ts'
import { readOpenOf, takeOver } from '../db/settlement/signing/takeover.ts'
import { readCurrentTreasury, readRetired } from '../db/settlement/signing/treasuries.ts'
import type { Hex } from '../domain/hex.ts'
import { plural } from '../domain/plural.ts'
import type { Operation } from './payouts.ts'
import { connectNodes } from './rebuild.ts'

/** Payouts that are proved and moved together. */
const PAGE = 200

const timeOf = (unixSeconds: number): string => new Date(unixSeconds * 1000).toISOString()

/**
 * Has the current treasury pay what is queued on one whose key is gone. For each payout a quorum of nodes must say that
 * its nonce under the old treasury is unused at a final block after which none of that treasury's signatures is valid.
 * Doing it again moves what is left. What waits for a decision moves and goes on waiting: before it, the partner is asked
 * whether the money is still there. Answers 1 when something is left or waits.
 */
export async function takeOverPayouts(operation: Operation, from: Hex): Promise<number> {
  const { db, settings, hooks, dryRun, say } = operation
  const scope = { livemode: db.livemode, chainId: settings.CHAIN_ID, token: settings.USDC_ADDRESS }
  const context = { db, scope, hooks }
  const to = (await readCurrentTreasury(context))?.treasury ?? null
  if (to === null) throw new Error('no treasury is current: start the workers with the new TREASURY_KEY first')
  const old = (await readRetired(context)).find(({ treasury }) => treasury === from)
  if (old?.keylessAt === undefined || old.keylessAt === null)
    throw new Error(
      `${from} must be a treasury without a key: remove its key from TREASURY_KEY and RETIRED_TREASURY_KEYS, write its ` +
        'address to RETIRED_TREASURIES, and restart every worker',
    )
  const dead = deadAfter(old.keylessAt, SETTLEMENT_DEFAULTS.authorizationSeconds)
  const cursor = await readCursor(context)
  const rpc = connectNodes(operation)
  let [moved, left, waiting] = [0, 0, 0]
  for (let after = ''; ; ) {
    const payouts = await readOpenOf(context, { treasury: from, after, limit: PAGE })
    if (payouts.length === 0) break
    const final = cursor && (await readFinal({ rpc, token: { address: scope.token } }, payouts, cursor))
    if (cursor === null || final === null) throw new Error('the nodes do not agree on the last final block: try again')
    if (final.timestamp < dead) {
      say(`signatures of ${from} may be valid until ${timeOf(dead)}; the final chain is at ${timeOf(final.timestamp)}`)
      return 1
    }
    for (const { paymentId } of payouts.filter(({ authNonce }) => final.used.has(authNonce)))
      say(`${paymentId} stays: ${from} has already paid or canceled it, and its log on chain will end it`)
    const unused = payouts.filter(({ authNonce }) => !final.used.has(authNonce))
    const proof = { number: cursor.number, hash: cursor.hash, time: final.timestamp, dead }
    const done = await takeOver(context, { payouts: unused, to, proof, dryRun })
    for (const { paymentId } of unused) {
      const failure = done.failed.find((failed) => failed.paymentId === paymentId)
      if (failure !== undefined) say(`${paymentId} stays: ${failure.error.message}`)
      else if (!done.moved.includes(paymentId))
        say(`${paymentId} stays: a later signature of ${from} for it is still valid, or it has ended in the meantime`)
    }
    const waits = unused.filter((payout) => payout.waits && done.moved.includes(payout.paymentId))
    for (const { paymentId } of waits)
      say(`${paymentId} ${dryRun ? 'would be' : 'is'} taken over and waits: pinrail payments decide ${paymentId} retry`)
    moved += done.moved.length - waits.length
    waiting += waits.length
    left += payouts.length - done.moved.length
    after = payouts.at(-1)?.paymentId ?? after
  }
  say(
    `${dryRun ? 'would be queued' : 'queued'} on ${to}: ${plural(moved, 'payout')} of ${from}; waiting for a decision: ${waiting}; not moved: ${left}`,
  )
  return left + waiting === 0 ? 0 : 1
}
