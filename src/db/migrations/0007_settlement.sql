-- Settlement: payouts and their signatures, the transactions that carry them, what the final chain shows, deposits, receipts.

create table payout (
  owner_id text primary key generated always as (coalesce(payment_id, reserve_release_id)) stored,
  payment_id text references payment,
  reserve_release_id text references reserve_release,
  livemode boolean not null,
  chain_id int not null,
  token chain_address not null,
  treasury chain_address not null,
  recipient chain_address not null,
  micro_usdc units not null check (micro_usdc > 0),
  auth_nonce chain_hash not null,
  state text not null default 'queued' check (state in
    ('queued', 'authorized', 'assigned', 'mined', 'settled', 'stopped', 'voiding', 'voided')),
  stop_reason text check (stop_reason in
    ('funds', 'limit', 'blacklisted', 'policy', 'refused', 'operator')),
  stop_detail text,
  lane_wallet chain_address,
  lane_nonce bigint,
  mined_number bigint,
  refusals int not null default 0,
  hook_error text,
  hook_retry_at timestamptz,
  rests_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The nonce first: it alone finds the row.
  unique (auth_nonce, treasury, token, chain_id),
  check (num_nonnulls(payment_id, reserve_release_id) = 1),
  check ((state = 'stopped') = (stop_reason is not null)),
  check ((lane_wallet is null) = (lane_nonce is null))
);
comment on table payout is
  'The USDC transfer for one payment, or for one release of reserves. Only a proof in a final block ends it: paid (`settled`) or never to be paid (`voided`).';
comment on column payout.owner_id is 'The payment, or else the release of reserves.';
comment on column payout.payment_id is 'Null: it pays reserves.';
comment on column payout.reserve_release_id is 'Null: it pays a payment.';
comment on column payout.treasury is 'The wallet that pays: by the list of `treasury`, or by a proof (`payout_takeover`).';
comment on column payout.auth_nonce is
  'Its EIP-3009 nonce, derived from owner and treasury: the token contract refuses a second transfer, whatever happens to this database.';
comment on column payout.state is
  '`queued`: waits for a signature. `authorized`: signed. `assigned`: in an envelope. `mined`: seen in a block that is not final. `voiding`: to be canceled on chain.';
comment on column payout.stop_reason is '`funds` and `limit` end without an operator. Null: not stopped.';
comment on column payout.lane_wallet is 'The envelope that carries it now (`lane_tx`); null: none.';
comment on column payout.mined_number is
  'The newest block when its nonce was first seen used, which is not final: a reorganization clears it. Null: not seen.';
comment on column payout.refusals is
  'How many final envelopes did not move it although the simulation had shown that they would.';
comment on column payout.hook_error is
  'Why the payment could not record the end or the stop of the payout; null: no failure. It is tried again at `hook_retry_at`.';
comment on column payout.rests_until is 'For one that waits for a proof that it can be paid no more: not looked at before; null: in the next round.';
-- The conditions of the next three are those of the statements in src/db/settlement/queue.ts, word for word.
create index payout_payable on payout (chain_id, token, livemode, recipient, created_at, owner_id)
  where (state = 'queued' or state = 'stopped' and stop_reason in ('funds', 'limit'));
create index payout_sendable on payout (chain_id, token, created_at, owner_id)
  where (state = 'voiding' or state = 'authorized' and lane_wallet is null);
create index payout_seen on payout (chain_id, token) where mined_number is not null and state not in ('settled', 'voided');
create index payout_in_envelope on payout (chain_id, lane_wallet, lane_nonce) where lane_wallet is not null;
create index payout_release_voided on payout (reserve_release_id) where state = 'voided' and reserve_release_id is not null;
-- The reconciliation compares these every minute.
create index payout_not_ended on payout (chain_id, token, owner_id) where state not in ('settled', 'voided');

-- Only the treasury and its nonce can change, and only with the proof in payout_takeover.
create function payout_is_fixed() returns trigger language plpgsql as $$
begin
  if (old.payment_id, old.reserve_release_id, old.livemode, old.chain_id, old.token, old.recipient, old.micro_usdc) is not distinct from
      (new.payment_id, new.reserve_release_id, new.livemode, new.chain_id, new.token, new.recipient, new.micro_usdc)
    and exists (select 1 from payout_takeover t where t.owner_id = old.owner_id
      and (t.from_treasury, t.from_nonce, t.to_treasury, t.to_nonce)
        = (old.treasury, old.auth_nonce, new.treasury, new.auth_nonce))
  then return new;
  end if;
  raise exception 'recipient, amount, treasury, nonce and mode of payout % are fixed', old.owner_id;
