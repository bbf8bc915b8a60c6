-- Up Migration

-- What was asked with an account's keys, for the account's own people. Written in batches after the answer was sent, by
-- the owner of the schema; a merchant's request only reads it. Without a key to `merchant` or `api_key`: a row must never
-- fail, and is deleted by its age alone.
create table api_request (
  -- The Request-Id of the answer. Ids are in the order of their making.
  id text primary key,
  merchant_id text not null,
  livemode boolean not null,
  key_id text not null,
  method text not null,
  -- With the query, without secrets, shortened.
  path text not null,
  status int not null,
  duration_ms int not null,
  -- The code of the problem that was answered.
  code text,
  -- Without secrets, shortened; null where nothing was sent, or where only something was read.
  sent text,
  answered text,
  at timestamptz not null
);
create index on api_request (merchant_id, livemode, id);
-- Errors are few, and are looked for among everything.
create index api_request_errors on api_request (merchant_id, livemode, id) where status >= 400;
create index api_request_by_age on api_request (at);

alter table api_request enable row level security;
create policy own on api_request to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
grant select on api_request to pinrail_tenant;
