import type { Client } from '@temporalio/client'
import type { Db } from '../db/db.ts'
import { readOpenStarts } from '../db/payments/payment-starts.ts'
import { countUnclosed, listUnclosed } from '../db/payments/payments.ts'
import { paymentWorkflowId } from '../domain/ids.ts'
import type { Logger } from '../runtime/log.ts'
import type { PaymentWorkflows } from '../temporal/payments.ts'
import { PAYMENT_STATUS } from '../workflows/search-attributes.ts'

export type OrphanDeps = {
  readonly db: Db
  readonly client: Pick<Client, 'workflow'>
  readonly workflows: PaymentWorkflows
  readonly clock: () => number
  readonly log: Logger
  readonly walk: Walk
  readonly orphanPage?: number
  readonly forEach: <T>(items: readonly T[], work: (item: T) => Promise<void>) => Promise<number>
}

/** The walk through the unclosed payments, a page in each round. */
export type Walk = {
  number: number
  /** The last payment of the previous page; empty: the walk begins. */
  after: string
  /**
   * The row's version when each run that was behind it was last signaled, in this walk and in the previous one.
   */
  notified: Map<string, number>
  notifiedBefore: ReadonlyMap<string, number>
  /** Number by which payments exceeded runs when both were last counted. */
  lacking: number
  /** Number of them that the last whole walk has left: no second walk would find them a run. */
  left: number
}

/** At the start one count is enough: no earlier run is about to begin or to end. */
export const createWalk = (): Walk => ({
  number: 0,
  after: '',
  notified: new Map(),
  notifiedBefore: new Map(),
  lacking: Infinity,
  left: 0,
})

/** Milliseconds: younger workflows may be missing from Temporal's list. */
const ORPHAN_AGE_MS = 20_000
/**
 * Milliseconds: a run that takes a step does not show the status of its row at once, and one that waits shows it at its
 * first poll.
 */
const SHOWN_WITHIN_MS = 120_000
/** Temporal needs half a second of CPU to list this many runs, and a hundredth of that to count them. */
const PAGE = 1000
/** Each tenth walk lists all pages: a run that should have ended can hide a missing one in the counts. */
const LISTED_WALKS = 10

/**
 * Gives each open payment a workflow again if it has lost it, by hand or with Temporal's store. A round compares a page
 * of the payments with their runs, so its cost does not grow with them: by counts, and by a list if they differ. If
 * there are more pages, it counts all, and compares all pages if runs are missing. Returns the number of payments that
 * got a run.
 */
export async function adoptOrphans(deps: OrphanDeps): Promise<number> {
  const { walk } = deps
  const createdBefore = new Date(deps.clock() - ORPHAN_AGE_MS).toISOString()
  let adopted = await comparePage(deps, createdBefore)
  if (walk.after === '' || !(await areRunsMissing(deps, createdBefore))) return adopted
  walk.after = ''
  do adopted += await comparePage(deps, createdBefore)
  while (walk.after !== '')
  return adopted
}

/**
 * Returns true if fewer runs than payments are counted twice in a row: what is missing once may be about to begin, or
 * not be listed yet. Runs that are about to end hide missing ones, so the walk continues whatever is counted.
 */
async function areRunsMissing({ db, client, walk }: OrphanDeps, createdBefore: string): Promise<boolean> {
  const [payments, { count: runs }] = await Promise.all([
    countUnclosed(db, createdBefore),
    client.workflow.count(`${RUNNING} AND StartTime < '${createdBefore}'`),
  ])
  const missing = Math.min(walk.lacking, payments - runs)
  walk.lacking = payments - runs
  const isMore = missing > walk.left
  walk.left = Math.max(0, missing)
  return isMore
}

async function comparePage(deps: OrphanDeps, createdBefore: string): Promise<number> {
  const { db, walk, orphanPage: limit = PAGE } = deps
  if (walk.after === '') {
    walk.notifiedBefore = walk.notified
    walk.notified = new Map()
    walk.number += 1
  }
  const unclosed = await listUnclosed(db, { after: walk.after, createdBefore, limit })
  const [first, last] = [unclosed.at(0)?.id, unclosed.at(-1)?.id]
  walk.after = last === undefined || unclosed.length < limit ? '' : last
  if (first === undefined || last === undefined) return 0
  const ofPage = `${RUNNING} AND WorkflowId BETWEEN '${paymentWorkflowId(first)}' AND '${paymentWorkflowId(last)}'`
  const isListed = walk.number % LISTED_WALKS === 1 || !(await isAsCounted(deps, { unclosed, ofPage }))
  return isListed ? compareRuns(deps, { unclosed, running: await listRunning(deps, ofPage) }) : 0
}

type Unclosed = Awaited<ReturnType<typeof listUnclosed>>

/** Returns true if each status has as many runs as payments. */
async function isAsCounted({ client }: OrphanDeps, page: { unclosed: Unclosed; ofPage: string }): Promise<boolean> {
  const statuses = [...new Set(page.unclosed.map(({ status }) => status))]
  const answers = await Promise.all(
    statuses.map(async (status) => {
      const { count } = await client.workflow.count(`${page.ofPage} AND ${PAYMENT_STATUS.name} = '${status}'`)
      return count === page.unclosed.filter((payment) => payment.status === status).length
    }),
  )
  return answers.every(Boolean)
}

type Page = { readonly unclosed: Unclosed; readonly running: ReadonlyMap<string, string | undefined> }

async function compareRuns(deps: OrphanDeps, { unclosed, running }: Page): Promise<number> {
  const { db, workflows, log } = deps
  await notifyRuns(deps, { unclosed, running })
  const lost = unclosed.filter(({ id }) => !running.has(id)).map(({ id }) => id)
  // A payment that has closed after it was read needs no run.
  const orphans = await readOpenStarts(db, lost)
  return deps.forEach(orphans, async (start) => {
    // Temporal's list may be out of date, but the start does nothing if a run exists.
    if (await workflows.resume(start)) log.warn({ payment_id: start.id }, 'a payment had no workflow: it has one again')
  })
}

/**
 * Notifies runs that do not know their row: an operator has reset the run, or a change could not be signaled. Such a
 * run would refuse what the row allows, and act only when its next timer fires. It is signaled once per version.
 */
async function notifyRuns({ workflows, clock, walk, log, forEach }: OrphanDeps, page: Page): Promise<void> {
  const before = clock() - SHOWN_WITHIN_MS
  const unaware = page.unclosed.filter(
    ({ id, status, updated_at }) => (page.running.get(id) ?? status) !== status && Date.parse(updated_at) < before,
  )
  await forEach(unaware, async ({ id, version }) => {
    if ((walk.notified.get(id) ?? walk.notifiedBefore.get(id)) !== version) {
      await workflows.signalRowChanged(id)
      log.warn({ payment_id: id }, 'the run of a payment was behind its row: it was signaled')
    }
    walk.notified.set(id, version)
  })
}

const RUNNING = `WorkflowType = 'payment' AND ExecutionStatus = 'Running'`

/** Returns the running workflows that the query finds, with the status that each shows. */
async function listRunning({ client }: OrphanDeps, query: string): Promise<Map<string, string | undefined>> {
  const shown = new Map<string, string | undefined>()
  for await (const { workflowId, typedSearchAttributes } of client.workflow.list({ query, pageSize: PAGE }))
    shown.set(workflowId, typedSearchAttributes?.get(PAYMENT_STATUS))
  return shown
}
