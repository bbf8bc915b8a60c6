-- The USDC of a refund stays at its address until the refund is over. Then the treasury takes what the refund required, if it succeeded, and everything else goes back to the wallet of the payment.
-- To do: Stop the workers before the next sweep of the address: the merchant and the platform may both take the same USDC.
select r.payment_id as subject, format('%s is %s, and of %s the treasury takes %s, has taken %s, and the rest goes to %s', r.id, r.status,
  d.address, coalesce(readable_amount(d.treasury_micro, 'USDC'), 'nothing yet'), readable_amount(d.taken_micro, 'USDC'),
  d.return_to) as difference
from refund r join deposit d on d.refund_id = r.id join payment m on m.id = r.payment_id
where r.payment_id = any($1) and (
  d.treasury_micro is distinct from case when r.status = 'succeeded' then r.required_micro when r.due_at is null then 0 end
  or d.taken_micro > coalesce(d.treasury_micro, 0) or d.return_to <> lower(m.destination)
  or exists (select from deposit_sweep s where s.owner_id = r.id and s.recipient = d.return_to) and r.due_at is not null)
