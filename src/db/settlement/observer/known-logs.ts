import { z } from 'zod'
import type { Hex } from '../../../domain/hex.ts'
import type { BlockTimes, FinalLogs, TransferLimits, TreasuryLog } from '../../../domain/settlement/payout.ts'
import {
  isPlausiblePayout,
  isPlausibleRelease,
  isWithinLimit,
  type PossibleRelease,
  type UnpaidPayment,
} from '../../../domain/settlement/transfers.ts'
import { payoutNonce } from '../../../evm/payout-nonce.ts'
import { many, one, type Queryable, type Statement, sql } from '../../db.ts'
import { listPossibleReleases } from '../../reserves/forgotten-releases.ts'
import type { SettlementScope } from '../context.ts'
import { hex } from '../payouts.ts'

export type KnownAs = 'payout' | 'payment' | 'release' | 'movement' | 'own_lane'

/** `nonceOf`: the payment, for `payment`. */
export type Known = { readonly as: KnownAs; readonly nonceOf?: string }

type Logs = Pick<FinalLogs, 'logs' | 'ownTransactions' | 'treasuries' | 'limits' | 'blockTimes'>

/** A transfer out of a treasury (`l`) that no payout claims, and no operator has acknowledged. */
export const unclaimed = sql`(l.kind = 'out' and l.owner_id is null and (l.known_as is null or l.known_as in ('payment', 'release', 'own_lane')))`

/** Payments that are searched for nonces without a payout: such nonces exist only after a backup was restored. */
const SEARCHED_PAYMENTS = 200_000

export const getLogKey = (log: { txHash: string; logIndex: number }): string => `${log.txHash}:${log.logIndex}`

/**
 * Returns why each log is known: a payout with that treasury, recipient and amount; a movement; the nonce of a payment,
 * as its quote allows; that of a release of reserves, to its merchant and of no more than was due; a transaction of the
 * platform's lanes, within the limit of a payout.
 */
export async function explain(db: Queryable, scope: SettlementScope, scan: Logs): Promise<Map<string, Known>> {
  const { known, forgotten } = await explainByPayouts(db, scope, scan)
  const own = new Set(scan.ownTransactions)
  const payments = await findPayments(db, scope, forgotten)
  const others = forgotten.filter(({ authNonce }) => !payments.has(authNonce))
  const releases = await findReleases(db, scope, { logs: others, blockTimes: scan.blockTimes })
  let left = scan.limits.maxMicroPerDay - (forgotten.length === 0 ? 0n : await readUnclaimed(db, scope))
  for (const log of forgotten) {
    const why = explainForgotten(log, {
      payment: payments.get(log.authNonce),
      release: releases.get(log.authNonce),
      isOwn: own.has(log.txHash),
      limits: scan.limits,
    })
    left -= BigInt(log.microUsdc ?? 0)
    // Many small ones are worth as much as a large one.
    if (why !== null && left >= 0n) known.set(getLogKey(log), why)
  }
  return known
}

type Candidates = {
  readonly payment: Unpaid | undefined
  readonly release: PossibleRelease | undefined
  readonly isOwn: boolean
  readonly limits: TransferLimits
}

function explainForgotten(log: Spent, { payment, release, isOwn, limits }: Candidates): Known | null {
  if (payment !== undefined)
    return !payment.isPaid && isPlausiblePayout(log, payment, limits) ? { as: 'payment', nonceOf: payment.id } : null
  if (release !== undefined && isPlausibleRelease(log, release, limits)) return { as: 'release' }
  return isOwn && isWithinLimit(log, limits) ? { as: 'own_lane' } : null
}

/** A day of Polygon, with a block every two seconds. */
const BLOCKS_OF_A_DAY = 43_200

const microRow = z.object({ micro: z.string() })

/** Transfers in the blocks of a day that no payout claims: of one treasury, or of all. */
export const sumUnclaimed = (
  { chainId, token }: Pick<SettlementScope, 'chainId' | 'token'>,
  treasury: Hex | null = null,
): Statement =>
  sql`select coalesce(sum(l.micro_usdc), 0) as micro from treasury_log l join chain_cursor c using (chain_id, token)
      where l.chain_id = ${chainId} and l.token = ${token} and ${unclaimed}
        and (${treasury}::text is null or l.treasury = ${treasury}) and l.block_number > c.scanned_number - ${BLOCKS_OF_A_DAY}`

async function readUnclaimed(db: Queryable, scope: SettlementScope): Promise<bigint> {
  const { micro } = await one(db, microRow, sql`select micro::text from (${sumUnclaimed(scope)}) unclaimed`)
  return BigInt(micro)
}