end $$;
create trigger payout_is_fixed before update on payout for each row
  when ((old.payment_id, old.reserve_release_id, old.livemode, old.chain_id, old.token, old.treasury, old.recipient, old.micro_usdc,
      old.auth_nonce) is distinct from
    (new.payment_id, new.reserve_release_id, new.livemode, new.chain_id, new.token, new.treasury, new.recipient, new.micro_usdc,
      new.auth_nonce))
  execute function payout_is_fixed();

-- An end is final, unless the block that proved it has left the chain: then finality_reversal has the lost proof, and no
-- other proof is left.
create function payout_has_ended() returns trigger language plpgsql as $$
begin
  if new.state in ('queued', 'voiding')
    and exists (select 1 from finality_reversal r where r.owner_id = old.owner_id)
    and not exists (select 1 from treasury_log l where l.owner_id = old.owner_id)
    and not exists (select 1 from void_proof v where v.owner_id = old.owner_id)
  then return new;
  end if;
  raise exception 'payout % is % and stays so', old.owner_id, old.state;
end $$;
create trigger payout_has_ended before update on payout for each row
  when (old.state in ('settled', 'voided') and new.state is distinct from old.state)
  execute function payout_has_ended();

-- Voided means that the money can be refunded: not without a proof.
create function payout_is_voided_by_proof() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from void_proof where owner_id = old.owner_id)
    and not exists (select 1 from treasury_log l where l.kind = 'cancel' and l.auth_nonce = new.auth_nonce
      and l.treasury = new.treasury and l.token = new.token and l.chain_id = new.chain_id)
  then raise exception 'payout % cannot be voided without a proof', old.owner_id;
  end if;
  return new;
end $$;
create trigger payout_is_voided_by_proof before update on payout for each row
  when (new.state = 'voided' and old.state is distinct from new.state)
  execute function payout_is_voided_by_proof();

create table payout_signature (
  owner_id text not null references payout,
  seq int not null,
  kind text not null check (kind in ('transfer', 'cancel')),
  valid_before bigint,
  signature bytea not null check (length(signature) = 65),
  signed_at timestamptz not null default now(),
  primary key (owner_id, seq),
  check ((kind = 'transfer') = (valid_before is not null))
);
comment on table payout_signature is
  'A signature of a payout''s treasury. All are kept until the payout is long settled: after the latest `valid_before` an unused nonce is proved dead.';
comment on column payout_signature.seq is 'The number of the signature, from 1.';
comment on column payout_signature.valid_before is 'Unix seconds; null: a cancellation, which stays valid.';

create table treasury (
  chain_id int not null,
  token chain_address not null,
  address chain_address not null,
  first_id text collate "C",
  has_key boolean not null default true,
  lost_at timestamptz,
  successor chain_address,
  opened_number bigint,
  primary key (chain_id, token, address),
  check ((lost_at is null) = (successor is null))
);
comment on table treasury is
  'The wallets that pay, as a list that is only appended to: the list of TREASURIES, stamped by the workers. It and the id of a payment or release alone say which one pays.';
comment on column treasury.first_id is
  'The smallest id of a payment that it pays: ids carry the time at which they were made, and those of releases the day on which they are due. Null: it is the first treasury.';
comment on column treasury.has_key is 'True if the worker that started last has its key.';
comment on column treasury.lost_at is 'When an operator had it taken over, because its key is lost; null: not.';
comment on column treasury.successor is 'The treasury that takes its payouts over, each with a proof; null: none.';
comment on column treasury.opened_number is
  'The final block at which the books took over what it held before its transfers were watched; null: not yet.';

create table treasury_difference (
  chain_id int not null,
  token chain_address not null,
  block_number bigint not null,
  micro signed_units not null,
  primary key (chain_id, token, block_number)
);
comment on table treasury_difference is
  'What the books took over at a final block although no log had shown it: more, or less (negative) that an operator has acknowledged. A transfer up to that block that is read later uses it up, or it would count twice.';
comment on column treasury_difference.micro is 'Micro-USDC that are left.';

create table treasury_hour (
  chain_id int not null,
  token chain_address not null,
  treasury chain_address not null,
  hour timestamptz not null,
  micro_usdc units not null,
  primary key (chain_id, token, treasury, hour)
);
comment on table treasury_hour is
  'What a treasury has authorized in one hour, for its limit a day. A second signature of a payout does not count.';
comment on column treasury_hour.micro_usdc is 'Micro-USDC.';

