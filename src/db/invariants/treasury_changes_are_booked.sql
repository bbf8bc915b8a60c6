-- The ledger account `treasury` is the sum of `treasury_change`, which is compared with the chain at each final block.
-- To do: Somebody has written to one of the two by hand. Until they agree, no comparison with the chain means anything: stop the workers, and find out which is right.
select 'treasury' as subject, format('the ledger has %s, and the changes sum to %s',
  readable_amount(ledger.micro, 'USDC'), readable_amount(changes.micro, 'USDC')) as difference
from (select coalesce(sum(amount), 0) as micro from ledger_entry where account = 'treasury') ledger,
  (select coalesce(sum(micro), 0) as micro from treasury_change) changes
where ledger.micro <> changes.micro
