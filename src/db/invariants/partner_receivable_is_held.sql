-- The ledger account `partner_receivable` of a payment has, in each currency, what the partners hold of its orders.
-- To do: Compare both with the partner's own list. The order that differs from it is the one to look at: `pinrail payments explain`.
with held as (
    select payment_id, currency as asset, sum(held) as units from attempt
    where payment_id = any($1) and provider <> 'crypto' group by 1, 2),
  booked as (
    select t.payment_id, e.asset, sum(e.amount) as units
    from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
    where t.payment_id = any($1) and e.account = 'partner_receivable' group by 1, 2)
select payment_id as subject, format('the partners hold %s, and the ledger has %s',
  readable_amount(coalesce(held.units, 0), asset), readable_amount(coalesce(booked.units, 0), asset)) as difference
from held full join booked using (payment_id, asset)
where coalesce(held.units, 0) <> coalesce(booked.units, 0)
