-- Up Migration

-- All money and time that waits for a person. The search attribute NeedsOperator, metrics, alerts and the dashboard read it.
-- `since` is when the waiting began. Each branch reads an index of the few rows that wait, not the many that are done.
create index payment_waiting on payment (status, updated_at)
  where closed_at is null and status in ('processing', 'under_review', 'settling');
create index payment_held on payment (updated_at) where held and closed_at is null;
create index payment_fill_kept on payment (updated_at) where fill_micro is not null and gross_micro is null;

create view attention with (security_invoker = true) as
  -- Parked: the reason says which decisions end it.
  select p.livemode, p.merchant_id, p.id as payment_id, null::text as attempt_id, 'parked' as kind,
    p.park_reason as detail, p.updated_at as since
  from payment p where p.closed_at is null and p.status = 'under_review'
  union all
  -- The partner says for a day that it is confirming. The workflow parks it; a row here means that none does.
  select p.livemode, p.merchant_id, p.id, null, 'processing_stale', null, p.updated_at
  from payment p
  where p.closed_at is null and p.status = 'processing' and p.paid_attempt_id is null
    and p.updated_at < now() - interval '25 hours'
  union all
  select p.livemode, p.merchant_id, p.id, p.paid_attempt_id, 'conversion_overdue', null, p.paid_at
  from payment p
  where p.closed_at is null and p.status = 'processing' and p.gross_micro is null and p.paid_at < now() - interval '30 minutes'
  union all
  select p.livemode, p.merchant_id, p.id, p.paid_attempt_id, 'settlement_overdue', null, p.updated_at
  from payment p
  where p.closed_at is null and p.status = 'settling' and p.updated_at < now() - interval '15 minutes'
  union all
  select p.livemode, p.merchant_id, p.id, null, 'held', null, p.updated_at
  from payment p
  where p.closed_at is null and p.held and p.status <> 'under_review' and p.updated_at < now() - interval '24 hours'
  union all
  -- News of a partner that nobody could read for an hour: it is silent, refuses us, or knows no such order.
  select p.livemode, p.merchant_id, p.id, e.attempt_id, 'partner_unread', max(e.provider), min(e.received_at)
  from partner_event e join attempt a on a.id = e.attempt_id join payment p on p.id = a.payment_id
  where e.applied_at is null and e.received_at < now() - interval '1 hour'
  group by p.id, e.attempt_id
  union all
  -- Money beside the payment's own.
  select p.livemode, p.merchant_id, p.id, m.attempt_id, m.state, sum(m.units) || ' ' || m.asset, min(m.at)
  from part m join payment p on p.id = m.payment_id
  where m.state in ('surplus', 'late') group by p.id, m.attempt_id, m.state, m.asset having sum(m.units) <> 0
  union all
  select p.livemode, p.merchant_id, p.id, i.attempt_id, 'intent_pending', i.kind, i.asked_at
  from intent i join payment p on p.id = i.payment_id
  where i.state in ('asked', 'pending') and i.asked_at < now() - interval '1 hour'
  union all
  select p.livemode, p.merchant_id, p.id, i.attempt_id, i.kind, null, i.opened_at
  from incident i join payment p on p.id = i.payment_id where i.closed_at is null
  union all
  -- USDC that was bought for a payment that has ended without taking it.
  select p.livemode, p.merchant_id, p.id, p.paid_attempt_id, 'suspense', p.fill_micro || ' USDC', p.updated_at
  from payment p
  where p.fill_micro is not null and p.gross_micro is null and p.status in ('failed', 'expired', 'canceled');

grant select on attention to pinrail_tenant;
