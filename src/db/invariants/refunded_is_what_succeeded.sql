-- An order names as refunded what its succeeded refunds of paid-out money are of, and as requested what those are of that are funded and pending.
-- To do: Compare the refunds of the payment (`pinrail refunds list`) with the partner's own list: it shows which side is right.
select a.payment_id as subject, format('%s has refunded %s and requested %s; its refunds have %s and %s', a.id,
  readable_amount(a.refunded, a.currency), readable_amount(a.refunding, a.currency), readable_amount(done.succeeded, a.currency),
  readable_amount(done.open, a.currency)) as difference
from attempt a, lateral (
  select coalesce(sum(amount_minor) filter (where status = 'succeeded'), 0) as succeeded,
    coalesce(sum(amount_minor) filter (where status in ('funded', 'pending')), 0) as open
  from refund where attempt_id = a.id and fund_from <> 'payment') done
where a.payment_id = any($1) and (a.refunded, a.refunding) is distinct from (done.succeeded, done.open)
