-- Payment links: pages that create a payment each time a buyer presses Continue.

create table payment_link (
  id text primary key,
  merchant_id text not null references merchant,
  livemode boolean not null,
  code text not null unique check (code ~ '^[0-9A-Za-z]{10}$'),
  active boolean not null default true,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  amount_minor units check (amount_minor > 0),
  min_minor units check (min_minor > 0),
  max_minor units check (max_minor > 0),
  provider text,
  title text not null,
  description text,
  reference text,
  metadata jsonb,
  invoice jsonb,
  success_url text,
  prefill text[] not null default '{}' check (prefill <@ array['amount', 'reference']),
  max_payments int check (max_payments > 0),
  expires_at timestamptz,
  inactive_message text,
  wallet text check (wallet ~ '^0x[0-9a-fA-F]{40}$'),
  created_via text not null check (created_via in ('api', 'dashboard', 'form')),
  completed_at timestamptz,
  stopped_at timestamptz,
  stopped_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  anonymous boolean not null default false,
  check (amount_minor is null or (min_minor is null and max_minor is null)),
  check (min_minor <= max_minor),
  check ((stopped_at is null) = (stopped_reason is null))
);
comment on table payment_link is 'A page of a merchant that creates a payment each time a buyer presses Continue.';
comment on column payment_link.code is 'The end of the page''s address. It is no secret.';
comment on column payment_link.active is 'Set by the owner of the link. Only an active link creates payments.';
comment on column payment_link.amount_minor is
  'Minor units of `currency`; null: the buyer chooses, within `min_minor`, `max_minor` and the limits of the method.';
comment on column payment_link.min_minor is 'Minor units; null: no limit of the link.';
comment on column payment_link.max_minor is 'Minor units; null: no limit of the link.';
comment on column payment_link.provider is 'The payment method of its payments; null: the buyer chooses.';
comment on column payment_link.reference is 'The merchant''s own number: the payments of the link get it.';
comment on column payment_link.invoice is 'What the receipts of its payments have besides the price; see `payment.invoice`.';
comment on column payment_link.success_url is 'Where the checkout sends the buyer after the payment; null: nowhere.';
comment on column payment_link.prefill is 'What the query of the page''s address can fill in.';
comment on column payment_link.max_payments is 'How many payments the link can have; null: any number.';
comment on column payment_link.inactive_message is 'What the page says while the link creates no payments; null: a standard text.';
comment on column payment_link.wallet is
  'Where the money goes; null: to the wallet of the account at that time. Only a link made without an account has one: a leaked key cannot set it.';
comment on column payment_link.created_via is '`form`: the public form, without an account.';
comment on column payment_link.completed_at is 'When the last of `max_payments` payments succeeded; the event was written then.';
comment on column payment_link.stopped_at is 'When an operator stopped the link; null: it is not stopped. Only an operator resumes it.';
comment on column payment_link.anonymous is
  'True while the link belongs to no account. Its page says that Pinrail does not know who made it.';
create index on payment_link (merchant_id, livemode, id);
-- Links to one wallet are counted for a limit a day. A link that an account has claimed still counts.
create index link_of_wallet on payment_link (lower(wallet), created_at) where wallet is not null;

create function payment_link_is_fixed() returns trigger language plpgsql as $$
begin
  raise exception 'price, method and wallet of payment link % are fixed', old.id;
end $$;
-- A merchant who has printed the link relies on what it asks for.
create trigger payment_link_is_fixed before update on payment_link for each row
  when (old.code is distinct from new.code or old.currency is distinct from new.currency
     or old.amount_minor is distinct from new.amount_minor or old.min_minor is distinct from new.min_minor
     or old.max_minor is distinct from new.max_minor or old.provider is distinct from new.provider
     or old.wallet is distinct from new.wallet or old.livemode is distinct from new.livemode)
  execute function payment_link_is_fixed();

alter table payment_link enable row level security;
create policy own on payment_link to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
create policy no_wallet on payment_link as restrictive for insert to pinrail_tenant with check (wallet is null);
-- A merchant's request cannot stop or resume a link. It completes one by lowering its limit to what is paid.
grant select, insert on payment_link to pinrail_tenant;
grant update (active, title, description, reference, metadata, success_url, prefill, max_payments, expires_at,
  inactive_message, updated_at, completed_at) on payment_link to pinrail_tenant;

-- No grant for pinrail_tenant: until an account has claimed the link, the secret alone proves who owns it.
create table link_owner (
  payment_link text primary key references payment_link,
  digest bytea not null unique check (length(digest) = 32),
  ticket_digest bytea unique check (length(ticket_digest) = 32),
  ticket_ends_at timestamptz,
  claimed_at timestamptz,
  check ((ticket_digest is null) = (ticket_ends_at is null))
);
comment on table link_owner is
  'The secret address by which the maker of a link without an account follows it. One row for each such link.';
comment on column link_owner.digest is 'The digest of the secret. The secret is not stored.';
comment on column link_owner.ticket_digest is
  'The digest of the ticket with which a person who signs in brings the link into an account: for one hour, once. Null: no ticket.';
comment on column link_owner.claimed_at is 'Since when an account owns the link; null: none does. Then the secret changes nothing any more.';

create table link_report (
  id bigint generated always as identity primary key,
  payment_link text not null references payment_link,
  reason text not null check (reason in ('fraud', 'pretends', 'forbidden', 'other')),
  details text not null check (length(details) <= 1000),
  at timestamptz not null
);
comment on table link_report is 'A complaint about a link, from its page. The page does not ask who writes it.';
create index on link_report (payment_link, id);
