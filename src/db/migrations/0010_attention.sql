-- Attention: all that waits for a person, for the command `pinrail`, the metrics, the alerts and the dashboard.

-- `100.00 EUR` of 10000 minor units; the currencies without decimals are those of src/domain/currencies.ts.
create function readable_amount(units numeric, asset text) returns text immutable parallel safe language sql
  return units * case when asset = 'USDC' then 0.000001 when asset in ('CLP', 'ISK', 'JPY', 'KRW') then 1 else 0.01 end
    || ' ' || asset;

-- Each part reads an index of the few rows that wait, however many are done.
create view attention with (security_invoker = true) as
  -- Payments that an operator decides about.
  select p.livemode, p.merchant_id, p.id as payment_id, r ->> 'attemptId' as attempt_id, 'review' as kind,
    (r ->> 'reason') || ': ' || (r ->> 'text') as detail, p.review_since as since
  from payment p, jsonb_array_elements(p.reviews) r where p.review_since is not null
  union all
  -- The partner reports for too long that it is confirming the money. The workflow notes it then: a row here means that no
  -- workflow does.
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
  -- Converted and not yet handed to settlement, or handed over and not paid.
  select p.livemode, p.merchant_id, p.id, p.paid_attempt_id, case when exists (select from agreement a
    where a.merchant_id = p.merchant_id and a.holds_payouts) then 'payouts_held' else 'settlement_overdue' end, null, p.updated_at
  from payment p
  where p.closed_at is null and p.updated_at < now() - interval '15 minutes'
    and (p.status = 'settling' or (p.status = 'processing' and p.gross_micro is not null))
  union all
  select p.livemode, p.merchant_id, p.id, null, 'held', null, p.updated_at
  from payment p
  where p.closed_at is null and p.held and p.status <> 'under_review' and p.updated_at < now() - interval '24 hours'
  union all
  -- A partner's callback that could not be applied for an hour: the partner is silent, refuses us, or does not know the order.
  select p.livemode, p.merchant_id, p.id, e.attempt_id, 'partner_unread', max(e.provider), min(e.received_at)
  from partner_callback e join attempt a on a.id = e.attempt_id join payment p on p.id = a.payment_id
  where e.applied_at is null and e.received_at < now() - interval '1 hour'
  group by p.id, e.attempt_id
  union all
  -- Give-backs that a partner has not made for an hour.
  select p.livemode, p.merchant_id, p.id, a.id, 'give_back_pending', readable_amount(a.held - a.outside,
    case when a.asked_micro is null then a.currency else 'USDC' end), a.updated_at
  from attempt a join payment p on p.id = a.payment_id
  where a.back <> 'no' and a.outside = 0 and a.updated_at < now() - interval '1 hour'
  union all
  -- The USDC of a refund is there, and the partner has not done or refused it for three days.
  select p.livemode, p.merchant_id, p.id, a.id, 'refund_pending', readable_amount(a.refunding, a.currency), a.updated_at
  from attempt a join payment p on p.id = a.payment_id
  where a.refunding > 0 and a.updated_at < now() - interval '3 days'
  union all
  select p.livemode, p.merchant_id, p.id, a.id, 'cancel_pending', a.provider, a.updated_at
  from attempt a join payment p on p.id = a.payment_id
  where a.cancel_asked and a.status in ('opening', 'open', 'verification_required') and not p.listen_ended
    and a.updated_at < now() - interval '1 hour'
  union all
  -- The payment has ended, and it is not known whether the converter has sold the money. The workflow asks it at least hourly.
  select p.livemode, p.merchant_id, p.id, s.attempt_id, 'conversion_open', null, greatest(s.asked_at, p.updated_at)
  from sale s join payment p on p.id = s.payment_id
  where s.state = 'asked' and p.status in ('refunded', 'failed', 'expired', 'canceled')
    and p.updated_at < now() - interval '1 hour'
  union all
  -- The workflow ends it at once, or after asking partners for a minute: a row here means that no workflow does.
  select p.livemode, p.merchant_id, p.id, null, 'expiry_overdue', null, p.expires_at
  from payment p
  where p.closed_at is null and p.status in ('created', 'pending') and p.expires_at < now() - interval '1 hour';
