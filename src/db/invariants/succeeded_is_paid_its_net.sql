-- A payment that succeeded has a payout that ended, of exactly its net amount without the reserve and the deduction for a refund.
-- To do: The merchant got something else than the payment says. Correct the difference by hand, and inform the merchant.
select m.id as subject, format('%s due, %s paid; the payout is %s, of %s', payout_micro(m.net_micro, m.reserve_percent, m.deducted_micro), m.paid_micro,
  coalesce(p.state, 'not there'), p.micro_usdc) as difference
from payment m left join payout p on p.owner_id = m.id
where m.id = any($1) and m.status = 'succeeded'
  -- A signature that nobody knew may have paid one that was voided.
  and (coalesce(p.state not in ('settled', 'voided'), true) or p.micro_usdc is distinct from m.paid_micro
    or m.paid_micro is distinct from payout_micro(m.net_micro, m.reserve_percent, m.deducted_micro) and not (m.agreed is not distinct from 'payout:' || m.paid_micro or m.reviews @> '[{"reason": "unexpected_payout"}]'))
  and not (p.state not in ('settled', 'voided') and exists (select from finality_reversal where owner_id = m.id))
