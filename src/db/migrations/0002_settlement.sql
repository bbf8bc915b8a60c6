-- Up Migration

-- Addresses and hashes of the chain are lower-case text, so that they compare byte by byte and a person can search them.
create domain chain_address as text check (value ~ '^0x[0-9a-f]{40}$');
create domain chain_hash as text check (value ~ '^0x[0-9a-f]{64}$');

-- One USDC transfer for one payment. auth_nonce is derived from the payment's id and is its nonce for life, so that the
-- token contract refuses a second transfer whatever happens to this database.
create table payout (
  payment_id text primary key references payment,
  livemode boolean not null,
  chain_id int not null,
  token chain_address not null,
  treasury chain_address not null,
  recipient chain_address not null,
  micro_usdc units not null check (micro_usdc > 0),
  auth_nonce chain_hash not null,
  state text not null default 'queued' check (state in
    ('queued','authorized','assigned','broadcast','mined','settled','held','voiding','voided')),
  hold_reason text check (hold_reason in ('funds','blacklisted','paused','policy','refused','operator')),
  hold_detail text,
  -- The envelope that carries it now; null when it is in none.
  lane_wallet chain_address,
  lane_nonce bigint,
  -- Where its transfer was seen last. Not final: a reorganization clears it.
  mined_number bigint,
  mined_hash chain_hash,
  -- How often a finalized envelope did not move it although the simulation said it would.
  refusals int not null default 0,
  -- The proof is on chain but the hook of the payment failed: the text of the failure, tried again at the time.
  hook_error text,
  hook_retry_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The nonce first: it alone finds the row.
  unique (auth_nonce, treasury, token, chain_id),
  check ((state = 'held') = (hold_reason is not null)),
  check ((lane_wallet is null) = (lane_nonce is null)),
  check ((mined_number is null) = (mined_hash is null))
);
create index payout_open on payout (chain_id, token, state, created_at) where state not in ('settled', 'voided');
create index payout_in_envelope on payout (chain_id, lane_wallet, lane_nonce) where lane_wallet is not null;

create function payout_is_fixed() returns trigger language plpgsql as $$
begin
  raise exception 'recipient, amount, treasury, nonce and mode of payout % are fixed', old.payment_id;
end $$;
create trigger payout_is_fixed before update on payout for each row
  when ((old.payment_id, old.livemode, old.chain_id, old.token, old.treasury, old.recipient, old.micro_usdc, old.auth_nonce)
    is distinct from
    (new.payment_id, new.livemode, new.chain_id, new.token, new.treasury, new.recipient, new.micro_usdc, new.auth_nonce))
  execute function payout_is_fixed();

-- Nothing follows an end state.
create function payout_has_ended() returns trigger language plpgsql as $$
begin
  raise exception 'payout % is % and stays so', old.payment_id, old.state;
end $$;
create trigger payout_has_ended before update on payout for each row
  when (old.state in ('settled', 'voided') and new.state is distinct from old.state)
  execute function payout_has_ended();

-- Every signature ever issued: the largest valid_before is the time after which an unused nonce is provably dead.
create table payout_signature (
  payment_id text not null references payout,
  seq int not null,
  kind text not null check (kind in ('transfer', 'cancel')),
  -- Unix seconds; a cancellation does not expire.
  valid_before bigint,
  signature bytea not null check (length(signature) = 65),
  signed_at timestamptz not null default now(),
  primary key (payment_id, seq),
  check ((kind = 'transfer') = (valid_before is not null))
);

-- What a treasury authorized in each hour, for its daily limit.
create table treasury_hour (
  chain_id int not null,
  token chain_address not null,
  treasury chain_address not null,
  hour timestamptz not null,
  micro_usdc units not null,
  primary key (chain_id, token, treasury, hour)
);

-- One relayer wallet. Every write on its behalf carries the epoch of its lease.
create table lane (
  chain_id int not null,
  wallet chain_address not null,
  next_nonce bigint not null check (next_nonce >= 0),
  status text not null default 'open' check (status in ('open', 'paused_gas', 'quarantined')),
  status_reason text,
  owner text,
  epoch bigint not null default 0,
  lease_until timestamptz not null default '-infinity',
  primary key (chain_id, wallet)
);

