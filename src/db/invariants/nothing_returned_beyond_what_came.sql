-- A buyer gets back no more than was received for the order.
-- To do: Money was returned that had never arrived, or it was returned twice. Compare the decisions of the payment with the bank's own list.
select a.payment_id as subject, format('of %s %s were returned from elsewhere, and %s came at most', a.id,
  readable_amount(a.outside, asset), readable_amount(came.units, asset)) as difference
from attempt a, lateral (select case a.provider when 'crypto' then 'USDC' else a.currency end as asset) named,
  lateral (select coalesce(max(held), 0) as units, bool_or(misfit is not null) as is_odd from reading where attempt_id = a.id) came
where a.payment_id = any($1)
  -- An odd order may name no money, and is still returned by hand.
  and (a.outside > came.units or a.returned and came.units = 0 and came.is_odd is not true)