/** Explains logs by payouts and movements alone. `forgotten`: the logs with a nonce that no payout has. */
async function explainByPayouts(
  db: Queryable,
  scope: SettlementScope,
  scan: Logs,
): Promise<{ known: Map<string, Known>; forgotten: Spent[] }> {
  if (scan.logs.length === 0) return { known: new Map(), forgotten: [] }
  const payouts = await readPayouts(db, scope, scan)
  const known = new Map<string, Known>()
  const forgotten: Spent[] = []
  for (const log of scan.logs) {
    const { authNonce } = log
    const payout = authNonce === null ? undefined : payouts.get(authNonce)
    if (payout !== undefined) {
      if (payout.treasury === log.treasury && (log.kind === 'cancel' || isAsAgreed(payout, log)))
        known.set(getLogKey(log), { as: 'payout' })
    } else if (log.kind === 'in' || scan.treasuries.some((treasury) => treasury === log.counterparty))
      known.set(getLogKey(log), { as: 'movement' })
    else if (authNonce !== null && log.kind === 'cancel') known.set(getLogKey(log), { as: 'own_lane' })
    else if (authNonce !== null) forgotten.push({ ...log, authNonce })
  }
  return { known, forgotten }
}

type Agreed = { readonly recipient: Hex; readonly micro: string }

const isAsAgreed = (agreed: Agreed, log: TreasuryLog): boolean =>
  agreed.recipient === log.counterparty && agreed.micro === log.microUsdc

const knownPayoutRow = z.object({ auth_nonce: z.string(), treasury: hex, recipient: hex, micro: z.string() })

async function readPayouts(
  db: Queryable,
  scope: SettlementScope,
  scan: Logs,
): Promise<Map<string, Agreed & { treasury: Hex }>> {
  const nonces = scan.logs.flatMap((log) => log.authNonce ?? [])
  const rows = await many(
    db,
    knownPayoutRow,
    sql`select auth_nonce, treasury, recipient, micro_usdc::text as micro from payout
        where chain_id = ${scope.chainId} and token = ${scope.token} and livemode = ${scope.livemode}
          and auth_nonce = any(${nonces})`,
  )
  return new Map(rows.map(({ auth_nonce, ...payout }) => [auth_nonce, payout]))
}

type Spent = TreasuryLog & { readonly authNonce: Hex }
type Unpaid = UnpaidPayment & { readonly id: string; readonly isPaid: boolean }

const knownPaymentRow = z.object({
  id: z.string(),
  recipient: hex,
  net: z.string().nullable(),
  quoted: z.string(),
  is_paid: z.boolean(),
})

/** By nonce. */
async function findPayments(
  db: Queryable,
  scope: SettlementScope,
  logs: readonly Spent[],
): Promise<Map<string, Unpaid>> {
  const found = new Map<string, Unpaid>()
  if (logs.length === 0) return found
  const sought = new Set(logs.map(({ authNonce }) => authNonce))
  const treasuries = new Set(logs.map(({ treasury }) => treasury))
  const payments = await many(
    db,
    knownPaymentRow,
    sql`select m.id, lower(m.destination) as recipient, payout_micro(m.net_micro, m.reserve_percent, m.deducted_micro)::text as net, m.quote ->> 'netMicro' as quoted,
          -- Taken over, the earlier nonce is dead to everybody but a thief.
          coalesce(p.state = 'settled', false) or exists (select 1 from payout_takeover t where t.owner_id = m.id) as is_paid
        from payment m left join payout p on p.owner_id = m.id
        where m.livemode = ${scope.livemode} order by m.created_at desc limit ${SEARCHED_PAYMENTS}`,
  )
  for (const { id, recipient, net, quoted, is_paid } of payments)
    for (const treasury of treasuries) {
      const nonce = payoutNonce({ chainId: scope.chainId, token: scope.token, treasury, ownerId: id })
      if (sought.has(nonce)) found.set(nonce, { id, recipient, net, quotedNet: quoted, isPaid: is_paid })
    }
  return found
}

/** By nonce. A release is never of a later day than the block of its transfer. */
async function findReleases(
  db: Queryable,
  scope: SettlementScope,
  { logs, blockTimes }: { readonly logs: readonly Spent[]; readonly blockTimes: BlockTimes },
): Promise<Map<string, PossibleRelease>> {
  const found = new Map<string, PossibleRelease>()
  const days = logs.flatMap(({ blockHash }) => blockTimes.get(blockHash)?.toISOString().slice(0, 10) ?? [])
  const today = days.toSorted().at(-1)
  if (today === undefined) return found
  const sought = new Set(logs.map(({ authNonce }) => authNonce))
  const treasuries = new Set(logs.map(({ treasury }) => treasury))
  for (const release of await listPossibleReleases(db, scope, today))
    for (const treasury of treasuries) {
      const nonce = payoutNonce({ chainId: scope.chainId, token: scope.token, treasury, ownerId: release.id })
      if (sought.has(nonce)) found.set(nonce, release)
    }
  return found
}
