-- Up Migration

-- A log and the cursor are committed first. What the log means for payments and books is written later, each under a
-- savepoint: a log that nobody expected, or a hook that fails, cannot stop the reading.
alter table treasury_log
  -- When its movement was booked. Null: still to be done. What was there before was booked when it was stored.
  add column applied_at timestamptz default now(),
  add column hook_error text,
  add column hook_retry_at timestamptz;
create index treasury_log_pending on treasury_log (block_number, log_index) where applied_at is null;
alter table deposit_log
  add column applied_at timestamptz default now(),
  add column hook_error text,
  add column hook_retry_at timestamptz;
create index deposit_log_pending on deposit_log (block_number, log_index) where applied_at is null;

alter table chain_cursor
  -- Blocks before it are never read again: what happened there was not ours to explain.
  add column first_number bigint,
  -- The block, not final yet, that showed the reason of a pause. When the final blocks have passed it without the reason,
  -- the pause ends by itself. Null: only an operator ends it.
  add column paused_until_final bigint;
update chain_cursor set first_number = scanned_number;
alter table chain_cursor alter column first_number set not null;

-- What the reconciliation of chain, logs and rows could not repair by itself. A row goes when its cause is gone.
create table settlement_finding (
  chain_id int not null,
  token chain_address not null,
  kind text not null check (kind in ('used_without_log')),
  -- The payment.
  subject text not null,
  detail text not null,
  found_at timestamptz not null default now(),
  primary key (chain_id, token, kind, subject)
);

-- A final block that was replaced after all, with each proof that was lost with it. An operator's command writes it.
create table finality_reversal (
  payment_id text not null,
  tx_hash chain_hash not null,
  log_index int not null,
  block_number bigint not null,
  block_hash chain_hash not null,
  reversed_at timestamptz not null default now(),
  primary key (payment_id, tx_hash, log_index, block_hash)
);

-- Nothing follows an end, but when the block that proved it has left the chain: the row of this very proof must be there,
-- and the proof gone.
create or replace function payout_has_ended() returns trigger language plpgsql as $$
begin
  if new.state in ('queued', 'voiding')
    and exists (select 1 from finality_reversal r where r.payment_id = old.payment_id)
    and not exists (select 1 from treasury_log l where l.payment_id = old.payment_id)
    and not exists (select 1 from void_proof v where v.payment_id = old.payment_id)
  then return new;
  end if;
  raise exception 'payout % is % and stays so', old.payment_id, old.state;
end $$;
