-- Up Migration

-- Amounts are whole minor units of a fiat currency or whole micro-USDC; numeric(38,0) with a check, because plain
-- numeric takes NaN and Infinity.
create domain units as numeric(38, 0) check (value >= 0 and value <> 'NaN' and value < 'Infinity');
create domain signed_units as numeric(38, 0) check (value <> 'NaN' and value < 'Infinity' and value > '-Infinity');

create table merchant (
  id text primary key,
  name text not null,
  created_at timestamptz not null default now()
);

-- The wallet a merchant is paid to, per mode. A payment copies the address when it is created.
create table wallet (
  merchant_id text not null references merchant,
  livemode boolean not null,
  address text not null check (address ~ '^0x[0-9a-fA-F]{40}$'),
  created_at timestamptz not null default now(),
  primary key (merchant_id, livemode)
);

create table api_key (
  id text primary key,
  merchant_id text not null references merchant,
  livemode boolean not null,
  name text not null,
  digest bytea not null check (length(digest) = 32),
  last4 text not null,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz
);
create index on api_key (merchant_id, livemode);

-- The claim and the stored answer of a request with an Idempotency-Key: inserted in the transaction that does the work,
-- so that a concurrent second request waits on the unique index, and a rolled back one leaves nothing.
create table idempotency_key (
  merchant_id text not null references merchant,
  livemode boolean not null,
  route text not null,
  key text not null,
  fingerprint bytea not null check (length(fingerprint) = 32),
  status int not null,
  location text,
  body text not null,
  created_at timestamptz not null default now(),
  primary key (merchant_id, livemode, route, key)
);
create index on idempotency_key (created_at);

