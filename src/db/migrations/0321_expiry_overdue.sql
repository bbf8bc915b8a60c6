-- Up Migration

-- An open payment whose end has passed, and whose run does not act, was in no list: a run whose tasks fail is running all the
-- same, so that the relay starts none.
create or replace view attention with (security_invoker = true) as
  -- Parked: the reason says which decisions end it.
  select p.livemode, p.merchant_id, p.id as payment_id, null::text as attempt_id, 'parked' as kind,
    p.park_reason as detail, p.updated_at as since
  from payment p where p.closed_at is null and p.status = 'under_review'
  union all
  -- The partner is confirming for longer than it may. The workflow parks it then; a row here means that none does.
  select p.livemode, p.merchant_id, p.id, null, 'processing_stale', null, p.updated_at
  from payment p
  where p.closed_at is null and p.status = 'processing' and p.paid_attempt_id is null
    and now() - interval '1 hour' > coalesce(
      (select max(a.updated_at + a.silent_after_hours * interval '1 hour') from attempt a
        where a.payment_id = p.id and a.status = 'confirming'),
      p.updated_at)
  union all
  select p.livemode, p.merchant_id, p.id, p.paid_attempt_id, 'conversion_overdue', null, p.paid_at
  from payment p
  where p.closed_at is null and p.status = 'processing' and p.gross_micro is null and p.paid_at < now() - interval '30 minutes'
  union all
  -- Converted and not handed over yet, or handed over and not paid.
  select p.livemode, p.merchant_id, p.id, p.paid_attempt_id, 'settlement_overdue', null, p.updated_at
  from payment p
  where p.closed_at is null and p.updated_at < now() - interval '15 minutes'
    and (p.status = 'settling' or (p.status = 'processing' and p.gross_micro is not null))
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
  select p.livemode, p.merchant_id, p.id, i.attempt_id, i.kind,
    case i.kind
      when 'misfit' then case when i.misfit is null then 'another token than USDC' else 'asked for ' || (i.misfit #>> '{amount,minor}') || ' ' || (i.misfit #>> '{amount,currency}')
        || ', received ' || coalesce(i.misfit #>> '{received,minor}', 'nothing') end
      -- All that the partner has taken back so far of what was returned from elsewhere.
      when 'outside_reversed' then (select -sum(m.units) || ' ' || m.asset from part m
        where m.attempt_id = i.attempt_id and m.payment_id = i.payment_id and m.kind = 'reversal_outside' group by m.asset)
    end, i.opened_at
  from incident i join payment p on p.id = i.payment_id where i.closed_at is null
  union all
  -- USDC that was bought for a payment that has ended without taking it.
  select p.livemode, p.merchant_id, p.id, p.paid_attempt_id, 'suspense', p.fill_micro || ' USDC', p.updated_at
  from payment p
  where p.fill_micro is not null and p.gross_micro is null and p.status in ('failed', 'expired', 'canceled')
  union all
  -- Closed, and the converter does not say whether it has sold the money. The workflow asks it again, at least every hour.
  select p.livemode, p.merchant_id, p.id, null, 'conversion_open', null, p.updated_at
  from payment p
  where p.conversion_open and p.status in ('refunded', 'failed', 'expired', 'canceled')
    and p.updated_at < now() - interval '1 hour'
  union all
  -- The workflow ends it at once, or asks partners for a minute first; a row here means that none does.
  select p.livemode, p.merchant_id, p.id, null, 'expiry_overdue', null, p.expires_at
  from payment p
  where p.closed_at is null and p.status in ('created', 'pending') and p.expires_at < now() - interval '1 hour';
