-- Up Migration

-- Every treasury, and since when it is not the one that new payouts are queued on, and no engine has its key. A backup that
-- is older than that forgets it; then both are stamped anew, and later, which only makes everybody wait longer.
create table treasury (
  chain_id int not null,
  token chain_address not null,
  address chain_address not null,
  retired_at timestamptz,
  keyless_at timestamptz,
  primary key (chain_id, token, address)
);

-- Which nonces of other treasuries a payment may have been paid by, from before a rotation.
create table payout_elsewhere (
  payment_id text not null references payment,
  treasury chain_address not null,
  auth_nonce chain_hash not null,
  primary key (payment_id, treasury)
);
create index on payout_elsewhere (auth_nonce);

-- A payment that is paid a second time stops everything, in the transaction that stores the log: something is wrong with a
-- key, a backup or this program, and the next payout may be the next one twice. The transfer counts as unknown until an
-- operator acknowledges it.
create function second_payout_pauses() returns trigger language plpgsql as $$
declare
  twice record;
begin
  if not exists (select 1 from payout_elsewhere) then return null; end if;
  for twice in
    with touched as (
      select e.payment_id from fresh f join payout_elsewhere e on (e.auth_nonce, e.treasury) = (f.auth_nonce, f.treasury)
        where f.kind = 'out'
      union
      select p.payment_id from fresh f
        join payout p on (p.auth_nonce, p.treasury, p.token, p.chain_id) = (f.auth_nonce, f.treasury, f.token, f.chain_id)
        where f.kind = 'out' and exists (select 1 from payout_elsewhere e where e.payment_id = p.payment_id)),
    nonces as (
      select p.payment_id, p.chain_id, p.token, p.treasury, p.auth_nonce, true as own from payout p join touched using (payment_id)
      union all
      select p.payment_id, p.chain_id, p.token, e.treasury, e.auth_nonce, false
        from payout p join touched using (payment_id) join payout_elsewhere e using (payment_id))
    select n.payment_id, n.chain_id, n.token, array_agg(l.tx_hash::text order by n.own desc, l.block_number) as hashes,
      array_agg(l.log_index order by n.own desc, l.block_number) as places
    from nonces n join treasury_log l
      on (l.auth_nonce, l.treasury, l.token, l.chain_id) = (n.auth_nonce, n.treasury, n.token, n.chain_id) and l.kind = 'out'
    group by 1, 2, 3 having count(*) > 1
  loop
    update treasury_log l set known_as = null
      from unnest(twice.hashes[2:], twice.places[2:]) as s(tx_hash, log_index)
      where l.chain_id = twice.chain_id and l.tx_hash = s.tx_hash and l.log_index = s.log_index and l.payment_id is null;
    update chain_cursor set paused_reason = coalesce(paused_reason,
        format('payment %s was paid twice, by %s', twice.payment_id, array_to_string(twice.hashes, ' and ')))
      where chain_id = twice.chain_id and token = twice.token;
  end loop;
  return null;
end $$;
create trigger second_payout_pauses after insert on treasury_log referencing new table as fresh
  for each statement execute function second_payout_pauses();

-- Why a payout may change its treasury: the nonce under the earlier one was unused at a final block after which none of its
-- signatures is valid. It keeps those signatures, because they are no longer the payout's.
create table payout_takeover (
  payment_id text not null references payment,
  from_treasury chain_address not null,
  from_nonce chain_hash not null,
  to_treasury chain_address not null,
  to_nonce chain_hash not null,
  block_number bigint not null,
  block_hash chain_hash not null,
  -- Unix seconds: of the block, and after which the last signature of the earlier treasury is worth nothing.
  block_time bigint not null,
  valid_before bigint not null,
  signatures jsonb not null,
  taken_at timestamptz not null default now(),
  check (block_time >= valid_before)
);
create index on payout_takeover (payment_id);

create or replace function payout_is_fixed() returns trigger language plpgsql as $$
begin
  if (old.payment_id, old.livemode, old.chain_id, old.token, old.recipient, old.micro_usdc)
      is not distinct from (new.payment_id, new.livemode, new.chain_id, new.token, new.recipient, new.micro_usdc)
    and exists (select 1 from payout_takeover t where t.payment_id = old.payment_id
      and (t.from_treasury, t.from_nonce, t.to_treasury, t.to_nonce)
        = (old.treasury, old.auth_nonce, new.treasury, new.auth_nonce))
  then return new;
  end if;
  raise exception 'recipient, amount, treasury, nonce and mode of payout % are fixed', old.payment_id;
end $$;

-- A sweep is signed for a short time, and again when it could not be sent by then or the treasury has changed.
alter table deposit_sweep add column valid_before bigint;
comment on column deposit_sweep.valid_before is 'Unix seconds; null when this database did not sign it';
update deposit_sweep set valid_before = 4102444800 where signature is not null;
