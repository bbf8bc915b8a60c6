import { z } from 'zod'
import { PARTS, type Part, type PartStanding, REST_CAUSES, type RestCause } from '../../domain/settlement/part.ts'
import { execute, many, type Queryable, sql } from '../db.ts'
import type { JournalContext, SettlementScope } from './context.ts'

/** `isDone`: the round did something, or had nothing to do; also with a failure, if only a part of it failed. */
export type PartReport = {
  readonly owner: string
  readonly part: Part
  readonly isDone: boolean
  readonly cause: RestCause | null
  readonly failure: string | null
}

/** Writes nothing if another engine leads now. */
export async function reportPart({ db, scope }: JournalContext, report: PartReport): Promise<void> {
  const { owner, part, isDone, cause, failure } = report
  const { chainId, token } = scope
  const lease = sql`chain_cursor where chain_id = ${chainId} and token = ${token}`
  await execute(
    db,
    sql`insert into settlement_part as p (chain_id, token, part, reported_at, succeeded_at, failing_since, cause, failure)
        select ${chainId}, ${token}, ${part}, now(), case when ${isDone} then now() end,
          case when ${failure}::text is not null then now() end, ${cause}, ${failure}
        where exists (select 1 from ${lease} and owner = ${owner})
          or not exists (select 1 from ${lease} and owner <> ${owner} and lease_until > now())
        on conflict (chain_id, token, part) do update set reported_at = excluded.reported_at,
          succeeded_at = coalesce(excluded.succeeded_at, p.succeeded_at),
          failing_since = case when excluded.failing_since is not null and p.cause is not distinct from excluded.cause
            then coalesce(p.failing_since, excluded.failing_since) else excluded.failing_since end,
          cause = excluded.cause, failure = excluded.failure`,
  )
}

const partRow = z.object({
  part: z.enum(PARTS),
  reportedSeconds: z.coerce.number(),
  succeededSeconds: z.coerce.number().nullable(),
  failingSeconds: z.coerce.number().nullable(),
  cause: z.enum(REST_CAUSES).nullable(),
  failure: z.string().nullable(),
})

export function readParts(
  db: Queryable,
  { chainId, token }: Pick<SettlementScope, 'chainId' | 'token'>,
): Promise<PartStanding[]> {
  return many(
    db,
    partRow,
    sql`select part, extract(epoch from now() - reported_at) as "reportedSeconds",
          extract(epoch from now() - succeeded_at) as "succeededSeconds",
          extract(epoch from now() - failing_since) as "failingSeconds", cause, failure
        from settlement_part where chain_id = ${chainId} and token = ${token} order by part`,
  )
}
