-- Merchants: the account, its wallets and API keys, and what is kept of its requests.

create table merchant (
  id text primary key,
  name text not null,
  created_at timestamptz not null default now(),
  brand_color text check (brand_color ~ '^#[0-9a-f]{6}$'),
  support_email text check (length(support_email) <= 254),
  logo bytea check (octet_length(logo) <= 48000),
  logo_name text check (logo_name ~ '^[0-9a-f]{32}\.(png|jpg|webp)$'),
  frame_origins text[] not null default '{}'
    check (cardinality(frame_origins) <= 10)
    check ('' <> all (frame_origins))
    check (array_to_string(frame_origins, ' ', '*') ~ '^(https?://[a-z0-9.-]{1,253}(:[0-9]{1,5})?( |$))*$'),
  deduction_limit_micro units check (deduction_limit_micro > 0),
  constraint merchant_logo_named check ((logo is null) = (logo_name is null))
);
comment on table merchant is
  'An account. A payment link made without an account has its own merchant, which has no members.';
comment on column merchant.name is 'Buyers see it as the name of the shop.';
comment on column merchant.brand_color is 'The color of the checkout; null: the color of Pinrail.';
comment on column merchant.support_email is 'The address that the checkout shows to buyers with a question; null: none.';
comment on column merchant.logo is 'The picture, at most 48 kB because every buyer of the shop loads it; null: none.';
comment on column merchant.logo_name is
  'The name under which the logo is served: a hash of its bytes, so that a browser can keep it forever.';
comment on column merchant.frame_origins is
  'The origins whose pages can show the checkout in a frame. They are part of a response header: the checks allow nothing else.';
comment on column merchant.deduction_limit_micro is
  'What the open refunds that are paid for by the next payouts can require together, in micro-USDC; null: payouts pay for none.';
create index merchant_logo_name on merchant (logo_name) where logo_name is not null;

alter table merchant enable row level security;
create policy own on merchant to pinrail_tenant using (id = tenant_merchant());
-- Updating also allows to lock the row.
grant select, update on merchant to pinrail_tenant;

-- Apart from the merchant, whose row every payment's foreign key locks.
create table agreement (
  merchant_id text primary key references merchant,
  status text not null default 'approved' check (status in ('pending', 'approved', 'rejected', 'suspended')),
  status_message text check (length(status_message) <= 500),
  status_since timestamptz not null default now(),
  holds_payouts boolean not null default false check (not holds_payouts or status = 'suspended'),
  web_address text check (length(web_address) <= 500),
  sells text check (length(sells) <= 500),
  applied_at timestamptz,
  fee_percent numeric check (fee_percent between 0 and 50 and scale(fee_percent) <= 2),
  reserve_percent numeric check (reserve_percent between 0 and 50 and scale(reserve_percent) <= 2),
  reserve_days int check (reserve_days between 1 and 365),
  payment_limit_micro units check (payment_limit_micro > 0),
  day_limit_micro units check (day_limit_micro > 0),
  open_limit int check (open_limit > 1),
  day date not null default '1970-01-01',
  day_micro units not null default 0,
  open_payments int not null default 0 check (open_payments >= 0),
  check ((applied_at is null) = (web_address is null) and (applied_at is null) = (sells is null))
);
comment on table agreement is
  'What the operator has agreed with a merchant. A merchant has its row from the beginning. A fee, reserve or limit of null is that of the deployment.';
comment on column agreement.status is
  'Only an approved merchant takes payments. `pending`: the operator has not decided. A new account of live mode begins with it.';
comment on column agreement.status_message is 'What the operator wrote to the merchant about its status; null: nothing.';
comment on column agreement.holds_payouts is
  'True while no payout of the merchant is signed, because the operator said so when it was suspended.';
comment on column agreement.web_address is 'Where the merchant sells, as it says; null: it has not applied.';
comment on column agreement.sells is 'What it sells, in its words.';
comment on column agreement.applied_at is 'When it last said both.';
comment on column agreement.reserve_percent is
  'What is held back of the net amount of the payments that are created from now on, for chargebacks.';
comment on column agreement.reserve_days is 'For how many days after the payout it is held back.';
comment on column agreement.payment_limit_micro is
  'What a payment can be worth at the rate of its creation, in micro-USDC before the fee.';
