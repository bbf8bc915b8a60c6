-- The exposure of each currency, with what refills have brought taken off, is what the ledger accounts `conversion`, `exchange` and `chargeback_loss` have of it.
-- To do: Somebody has written to the ledger, to `exposure_change` or to `refill` by hand. Refills take too much or too little until they agree: set FLOAT_REFILL to none, and find out which is right.
with booked as (
    select asset as currency, -sum(amount) as units from ledger_entry
    where account in ('conversion', 'exchange', 'chargeback_loss') and asset not in ('USDC', 'POL') group by 1),
  changed as (
    select currency, sum(units) as units from (
      select currency, units from exposure_change
      union all select currency, -units from refill where state = 'done') change group by 1)
select currency as subject, format('the ledger has %s, and the changes sum to %s',
  readable_amount(coalesce(booked.units, 0), currency), readable_amount(coalesce(changed.units, 0), currency)) as difference
from booked full join changed using (currency)
where coalesce(booked.units, 0) <> coalesce(changed.units, 0)