-- The envelope: one row for every nonce of the wallet, made in the statement that takes the nonce.
create table lane_tx (
  chain_id int not null,
  wallet chain_address not null,
  nonce bigint not null check (nonce >= 0),
  kind text not null check (kind in ('batch', 'noop', 'foreign')),
  target chain_address not null,
  calldata bytea not null,
  gas_limit bigint not null,
  state text not null check (state in ('reserved', 'signed', 'broadcast', 'finalized', 'foreign')),
  won_hash chain_hash,
  block_number bigint,
  gas_used bigint,
  -- Wei for one unit of gas, as the receipt says.
  gas_price units,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (chain_id, wallet, nonce),
  foreign key (chain_id, wallet) references lane
);
create index lane_tx_open on lane_tx (chain_id, wallet, nonce) where state in ('reserved', 'signed', 'broadcast');
create index lane_tx_won on lane_tx (won_hash) where won_hash is not null;

create table lane_tx_item (
  chain_id int not null,
  wallet chain_address not null,
  nonce bigint not null,
  idx int not null,
  payment_id text not null references payout,
  kind text not null check (kind in ('transfer', 'cancel')),
  outcome text check (outcome in ('settled', 'voided', 'refused', 'replaced')),
  primary key (chain_id, wallet, nonce, idx),
  foreign key (chain_id, wallet, nonce) references lane_tx
);
create index on lane_tx_item (payment_id);

-- One row for every signed transaction, stored before it is sent. Sending the stored bytes again is always safe.
create table lane_tx_attempt (
  chain_id int not null,
  wallet chain_address not null,
  nonce bigint not null,
  attempt int not null,
  tx_hash chain_hash not null unique,
  raw bytea not null,
  -- Wei for one unit of gas.
  max_fee units not null,
  tip units not null,
  signed_block bigint not null,
  signed_at timestamptz not null default now(),
  last_broadcast_at timestamptz,
  last_answer text,
  primary key (chain_id, wallet, nonce, attempt),
  foreign key (chain_id, wallet, nonce) references lane_tx
);

-- How far the finalized chain has been read, for one token; leased, so that one engine reads at a time.
create table chain_cursor (
  chain_id int not null,
  token chain_address not null,
  scanned_number bigint not null,
  scanned_hash chain_hash not null,
  -- Set by the solvency watch: nothing is signed or sent until an operator clears it.
  paused_reason text,
  owner text,
  epoch bigint not null default 0,
  lease_until timestamptz not null default '-infinity',
  primary key (chain_id, token)
);

-- What the finalized chain says about the treasury, whoever sent it: transfers out with their authorization, transfers
-- in, and cancelled authorizations. The settlements are read from here, so a queue restored from a backup finds them.
create table treasury_log (
  chain_id int not null,
  tx_hash chain_hash not null,
  log_index int not null,
  token chain_address not null,
  treasury chain_address not null,
  kind text not null check (kind in ('out', 'in', 'cancel')),
  counterparty chain_address,
  micro_usdc units,
  auth_nonce chain_hash,
  block_number bigint not null,
  block_hash chain_hash not null,
  -- Wei per authorization of that transaction, when one of our lanes sent it.
  gas_share units,
  finalized_at timestamptz not null,
  payment_id text references payout,
  -- Why it is known to the solvency watch; null for a transfer out that nobody knows.
  known_as text check (known_as in ('payout', 'payment', 'movement', 'own_lane', 'operator')),
  primary key (chain_id, tx_hash, log_index),
  check (kind <> 'cancel' or auth_nonce is not null),
  check (kind = 'cancel' or (counterparty is not null and micro_usdc is not null))
);
create unique index treasury_log_nonce on treasury_log (auth_nonce, treasury, token, chain_id) where auth_nonce is not null;
create unique index treasury_log_payment on treasury_log (payment_id) where payment_id is not null;
create index treasury_log_open on treasury_log (block_number, log_index) where payment_id is null and auth_nonce is not null;
