-- Disputes of a settled payment have taken no more of its reserve than was held back, and what they have taken shows in its loss.
-- To do: Somebody has written to `dispute` by hand. The next reading of the order writes disputes and loss in one transaction: wake the payment by `pinrail payments explain`, and compare both with the partner's own list.
select m.id as subject, format('disputes took %s of a reserve of %s, and %s in all while %s is lost', readable_amount(taken.reserve, 'USDC'),
  readable_amount(held.reserve, 'USDC'), readable_amount(taken.reserve + taken.rest, 'USDC'), readable_amount(m.lost_minor, m.charge_currency)) as difference
from payment m, lateral (
  select coalesce(sum(from_reserve_micro), 0) as reserve, coalesce(sum(from_platform_micro), 0) as rest from dispute where payment_id = m.id) taken,
  lateral (select coalesce(m.net_micro - payout_micro(m.net_micro, m.reserve_percent, 0), 0) as reserve) held
where m.id = any($1) and taken.reserve + taken.rest > 0
  and (taken.reserve > held.reserve or (m.payout = 'paid' and m.lost_minor = 0 and m.refunds_minor = 0))
