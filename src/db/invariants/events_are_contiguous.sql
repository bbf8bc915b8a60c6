-- The events of a merchant are numbered without a gap, up to its counter.
-- To do: Events are lost, as after an incomplete restore. The merchant sees a gap in `sequence`: tell it which payments to read again.
select e.payment_id as subject, format('event %s of %s has number %s, the counter is at %s, and number %s is missing', e.id,
  e.merchant_id, e.sequence, coalesce(s.last, 0), neighbor.number) as difference
from event e left join event_sequence s on (s.merchant_id, s.livemode) = (e.merchant_id, e.livemode),
  lateral (values (e.sequence - 1), (e.sequence + 1)) as neighbor(number)
where e.payment_id = any($1) and e.created_at > now() - interval '60 days'
  and neighbor.number > 0 and (neighbor.number <= s.last or e.sequence > coalesce(s.last, 0))
  and not exists (select from event other where (other.merchant_id, other.livemode, other.sequence)
    = (e.merchant_id, e.livemode, neighbor.number))
