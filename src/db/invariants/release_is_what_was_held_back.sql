-- A release is the sum of its parts: of reserves, and of deductions that refunds have not taken. Its payout has the same amount and wallet. A void release is not paid, and has no parts once its reserves are held back again.
-- To do: If the payout is not signed, stop it (`pinrail settlement stop`). If it is paid, correct the difference by hand, and inform the merchant.
select r.id as subject, format('%s to %s; its payments released %s, and the payout is %s to %s', readable_amount(r.micro_usdc, 'USDC'),
  r.recipient, readable_amount(p.micro_usdc, 'USDC'), coalesce(readable_amount(o.micro_usdc, 'USDC'), 'not there'), coalesce(o.recipient, 'nobody')) as difference
from reserve_release r left join payout o on o.owner_id = r.id,
  lateral (select coalesce(sum(micro_usdc), 0) as micro_usdc from (
    select micro_usdc from reserve_release_part where release_id = r.id
    union all select deducted_micro from payment where deduction_release_id = r.id) part) p
where (r.micro_usdc, r.micro_usdc, r.recipient) is distinct from (p.micro_usdc, o.micro_usdc, o.recipient)
  and not (coalesce(o.state in ('voiding', 'voided'), false) and r.tx_hash is null and p.micro_usdc = 0 and (r.micro_usdc, r.recipient) = (o.micro_usdc, o.recipient))