create table payment (
  id text primary key,
  merchant_id text not null references merchant,
  livemode boolean not null,
  status text not null default 'created' check (status in
    ('created','pending','processing','under_review','settling','succeeded','failed','expired','canceled','refunded')),
  status_reason text,
  exception text check (exception in
    ('verification_required','underpaid','overpaid','paid_late','duplicate_payment','wrong_asset','settlement_delayed')),
  -- Why it waits for an operator; null when it does not.
  park_reason text,
  -- An operator's hold: settlement waits until it is lifted.
  held boolean not null default false,
  -- A running identity check moved expires_at once, by 24 h.
  expiry_postponed boolean not null default false,
  -- The time in which late money is still taken is over.
  listen_ended boolean not null default false,
  amount_text text not null,
  amount_minor units not null check (amount_minor > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  provider text,
  provider_used text,
  method_used text,
  fallback text not null check (fallback in ('picker', 'none')),
  description text,
  reference text,
  metadata jsonb,
  success_url text,
  cancel_url text,
  -- 128 bits that open the checkout; the payment id alone does not.
  checkout_token text not null unique,
  destination text not null check (destination ~ '^0x[0-9a-fA-F]{40}$'),
  chain_id int not null,
  token text not null,
  quote jsonb not null,
  -- The attempt whose money is settled.
  paid_attempt_id text,
  charge_currency text,
  confirmed_minor units,
  rate text,
  rate_source text,
  rate_locked_at timestamptz,
  gross_micro units,
  fee_micro units,
  net_micro units,
  tx_hash text,
  log_index int,
  block_number bigint,
  finalized_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  paid_at timestamptz,
  succeeded_at timestamptz,
  failed_at timestamptz,
  canceled_at timestamptz,
  -- Set when its workflow has nothing left to wait for; a row without it must have a workflow.
  closed_at timestamptz,
  version int not null default 1,
  check (gross_micro is null or gross_micro = fee_micro + net_micro)
);
create index on payment (merchant_id, livemode, id);
create index on payment (merchant_id, livemode, reference) where reference is not null;
create index payment_unclosed on payment (created_at) where closed_at is null;

-- Neither what was asked for nor where it goes may change once the payment exists.
create function payment_is_fixed() returns trigger language plpgsql as $$
begin
  raise exception 'amount, currency, destination and merchant of payment % are fixed', old.id;
end $$;
create trigger payment_is_fixed before update on payment for each row
  when (old.amount_minor is distinct from new.amount_minor or old.currency is distinct from new.currency
     or old.destination is distinct from new.destination or old.merchant_id is distinct from new.merchant_id
     or old.livemode is distinct from new.livemode or old.chain_id is distinct from new.chain_id
     or old.token is distinct from new.token)
  execute function payment_is_fixed();

create table attempt (
  id text primary key,
  payment_id text not null references payment,
  provider text not null,
  method text not null,
  status text not null check (status in
    ('opening','open','verification_required','confirming','on_hold','confirmed','underpaid','surplus','late','declined','canceled','expired','refunded')),
  amount_minor units not null check (amount_minor > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  partner_reference text,
  redirect_url text,
  intent_uri text,
  received_minor units,
  failure_code text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index on attempt (payment_id);

-- Callbacks of partners. The row is the receipt: inserted before the 2xx; signaled_at is null until the workflow knows.
create table partner_event (
  provider text not null,
  provider_event_id text not null,
  attempt_id text not null references attempt,
  body_sha256 bytea not null check (length(body_sha256) = 32),
  received_at timestamptz not null,
  signaled_at timestamptz,
  primary key (provider, provider_event_id)
);
create index partner_event_unsignaled on partner_event (received_at) where signaled_at is null;

-- Everything that happened to a payment, in order: for the merchant, the operator and the auditor.
create table timeline_entry (
  id bigint generated always as identity primary key,
  payment_id text not null references payment,
  at timestamptz not null,
  kind text not null,
  from_status text,
  to_status text,
  actor text not null,
  message text not null,
  data jsonb not null default '{}'
);
create index on timeline_entry (payment_id, id);
-- A decision about the buyer's way to pay is noted once, however often the page is loaded.
create unique index timeline_route_once on timeline_entry (payment_id, data) where kind = 'checkout.route';

-- Double entry. A transaction is one business fact; (reference, kind) makes booking it twice impossible.
create table ledger_transaction (
  id bigint generated always as identity primary key,
  kind text not null,
  reference text not null,
  payment_id text references payment,
  booked_at timestamptz not null,
  unique (kind, reference)
);
create table ledger_entry (
  transaction_id bigint not null references ledger_transaction,
  line int not null,
  account text not null check (account in ('partner_receivable','conversion','treasury','exchange','merchant_payable',
    'fee_revenue','gas_expense','gas_float','chargeback_loss','suspense')),
  asset text not null,
  -- Debits are positive, credits negative.
  amount signed_units not null check (amount <> 0),
  primary key (transaction_id, line)
);
create index on ledger_entry (account, asset);

create function ledger_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'the ledger is append-only';
end $$;
create trigger ledger_transaction_is_append_only before update or delete on ledger_transaction
  for each row execute function ledger_is_append_only();
create trigger ledger_entry_is_append_only before update or delete on ledger_entry
  for each row execute function ledger_is_append_only();

-- Balanced per asset when the database transaction commits, whoever wrote it.
create function ledger_balances() returns trigger language plpgsql as $$
declare off record;
begin
  select asset, sum(amount) as amount into off from ledger_entry
    where transaction_id = new.transaction_id group by asset having sum(amount) <> 0 limit 1;
  if found then
    raise exception 'ledger transaction % does not balance in %: %', new.transaction_id, off.asset, off.amount;
  end if;
  return null;
end $$;
create constraint trigger ledger_balances after insert on ledger_entry
  deferrable initially deferred for each row execute function ledger_balances();

create table webhook_endpoint (
  id text primary key,
  merchant_id text not null references merchant,
  livemode boolean not null,
  url text not null,
  description text,
  enabled_events text[] not null default '{payment.succeeded}',
  -- AES-256-GCM; two during rotation, the newest first, each with the time until which it signs.
  secrets jsonb not null,
  disabled_at timestamptz,
  disabled_reason text check (disabled_reason in ('merchant','gone','failing')),
  -- The first failure since the last success; null while it takes what it gets.
  failing_since timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on webhook_endpoint (merchant_id, livemode);

-- The contiguous sequence per merchant and mode; this row is locked last in a transaction.
create table event_sequence (
  merchant_id text not null references merchant,
  livemode boolean not null,
  last bigint not null,
  primary key (merchant_id, livemode)
);

create table event (
  id text primary key,
  merchant_id text not null references merchant,
  livemode boolean not null,
  sequence bigint not null,
  type text not null,
  payment_id text references payment,
  -- The bytes that are signed and sent, the same on every attempt.
  body bytea not null,
  created_at timestamptz not null,
  unique (merchant_id, livemode, sequence)
);
create index on event (merchant_id, livemode, id);
create index on event (payment_id);

-- One event for one endpoint, inserted with the event.
create table delivery (
  event_id text not null references event,
  endpoint_id text not null references webhook_endpoint on delete cascade,
  merchant_id text not null,
  livemode boolean not null,
  status text not null default 'pending' check (status in ('pending','delivered','exhausted','disabled')),
  attempts int not null default 0,
  -- How much of the retry schedule is used up; attempts made by hand use up none.
  schedule_step int not null default 0,
  created_at timestamptz not null,
  last_attempt_at timestamptz,
  delivered_at timestamptz,
  -- When the sweep last gave it a workflow.
  swept_at timestamptz,
  primary key (event_id, endpoint_id)
);
create index delivery_unattempted on delivery (created_at) where status = 'pending' and attempts = 0;
create index delivery_unfinished on delivery (last_attempt_at) where status = 'pending' and attempts > 0;
create index on delivery (endpoint_id, status);

create table delivery_attempt (
  event_id text not null,
  endpoint_id text not null,
  number int not null,
  at timestamptz not null,
  duration_ms int not null,
  -- Null when there was no answer.
  response_status int,
  response_headers jsonb,
  response_body text,
  error text,
  primary key (event_id, endpoint_id, number),
  foreign key (event_id, endpoint_id) references delivery on delete cascade
);

-- What must be told to Temporal after a commit. The relay does it again until it is done.
create table outbox (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('start_payment', 'complete_transfer')),
  subject text not null,
  payload jsonb not null default '{}',
  created_at timestamptz not null default now(),
  unique (kind, subject)
);
