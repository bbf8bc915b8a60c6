-- The events of a merchant are numbered without a gap, up to its counter.
-- To do: Events are lost, as after an incomplete restore. The merchant sees a gap in `sequence`: tell it which payments to read again.
select e.payment_id as subject, format('event %s has number %s, and number %s of %s is missing', e.id, e.sequence, e.sequence - 1, e.merchant_id) as difference
from event e
where e.payment_id = any($1) and e.sequence > 1 and e.created_at > now() - interval '60 days'
  and not exists (select from event before where (before.merchant_id, before.livemode, before.sequence)
    = (e.merchant_id, e.livemode, e.sequence - 1))
union all
select e.payment_id, format('event %s has number %s, and the counter of %s is at %s', e.id, e.sequence, e.merchant_id, coalesce(s.last, 0))
from event e left join event_sequence s on (s.merchant_id, s.livemode) = (e.merchant_id, e.livemode)
where e.payment_id = any($1) and e.sequence > coalesce(s.last, 0)