-- A payout is queued on the treasury that the list gives to its owner, or where the chain shows that it was paid. Whoever
-- appends to the list waits for all that are being queued.
create function payout_has_its_treasury() returns trigger language plpgsql as $$
declare
  -- A generated column has no value yet.
  owner text := coalesce(new.payment_id, new.reserve_release_id);
  due text;
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('treasuries', 0));
  select t.address into due from treasury t where (t.chain_id, t.token) = (new.chain_id, new.token)
    and (t.first_id is null or substr(t.first_id, 5) <= substr(owner, 5) collate "C") order by t.first_id desc nulls last limit 1;
  if due <> new.treasury and not exists (select 1 from treasury_log l where l.kind = 'out'
    and (l.auth_nonce, l.treasury, l.token, l.chain_id) = (new.auth_nonce, new.treasury, new.token, new.chain_id))
  then raise exception 'treasury % pays %, and not %: TREASURIES of this process is not the list of the database',
    due, owner, new.treasury;
  end if;
  return new;
end $$;
create trigger payout_has_its_treasury before insert on payout for each row execute function payout_has_its_treasury();

create table payout_takeover (
  owner_id text not null references payout,
  from_treasury chain_address not null,
  from_nonce chain_hash not null,
  to_treasury chain_address not null,
  to_nonce chain_hash not null,
  block_number bigint not null,
  block_hash chain_hash not null,
  block_time bigint not null,
  valid_before bigint not null,
  signatures jsonb not null,
  check (block_time >= valid_before)
);
comment on table payout_takeover is
  'The proof that allows a payout to change its treasury: at a final block the earlier nonce was unused, and no signature of it was valid any more.';
comment on column payout_takeover.block_time is 'Unix seconds: the time of the block.';
comment on column payout_takeover.valid_before is 'Unix seconds after which no signature of the earlier treasury is valid.';
comment on column payout_takeover.signatures is
  'Evidence: the signatures of the earlier treasury, which no longer belong to the payout: [{kind, valid_before, signed_at, signature}].';
create index on payout_takeover (owner_id);

create table void_proof (
  owner_id text primary key references payout,
  block_number bigint not null,
  block_hash chain_hash not null,
  block_time bigint not null,
  valid_before bigint not null,
  check (block_time >= valid_before)
);
comment on table void_proof is
  'Why a payout can never be paid although its treasury could not cancel it: at this final block its nonce is unused, and no signature is valid any more.';
comment on column void_proof.block_time is 'Unix seconds: the time of the block.';
comment on column void_proof.valid_before is 'Unix seconds after which no signature is valid.';

create table settlement_part (
  chain_id int not null,
  token chain_address not null,
  part text not null check (part in ('observing', 'deposits', 'signing', 'sending')),
  reported_at timestamptz not null,
  succeeded_at timestamptz,
  failing_since timestamptz,
  cause text check (cause in ('token_paused', 'treasury_blacklisted', 'treasury_delegated', 'gas_above_cap')),
  failure text,
  primary key (chain_id, token, part),
  check ((failing_since is null) = (failure is null)),
  check (cause is null or failure is not null)
);
comment on table settlement_part is
  'How the rounds of each part of the engine end. The worker that holds the lease of the part writes it, every few seconds at most.';
comment on column settlement_part.succeeded_at is 'The last round that did something or found nothing to do; null: none yet.';
comment on column settlement_part.failing_since is 'Null: the last round did not fail.';
comment on column settlement_part.cause is
  'Why the part rests although nothing is wrong with any payout; it continues automatically. Null: it fails for another reason, or does not fail.';
comment on column settlement_part.failure is 'Why it fails, for people. It names nodes by their place in POLYGON_RPC_URLS.';

create table lane (
  chain_id int not null,
  wallet chain_address not null,
  next_nonce bigint not null check (next_nonce >= 0),
  status text not null default 'open' check (status in ('open', 'paused_gas', 'quarantined')),
  status_reason text,
  led_at timestamptz not null default now(),
  primary key (chain_id, wallet)
);
comment on table lane is 'A relayer wallet, which sends transactions one nonce after the other.';
comment on column lane.next_nonce is 'The nonce of its next envelope.';
comment on column lane.status is '`paused_gas`: it has too little gas money. `quarantined`: only an operator opens it again.';
comment on column lane.led_at is 'When an engine that has its key last led, to the minute.';

create table lane_tx (
  chain_id int not null,
  wallet chain_address not null,
  nonce bigint not null check (nonce >= 0),
  kind text not null check (kind in ('batch', 'topup', 'foreign')),
  target chain_address not null,
  -- 48 KB of signatures a batch, for a short time: compression costs more than the room.
  calldata bytea not null,
  gas_limit bigint not null,
  value units not null default 0,
  state text not null check (state in ('reserved', 'signed', 'broadcast', 'finalized', 'foreign')),
  block_number bigint,
  gas_used bigint,
  gas_price units,
  gas_error text,
  gas_retry_at timestamptz,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  dropped_at timestamptz,
  primary key (chain_id, wallet, nonce),
  foreign key (chain_id, wallet) references lane,
  constraint lane_tx_gas_check check ((gas_error is null) = (gas_retry_at is null))
);
alter table lane_tx alter column calldata set storage external;
comment on table lane_tx is
  'An envelope: what a lane sends with one nonce. The statement that takes the nonce inserts it, so that no nonce is without its row.';
