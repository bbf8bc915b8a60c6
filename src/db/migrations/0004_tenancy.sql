-- Up Migration

-- The second wall between merchants: requests of a merchant run as this role, which sees the rows of one merchant and
-- mode and no others. The first wall is the condition on merchant_id in every statement; this one holds when a
-- statement forgets it.
-- Where the owner of the schema may not create roles, an administrator has made it and granted it to the owner:
--   create role pinrail_tenant nologin; grant pinrail_tenant to <owner>;
do $$ begin
  if not exists (select from pg_roles where rolname = 'pinrail_tenant') then
    create role pinrail_tenant nologin;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;
do $$ begin
  -- Since version 16 who makes a role is its member, and may still not take it.
  if not pg_has_role(current_user, 'pinrail_tenant',
      case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end) then
    execute format('grant pinrail_tenant to %I', current_user);
  end if;
  execute format('grant usage on schema %I to pinrail_tenant', current_schema());
end $$;

-- Null while nothing is set, so that then no row is anybody's.
create function tenant_merchant() returns text stable parallel safe language sql
  return nullif(current_setting('pinrail.merchant_id', true), '');
create function tenant_livemode() returns boolean stable parallel safe language sql
  return nullif(current_setting('pinrail.livemode', true), '')::boolean;

do $$
declare name text;
begin
  foreach name in array array['payment', 'wallet', 'api_key', 'idempotency_key', 'event', 'event_sequence', 'delivery',
    'webhook_endpoint'] loop
    execute format('alter table %I enable row level security', name);
    execute format('create policy own on %I to pinrail_tenant
      using (merchant_id = tenant_merchant() and livemode = tenant_livemode())', name);
  end loop;
  -- What hangs on a payment is seen by who sees the payment.
  foreach name in array array['attempt', 'timeline_entry'] loop
    execute format('alter table %I enable row level security', name);
    execute format('create policy own on %I for select to pinrail_tenant
      using (exists (select 1 from payment where payment.id = payment_id))', name);
  end loop;
end $$;

alter table merchant enable row level security;
create policy own on merchant to pinrail_tenant using (id = tenant_merchant());
alter table delivery_attempt enable row level security;
create policy own on delivery_attempt for select to pinrail_tenant
  using (exists (select 1 from delivery where delivery.event_id = delivery_attempt.event_id
    and delivery.endpoint_id = delivery_attempt.endpoint_id));
-- The first entry is written by the statement that creates the payment, which cannot see its own row yet.
create policy created on timeline_entry for insert to pinrail_tenant with check (kind = 'payment.created');

-- No more than the API's statements need: nothing here may change a payment or delete one.
grant select, insert on payment, timeline_entry, idempotency_key, event to pinrail_tenant;
grant select on attempt, delivery_attempt to pinrail_tenant;
grant update on idempotency_key to pinrail_tenant;
grant select, insert, update on wallet, api_key, delivery to pinrail_tenant;
grant select, insert, update, delete on webhook_endpoint to pinrail_tenant;
-- Updating is what locking a row asks for.
grant select, update on merchant to pinrail_tenant;
grant insert on outbox to pinrail_tenant;
-- Addresses of ours, which no merchant may be paid to.
grant select on lane, treasury_hour to pinrail_tenant;

-- The log of deliveries is read and pruned by age.
create index delivery_attempt_by_age on delivery_attempt (at);
create index event_by_age on event (created_at);

-- What the merchant must be told although it did not ask: an endpoint that we switched off. Written with the change, by
-- whichever statement makes it; whoever sends notices takes them from here.
create table notice (
  id bigint generated always as identity primary key,
  merchant_id text not null references merchant,
  livemode boolean not null,
  kind text not null,
  data jsonb not null,
  created_at timestamptz not null default now(),
  sent_at timestamptz
);
create index notice_unsent on notice (created_at) where sent_at is null;

create function webhook_endpoint_was_disabled() returns trigger language plpgsql as $$
begin
  insert into notice (merchant_id, livemode, kind, data) values (new.merchant_id, new.livemode,
    'webhook_endpoint.disabled',
    jsonb_build_object('endpoint', new.id, 'url', new.url, 'reason', new.disabled_reason));
  return null;
end $$;
create trigger webhook_endpoint_was_disabled after update on webhook_endpoint for each row
  when (old.disabled_at is null and new.disabled_at is not null and new.disabled_reason <> 'merchant')
  execute function webhook_endpoint_was_disabled();
