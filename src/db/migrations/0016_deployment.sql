-- Up Migration

-- Whose database it is: one mode, stamped by the first process that starts. One row at most.
create table deployment (
  is_only boolean primary key default true check (is_only),
  livemode boolean not null,
  stamped_at timestamptz not null default now()
);

-- A database that holds payments of one mode belongs to it; asked here, where a large table may take its time.
insert into deployment (livemode)
select min(livemode::int)::boolean from payment
having count(*) > 0 and min(livemode::int) = max(livemode::int);

-- Until there is a payment, a mode chosen by mistake can be taken back.
create function deployment_is_fixed() returns trigger language plpgsql as $$
begin
  if exists (select 1 from payment) then
    raise exception 'the mode of a database with payments is fixed';
  end if;
  return coalesce(new, old);
end $$;
create trigger deployment_is_fixed before update or delete on deployment
  for each row execute function deployment_is_fixed();
