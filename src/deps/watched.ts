import type { Worker } from '@temporalio/worker'
import { countApplicants, countBacklog, countPayments, countSettled } from '../db/books.ts'
import type { Db } from '../db/db.ts'
import { countViolations, readAge } from '../db/invariants/violations.ts'
import { listDown } from '../db/partners/standing.ts'
import { countAttention } from '../db/payments/attention.ts'
import { watchBooks } from '../runtime/metrics.ts'
import type { Registry } from '../runtime/registry.ts'
import { type SettlementSources, watchSettlement } from '../runtime/settlement.ts'

export function createMonitoring({
  registry,
  db,
  workers,
  temporal,
  settlement,
}: {
  registry: Registry
  db: Db
  settlement: SettlementSources
  workers: readonly Worker[]
  temporal: { check(): Promise<void> }
}) {
  watchBooks(registry, {
    payments: () => countPayments(db),
    attention: () => countAttention(db),
    backlog: () => countBacklog(db),
    settled: () => countSettled(db),
    applicants: () => countApplicants(db),
    partners: () => listDown(db),
    invariants: () => countViolations(db),
    reconciled: async () => [await readAge(db)],
  })
  watchSettlement(registry, settlement)
  const polls = async (): Promise<void> => {
    if (workers.some((worker) => worker.getState() !== 'RUNNING')) throw new Error('a queue is not polled')
  }
  const checks = [
    { name: 'postgres', needed: true, check: db.answers },
    { name: 'temporal', needed: true, check: () => temporal.check() },
    { name: 'queues', needed: true, check: polls },
  ]
  return { registry, checks }
}