comment on column lane_tx.kind is
  '`batch`: payouts, cancellations or sweeps. `topup`: gas money for another lane. `foreign`: the nonce was used without us.';
comment on column lane_tx.target is 'The address that the transaction calls or, for `topup`, pays.';
comment on column lane_tx.value is 'Wei that the transaction carries.';
comment on column lane_tx.state is '`foreign`: another transaction than ours has used the nonce, in a final block.';
comment on column lane_tx.block_number is 'The final block of the transaction that has used the nonce; null: not final, or foreign.';
comment on column lane_tx.gas_price is 'Wei for one unit of gas, from the receipt.';
comment on column lane_tx.gas_error is
  'Why its gas is not in the books; null: it is, or payouts share it. It is tried again at `gas_retry_at`.';
comment on column lane_tx.ended_at is 'When the final block was read; null: it is open.';
comment on column lane_tx.dropped_at is
  'When calldata, signed bytes and items were dropped, because it is long final; null: they are there.';
create index lane_tx_open on lane_tx (chain_id, wallet, nonce) where state in ('reserved', 'signed', 'broadcast');
create index lane_tx_topup on lane_tx (chain_id, target, created_at) where kind = 'topup';
create index lane_tx_gas_unbooked on lane_tx (chain_id, gas_retry_at) where gas_error is not null;
create index lane_tx_to_drop on lane_tx (chain_id, ended_at) where ended_at is not null and dropped_at is null;

-- No foreign keys: the statement that writes an item has locked its payout and written its envelope, and looking both up
-- again for every item was a tenth of the work of the database.
create table lane_tx_item (
  chain_id int not null,
  wallet chain_address not null,
  nonce bigint not null,
  idx int not null,
  owner_id text not null,
  kind text not null check (kind in ('transfer', 'cancel')),
  outcome text check (outcome in ('refused', 'replaced', 'moved')),
  primary key (chain_id, wallet, nonce, idx)
);
comment on table lane_tx_item is 'A payout or its cancellation in an envelope.';
comment on column lane_tx_item.idx is 'The place in the envelope, from 0.';
comment on column lane_tx_item.outcome is
  'What happened if the payout did not end in this envelope. `refused`: the token refused it. `replaced`: a foreign transaction used the nonce. `moved`: it left for another envelope. Null: it is on its way, or ended.';
create index on lane_tx_item (owner_id);

create table lane_tx_attempt (
  chain_id int not null,
  wallet chain_address not null,
  nonce bigint not null,
  attempt int not null,
  tx_hash chain_hash not null unique,
  raw bytea not null,
  max_fee units not null,
  tip units not null,
  signed_block bigint not null,
  signed_at timestamptz not null default now(),
  last_broadcast_at timestamptz,
  last_answer text,
  primary key (chain_id, wallet, nonce, attempt),
  foreign key (chain_id, wallet, nonce) references lane_tx
);
alter table lane_tx_attempt alter column raw set storage external;
comment on table lane_tx_attempt is
  'A signed transaction of an envelope, stored before it is sent. To send the same bytes again is always safe; one with a higher fee replaces one that is not mined.';
comment on column lane_tx_attempt.attempt is 'The number of the transaction, from 1.';
comment on column lane_tx_attempt.raw is 'The signed bytes; empty: dropped.';
comment on column lane_tx_attempt.max_fee is 'Wei for one unit of gas.';
comment on column lane_tx_attempt.tip is 'Wei for one unit of gas.';
comment on column lane_tx_attempt.signed_block is 'The newest block when it was signed.';
comment on column lane_tx_attempt.last_answer is 'What the nodes answered to the last broadcast; null: not sent yet.';

create table chain_cursor (
  chain_id int not null,
  token chain_address not null,
  scanned_number bigint not null,
  scanned_hash chain_hash not null,
  scanned_at timestamptz not null default now(),
  first_number bigint not null,
  logs_number bigint not null,
  deposits_number bigint not null,
  deposits_at timestamptz not null default 'epoch',
  paused_reason text,
  missing_micro units,
  compared_at timestamptz not null default now(),
  pause text generated always as (coalesce(paused_reason,
    'the treasuries have ' || trim_scale(missing_micro / 1000000)::text || ' USDC less than the books say')) stored,
  restored_at timestamptz,
  owner text,
  epoch bigint not null default 0,
  lease_until timestamptz not null default '-infinity',
  primary key (chain_id, token)
);
comment on table chain_cursor is
  'How far the final chain was read, for one token, and which engine leads: by a lease, one at a time reads, signs and sends.';
