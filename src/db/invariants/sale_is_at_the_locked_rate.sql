-- The gross amount of a sale is what the locked rate of its order gives.
-- To do: Hold the payment. The rate is in its timeline: the amount that it gives is what the merchant is owed.
select s.payment_id as subject, format('sale %s of %s has %s, and the rate %s gives %s', s.number, a.id,
  readable_amount(s.gross_micro, 'USDC'), a.rate, readable_amount(due.micro, 'USDC')) as difference
from sale s join attempt a on a.id = s.attempt_id,
  lateral (select case when a.provider <> 'crypto' then s.units
    else div(a.amount_minor * s.units, nullif(a.asked_micro, 0)) end as minor) charged,
  -- Multiplied, because a division is rounded.
  lateral (select trunc(charged.minor * a.rate::numeric
    * case when a.currency in ('CLP', 'ISK', 'JPY', 'KRW') then 1000000 else 10000 end) as micro) due
where s.payment_id = any($1) and s.gross_micro is distinct from due.micro
