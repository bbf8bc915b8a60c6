-- The refunds of a settled payment that have not failed, expired or been canceled sum to what the payment has set aside for them, which is no more than was paid.
-- To do: Somebody has written to one of the two by hand, or more was refunded than was paid. Cancel those of its refunds that wait for USDC.
select m.id as subject, format('%s refunds of %s, and the payment has %s refunds of %s, of %s paid', taken.count,
  readable_amount(taken.minor, m.charge_currency), m.refunds_count, readable_amount(m.refunds_minor, m.charge_currency),
  readable_amount(coalesce(m.confirmed_minor, 0), m.charge_currency)) as difference
from payment m, lateral (
  select count(*) as count, coalesce(sum(amount_minor) filter (where fund_from <> 'payment' and status not in ('failed', 'canceled', 'expired')), 0) as minor
  from refund where payment_id = m.id) taken
where m.id = any($1) and (m.refunds_minor, m.refunds_count) <> (0, 0)
  and (m.refunds_minor <> taken.minor or m.refunds_count <> taken.count or m.refunds_minor > coalesce(m.confirmed_minor, 0))
