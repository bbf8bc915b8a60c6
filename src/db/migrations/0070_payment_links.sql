-- Up Migration

-- A page that makes a payment each time a buyer presses Continue. Price, currency, method and wallet are fixed: who has
-- printed the link must be able to rely on what it asks for.
create table payment_link (
  id text primary key,
  merchant_id text not null references merchant,
  livemode boolean not null,
  -- In the link's address. It is no secret.
  code text not null unique check (code ~ '^[0-9A-Za-z]{10}$'),
  active boolean not null default true,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- Null: the buyer decides, within the bounds below and those of the method.
  amount_minor units check (amount_minor > 0),
  min_minor units check (min_minor > 0),
  max_minor units check (max_minor > 0),
  provider text,
  title text not null,
  description text,
  reference text,
  metadata jsonb,
  success_url text,
  -- What the query of the address may fill in.
  prefill text[] not null default '{}' check (prefill <@ array['amount', 'reference']),
  max_payments int check (max_payments > 0),
  expires_at timestamptz,
  inactive_message text,
  -- Null: the account's wallet when the payment is made. An account cannot set it: a leaked key could.
  wallet text check (wallet ~ '^0x[0-9a-fA-F]{40}$'),
  created_via text not null check (created_via in ('api', 'dashboard', 'form')),
  -- When the last of max_payments succeeded. It was announced then, and only then.
  completed_at timestamptz,
  -- By an operator; only an operator takes it back.
  stopped_at timestamptz,
  stopped_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (amount_minor is null or (min_minor is null and max_minor is null)),
  check (min_minor <= max_minor),
  check ((stopped_at is null) = (stopped_reason is null))
);
create index on payment_link (merchant_id, livemode, id);

create function payment_link_is_fixed() returns trigger language plpgsql as $$
begin
  raise exception 'price, method and wallet of payment link % are fixed', old.id;
end $$;
create trigger payment_link_is_fixed before update on payment_link for each row
  when (old.code is distinct from new.code or old.currency is distinct from new.currency
     or old.amount_minor is distinct from new.amount_minor or old.min_minor is distinct from new.min_minor
     or old.max_minor is distinct from new.max_minor or old.provider is distinct from new.provider
     or old.wallet is distinct from new.wallet or old.livemode is distinct from new.livemode)
  execute function payment_link_is_fixed();

alter table payment add column payment_link text references payment_link;
create index payment_of_link on payment (payment_link, id) where payment_link is not null;
create trigger payment_keeps_its_link before update on payment for each row
  when (old.payment_link is distinct from new.payment_link) execute function payment_is_fixed();

alter table payment_link enable row level security;
create policy own on payment_link to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
create policy no_wallet on payment_link as restrictive for insert to pinrail_tenant with check (wallet is null);
-- A request may write these columns; stopping and completing are not a merchant's.
grant select, insert on payment_link to pinrail_tenant;
grant update (active, title, description, reference, metadata, success_url, prefill, max_payments, expires_at,
  inactive_message, updated_at) on payment_link to pinrail_tenant;

-- A trigger, because a foreign key does not ask whose link it is.
create function link_is_of_tenant() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from payment_link where id = new.payment_link) then
    raise exception 'the link of a payment must be the tenant''s own' using errcode = 'insufficient_privilege';
  end if;
  return null;
end $$;
create trigger link_is_of_tenant after insert on payment for each row
  when (new.payment_link is not null and current_user = 'pinrail_tenant') execute function link_is_of_tenant();

-- Payments that hold a place of the link: open or paid ones. What expired, failed, was canceled or refunded gives its
-- place back. As the owner, because payments of before a link was brought into an account are another merchant's.
create function link_places_taken(link text) returns bigint stable language sql security definer as $$
  select count(*) from payment
  where payment_link = link and status not in ('expired', 'failed', 'canceled', 'refunded')
$$;
do $$ begin
  execute format('alter function link_places_taken(text) set search_path = %I, pg_temp', current_schema());
end $$;
