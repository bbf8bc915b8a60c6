import { readOperatorConfig } from '../config/config.ts'
import type { Hex } from '../domain/hex.ts'
import { createSettlementHooks } from '../settlement/hooks.ts'
import { type Call, type Command, signedBy, withContext, withDatabase } from './call.ts'
import { type Act, abandon, acknowledge, changePayout, type Operation, type PayoutChange, reopen } from './payouts.ts'
import { acceptRate } from './rates.ts'
import { rebuild } from './rebuild.ts'
import { endOpenRefill, refill } from './refills.ts'
import { repairFinality } from './repair.ts'
import { listSettlementActs } from './settlement-acts.ts'
import { showStatus } from './status.ts'
import { takeOver } from './take-over.ts'

const lower = (text: string): Hex => text.toLowerCase() as Hex

const settles =
  (work: (operation: Operation) => Promise<number>): Command['run'] =>
  (call) =>
    operate(call, work)

const acts =
  (work: (act: Act, subject: string, call: Call) => Promise<number>): Command['run'] =>
  (call) => {
    const signed = signedBy(call)
    return operate(call, (operation) => work({ ...operation, signed }, call.subjects[0] ?? '', call))
  }

const change = (name: PayoutChange): Command['run'] => acts((act, payment) => changePayout(act, payment, name))

const SIGNED = ['operator!', 'reason!'] as const

/**
 * Commands with the worker's variables for database and chain. What an operator decides is signed; `rebuild` and
 * `repair-finality` write what the chain shows.
 */
export const SETTLEMENT: readonly Command[] = [
  {
    words: 'settlement status',
    does: 'show whether money moves, why not, and what to do: queue, chain, nodes, lanes, treasury',
    run: settles(showStatus),
  },
  {
    words: 'settlement void',
    subjects: ['payment'],
    options: [...SIGNED, 'dry-run'],
    does: 'cancel the authorization on chain, which makes a refund safe',
    run: change('void'),
  },
  {
    words: 'settlement stop',
    subjects: ['payment'],
    options: [...SIGNED, 'dry-run'],
    does: 'stop a payout that is not yet being sent',
    run: change('stop'),
  },
  {
    words: 'settlement resume',
    subjects: ['payment'],
    options: [...SIGNED, 'dry-run'],
    does: 'put a stopped payout back into the queue, have the reserves of a void release released again, or accept what the chain has paid for a forgotten one',
    run: change('resume'),
  },
  {
    words: 'settlement repair-finality',
    options: ['dry-run'],
    does: 'undo what depends on blocks that were final and were replaced',
    run: settles(repairFinality),
  },
  {
    words: 'settlement rebuild',
    options: ['dry-run'],
    does: 'rebuild the settlements from the chain and the list of payments',
    run: settles(rebuild),
  },
  {
    words: 'settlement acknowledge',
    subjects: ['tx hash'],
    options: SIGNED,
    does: 'accept a transfer out of the treasury that no payout claims, or `balance`: what it holds less than the books',
    run: acts((act, subject) => acknowledge(act, subject === 'balance' ? subject : lower(subject))),
  },
  {
    words: 'settlement reopen',
    subjects: ['wallet'],
    options: SIGNED,
    does: 'reopen a quarantined lane',
    run: acts((act, wallet) => reopen(act, lower(wallet))),
  },
  {
    words: 'settlement abandon-lane',
    subjects: ['wallet'],
    options: SIGNED,
    does: 'abandon a lane: the other lanes take over its payouts immediately',
    run: acts((act, wallet) => abandon(act, lower(wallet))),
  },
  {
    words: 'settlement take-over',
    subjects: ['treasury'],
    options: ['to', ...SIGNED, 'dry-run'],
    does: 'let another treasury pay what is queued on one whose key is lost',
    run: acts((act, lost, { options: { to } }) => takeOver(act, lower(lost), to === undefined ? null : lower(to))),
  },
  {
    words: 'settlement refill',
    subjects: ['amount', 'currency', 'tx hash'],
    options: SIGNED,
    does: 'record that you exchanged settled money yourself, and which transaction brings the USDC to the treasury',
    run: acts((act, amount, { subjects: [, currency = '', hash = ''] }) =>
      refill(act, { amount, currency: currency.toUpperCase(), txHash: lower(hash) }),
    ),
  },
  {
    words: 'settlement end-refill',
    subjects: ['refill'],
    options: SIGNED,
    does: 'end a refill that brings nothing: its money is refilled again',
    run: acts((act, id) => endOpenRefill(act, id)),
  },
  {
    words: 'settlement accept-rate',
    subjects: ['currency', 'rate'],
    options: SIGNED,
    does: 'use a rate that is far from the last one: USDC for one major unit, such as 1.08',
    run: acts((act, currency, { subjects: [, rate = ''] }) =>
      acceptRate(act, { currency: currency.toUpperCase(), rate }),
    ),
  },
  {
    words: 'settlement acts',
    options: ['limit'],
    does: 'list what operators did to payouts, lanes and treasuries, and why',
    run: (call) => withContext(call, listSettlementActs),
  },
]

async function operate(call: Call, work: (operation: Operation) => Promise<number>): Promise<number> {
  const { env, say, give } = call
  const settings = readOperatorConfig(env)
  const hooks = createSettlementHooks(
    { publicUrl: settings.PUBLIC_URL, now: Date.now },
    { hasFloat: settings.CONVERTER === 'float' },
  )
  const dryRun = call.options['dry-run'] === true
  return withDatabase(settings, (db) => work({ db, settings, hooks, dryRun, say, give }))
}
