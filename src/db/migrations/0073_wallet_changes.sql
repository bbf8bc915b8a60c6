-- Up Migration

-- Whether somebody proved to hold the address, by a message that it signed (EIP-191).
alter table wallet
  add column proved boolean not null default false,
  add column next_proved boolean not null default false;

-- Links by which whoever was told of a planned change stops it, as the SHA-256 of their tokens. A link is for one change
-- and one person. No grant for pinrail_tenant.
create table wallet_stop (
  digest bytea primary key check (length(digest) = 32),
  merchant_id text not null references merchant,
  livemode boolean not null,
  person_id text not null references person on delete cascade,
  next_at timestamptz not null
);
create index on wallet_stop (next_at);

-- A change that a merchant makes itself leaves a notice too: its people are told of it.
alter table notice enable row level security;
create policy own on notice to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
grant insert on notice to pinrail_tenant;
