-- Up Migration

-- A merchant's request may ask for the start of its own payment and for nothing else. The other messages of the outbox
-- complete payouts, and a row for another merchant's payment would be passed on as if it were ours.
alter table outbox enable row level security;
create policy starts on outbox for insert to pinrail_tenant with check (kind = 'start_payment');

-- A trigger, because a policy does not see the payment that the same statement makes. Requests of a merchant see their
-- own payments alone; everybody else is not asked.
create function outbox_is_of_tenant() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from payment where payment.id = new.subject) then
    raise exception 'the payment of a message must be the tenant''s own' using errcode = 'insufficient_privilege';
  end if;
  return null;
end $$;
create trigger outbox_is_of_tenant after insert on outbox for each row
  when (current_user = 'pinrail_tenant') execute function outbox_is_of_tenant();