comment on column agreement.day_limit_micro is 'What the payments of a day can be worth: see `day_micro`.';
comment on column agreement.open_limit is 'How many payments can be `created` or `pending` at once.';
comment on column agreement.day is 'The day of UTC that `day_micro` is about.';
comment on column agreement.day_micro is
  'What the payments are worth that were created on `day` and have not ended unpaid. A trigger of `payment` counts it.';
comment on column agreement.open_payments is 'The payments that are `created` or `pending`. A trigger of `payment` counts them.';
comment on column agreement.fee_percent is
  'The fee in percent of the gross amount of the payments that are created from now on.';

create function agreement_begins() returns trigger language plpgsql as $$
begin
  insert into agreement (merchant_id) values (new.id);
  return null;
end $$;
create trigger agreement_begins after insert on merchant for each row execute function agreement_begins();

-- Takes back the statement that claimed a key for a payment that its merchant can no longer create.
create function agreement_has_changed() returns text language plpgsql as $$
begin
  raise exception 'the agreement of the merchant has changed' using errcode = 'serialization_failure';
end $$;

alter table agreement enable row level security;
create policy own on agreement to pinrail_tenant using (merchant_id = tenant_merchant());
-- A merchant's request applies, which can only lead to `pending`: it never approves itself.
grant select, update (web_address, sells, applied_at, status, status_message, status_since) on agreement to pinrail_tenant;
create function applying_approves_nothing() returns trigger language plpgsql as $$
begin
  raise exception 'a merchant does not decide about its status' using errcode = 'insufficient_privilege';
end $$;
create trigger applying_approves_nothing before update of status on agreement for each row
  when (current_user = 'pinrail_tenant' and new.status <> old.status and (old.status, new.status) <> ('rejected', 'pending'))
  execute function applying_approves_nothing();
create trigger wakes_worker after update of status on agreement for each row when (new.status = 'suspended')
  execute function wake('pinrail_work', 'suspended');
-- These merchants are few.
create index agreement_suspended on agreement (merchant_id) where status = 'suspended';
create index agreement_holding on agreement (merchant_id) where holds_payouts;
create index agreement_waiting on agreement (applied_at) where status = 'pending';

create table reserve_release (
  id text primary key,
  merchant_id text not null references merchant,
  livemode boolean not null,
  due_on date not null,
  recipient chain_address not null,
  micro_usdc units not null check (micro_usdc > 0),
  created_at timestamptz not null,
  tx_hash chain_hash,
  finalized_at timestamptz,
  unique (merchant_id, livemode, due_on),
  check ((tx_hash is null) = (finalized_at is null))
);
create index on reserve_release (merchant_id, livemode, finalized_at);
comment on table reserve_release is
  'One payout of the reserves of a merchant that are due on one day, with what was deducted for refunds that have not taken it. Its id follows from merchant and day: what a restored backup has forgotten is released again under the same id, and the token pays it once.';
comment on column reserve_release.due_on is 'The day (UTC) from whose beginning it could be made.';
comment on column reserve_release.recipient is 'The settlement wallet of the merchant when it was made.';
comment on column reserve_release.tx_hash is 'The final transfer; null: not paid.';
comment on column reserve_release.finalized_at is 'The time of its block.';

alter table reserve_release enable row level security;
create policy own on reserve_release for select to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
grant select on reserve_release to pinrail_tenant;

create table merchant_invitation (
  email text primary key check (email = lower(email) and length(email) between 3 and 254),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
comment on table merchant_invitation is
  'An address that the operator has invited to create one account, which deletes the row.';
-- No grant for pinrail_tenant: whoever asks has no account yet.
alter table merchant_invitation enable row level security;

create table wallet (
  merchant_id text not null references merchant,
  livemode boolean not null,
  address text not null check (address ~ '^0x[0-9a-fA-F]{40}$'),
  created_at timestamptz not null default now(),
  next_address text check (next_address ~ '^0x[0-9a-fA-F]{40}$'),
  next_at timestamptz,
  proved boolean not null default false,
  next_proved boolean not null default false,
  primary key (merchant_id, livemode),
  constraint wallet_next_is_whole check ((next_address is null) = (next_at is null))
);
comment on table wallet is
  'The address that receives a merchant''s money in one mode. A payment copies the address when it is created.';
comment on column wallet.created_at is 'Since when new payments go to `address`.';
comment on column wallet.next_address is
  'The address of a planned change; null: none. From `next_at` on every reader uses it instead of `address`; no process moves it.';
comment on column wallet.next_at is
  'When the planned change takes effect: in live mode a day later, so that a thief of the account does not get the next payout.';
comment on column wallet.proved is 'True if the owner of `address` has signed a message with its key (EIP-191).';
comment on column wallet.next_proved is 'The same for `next_address`.';

alter table wallet enable row level security;
create policy own on wallet to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
grant select, insert, update on wallet to pinrail_tenant;

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
  revoked_at timestamptz,
  allowed_ips text[],
  last_used_at timestamptz,
  pepper_id text not null
);
comment on table api_key is 'A key by which a merchant''s programs use the API.';
comment on column api_key.id is 'The public part of the key.';
comment on column api_key.digest is 'HMAC-SHA-256 of the whole key with the pepper. The key is not stored.';
comment on column api_key.last4 is 'The last four characters of the key, by which people recognize it.';
comment on column api_key.expires_at is 'Null: it works until it is revoked.';
comment on column api_key.allowed_ips is 'The addresses and networks from which it works; null: from anywhere.';
comment on column api_key.last_used_at is 'The API writes it some time after the use; null: never used.';
comment on column api_key.pepper_id is
  'Names the pepper of `digest`. A key gets a digest by the current pepper when it is used.';