comment on column chain_cursor.scanned_number is 'The last final block that was read.';
comment on column chain_cursor.scanned_at is 'When the cursor last moved.';
comment on column chain_cursor.first_number is 'Blocks before it are never read again: what happened there is not ours to explain.';
comment on column chain_cursor.logs_number is
  'The last final block whose logs of the treasuries are read. They are read when a balance differs from the books, and from time to time.';
comment on column chain_cursor.deposits_number is
  'The last final block up to which the addresses of payments have what their stored transfers say. One that cannot be read delays no payout.';
comment on column chain_cursor.deposits_at is 'The time of block `deposits_number`: addresses that were watched since then are compared.';
comment on column chain_cursor.pause is 'Why nothing is signed and no lane sends anything new; null: no pause.';
comment on column chain_cursor.paused_reason is
  'An unknown transfer, or a replaced final block; null: none.';
comment on column chain_cursor.compared_at is
  'When the treasuries were last compared with the books at a final block. It is written once a minute.';
comment on column chain_cursor.missing_micro is
  'Micro-USDC that the treasuries have less than the books at the last final block that was compared; null: not less. It pauses as long as it lasts.';
comment on column chain_cursor.restored_at is
  'When an operator said that this database was a backup, or a worker found that the chain had not been read for an hour; null: never. What was signed for an older payment might not be known here.';
comment on column chain_cursor.owner is 'The engine that leads; null: none.';
comment on column chain_cursor.epoch is 'Changes with the owner. Every write of the engine names it: one with an older epoch fails.';

-- A log and the cursor are committed first. What a log means for payments and books is written later, each under a
-- savepoint: a log that fails cannot stop the reading.
create table treasury_log (
  chain_id int not null,
  tx_hash chain_hash not null,
  log_index int not null,
  known_index int,
  token chain_address not null,
  treasury chain_address not null,
  kind text not null check (kind in ('out', 'in', 'cancel')),
  counterparty chain_address,
  micro_usdc units,
  auth_nonce chain_hash,
  block_number bigint not null,
  block_hash chain_hash not null,
  gas_share units,
  finalized_at timestamptz not null,
  owner_id text references payout,
  nonce_of text references payment,
  known_as text check (known_as in ('payout', 'payment', 'release', 'movement', 'own_lane', 'operator')),
  applied_at timestamptz default now(),
  hook_error text,
  hook_retry_at timestamptz,
  receipt_due_at timestamptz default now(),
  primary key (chain_id, tx_hash, log_index),
  check (kind <> 'cancel' or auth_nonce is not null),
  check (kind = 'cancel' or (counterparty is not null and micro_usdc is not null))
);
comment on table treasury_log is
  'What the final chain shows of a treasury, whoever sent it: a transfer out or in, or a canceled authorization. Payouts end by these rows, so a restored backup finds its settlements here.';
comment on column treasury_log.known_index is
  'The log index by which payments and books know it, if its block was replaced and it has moved; null: `log_index`.';
comment on column treasury_log.counterparty is 'The other side of the transfer; null: a cancellation.';
comment on column treasury_log.auth_nonce is 'The EIP-3009 nonce that it used; null: a plain transfer.';
comment on column treasury_log.gas_share is
  'Wei: the share of one authorization in the gas of the transaction, if one of our lanes sent it; null otherwise.';
comment on column treasury_log.finalized_at is 'The time of the block.';
comment on column treasury_log.owner_id is 'The payout that ended by it; null: none.';
comment on column treasury_log.nonce_of is
  'The payment whose nonce it used, as its quote allows, although the payment has no payout: a restored backup has forgotten that. Null: no such payment.';
comment on column treasury_log.known_as is
  '`payout`: of ours. `movement`: in, or between treasuries. `payment`, `release` and `own_lane`: no payout claims it yet. `operator`: acknowledged. Null: unknown, which pauses everything.';
comment on column treasury_log.applied_at is
  'When the books had it, or it was stored if it changes no account; null: still to be booked.';
comment on column treasury_log.hook_error is 'Why it could not be booked; null: no failure. It is tried again at `hook_retry_at`.';
comment on column treasury_log.receipt_due_at is 'When the proof for the receipt is fetched, or tried again; null: the receipt is there.';
create unique index treasury_log_nonce on treasury_log (auth_nonce, treasury, token, chain_id) where auth_nonce is not null;
create unique index treasury_log_owner on treasury_log (owner_id) where owner_id is not null;
create index treasury_log_open on treasury_log (block_number, log_index) where owner_id is null and auth_nonce is not null;
create index treasury_log_pending on treasury_log (block_number, log_index) where applied_at is null;
create index treasury_log_nonce_of on treasury_log (nonce_of) where nonce_of is not null and owner_id is null;
create index treasury_log_unknown on treasury_log (chain_id, token) where kind = 'out' and known_as is null;
create index treasury_log_unclaimed on treasury_log (chain_id, token)
  where kind = 'out' and owner_id is null and known_as in ('payment', 'release', 'own_lane');
