-- Up Migration

-- A live wallet changes a day after it was asked for, so that who took an account over cannot have the next payout.
-- Nobody carries the change out: from `next_at` on, whoever reads the wallet reads the next address.
alter table wallet
  add column next_address text check (next_address ~ '^0x[0-9a-fA-F]{40}$'),
  add column next_at timestamptz,
  add constraint wallet_next_is_whole check ((next_address is null) = (next_at is null));

-- What operators did to accounts at the command line: who, why, and what.
create table operator_action (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  merchant_id text not null references merchant,
  livemode boolean not null,
  operator text not null,
  reason text not null,
  kind text not null,
  data jsonb not null
);
create index on operator_action (merchant_id, id);

create function operator_action_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'what operators did is append-only';
end $$;
create trigger operator_action_is_append_only before update or delete on operator_action
  for each row execute function operator_action_is_append_only();
