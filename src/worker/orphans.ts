import type { Client } from '@temporalio/client'
import type { Db } from '../db/db.ts'
import { readStarts } from '../db/payments/payment-starts.ts'
import { listUnclosed } from '../db/payments/payments.ts'
import type { Logger } from '../log.ts'
import type { PaymentWorkflows } from '../temporal/payments.ts'
import { PAYMENT_STATUS } from '../workflows/search-attributes.ts'

export type OrphanDeps = {
  readonly db: Db
  readonly client: Pick<Client, 'workflow'>
  readonly workflows: PaymentWorkflows
  readonly clock: () => number
  readonly log: Logger
  /** The version of each payment that its run was told of last, because it did not show it. Kept between the rounds. */
  readonly told: Map<string, number>
  /** Does the work for each item; answers for how many it succeeded. */
  readonly forEach: <T>(items: readonly T[], work: (item: T) => Promise<void>) => Promise<number>
}

/** Milliseconds: younger workflows may be missing from Temporal's list. */
const ORPHAN_AGE_MS = 20_000
/** Milliseconds: a run that takes a step, or waits for a moment only, does not show the state of its row at once. */
const SHOWN_WITHIN_MS = 60_000
const PAGE = 1000

/**
 * Whatever is open has a workflow that knows it: what lost it, by hand or with Temporal's store, gets one again. Answers how
 * many did.
 */
export async function adoptOrphans(deps: OrphanDeps): Promise<number> {
  const { db, workflows, log } = deps
  const running = await listRunning(deps)
  const createdBefore = new Date(deps.clock() - ORPHAN_AGE_MS).toISOString()
  const toldBefore = new Map(deps.told)
  deps.told.clear()
  let adopted = 0
  for (let after = ''; ; ) {
    const unclosed = await listUnclosed(db, { after, createdBefore, limit: PAGE })
    await tellRows(deps, { unclosed, running, toldBefore })
    const lost = unclosed.filter(({ id }) => !running.has(id))
    const orphans = await readStarts(
      db,
      lost.map(({ id }) => id),
    )
    adopted += await deps.forEach(orphans, async (start) => {
      // Temporal's list may be out of date, but the start does nothing when a run exists.
      if (await workflows.resume(start))
        log.warn({ payment_id: start.id }, 'a payment had no workflow: it has one again')
    })
    after = unclosed.at(-1)?.id ?? ''
    if (unclosed.length < PAGE) return adopted
  }
}

/**
 * A run may not know its row: an operator has reset it, or nobody could tell it of a change. It would refuse what the row
 * allows, and act only at its next clock. It is told once of each version.
 */
async function tellRows(
  { workflows, clock, told, log, forEach }: OrphanDeps,
  round: {
    readonly unclosed: Awaited<ReturnType<typeof listUnclosed>>
    readonly running: ReadonlyMap<string, string | undefined>
    readonly toldBefore: ReadonlyMap<string, number>
  },
): Promise<void> {
  const before = clock() - SHOWN_WITHIN_MS
  const unaware = round.unclosed.filter(
    ({ id, status, updated_at }) => (round.running.get(id) ?? status) !== status && Date.parse(updated_at) < before,
  )
  await forEach(unaware, async ({ id, version }) => {
    if (round.toldBefore.get(id) !== version) {
      await workflows.tellRowChanged(id)
      log.warn({ payment_id: id }, 'the run of a payment did not show its row: it was told')
    }
    told.set(id, version)
  })
}

/** The running workflows of payments, with the status that each shows. */
async function listRunning({ client }: OrphanDeps): Promise<Map<string, string | undefined>> {
  const shown = new Map<string, string | undefined>()
  const query = `WorkflowType = 'payment' AND ExecutionStatus = 'Running'`
  for await (const { workflowId, typedSearchAttributes } of client.workflow.list({ query, pageSize: PAGE }))
    shown.set(workflowId, typedSearchAttributes?.get(PAYMENT_STATUS))
  return shown
}
