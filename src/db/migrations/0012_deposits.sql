-- Up Migration

-- Crypto as a way to pay: the address that belongs to one payment, and what was asked there. Its key follows from the
-- payment's id and the deposit seed.
create table deposit (
  payment_id text primary key references payment,
  attempt_id text not null unique references attempt,
  livemode boolean not null,
  chain_id int not null,
  token chain_address not null,
  address chain_address not null,
  -- USDC at the rate that was locked when the address was shown.
  asked_micro units not null check (asked_micro > 0),
  rate text not null,
  rate_source text not null,
  rate_as_of text not null,
  expires_at timestamptz not null,
  -- Transfers to the address are looked for until then.
  watch_until timestamptz not null,
  -- What came and no finished sweep has taken away, so that the few deposits with money are found among all.
  unswept_micro signed_units not null default 0,
  created_at timestamptz not null default now(),
  unique (address, chain_id)
);
create index deposit_unswept on deposit (created_at) where unswept_micro > 0;
create index deposit_watched on deposit (chain_id, livemode, watch_until);

-- A final transfer to a deposit address, of the asked token or of a known other one.
create table deposit_log (
  chain_id int not null,
  tx_hash chain_hash not null,
  log_index int not null,
  payment_id text not null references deposit,
  token chain_address not null,
  sender chain_address not null,
  -- In the token's smallest unit.
  units numeric(78, 0) not null check (units >= 0),
  block_number bigint not null,
  block_hash chain_hash not null,
  finalized_at timestamptz not null,
  primary key (chain_id, tx_hash, log_index)
);
create index on deposit_log (payment_id);

-- An EIP-3009 authorization that brings what came to the treasury. The signature does not expire: it can do nothing else.
create table deposit_sweep (
  payment_id text not null references deposit,
  idx int not null check (idx >= 0),
  chain_id int not null,
  token chain_address not null,
  treasury chain_address not null,
  micro_usdc units not null check (micro_usdc > 0),
  auth_nonce chain_hash not null,
  signature bytea check (length(signature) = 65),
  -- abandoned: its nonce is used on chain, or another sweep has brought the money.
  state text not null check (state in ('signed', 'assigned', 'done', 'abandoned')),
  lane_wallet chain_address,
  lane_nonce bigint,
  tx_hash chain_hash,
  created_at timestamptz not null default now(),
  primary key (payment_id, idx),
  check ((lane_wallet is null) = (lane_nonce is null)),
  check ((state = 'done') = (tx_hash is not null))
);
create unique index deposit_sweep_open on deposit_sweep (payment_id) where state in ('signed', 'assigned');
create index deposit_sweep_in_envelope on deposit_sweep (chain_id, lane_wallet, lane_nonce) where lane_wallet is not null;

alter table ledger_entry drop constraint ledger_entry_account_check,
  add constraint ledger_entry_account_check check (account in ('partner_receivable', 'conversion', 'treasury', 'deposits',
    'exchange', 'merchant_payable', 'fee_revenue', 'gas_expense', 'gas_float', 'chargeback_loss', 'suspense'));