comment on view attention is 'Money and time of a payment that waits for a person. One row for each reason.';
comment on column attention.attempt_id is 'Null: it concerns the payment as a whole.';
comment on column attention.kind is 'Why it waits. docs/decide.md says what to do about each.';
comment on column attention.since is 'When the waiting began.';
grant select on attention to pinrail_tenant;

create view known_lane as
  select l.* from lane l
  -- The worker that leads notes every minute which lanes it has the keys of.
  where l.led_at >= (select max(a.led_at) from lane a where a.chain_id = l.chain_id) - interval '10 minutes'
    or exists (select 1 from payout p where p.chain_id = l.chain_id and p.lane_wallet = l.wallet)
    or exists (select 1 from deposit_sweep s where s.chain_id = l.chain_id and s.lane_wallet = l.wallet and s.state = 'assigned');
comment on view known_lane is
  'Lanes whose keys a worker has, or had lately, and those that carry something. Whether an earlier one''s transactions are ever mined moves nothing.';

-- The worker that leads renews its lease every few seconds.
create view unserved_payout as
  select p.* from payout p where p.state not in ('settled', 'voided')
    and not exists (select 1 from chain_cursor c where (c.chain_id, c.token) = (p.chain_id, p.token)
      and c.lease_until > now() - interval '10 minutes')
    and exists (select 1 from chain_cursor c where c.lease_until > now() - interval '10 minutes');
comment on view unserved_payout is 'Open payouts on a chain or in a token that no worker pays, while workers pay others.';

