-- Up Migration

-- A void waits for 55 minutes at most before it is signed, unless another treasury has paid the payment. Later its key refuses it,
-- or no lane brings it through: a refund waits for it, and nothing else told of it.
create or replace view settlement_attention as
  select livemode, 'payout_hook' as kind, payment_id as subject, hook_error as detail, updated_at as since
    from payout where hook_error is not null and state not in ('settled', 'voided')
  union all
  select livemode, 'payout_held', payment_id, hold_reason || ': ' || coalesce(hold_detail, ''), updated_at
    from payout where state = 'held' and hold_reason not in ('funds', 'paused')
  union all
  select null, 'treasury_log', tx_hash || ':' || log_index, hook_error, finalized_at
    from treasury_log where applied_at is null and hook_error is not null
  union all
  select d.livemode, 'deposit_log', l.tx_hash || ':' || l.log_index, l.hook_error, l.finalized_at
    from deposit_log l join deposit d using (payment_id) where l.applied_at is null and l.hook_error is not null
  union all
  select null, 'unknown_transfer', tx_hash || ':' || log_index,
    micro_usdc || ' micro-USDC from ' || treasury || ' to ' || counterparty, finalized_at
    from treasury_log where kind = 'out' and known_as is null
  union all
  select null, 'paused', token, paused_reason, null::timestamptz from chain_cursor where paused_reason is not null
  union all
  select null, kind, subject, detail, found_at from settlement_finding
  union all
  select null, 'lane', wallet, status_reason, null from lane where status = 'quarantined'
  union all
  select null, 'gas', wallet || ':' || nonce, gas_error, ended_at from lane_tx where gas_error is not null
  union all
  select d.livemode, 'sweep', s.payment_id, s.micro_usdc || ' micro-USDC are to be swept from ' || d.address, s.created_at
    from deposit_sweep s join deposit d using (payment_id)
    where s.state in ('signed', 'assigned') and s.created_at < now() - interval '1 hour' and d.unswept_micro >= 10000
  union all
  select livemode, 'void', payment_id, micro_usdc || ' micro-USDC of ' || treasury || ' are to be voided', updated_at
    from payout p where state = 'voiding' and updated_at < now() - interval '2 hours'
      and not exists (select 1 from settlement_finding f where f.kind = 'paid_elsewhere' and f.subject = p.payment_id);