create index treasury_log_without_receipt on treasury_log (receipt_due_at)
  where receipt_due_at is not null and owner_id is not null and kind = 'out';

create table settlement_finding (
  chain_id int not null,
  token chain_address not null,
  kind text not null check (kind in ('used_without_log', 'deposit_difference', 'release_differs')),
  subject text not null,
  detail text not null,
  found_at timestamptz not null default now(),
  accepted_at timestamptz check (accepted_at is null or kind = 'release_differs'),
  primary key (chain_id, token, kind, subject)
);
comment on table settlement_finding is
  'A difference between chain, logs and rows that could not be repaired. What found it deletes the row when the cause is gone.';
comment on column settlement_finding.kind is
  '`used_without_log`: the token says that the nonce is used, and no node shows the log. `deposit_difference`: the address of a payment has another balance than its transfers show. `release_differs`: the transfer of a release that a restored backup lacks is of another amount than is due.';
comment on column settlement_finding.subject is 'The id of the payment or release.';
comment on column settlement_finding.accepted_at is 'When an operator decided that the release is what the chain has paid; null: no operator did. The next round stores it.';

create table finality_reversal (
  owner_id text not null,
  tx_hash chain_hash not null,
  log_index int not null,
  block_hash chain_hash not null,
  primary key (owner_id, tx_hash, log_index, block_hash)
);
comment on table finality_reversal is
  'A proof of a payout that was lost because its final block was replaced after all. An operator''s repair writes it; it allows the payout to be open again.';
comment on column finality_reversal.tx_hash is 'The lost transaction; of a lost `void_proof`, the hash of its block.';

create table deposit (
  owner_id text primary key,
  payment_id text not null references payment,
  attempt_id text unique references attempt,
  refund_id text unique,
  livemode boolean not null,
  chain_id int not null,
  token chain_address not null,
  address chain_address not null,
  asked_micro units not null check (asked_micro > 0),
  rate text not null,
  rate_source text not null,
  rate_as_of text not null,
  expires_at timestamptz not null,
  watch_until timestamptz not null,
  unswept_micro signed_units not null default 0,
  treasury_micro units,
  taken_micro signed_units not null default 0,
  return_to chain_address,
  created_at timestamptz not null default now(),
  unique (address, chain_id),
  check (owner_id = coalesce(refund_id, payment_id)),
  check ((attempt_id is null) = (refund_id is not null)),
  check ((return_to is null) = (refund_id is null)),
  check (refund_id is not null or treasury_micro is null)
);
comment on table deposit is
  'An address for USDC: a buyer pays one payment there, or a merchant one refund. Its key follows from the owner''s id and the deposit seed.';
comment on column deposit.owner_id is 'The refund, or else the payment.';
comment on column deposit.attempt_id is 'The buyer''s order in USDC; null: the address belongs to a refund.';
comment on column deposit.refund_id is 'Null: the address belongs to a payment.';
comment on column deposit.asked_micro is 'What is to arrive in micro-USDC, at the rate that was locked when the address was made.';
comment on column deposit.rate is 'The locked rate: USDC for one major unit of the currency.';
comment on column deposit.treasury_micro is
  'What the treasury takes of a refund''s address, in micro-USDC, fixed by the end of the refund; null: not decided, and nothing is swept. The treasury takes all USDC of a payment''s address.';
comment on column deposit.taken_micro is 'Micro-USDC that finished sweeps have brought to a treasury.';
comment on column deposit.return_to is
  'The wallet that gets back what the treasury does not take; null for a payment. It never changes.';
comment on column deposit.rate_as_of is 'The time of the rate, as its source gives it (ISO 8601).';
comment on column deposit.watch_until is 'Until then the address is compared with its transfers at each final block, and afterwards once a day.';
comment on column deposit.unswept_micro is
  'Micro-USDC that arrived and that no finished sweep has taken away, so that the few deposits with money are found.';
create index deposit_unswept on deposit (created_at) where unswept_micro > 0;
create index deposit_watched on deposit (chain_id, livemode, watch_until);
create index on deposit (payment_id);

-- The wall behind the domain: what is swept from a refund's address, and where to, is decided once.
create function deposit_end_is_fixed() returns trigger language plpgsql as $$
begin
  raise exception 'where the USDC of % goes is decided', old.owner_id;