create view settlement_attention as
  select livemode, 'payout_hook' as kind, owner_id as subject, hook_error as detail, updated_at as since
    from payout where hook_error is not null and state not in ('settled', 'voided')
  union all
  select livemode, 'payout_stopped', owner_id, stop_reason || ': ' || coalesce(stop_detail, ''), updated_at
    from payout where state = 'stopped' and stop_reason not in ('funds', 'limit') and payment_id is not null
  union all
  -- No payment and no workflow waits for a release of reserves, so each has its row here.
  select livemode, 'release_stopped', owner_id, stop_reason || ': ' || coalesce(stop_detail, ''), updated_at
    from payout where state = 'stopped' and stop_reason not in ('funds', 'limit') and reserve_release_id is not null
  union all
  select o.livemode, 'release_voided', o.owner_id, readable_amount(o.micro_usdc, 'USDC') || ' of reserves are not paid', o.updated_at
    from payout o where o.state = 'voided' and o.reserve_release_id is not null
      and (exists (select from reserve_release_part p where p.release_id = o.reserve_release_id)
        or exists (select from payment p where p.deduction_release_id = o.reserve_release_id))
      and not exists (select from reserve_release r where r.id = o.reserve_release_id and r.tx_hash is not null)
  union all
  -- Without a wallet the merchant is waited for.
  select livemode, 'release_overdue', merchant_id, readable_amount(sum(reserved_micro), 'USDC') || ' were due on '
      || min(reserve_due_on(finalized_at, reserve_days)), min(reserve_due_on(finalized_at, reserve_days))::timestamptz
    from payment p
    where reserve_due_on(finalized_at, reserve_days) < (now() at time zone 'UTC')::date - 1 and reserved_micro > 0
      and finalized_at is not null and p.updated_at < now() - interval '3 hours'
      and exists (select from wallet w where (w.merchant_id, w.livemode) = (p.merchant_id, p.livemode))
      and not exists (select from agreement a where a.merchant_id = p.merchant_id and a.holds_payouts)
    group by livemode, merchant_id
  union all
  select null, 'treasury_log', tx_hash || ':' || log_index, hook_error, finalized_at
    from treasury_log where applied_at is null and hook_error is not null
  union all
  select d.livemode, 'deposit_log', l.tx_hash || ':' || l.log_index, l.hook_error, l.finalized_at
    from deposit_log l join deposit d using (owner_id) where l.applied_at is null and l.hook_error is not null
  union all
  select null, 'unknown_transfer', tx_hash || ':' || log_index,
    micro_usdc || ' micro-USDC from ' || treasury || ' to ' || counterparty, finalized_at
    from treasury_log where kind = 'out' and known_as is null
  union all
  -- In `suspense`, until its payment claims it or an operator acknowledges it.
  select null, 'unclaimed_transfer', tx_hash || ':' || log_index,
    micro_usdc || ' micro-USDC from ' || treasury || ' to ' || counterparty
      || case known_as when 'payment' then ', with the nonce of ' || nonce_of
        when 'release' then ', with the nonce of a release of reserves' else ', sent by a lane' end, finalized_at
    from treasury_log where kind = 'out' and owner_id is null and known_as in ('payment', 'release', 'own_lane')
  union all
  select null, 'rate_refused', currency, rate::text || ' USDC before, ' || refused_rate || ' now', null
    from accepted_rate where refused_rate is not null
  union all
  select null, 'paused', token, pause, null::timestamptz from chain_cursor where pause is not null
  union all
  select null, kind, subject, detail, found_at from settlement_finding
  union all
  select null, 'lane', wallet, status_reason, null from known_lane where status = 'quarantined'
  union all
  select null, 'gas', wallet || ':' || nonce, gas_error, ended_at from lane_tx where gas_error is not null
  union all
  select d.livemode, 'sweep', s.owner_id, s.micro_usdc || ' micro-USDC are to be swept from ' || d.address, s.created_at
    from deposit_sweep s join deposit d using (owner_id)
    -- Less than the smallest sweep stays at the address, and no sweep waits for it.
    where s.state in ('signed', 'assigned') and s.sender = d.address and s.created_at < now() - interval '1 hour'
      and d.unswept_micro >= 10000
  union all
  -- The void of a treasury without a key waits until the signatures have expired, at most 55 minutes.
  select livemode, 'void', owner_id, micro_usdc || ' micro-USDC of ' || treasury || ' are to be voided', updated_at
    from payout p where state = 'voiding' and updated_at < now() - interval '2 hours'
  union all
  select livemode, 'unserved', token, 'chain ' || chain_id || ', open payouts: ' || count(*), min(created_at)
    from unserved_payout group by livemode, chain_id, token
  union all
  select p.livemode, 'no_key', t.address, 'open payouts: ' || count(*), min(p.created_at)
    from treasury t join payout p on (p.chain_id, p.token, p.treasury) = (t.chain_id, t.token, t.address)
    where not t.has_key and t.lost_at is null and p.state not in ('settled', 'voided') group by p.livemode, t.address
  union all
  -- It takes 55 minutes at most.
  select p.livemode, 'take_over', t.address, 'open payouts, for ' || t.successor || ': ' || count(*), min(greatest(t.lost_at, p.created_at))
    from treasury t join payout p on (p.chain_id, p.token, p.treasury) = (t.chain_id, t.token, t.address)
    where t.lost_at < now() - interval '2 hours' and p.created_at < now() - interval '2 hours'
      and p.state not in ('settled', 'voiding', 'voided') group by p.livemode, t.address, t.successor
  union all
  -- A proof is tried every ten minutes, and fails for all payouts alike: one row, which hides nothing else in a list.
  select p.livemode, 'receipt', (array_agg(l.owner_id order by l.finalized_at))[1],
    count(*) || ' receipts are not proved, this one for the longest time', min(l.finalized_at)
    from treasury_log l join payout p on p.owner_id = l.owner_id
    where l.receipt_due_at is not null and l.owner_id is not null and l.kind = 'out'
      and l.finalized_at < now() - interval '1 hour'
    group by p.livemode;
comment on view settlement_attention is
  'What of settlement waits for a person, or fails and is tried again. One row for each; for all receipts together one.';
comment on column settlement_attention.livemode is 'Null: it belongs to the whole deployment.';
comment on column settlement_attention.subject is 'The payment, release of reserves, merchant, transfer, token, wallet or envelope that it is about.';
comment on column settlement_attention.since is 'When the waiting began; null: not known.';
