import { execute, sql } from '../../db.ts'
import type { JournalContext, LeaseAsk } from '../context.ts'

/** Takes or renews the right to sign; false while another owner's lease runs. */
export async function leaseSigning({ db, scope }: JournalContext, ask: LeaseAsk): Promise<boolean> {
  const held = await execute(
    db,
    sql`insert into signing_lease as s (chain_id, token, owner, lease_until)
        values (${scope.chainId}, ${scope.token}, ${ask.owner}, now() + ${ask.leaseMs} * interval '1 millisecond')
        on conflict (chain_id, token) do update set owner = excluded.owner, lease_until = excluded.lease_until
        where s.owner = excluded.owner or s.owner is null or s.lease_until <= now()`,
  )
  return held === 1
}

/** Prolongs the right to sign, also when it has run out; false when another owner has had it since. */
export async function renewSigning({ db, scope }: JournalContext, ask: LeaseAsk): Promise<boolean> {
  const held = await execute(
    db,
    sql`update signing_lease set lease_until = now() + ${ask.leaseMs} * interval '1 millisecond'
        where chain_id = ${scope.chainId} and token = ${scope.token} and owner = ${ask.owner}`,
  )
  return held === 1
}
