-- Up Migration

-- What a person opens in Telegram so that a chat is told of an account: once, for some minutes. Only its digest is kept.
create table telegram_link (
  digest bytea primary key check (length(digest) = 32),
  merchant_id text not null references merchant,
  livemode boolean not null,
  person_id text not null references person on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- Somebody opened it.
  used_at timestamptz
);
create index on telegram_link (merchant_id, person_id);
create index telegram_link_open on telegram_link (expires_at) where used_at is null;

-- The bot of this system: its name, and how far its updates were read. One worker at a time reads them: Telegram gives
-- each update once.
create table telegram_bot (
  -- The part of the token before the colon. Another bot begins anew.
  id text primary key,
  username text not null,
  next_update bigint not null default 0,
  leased_until timestamptz not null
);
