-- What a payment has released of its reserve is what releases pay of it.
-- To do: The merchant got another amount than the payment says. Compare the releases with the chain, and correct the difference by hand.
select m.id as subject, format('%s were released, and releases pay %s', readable_amount(m.reserve_released_micro, 'USDC'),
  readable_amount(p.micro_usdc, 'USDC')) as difference
from payment m, lateral (select coalesce(sum(micro_usdc), 0) as micro_usdc from reserve_release_part where payment_id = m.id) p
where m.id = any($1) and m.reserve_released_micro <> p.micro_usdc
