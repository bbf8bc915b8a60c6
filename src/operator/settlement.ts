import { readOperatorConfig } from '../config.ts'
import type { Hex } from '../domain/hex.ts'
import { createSettlementHooks } from '../settlement/hooks.ts'
import { type Call, type Command, withDatabase } from './call.ts'
import { abandon, acknowledge, changeOf, changePayout, type Operation, reopen } from './payouts.ts'
import { rebuild } from './rebuild.ts'
import { repairFinality } from './repair.ts'
import { showStatus } from './status.ts'
import { takeOver } from './take-over.ts'

/** Commands about payouts and the chain: with the worker's variables of both. */

const lower = (text: string): Hex => text.toLowerCase() as Hex
const change = (name: 'void' | 'hold' | 'release') => (operation: Operation, payment: string) =>
  changePayout(operation, payment, changeOf(name, operation))

const settles =
  (work: (operation: Operation, subject: string) => Promise<number>): Command['run'] =>
  (call) =>
    operate(call, (operation) => work(operation, call.subjects[0] ?? ''))

const DRY = ['dry-run'] as const

export const SETTLEMENT: readonly Command[] = [
  {
    words: 'settlement status',
    does: 'show whether money moves, why not, and what to do: queue, chain, nodes, lanes, treasury',
    run: settles(showStatus),
  },
  {
    words: 'settlement void',
    subjects: ['payment'],
    options: DRY,
    does: 'cancel the authorization on chain, which makes a refund safe',
    run: settles(change('void')),
  },
  {
    words: 'settlement hold',
    subjects: ['payment'],
    options: DRY,
    does: 'stop a payout that is not yet being sent',
    run: settles(change('hold')),
  },
  {
    words: 'settlement release',
    subjects: ['payment'],
    options: DRY,
    does: 'put a stopped payout back into the queue',
    run: settles(change('release')),
  },
  {
    words: 'settlement repair-finality',
    options: DRY,
    does: 'undo what depends on blocks that were final and were replaced',
    run: settles(repairFinality),
  },
  {
    words: 'settlement rebuild',
    options: DRY,
    does: 'rebuild the settlements from the chain and the list of payments',
    run: settles(rebuild),
  },
  {
    words: 'settlement acknowledge',
    subjects: ['tx hash'],
    options: DRY,
    does: 'accept a transfer out of the treasury that no payout claims, or `balance`: what it holds less than the books',
    run: settles((operation, subject) => acknowledge(operation, subject === 'balance' ? subject : lower(subject))),
  },
  {
    words: 'settlement reopen',
    subjects: ['wallet'],
    options: DRY,
    does: 'reopen a quarantined lane',
    run: settles((operation, wallet) => reopen(operation, lower(wallet))),
  },
  {
    words: 'settlement abandon-lane',
    subjects: ['wallet'],
    options: DRY,
    does: 'abandon a lane: the other lanes take over its payouts immediately',
    run: settles((operation, wallet) => abandon(operation, lower(wallet))),
  },
  {
    words: 'settlement take-over',
    subjects: ['treasury'],
    options: ['to', ...DRY],
    does: 'let another treasury pay what is queued on one whose key is lost',
    run: (call) => {
      const [lost = ''] = call.subjects
      const { to } = call.options
      return operate(call, (operation) => takeOver(operation, lower(lost), to === undefined ? null : lower(to)))
    },
  },
]

async function operate(call: Call, work: (operation: Operation) => Promise<number>): Promise<number> {
  const { env, say, give } = call
  const settings = readOperatorConfig(env)
  const hooks = createSettlementHooks({ publicUrl: settings.PUBLIC_URL, now: Date.now })
  const dryRun = call.options['dry-run'] === true
  return withDatabase(settings, (db) => work({ db, settings, hooks, dryRun, say, give }))
}
