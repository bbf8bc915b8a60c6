-- A refill books its money out of `partner_receivable` when it is opened, and once more when it ends: into USDC, or back.
-- To do: Compare the refill with the partner's transfer (`reference`), and book the difference that is named.
with line as (
    select r.id, e.account, e.asset, sum(e.amount) as amount
    from refill r join ledger_transaction t on t.reference = r.id
        and t.kind in ('refill_opened', 'refill_ended', 'refill_done') and t.payment_id is null
      join ledger_entry e on e.transaction_id = t.id
    group by 1, 2, 3 having sum(e.amount) <> 0),
  due as (
    select r.id, account, asset, amount from refill r, lateral (values
      ('partner_receivable', r.currency, case when r.state <> 'ended' then -r.units end),
      ('refill', r.currency, case when r.state = 'open' then r.units end),
      ('conversion', r.currency, case when r.state = 'done' then r.units end),
      ('conversion', 'USDC', case when r.state = 'done' then -r.cost_micro end),
      ('exchange', 'USDC', r.cost_micro - r.market_micro),
      ('spread', 'USDC', r.market_micro - r.micro),
      ('suspense', 'USDC', r.micro)) as due(account, asset, amount)
    where amount <> 0)
select id as subject, format('%s has %s, and %s is due', account, readable_amount(coalesce(line.amount, 0), asset),
  readable_amount(coalesce(due.amount, 0), asset)) as difference
from line full join due using (id, account, asset)
where line.amount is distinct from due.amount
