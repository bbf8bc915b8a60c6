-- A sale never sells more than the partner has reported for the order.
-- To do: The converter was asked to sell what nobody has. Compare the order with the partner's own list.
select s.payment_id as subject, format('sale %s is of %s, and %s held %s at most', s.number,
  readable_amount(s.units, asset), a.id, readable_amount(came.units, asset)) as difference
from sale s join attempt a on a.id = s.attempt_id,
  lateral (select case a.provider when 'crypto' then 'USDC' else a.currency end as asset) named,
  lateral (select coalesce(max(held), 0) as units from reading where attempt_id = a.id) came
where s.payment_id = any($1) and s.units > came.units
