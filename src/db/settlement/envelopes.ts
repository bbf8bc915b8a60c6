import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import { MINED_IN_VAIN } from '../../domain/settlement/deposit.ts'
import type {
  Envelope,
  EnvelopeAttempt,
  EnvelopeEnd,
  FinalLogs,
  GasSpent,
  Lane,
} from '../../domain/settlement/payout.ts'
import { execute, many, one, type Statement, sql, type Tx } from '../db.ts'
import { change, type JournalContext } from './context.ts'
import { hex } from './payouts.ts'

const attemptRow = z.object({
  attempt: z.number(),
  tx_hash: hex,
  max_fee: z.string(),
  tip: z.string(),
  signed_block: z.number(),
  age_ms: z.number(),
  last_broadcast_at: z.coerce.date().nullable(),
  too_expensive: z.boolean(),
})

export const envelopeRow = z.object({
  nonce: z.coerce.number(),
  age_ms: z.coerce.number(),
  target: hex,
  value: z.string(),
  gas_limit: z.string(),
  attempts: z.array(attemptRow),
})

/** The open envelopes of the lane `l`, lowest nonce first, each with its attempts, in the shape of `envelopeRow`. */
export const envelopeList = sql`
  select coalesce(jsonb_agg(jsonb_build_object('nonce', t.nonce, 'target', t.target, 'value', t.value::text,
      'gas_limit', t.gas_limit::text, 'age_ms', floor(extract(epoch from now() - t.created_at) * 1000), 'attempts', coalesce((
        select jsonb_agg(jsonb_build_object('attempt', a.attempt, 'tx_hash', a.tx_hash, 'max_fee', a.max_fee::text,
            'tip', a.tip::text, 'signed_block', a.signed_block, 'age_ms', floor(extract(epoch from now() - a.signed_at) * 1000),
            'last_broadcast_at', a.last_broadcast_at, 'too_expensive', coalesce(a.last_answer like 'too_expensive:%', false))
          order by a.attempt)
        from lane_tx_attempt a where (a.chain_id, a.wallet, a.nonce) = (t.chain_id, t.wallet, t.nonce)), '[]'))
    order by t.nonce), '[]') as envelopes
  from lane_tx t where t.chain_id = l.chain_id and t.wallet = l.wallet and t.state in ('reserved', 'signed', 'broadcast')`

export const toEnvelope = (row: z.infer<typeof envelopeRow>): Envelope => ({
  nonce: row.nonce,
  ageMs: row.age_ms,
  target: row.target,
  value: BigInt(row.value),
  gasLimit: BigInt(row.gas_limit),
  attempts: row.attempts.map(toAttempt),
})

const toAttempt = (row: z.infer<typeof attemptRow>): EnvelopeAttempt => ({
  attempt: row.attempt,
  txHash: row.tx_hash,
  maxFee: BigInt(row.max_fee),
  tip: BigInt(row.tip),
  signedBlock: row.signed_block,
  ageMs: row.age_ms,
  lastBroadcastAt: row.last_broadcast_at,
  isTooExpensive: row.too_expensive,
})

const wantedRow = z.object({ wanted: z.boolean() })

/** True if the envelope still has a payout, a sweep or gas money that no other envelope contains. */
export async function isWanted({ db }: JournalContext, lane: Lane, nonce: number): Promise<boolean> {
  const row = await one(
    db,
    wantedRow,
    sql`select exists (select 1 from lane_tx_item i join payout p using (owner_id)
            where i.chain_id = ${lane.chainId} and i.wallet = ${lane.wallet} and i.nonce = ${nonce}
              and i.outcome is null and p.state not in ('settled', 'voided'))
          or exists (select 1 from deposit_sweep s
            where s.chain_id = ${lane.chainId} and s.lane_wallet = ${lane.wallet} and s.lane_nonce = ${nonce})
          or exists (select 1 from lane_tx t where t.chain_id = ${lane.chainId} and t.wallet = ${lane.wallet}
            and t.nonce = ${nonce} and t.kind = 'topup' and not exists (select 1 from lane l
              where l.chain_id = t.chain_id and l.wallet = t.target and l.status = 'quarantined')) as wanted`,
  )
  return row.wanted
}

export type EnvelopesEnded = {
  readonly ends: readonly EnvelopeEnd[]
  readonly found: FinalLogs
  /** Unix seconds of the final block. */
  readonly chainTime: number
}

const freedRow = z.object({ owner_id: z.string(), outcome: z.string().nullable() })

/**
 * Ends envelopes inside the caller's fenced transaction, which has stored their logs. Returns the payouts that a
 * finalized envelope did not move. The token's refusal counts against a payout only while its authorization is valid:
 * an expired one is signed again.
 */
