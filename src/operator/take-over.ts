import { doOrTry } from '../db/settlement/context.ts'
import { readTreasuryList, recordLoss } from '../db/settlement/signing/treasuries.ts'
import type { Hex } from '../domain/hex.ts'
import { Refusal } from './call.ts'
import { type Act, recordAct } from './payouts.ts'

/**
 * Records that the key of a treasury is lost, and which treasury takes over: `to`, or the last one whose key a worker
 * has. The workers do the rest: each open payout of the lost treasury moves to the other as soon as no signature can
 * pay it any more.
 */
export async function takeOver(act: Act, lost: Hex, to: Hex | null): Promise<number> {
  const { db, settings, dryRun, say } = act
  const scope = { chainId: settings.CHAIN_ID, token: settings.USDC_ADDRESS }
  const successor = await doOrTry(db, dryRun, async (tx) => {
    const found = await recordLoss(tx, scope, { lost, to })
    await recordAct(tx, act, { name: 'take_over', subject: lost })
    return found
  }).catch((error: unknown) => {
    if (error instanceof RangeError) throw new Refusal(error.message)
    throw error
  })
  const list = await readTreasuryList(db, scope)
  say(
    `${successor} ${dryRun ? 'would take' : 'takes'} over from ${lost}: each open payout, when no signature of the lost key can ` +
      'pay it any more. That is at once, or within 55 minutes of the last signature',
  )
  if (list.at(-1)?.address === lost)
    say(
      'new payments are still queued on it first: append the new treasury to TREASURIES with a date, and restart the workers',
    )
  say('never give its key to a worker again')
  return 0
}
