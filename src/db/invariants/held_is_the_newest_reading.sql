-- An order has what its newest reading says.
-- To do: Somebody has written to the row by hand. Read the order again: each reading puts the row right.
select a.payment_id as subject, format('%s is %s with %s, and reading %s says %s with %s', a.id, a.status, a.held,
  coalesce(r.revision, 0), coalesce(r.status, 'nothing'), coalesce(r.held, 0)) as difference
from attempt a left join lateral (
  select * from reading where attempt_id = a.id order by revision desc limit 1) r on true
where a.payment_id = any($1)
  and ((a.status, a.held, a.misfit) is distinct from (coalesce(r.status, 'opening'), coalesce(r.held, 0), r.misfit)
    or r.revision > a.revision)
