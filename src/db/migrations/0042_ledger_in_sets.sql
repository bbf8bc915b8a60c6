-- Up Migration

-- The lines of a fact are written by one statement, and many facts by one too. When what each statement adds balances, so
-- does every transaction; nothing that is stored already need be read for that, at the commit or for every line.
drop trigger ledger_balances on ledger_entry;
create or replace function ledger_balances() returns trigger language plpgsql as $$
declare off record;
begin
  select transaction_id, asset, sum(amount) as amount into off
    from fresh group by transaction_id, asset having sum(amount) <> 0 limit 1;
  if found then
    raise exception 'ledger transaction % does not balance in %: %', off.transaction_id, off.asset, off.amount;
  end if;
  return null;
end $$;
create trigger ledger_balances after insert on ledger_entry referencing new table as fresh
  for each statement execute function ledger_balances();
