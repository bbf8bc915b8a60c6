-- The open payments of a merchant are as many as its agreement counts.
-- To do: The limit of its open payments is wrong. Set `open_payments` of its agreement to the number of its payments that are `created` or `pending`.
select a.merchant_id as subject, format('%s open payments are counted, and there are %s', a.open_payments, coalesce(p.open, 0)) as difference
from agreement a left join (
  select merchant_id, count(*) as open from payment
  where closed_at is null and status in ('created', 'pending') group by merchant_id) p using (merchant_id)
where a.open_payments <> coalesce(p.open, 0)
