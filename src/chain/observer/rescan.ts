import type { Lead } from '../../domain/settlement/lead.ts'
import { type SettlementDeps, watchedTreasuries } from '../context.ts'
import { depositLogs, returnLogs } from '../deposits/deposit-logs.ts'
import { createApplier } from './apply.ts'
import { readBlockTimes } from './block-times.ts'
import { createEndings } from './endings.ts'
import { createFinalReader } from './final-blocks.ts'
import { createLogReader, createRange } from './logs.ts'

/**
 * Reads everything that is final after the cursor, with every log of treasuries and deposit addresses, and records it
 * for payments and books. An operator's command runs it. Throws if nodes do not agree on all of it now.
 */
export async function rescan(deps: SettlementDeps, lead: Pick<Lead, 'lease' | 'lanes'>): Promise<void> {
  const { journal, rpc, token } = deps
  const { lease, lanes } = lead
  const scope = { token: token.address, treasuries: watchedTreasuries(deps) }
  const { applyPending, applyProven } = createApplier(deps)
  const start = await journal.readCursor()
  const final = start && (await createFinalReader(deps).readFinal(lease, start))
  if (final === null) throw new Error('the nodes do not agree on what is final: try again')
  const { cursor } = final
  const { block: head } = await rpc.newest(cursor.number)
  await createEndings(deps, scope, new Map()).end({ lanes }, { ...final, head })
  const readLogs = createLogReader(deps, scope)
  for (let { logsNumber } = cursor; logsNumber < cursor.number; ) {
    const read = await readLogs(lease, { ...cursor, logsNumber }, 0)
    if (read === logsNumber) throw unread(read)
    logsNumber = read
  }
  const watched = {
    addresses: await journal.listDepositAddresses(),
    tokens: [token.address, ...(deps.deposits?.wrongTokens ?? [])],
  }
  const returning = { ...scope, token: token.address, addresses: await journal.listReturning(watched.addresses) }
  const range = createRange()
  for (let from = cursor.depositsNumber + 1; from <= cursor.number; ) {
    const to = Math.min(cursor.number, from + range.size() - 1)
    const blocks = { fromBlock: from, toBlock: to }
    const logs = await rpc.agreed(async (node) => ({
      arrived: await depositLogs(node, watched, blocks),
      returned: await returnLogs(node, returning, blocks),
    }))
    range.note(logs !== null)
    if (logs === null && to === from) throw unread(from - 1)
    if (logs === null) continue
    const { arrived, returned } = logs.value
    await journal.recordDeposits(lease, { logs: arrived, blockTimes: await readBlockTimes(rpc, arrived) })
    await journal.recordReturns(lease, returned)
    from = to + 1
  }
  await journal.moveDeposits(lease, { number: cursor.number, timestamp: final.timestamp })
  await applyPending()
  await applyProven(null)
}

const unread = (block: number): Error =>
  new Error(`the chain could not be read again after block ${block}: nothing was marked as gone. Try again`)
