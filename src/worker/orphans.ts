import type { Client } from '@temporalio/client'
import type { Db } from '../db/db.ts'
import { listLate } from '../db/payments/attention.ts'
import { readStarts } from '../db/payments/payment-starts.ts'
import { listUnclosed } from '../db/payments/payments.ts'
import { lateMoneyWorkflowId } from '../domain/ids.ts'
import type { Logger } from '../log.ts'
import type { PaymentWorkflows } from '../temporal/payments.ts'

export type OrphanDeps = {
  readonly db: Db
  readonly client: Pick<Client, 'workflow'>
  readonly workflows: PaymentWorkflows
  readonly clock: () => number
  readonly log: Logger
  /** Does the work for each item; answers for how many it succeeded. */
  readonly forEach: <T>(items: readonly T[], work: (item: T) => Promise<void>) => Promise<number>
}

/** Milliseconds: younger workflows may be missing from Temporal's list. */
const ORPHAN_AGE_MS = 20_000
const PAGE = 1000

/** Whatever is open has a workflow: what lost it, by hand or with Temporal's store, gets one again. Answers how many. */
export async function adoptOrphans(deps: OrphanDeps): Promise<number> {
  return (await adoptPayments(deps)) + (await adoptLateMoney(deps))
}

async function adoptPayments(deps: OrphanDeps): Promise<number> {
  const { db, workflows, log } = deps
  const running = await runningOf(deps, 'payment')
  const createdBefore = new Date(deps.clock() - ORPHAN_AGE_MS).toISOString()
  let adopted = 0
  for (let after = ''; ; ) {
    const ids = await listUnclosed(db, { after, createdBefore, limit: PAGE })
    const orphans = await readStarts(
      db,
      ids.filter((id) => !running.has(id)),
    )
    adopted += await deps.forEach(orphans, async (start) => {
      // Temporal's list may be out of date, but the start does nothing when a run exists.
      if (await workflows.resume(start))
        log.warn({ payment_id: start.id }, 'a payment had no workflow: it has one again')
    })
    after = ids.at(-1) ?? ''
    if (ids.length < PAGE) return adopted
  }
}

/** Money that came too late has a workflow of its own, beside its payment's. */
async function adoptLateMoney(deps: OrphanDeps): Promise<number> {
  let running: Set<string> | null = null
  let adopted = 0
  for (let after = ''; ; ) {
    const late = await listLate(deps.db, { after, limit: PAGE })
    if (late.length === 0) return adopted
    const known = (running ??= await runningOf(deps, 'lateMoney'))
    const orphans = late.filter(({ attempt_id: attemptId }) => !known.has(lateMoneyWorkflowId(attemptId)))
    adopted += await deps.forEach(orphans, async ({ payment_id: paymentId, attempt_id: attemptId }) => {
      if (await deps.workflows.openLateMoney({ paymentId, attemptId }))
        deps.log.warn({ payment_id: paymentId, attempt_id: attemptId }, 'late money had no workflow: it has one again')
    })
    after = late.at(-1)?.attempt_id ?? ''
    if (late.length < PAGE) return adopted
  }
}

async function runningOf({ client }: OrphanDeps, type: 'payment' | 'lateMoney'): Promise<Set<string>> {
  const ids = new Set<string>()
  const query = `WorkflowType = '${type}' AND ExecutionStatus = 'Running'`
  for await (const execution of client.workflow.list({ query, pageSize: PAGE })) ids.add(execution.workflowId)
  return ids
}
