-- Types and roles: how amounts, addresses and hashes are stored, the role of a merchant's requests, the mode of the database.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- Plain numeric accepts NaN and Infinity.
create domain units as numeric(38, 0) check (value >= 0 and value <> 'NaN' and value < 'Infinity');
comment on domain units is
  'A whole amount of zero or more: minor units of a fiat currency, micro-USDC, or wei. The column says which.';
create domain signed_units as numeric(38, 0) check (value <> 'NaN' and value < 'Infinity' and value > '-Infinity');
comment on domain signed_units is 'A whole amount in the same units, which can be negative.';

-- A regular expression took 8 µs for a hash and 4 µs for an address, half of what it costs to store a log; these take 0.7 µs.
create domain chain_address as text
  check (length(value) = 42 and value = '0x' || encode(decode(substr(value, 3), 'hex'), 'hex'));
comment on domain chain_address is
  'An address on the chain: `0x` and 40 hexadecimal digits in lower case, so that equal addresses are equal texts.';
create domain chain_hash as text
  check (length(value) = 66 and value = '0x' || encode(decode(substr(value, 3), 'hex'), 'hex'));
comment on domain chain_hash is '32 bytes of the chain (a hash or a nonce): `0x` and 64 hexadecimal digits in lower case.';

-- The second wall between merchants: a merchant's requests run as this role, which sees the rows of one merchant and mode.
-- The first wall is the condition on merchant_id in every statement; this one holds when a statement forgets it.
-- If the owner of the schema has no right to create roles, an administrator has created it and granted it to the owner:
--   create role pinrail_tenant nologin; grant pinrail_tenant to <owner>;
do $$ begin
  if not exists (select from pg_roles where rolname = 'pinrail_tenant') then
    create role pinrail_tenant nologin;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;
do $$ begin
  -- Since Postgres 16 the creator of a role is its member, and still cannot assume it.
  if not pg_has_role(current_user, 'pinrail_tenant',
      case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end) then
    execute format('grant pinrail_tenant to %I', current_user);
  end if;
  execute format('grant usage on schema %I to pinrail_tenant', current_schema());
end $$;

-- The merchant and mode of the transaction. Null while they are not set: then the role sees no row.
create function tenant_merchant() returns text stable parallel safe language sql
  return nullif(current_setting('pinrail.merchant_id', true), '');
create function tenant_livemode() returns boolean stable parallel safe language sql
  return nullif(current_setting('pinrail.livemode', true), '')::boolean;

-- Wakes the processes that listen to the channel, when the transaction commits.
create function wake() returns trigger language plpgsql as $$
begin
  perform pg_notify(tg_argv[0], tg_argv[1]);
  return null;
end $$;

create table deployment (
  is_only boolean primary key default true check (is_only),
  livemode boolean not null
);
comment on table deployment is 'The mode of the database, in one row. The first process that starts writes it.';
comment on column deployment.is_only is 'Always true: a second row would repeat the key.';

-- An operator can take back a mode chosen by mistake while there is no payment.
create function deployment_is_fixed() returns trigger language plpgsql as $$
begin
  if exists (select 1 from payment) then
    raise exception 'the mode of a database with payments is fixed';
  end if;
  return coalesce(new, old);
end $$;
create trigger deployment_is_fixed before update or delete on deployment
  for each row execute function deployment_is_fixed();
