-- An order in USDC has the sum of the final transfers to its address, once they are applied.
-- To do: Compare the address with the chain. The chain is right: the next reading of the order takes it over.
select d.payment_id as subject, format('%s holds %s, and %s arrived at %s', a.id, readable_amount(a.held, 'USDC'),
  readable_amount(came.micro, 'USDC'), d.address) as difference
from deposit d join attempt a on a.id = d.attempt_id,
  lateral (select coalesce(sum(units) filter (where token = d.token), 0) as micro, count(*) filter (where applied_at is null) as open
    from deposit_log where owner_id = d.owner_id) came
where d.payment_id = any($1) and a.held <> came.micro and came.open = 0
  and not exists (select from partner_callback where attempt_id = a.id and applied_at is null)
