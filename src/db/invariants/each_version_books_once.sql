-- A version of a payment books at most once, and no booking and no decision names a version that the payment has not reached.
-- To do: A change was booked without being written, or twice. Compare the timeline of the payment with its bookings.
with booked as (
  select m.id, m.version, split_part(t.reference, ':', 2)::int as by, count(*) as times
  from payment m join ledger_transaction t on t.payment_id = m.id
  -- Deposits and sweeps are facts of the chain, and are booked by their transfers.
  where m.id = any($1) and t.reference ~ '^[^:]+:\d{1,9}$' and split_part(t.reference, ':', 1) = m.id
  group by m.id, by)
select id as subject,
  format('version %s has booked %s times, and the payment has version %s', by, times, version) as difference
from booked where times > 1 or by not between 2 and version
union all
select m.id, format('a decision made version %s, and the payment has version %s', d.version, m.version)
from payment m join decision d on d.payment_id = m.id
where m.id = any($1) and d.version not between 2 and m.version
