-- Up Migration

-- What an operator had declared legitimate stayed in suspense. It is booked as it is from now on (`acknowledged`).
with
  known as (
    select tx_hash || ':' || coalesce(told_index, log_index) as reference from treasury_log
    where kind = 'out' and known_as = 'operator'),
  -- From one treasury to another nothing had left.
  missing as (
    select k.reference, e.amount from known k join ledger_transaction t on (t.kind, t.reference) = ('withdrawn', k.reference)
      join ledger_entry e on e.transaction_id = t.id and e.account = 'suspense'),
  made as (
    insert into ledger_transaction (kind, reference, payment_id, booked_at)
    select 'acknowledged', reference, null, now() from missing on conflict do nothing returning id, reference)
insert into ledger_entry (transaction_id, line, account, asset, amount)
select made.id, l.line, l.account, 'USDC', l.amount
from made join missing using (reference)
  cross join lateral (values (0, 'exchange', missing.amount), (1, 'suspense', -missing.amount)) as l(line, account, amount);
