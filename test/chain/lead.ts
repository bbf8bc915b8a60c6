import { isUnderWay } from '../../src/chain/lead.ts'
import type { Db } from '../../src/db/db.ts'
import type { SettlementJournal } from '../../src/db/settlement/journal.ts'
import type { Hex } from '../../src/domain/hex.ts'
import type { Lead } from '../../src/domain/settlement/lead.ts'
import type { FinalLogs, Lane, Lease, TreasuryLog } from '../../src/domain/settlement/payout.ts'

/** Lets any engine take the lead at once. */
export const freeLead = (db: Pick<Db, 'query'>): Promise<unknown> =>
  db.query(`update chain_cursor set owner = null, lease_until = '-infinity'`)

const GENESIS: Hex = `0x${'0'.repeat(64)}`

type Ask = {
  readonly owner: string
  readonly leaseMs?: number
  readonly wallets?: readonly Hex[]
  readonly treasuries?: readonly Hex[]
}

/** The lead of an engine with this name; null while another engine leads. */
export async function tryLead(
  journal: Pick<SettlementJournal, 'lead' | 'openCursor'>,
  { owner, leaseMs = 60_000, wallets = [], treasuries = [] }: Ask,
): Promise<Lead | null> {
  await journal.openCursor({ number: 0, hash: GENESIS })
  const lead = await journal.lead({ owner, leaseMs, wallets, treasuries })
  return lead === null || 'othersMs' in lead ? null : lead
}

/** The waiting work, as the engine that leads reads it. */
export async function readWork(journal: SettlementJournal, treasuries: readonly Hex[] = []) {
  const lead = await tryLead(journal, { owner: 'who looks', treasuries })
  if (lead === null) throw new Error('another engine leads')
  await journal.releaseLead('who looks')
  const { sign, send, sweep, voiding } = lead.work
  return { sign, send: send || sweep, voiding, underWay: isUnderWay(lead) }
}

export async function takeLease(journal: SettlementJournal, ask: Ask): Promise<Lease> {
  const lead = await tryLead(journal, ask)
  if (lead === null) throw new Error('another engine leads')
  return lead.lease
}

/** The lane of the wallet, opened at the nonce if it is new, for the engine with this name. */
export async function takeLane(
  journal: SettlementJournal,
  { nonce = 0, wallet, ...ask }: Ask & { readonly wallet: Hex; readonly nonce?: number },
): Promise<Lane> {
  await takeLease(journal, ask)
  await journal.openLane(wallet, nonce)
  const lead = await tryLead(journal, { ...ask, wallets: [wallet] })
  const found = lead?.lanes.find(({ lane }) => lane.wallet === wallet)
  if (found === undefined) throw new Error(`no lane ${wallet}`)
  return found.lane
}

export const foundLogs = (treasuries: readonly Hex[], logs: readonly TreasuryLog[]): FinalLogs => ({
  logs,
  ownTransactions: [],
  treasuries,
  limits: { maxMicroPerPayout: 10n ** 12n, maxMicroPerDay: 10n ** 15n, fillTolerancePercent: 2 },
  blockTimes: new Map(logs.map(({ blockHash }) => [blockHash, new Date()])),
})

export const nothingFound = (): FinalLogs => foundLogs([], [])
