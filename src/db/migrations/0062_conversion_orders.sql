-- Up Migration

-- The converter knows an order by its key, and takes no other amount under it: orders of a payment are counted. A stale one
-- is of another amount than is to be converted now, or of money that is gone: it is ended before the payment gets another.
alter table payment
  add column conversion_order smallint not null default 1 check (conversion_order > 0),
  add column conversion_stale text check (conversion_stale in ('changed', 'gone'));

-- What was asked for before is not on record: the order is ended first, which is right whatever it was.
update payment set conversion_stale = case when paid_attempt_id is null then 'gone' else 'changed' end
where conversion_open;
-- USDC that was bought for a payment which has ended without it is taken up again: an operator books it.
update payment set closed_at = null
where fill_micro is not null and gross_micro is null and status in ('failed', 'expired', 'canceled') and closed_at is not null;
