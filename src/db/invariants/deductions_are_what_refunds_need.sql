-- What payouts lack for a refund is at most what it requires, of its merchant and mode. It is released only if the refund has not taken it, and a refund that succeeded has taken all of it.
-- To do: Stop the release (`pinrail settlement stop`) if it is not signed. Compare the payments that name the refund with its timeline, and book or pay the difference by hand.
select r.payment_id as subject, format('%s is %s and requires %s; payouts lack %s for it, %s of them final and %s released', r.id, r.status,
  readable_amount(r.required_micro, 'USDC'), readable_amount(d.all_micro, 'USDC'), readable_amount(d.paid_micro, 'USDC'),
  readable_amount(d.released_micro, 'USDC')) as difference
from refund r, lateral (
  select coalesce(sum(p.deducted_micro), 0) as all_micro, coalesce(sum(p.deducted_micro) filter (where p.payout = 'paid'), 0) as paid_micro,
    coalesce(sum(p.deducted_micro) filter (where p.deduction_release_id is not null), 0) as released_micro,
    coalesce(bool_or((p.merchant_id, p.livemode, p.chain_id, lower(p.token)) <> (r.merchant_id, r.livemode, r.chain_id, r.token)), false) as is_foreign
  from payment p where p.deducted_for = r.id) d
where r.payment_id = any($1) and (r.fund_from = 'next_payouts' or d.all_micro > 0) and (
  r.fund_from <> 'next_payouts' or d.is_foreign or d.all_micro > r.required_micro or r.received_micro > d.paid_micro
  or r.status in ('funded', 'pending', 'succeeded') and (d.paid_micro <> r.required_micro or d.released_micro > 0)
  or r.status = 'awaiting_funds' and d.released_micro > 0)
