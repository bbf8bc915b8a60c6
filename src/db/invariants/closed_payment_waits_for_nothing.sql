-- A closed payment has no review, refund, sale or payout that is still open.
-- To do: It has no workflow, so it cannot continue. `update payment set closed_at = null where id = '…'` gives it one within half a minute.
select m.id as subject, format('closed, %s, and it waits for%s%s%s%s', m.status,
  case when m.review_since is not null then ' a review' end,
  case when m.payout in ('handed', 'stopped', 'voiding') then ' its payout' end,
  (select format(' sale %s', s.number) from sale s where s.payment_id = m.id and s.state = 'asked' limit 1),
  (select format(' the refund of %s', a.id) from attempt a where a.payment_id = m.id and a.back <> 'no' limit 1)) as difference
from payment m
where m.id = any($1) and m.closed_at is not null
  and (m.review_since is not null or m.payout in ('handed', 'stopped', 'voiding')
    or m.status not in ('succeeded', 'failed', 'expired', 'canceled', 'refunded')
    or exists (select from sale where payment_id = m.id and state = 'asked')
    or exists (select from attempt where payment_id = m.id and back <> 'no'))
