-- The ledger account `suspense` owes merchants the USDC that is there for refunds, and nothing once a refund took it or it went back.
-- To do: Compare the bookings of the payment with the transfers to and from the addresses of its refunds. What is missing on one side was booked twice, or not at all.
with there as (
    select r.payment_id, sum(r.received_micro - case r.status when 'succeeded' then r.required_micro else 0 end
      - (select coalesce(sum(s.micro_usdc), 0) from deposit_sweep s where s.owner_id = r.id and s.returned_block is not null)) as micro
    from refund r where r.payment_id = any($1) and r.fund_from = 'wallet' group by 1),
  booked as (
    select t.payment_id, sum(-e.amount) as micro from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
    where t.payment_id = any($1) and t.kind in ('deposited', 'returned', 'refund_taken') and e.account = 'suspense' group by 1)
select there.payment_id as subject, format('%s of refunds is there, and the ledger owes %s', readable_amount(there.micro, 'USDC'),
  readable_amount(coalesce(booked.micro, 0), 'USDC')) as difference
from there left join booked using (payment_id)
where there.micro <> coalesce(booked.micro, 0)