end $$;
create trigger deposit_end_is_fixed before update on deposit for each row
  when (old.return_to is distinct from new.return_to
    or (old.treasury_micro is not null and old.treasury_micro is distinct from new.treasury_micro))
  execute function deposit_end_is_fixed();

-- True for a relayer, a treasury of any time or a deposit address, on whatever chain it was used: nobody else has the key. It runs
-- as the owner, because a merchant's request cannot read these tables.
create function is_own_address(asked text) returns boolean stable language sql security definer as $$
  select exists (select 1 from lane where wallet = lower(asked))
    or exists (select 1 from treasury where address = lower(asked))
    or exists (select 1 from deposit where address = lower(asked))
$$;
do $$ begin
  execute format('alter function is_own_address(text) set search_path = %I, pg_temp', current_schema());
end $$;
revoke execute on function is_own_address from public;
grant execute on function is_own_address to pinrail_tenant;

create table deposit_log (
  chain_id int not null,
  tx_hash chain_hash not null,
  log_index int not null,
  known_index int,
  owner_id text not null references deposit,
  token chain_address not null,
  sender chain_address not null,
  units numeric(78, 0) not null check (units >= 0),
  block_number bigint not null,
  block_hash chain_hash not null,
  finalized_at timestamptz not null,
  applied_at timestamptz default now(),
  hook_error text,
  hook_retry_at timestamptz,
  primary key (chain_id, tx_hash, log_index)
);
comment on table deposit_log is 'A final transfer to the address of a deposit, of USDC or of a known other token.';
comment on column deposit_log.known_index is
  'The log index by which payment and books know it, if its block was replaced and it has moved; null: `log_index`.';
comment on column deposit_log.finalized_at is 'The time of the block.';
comment on column deposit_log.units is 'In the smallest unit of the token.';
comment on column deposit_log.applied_at is 'When the payment recorded it; null: still to be recorded.';
comment on column deposit_log.hook_error is
  'Why the payment could not record it; null: no failure. It is tried again at `hook_retry_at`.';
create index on deposit_log (owner_id);
create index deposit_log_pending on deposit_log (block_number, log_index) where applied_at is null;

create table deposit_sweep (
  owner_id text not null references deposit,
  idx int not null check (idx >= 0),
  chain_id int not null,
  token chain_address not null,
  sender chain_address not null,
  recipient chain_address not null,
  micro_usdc units not null check (micro_usdc > 0),
  auth_nonce chain_hash not null,
  signature bytea check (length(signature) between 65 and 4096),
  valid_before bigint,
  state text not null check (state in ('signed', 'assigned', 'done', 'abandoned')),
  refused text,
  refused_at timestamptz,
  lane_wallet chain_address,
  lane_nonce bigint,
  tx_hash chain_hash,
  returned_block bigint,
  returned_block_hash chain_hash,
  created_at timestamptz not null default now(),
  primary key (owner_id, idx),
  check ((lane_wallet is null) = (lane_nonce is null)),
  check ((state = 'done') = (tx_hash is not null)),
  check ((returned_block is null) = (returned_block_hash is null)),
  check (returned_block is null or state = 'done')
);
comment on table deposit_sweep is
  'An EIP-3009 authorization that moves USDC from the address of a deposit to a treasury, or back to the merchant''s wallet; or one by which the wallet pays for a refund at the address. A sender has one open authorization for an address at a time.';
comment on column deposit_sweep.idx is 'The number of the sweep of this address, from 0. Its nonce follows from it. 0 of a refund is the treasury''s share.';
comment on column deposit_sweep.returned_block is
  'The final block of a transfer back to the merchant; null: it is not made, or went to a treasury, whose log shows it.';
comment on column deposit_sweep.sender is 'The address of the deposit, or the merchant''s wallet.';
comment on column deposit_sweep.refused is 'Why it was refused when it was last tried, or what its transaction has done; null: it was not refused. `refused_at` says when.';
comment on column deposit_sweep.signature is 'Null: this database did not sign it. A restored backup found it on chain.';
comment on column deposit_sweep.valid_before is
  'Unix seconds. It is signed again if it could not be sent by then, or the treasury has changed. Null: this database did not sign it.';
comment on column deposit_sweep.state is '`abandoned`: its nonce is used on chain, or another sweep has moved the money.';
comment on column deposit_sweep.lane_wallet is 'The envelope that carries it now (`lane_tx`); null: none.';
create unique index deposit_sweep_open on deposit_sweep (owner_id, sender) where state in ('signed', 'assigned');
create index deposit_sweep_signed on deposit_sweep (chain_id, created_at) where state = 'signed';
create index deposit_sweep_returned on deposit_sweep (chain_id, returned_block) where returned_block is not null;
create index deposit_sweep_in_envelope on deposit_sweep (chain_id, lane_wallet, lane_nonce) where lane_wallet is not null;

