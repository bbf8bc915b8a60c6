-- A reserve is released from the day on which it is due, by a release of its merchant, and within three days.
-- To do: If it was released too early, find out why: no code does that. If it is late, `pinrail settlement status` and the worker's log say why.
select p.id as subject, format('%s were due on %s and are held back', readable_amount(p.reserved_micro, 'USDC'),
    reserve_due_on(p.finalized_at, p.reserve_days)) as difference
from payment p
where p.id = any($1) and p.reserved_micro > 0 and reserve_due_on(p.finalized_at, p.reserve_days) < (now() at time zone 'UTC')::date - 3
  -- What was won back after its day is held back again, until the next round.
  and p.updated_at < now() - interval '3 hours'
  and exists (select from wallet w where (w.merchant_id, w.livemode) = (p.merchant_id, p.livemode))
  and not exists (select from agreement a where a.merchant_id = p.merchant_id and a.holds_payouts)
union all
select p.id, format('due on %s for %s, released on %s by %s for %s', reserve_due_on(p.finalized_at, p.reserve_days), p.merchant_id,
    (r.created_at at time zone 'UTC')::date, r.id, r.merchant_id)
from payment p join reserve_release_part part on part.payment_id = p.id join reserve_release r on r.id = part.release_id
where p.id = any($1) and ((r.merchant_id, r.livemode) <> (p.merchant_id, p.livemode)
  or (r.created_at at time zone 'UTC')::date < reserve_due_on(p.finalized_at, p.reserve_days))
