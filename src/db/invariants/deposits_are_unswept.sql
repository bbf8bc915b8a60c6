-- The ledger account `deposits` of a payment has what is at its address and those of its refunds: what arrived and was not swept.
-- To do: Compare each address with the chain. If a block that was final has left the chain, the payment still has in the books what came in it.
select d.payment_id as subject, format('%s is to be at %s, and the ledger has %s', readable_amount(sum(d.unswept_micro), 'USDC'),
  string_agg(d.address, ', '), readable_amount(booked.micro, 'USDC')) as difference
from deposit d, lateral (
  select coalesce(sum(e.amount), 0) as micro from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
  where t.payment_id = d.payment_id and e.account = 'deposits') booked
where d.payment_id = any($1)
group by d.payment_id, booked.micro
having sum(d.unswept_micro) <> booked.micro
  and not exists (select from deposit_log l join deposit o using (owner_id)
    where o.payment_id = d.payment_id and l.applied_at is null)