create table gone_transfer (
  chain_id int not null,
  stored_as text not null check (stored_as in ('deposit_log', 'treasury_log')),
  tx_hash chain_hash not null,
  known_index int not null,
  token chain_address not null,
  sender chain_address not null,
  recipient chain_address not null,
  units numeric(78, 0) not null,
  nth int not null,
  block_number bigint not null,
  direction text check (direction in ('in', 'out')),
  concluded_at timestamptz,
  check ((direction is null) = (stored_as = 'deposit_log')),
  primary key (chain_id, stored_as, tx_hash, known_index)
);
comment on table gone_transfer is
  'A transfer whose final block left the chain, until it is read again. The same transaction in another block usually has other log indexes: without this row it would count as a second transfer.';
comment on column gone_transfer.stored_as is 'The table of logs that had it. A payout to an address of a payment was in both.';
comment on column gone_transfer.known_index is 'The log index by which payments and books know it.';
comment on column gone_transfer.units is 'In the smallest unit of the token.';
comment on column gone_transfer.nth is 'Its number among equal transfers of its transaction, from 0.';
comment on column gone_transfer.direction is 'Seen from the treasury; null: a transfer to a deposit.';
comment on column gone_transfer.concluded_at is
  'When the new chain was read without it: it never happened, was booked back, and an operator was notified. Null: it might come again.';

create table receipt_proof (
  chain_id int not null,
  block_hash chain_hash not null,
  tx_index int not null check (tx_index >= 0),
  header bytea not null,
  nodes bytea[] not null check (cardinality(nodes) between 1 and 16),
  primary key (chain_id, block_hash, tx_index)
);
comment on table receipt_proof is
  'The proof that a transaction''s receipt is in a block, for all payments of the transaction. It is fetched soon after the payout is final, because nodes forget receipts.';
comment on column receipt_proof.header is 'The header of the block in RLP: its keccak256 is the block hash.';
comment on column receipt_proof.nodes is 'The nodes of the trie from the receiptsRoot to the receipt, each in RLP.';

create table accepted_rate (
  currency text primary key,
  rate numeric not null check (rate > 0 and rate < 'Infinity'),
  accepted_at timestamptz not null default now(),
  refused_rate numeric
);
comment on table accepted_rate is
  'The rate that new ones are compared with, in USDC for one major unit. A rate that is too far from it is not used before an operator accepts it.';
comment on column accepted_rate.accepted_at is 'It is replaced by a near rate once an hour.';
comment on column accepted_rate.refused_rate is 'The newest rate that is not used; null: the newest rate is used.';

create table receipt_key (
  kid text primary key,
  x text not null check (x ~ '^[A-Za-z0-9_-]{43}$'),
  first_used_at timestamptz not null default now()
);
comment on table receipt_key is 'A public key that has signed receipts. It is published for as long as there are receipts.';
comment on column receipt_key.kid is 'The thumbprint of the key (RFC 7638).';
comment on column receipt_key.x is 'The Ed25519 public key in base64url.';

create table payment_receipt (
  payment_id text primary key references payment,
  chain_id int not null,
  tx_hash chain_hash not null,
  log_index int not null,
  block_hash chain_hash not null,
  tx_index int not null,
  logs jsonb not null,
  protected text not null,
  payload text not null,
  signature text not null,
  kid text not null references receipt_key,
  foreign key (chain_id, tx_hash, log_index) references treasury_log on delete cascade,
  foreign key (chain_id, block_hash, tx_index) references receipt_proof
);
comment on table payment_receipt is
  'The receipt of a payment, which anyone can verify offline. It is deleted with the log that it rests on, if the final block is replaced.';
comment on column payment_receipt.logs is 'The two logs of the transfer, readable: [{address, topics, data}].';
comment on column payment_receipt.protected is 'The header of a JSON Web Signature (RFC 7515, 7.2.2), in base64url.';
comment on column payment_receipt.payload is 'What it signs (the claims), in base64url.';
comment on column payment_receipt.signature is 'The signature, in base64url.';
create unique index on payment_receipt (chain_id, tx_hash, log_index);
create index on payment_receipt (chain_id, block_hash, tx_index);

alter table payment_receipt enable row level security;
create policy own on payment_receipt for select to pinrail_tenant
  using (exists (select 1 from payment where payment.id = payment_id));
alter table receipt_proof enable row level security;
create policy own on receipt_proof for select to pinrail_tenant
  using (exists (select 1 from payment_receipt r where (r.chain_id, r.block_hash, r.tx_index)
    = (receipt_proof.chain_id, receipt_proof.block_hash, receipt_proof.tx_index)));
grant select on payment_receipt, receipt_proof to pinrail_tenant;
