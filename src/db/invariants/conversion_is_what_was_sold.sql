-- The ledger account `conversion` of a payment has, in each currency, what its filled sales sold and bought.
-- To do: Compare both with the converter's statement: the sale `<payment>:convert:<number>` is filled or not. What was sold stays sold, also if the payment was refunded.
with sold as (
    select s.payment_id, line.asset, sum(line.units) as units
    from sale s join attempt a on a.id = s.attempt_id, lateral (values
      (case a.provider when 'crypto' then 'USDC' else a.currency end, -s.units), ('USDC', s.fill_micro)) as line(asset, units)
    where s.payment_id = any($1) and s.state = 'filled' group by 1, 2),
  booked as (
    select t.payment_id, e.asset, sum(e.amount) as units
    from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
    where t.payment_id = any($1) and e.account = 'conversion' group by 1, 2)
select payment_id as subject, format('the sales give %s, and the ledger has %s',
  readable_amount(coalesce(sold.units, 0), asset), readable_amount(coalesce(booked.units, 0), asset)) as difference
from sold full join booked using (payment_id, asset)
where coalesce(sold.units, 0) <> coalesce(booked.units, 0)