create index on api_key (merchant_id, livemode);

alter table api_key enable row level security;
create policy own on api_key to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
grant select, insert, update on api_key to pinrail_tenant;

-- It is inserted in the transaction that does the work: a second request at the same time waits for the key of this table,
-- and a rolled back one leaves no row.
-- No foreign key, for the same reason as in `event`: the merchant is that of the key or session that asks.
create table idempotency_key (
  merchant_id text not null,
  livemode boolean not null,
  route text not null,
  key text not null,
  fingerprint bytea not null check (length(fingerprint) = 32),
  status int not null,
  location text,
  body text not null,
  created_at timestamptz not null default now(),
  claimed_until timestamptz,
  primary key (merchant_id, livemode, route, key)
);
comment on table idempotency_key is 'An Idempotency-Key that a request has claimed, and the answer to that request.';
comment on column idempotency_key.fingerprint is 'SHA-256 of the request: the same key with another request is refused.';
comment on column idempotency_key.status is 'The HTTP status of the answer; 0: the request is running.';
comment on column idempotency_key.location is 'The Location header of the answer.';
comment on column idempotency_key.body is 'The body of the answer. One that shows a secret is sealed.';
comment on column idempotency_key.claimed_until is
  'Set for a request whose effect is outside of the database, while it has no answer: the claim holds until then. -infinity: the key was given back.';
create index on idempotency_key (created_at);

alter table idempotency_key enable row level security;
create policy own on idempotency_key to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
grant select, insert, update on idempotency_key to pinrail_tenant;

-- No foreign keys: an insert must never fail, and rows are deleted by age alone.
create table api_request (
  id text primary key,
  merchant_id text not null,
  livemode boolean not null,
  key_id text not null,
  method text not null,
  path text not null,
  status int not null,
  duration_ms int not null,
  code text,
  sent text,
  answered text,
  at timestamptz not null
);
comment on table api_request is
  'A request with a merchant''s API key, for the people of the account. The API writes rows in batches after the answers, and deletes them after 30 days.';
comment on column api_request.id is 'The Request-Id of the answer. Later ids are greater.';
comment on column api_request.path is 'With the query, without secrets, shortened.';
comment on column api_request.code is 'The code of the problem in the answer; null: no problem.';
comment on column api_request.sent is
  'The body of the request, without secrets, shortened; null: none, or the request only read and succeeded.';
comment on column api_request.answered is 'The body of the answer, kept like `sent`.';
create index on api_request (merchant_id, livemode, id);
-- Errors are few among all requests.
create index api_request_errors on api_request (merchant_id, livemode, id) where status >= 400;
create index api_request_by_age on api_request (at);

alter table api_request enable row level security;
create policy own on api_request to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
grant select on api_request to pinrail_tenant;

-- Not logged: it is small, a row lives for an hour at most, and a crash that empties it loses the counts of one window.
create unlogged table limit_count (
  key text not null,
  ends_at timestamptz not null,
  count integer not null,
  primary key (key, ends_at)
);
comment on table limit_count is 'How many requests all processes of the API have counted towards one limit in one window of time.';
comment on column limit_count.key is 'HMAC of the limit and the address, link or account that it counts: no address is stored.';
comment on column limit_count.ends_at is 'When the window ends.';
create index limit_count_by_end on limit_count (ends_at);