export async function concludeEnvelopes(
  tx: Tx,
  lane: Lane,
  { ends, chainTime }: Omit<EnvelopesEnded, 'found'>,
): Promise<string[]> {
  const rows = ends.map((end) => {
    const won = end.state === 'finalized' ? end : null
    const { gasUsed, gasPrice } = won ?? {}
    const outcome = won === null ? 'replaced' : 'refused'
    return { ...end, gasUsed: gasUsed?.toString(), gasPrice: gasPrice?.toString(), outcome }
  })
  const given = sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as e(nonce bigint, state text, "blockNumber" bigint,
    "gasUsed" bigint, "gasPrice" numeric, outcome text)`
  await change(
    tx,
    sql`update lane_tx t set state = e.state, block_number = e."blockNumber", gas_used = e."gasUsed",
          gas_price = e."gasPrice", ended_at = now()
        from ${given} where t.chain_id = ${lane.chainId} and t.wallet = ${lane.wallet} and t.nonce = e.nonce`,
    { rows: ends.length, what: 'envelopes that are final' },
  )
  const freed = await many(
    tx,
    freedRow,
    sql`with freed as (
          update payout p set lane_wallet = null, lane_nonce = null, mined_number = null, updated_at = now(),
            state = case when p.state in ('assigned', 'mined') then 'authorized' else p.state end,
            refusals = p.refusals + case when e.outcome = 'refused' and not coalesce((select max(s.valid_before) from payout_signature s
              where s.owner_id = p.owner_id and s.kind = 'transfer') <= ${chainTime}, false) then 1 else 0 end
          from ${given} where p.chain_id = ${lane.chainId} and p.lane_wallet = ${lane.wallet} and p.lane_nonce = e.nonce
            and p.state in ('assigned', 'mined', 'voiding')
            and not exists (select 1 from treasury_log l where l.chain_id = p.chain_id and l.token = p.token
              and l.treasury = p.treasury and l.auth_nonce = p.auth_nonce)
          returning p.owner_id, e.nonce, e.outcome)
        update lane_tx_item i set outcome = f.outcome
        from freed f where i.chain_id = ${lane.chainId} and i.wallet = ${lane.wallet} and i.nonce = f.nonce
          and i.owner_id = f.owner_id
        returning f.owner_id, f.outcome`,
  )
  const ofState = (state: EnvelopeEnd['state']) => ends.filter((end) => end.state === state).map(({ nonce }) => nonce)
  await releaseFundings(tx, lane, ofState('finalized'))
  await releaseSweeps(
    tx,
    lane,
    ends.map(({ nonce }) => nonce),
  )
  return freed.filter((row) => row.outcome === 'refused').map((row) => row.owner_id)
}

const hashRow = z.object({ hash: hex })

/** Reads the gas, in wei, of finalized envelopes without a stored log to share it. */
export async function readUnsharedGas(tx: Tx, lane: Lane, ends: readonly EnvelopeEnd[]): Promise<GasSpent[]> {
  const won = ends.filter((end) => end.state === 'finalized')
  const rows = await many(
    tx,
    hashRow,
    sql`select hash from unnest(${won.map(({ txHash }) => txHash)}::text[]) as w(hash) where not exists (
          select 1 from treasury_log l where l.chain_id = ${lane.chainId} and l.tx_hash = w.hash and l.gas_share is not null)`,
  )
  const unshared = new Set(rows.map(({ hash }) => hash))
  return won
    .filter(({ txHash }) => unshared.has(txHash))
    .map(({ nonce, gasUsed, gasPrice }) => ({
      chainId: lane.chainId,
      wallet: lane.wallet,
      nonce,
      wei: gasUsed * gasPrice,
    }))
}

/** A merchant's wallet can be a contract that refuses what it accepted before: its authorization is sent once. */
async function releaseFundings(tx: Tx, lane: Lane, nonces: readonly number[]): Promise<void> {
  await execute(
    tx,
    sql`update deposit_sweep s set state = 'signed', lane_wallet = null, lane_nonce = null, refused = ${MINED_IN_VAIN}, refused_at = now()
        from deposit d where d.owner_id = s.owner_id and s.sender <> d.address and s.chain_id = ${lane.chainId}
          and s.lane_wallet = ${lane.wallet} and s.lane_nonce = any(${[...nonces]}::bigint[]) and s.state = 'assigned'`,
  )
}

async function releaseSweeps(tx: Tx, lane: Lane, nonces: readonly number[]): Promise<void> {
  await execute(
    tx,
    sql`update deposit_sweep set state = 'signed', lane_wallet = null, lane_nonce = null
        where chain_id = ${lane.chainId} and lane_wallet = ${lane.wallet} and lane_nonce = any(${[...nonces]}::bigint[])
          and state = 'assigned'`,
  )
}

/** Lanes whose payouts and sweeps other lanes can take over, and envelopes that do not get through. */
export type Stranded = {
  /** Age of envelopes of a lane without a configured key, after which other lanes take over their contents. */
  readonly idleMs: number
  readonly slow: readonly { readonly wallet: Hex; readonly nonce: number }[]
  /** The wallets of the lanes that can take over. Nothing leaves its envelope if none of them gets through. */
  readonly carriers: readonly Hex[]
}

/**
 * Frees the payouts and sweeps in open envelopes of quarantined lanes, of lanes without a configured key and of slow
 * lanes, so that other lanes send them too. Both transactions can be in flight: the token accepts each authorization
 * once. Gas money stays where it is, because a transfer of POL has no such protection. Returns how many payouts left
 * which lanes.
 */
export function freeStranded(context: JournalContext, ask: Stranded): Promise<{ wallet: Hex; count: number }[]> {
  const slow = sql`exists (select 1 from jsonb_to_recordset(${JSON.stringify(ask.slow)}::jsonb) as g(wallet text, nonce bigint)
    where (g.wallet, g.nonce) = (t.wallet, t.nonce))`
  const longAgo = sql`now() - ${ask.idleMs} * interval '1 millisecond'`
  const carrier = sql`exists (select 1 from lane o where o.chain_id = t.chain_id and o.wallet <> t.wallet
    and o.wallet = any(${[...ask.carriers]}::text[]) and o.status = 'open'
    and not exists (select 1 from lane_tx x where (x.chain_id, x.wallet) = (o.chain_id, o.wallet)
      and x.state in ('reserved', 'signed', 'broadcast') and x.created_at < ${longAgo}))`
  const stranded = sql`(l.status = 'quarantined' or l.wallet <> all(${[...ask.carriers]}::text[]) and t.created_at < ${longAgo} or ${slow})`
  return context.db.transaction((tx) => leaveEnvelopes(tx, context.scope.chainId, sql`${stranded} and ${carrier}`))
}

const leftEnvelopeRow = z.object({ wallet: hex, nonce: z.string() })

const leftRow = z.object({ wallet: hex, count: z.coerce.number() })

/**
 * Takes payouts and sweeps out of the open envelopes `t` of lanes `l` that match the condition. The envelopes are found
 * first: then payouts are looked up by their envelope, instead of a search of all envelopes for each payout.
 */
export async function leaveEnvelopes(
  tx: Tx,
  chainId: number,
  condition: Statement,
): Promise<{ wallet: Hex; count: number }[]> {
  const left = await many(
    tx,
    leftEnvelopeRow,
    sql`select t.wallet, t.nonce::text from lane_tx t join lane l using (chain_id, wallet)
        where t.chain_id = ${chainId} and t.kind = 'batch' and t.state in ('reserved', 'signed', 'broadcast') and ${condition}`,
  )
  if (left.length === 0) return []
  const envelopes = sql`unnest(${left.map(({ wallet }) => wallet)}::text[], ${left.map(({ nonce }) => nonce)}::bigint[])
    as e(wallet, nonce)`
  await execute(
    tx,
    sql`update deposit_sweep s set state = 'signed', lane_wallet = null, lane_nonce = null from ${envelopes}
        where s.chain_id = ${chainId} and s.state = 'assigned' and (s.lane_wallet, s.lane_nonce) = (e.wallet, e.nonce)`,
  )
  return many(
    tx,
    leftRow,
    sql`with
        -- Payouts that another transaction has locked leave in the next round.
        carried as (select p.owner_id, p.lane_wallet, p.lane_nonce from ${envelopes} join payout p
            on (p.lane_wallet, p.lane_nonce) = (e.wallet, e.nonce)
          where p.chain_id = ${chainId} and p.livemode = ${tx.livemode} and p.state in ('assigned', 'voiding')
          for update of p skip locked),
        moved as (update payout p set lane_wallet = null, lane_nonce = null, updated_at = now(),
            state = case p.state when 'assigned' then 'authorized' else p.state end
          from carried c where p.owner_id = c.owner_id),
        items as (update lane_tx_item i set outcome = 'moved' from carried c
          where (i.chain_id, i.wallet, i.nonce, i.owner_id) = (${chainId}, c.lane_wallet, c.lane_nonce, c.owner_id))
        select lane_wallet as wallet, count(*) from carried group by 1`,
  )
}
