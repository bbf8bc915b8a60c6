-- Every booking of a payment sums to zero in each asset.
-- To do: The database refuses such a booking, so somebody has written to the ledger by hand. Find out who, and book back what is too much.
select t.payment_id as subject,
  format('booking %s (%s %s) is off by %s', t.id, t.kind, t.reference, readable_amount(sum(e.amount), e.asset)) as difference
from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
where t.payment_id = any($1)
group by t.id, e.asset having sum(e.amount) <> 0
