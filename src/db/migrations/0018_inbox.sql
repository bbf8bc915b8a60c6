-- News of partners are an inbox: a callback that was answered 2xx is repeated to its workflow until the transaction that
-- applies what the partner then says about the order has marked it.
alter table partner_event
  -- The order in which news came: what was there before the partner was asked is answered by its answer.
  add column seq bigint generated always as identity,
  add column applied_at timestamptz,
  -- How often the relay has repeated it, and when it does so again: by the clock of the database, which all relays share.
  add column repeats integer not null default 0,
  add column due_at timestamptz not null default now();
-- What was passed on before this column existed was read, or will be by the polls of its workflow.
update partner_event set applied_at = signaled_at where signaled_at is not null;
drop index partner_event_unsignaled;
alter table partner_event drop column signaled_at;
create index partner_event_unread on partner_event (due_at) where applied_at is null;
create index partner_event_unread_of on partner_event (attempt_id, seq) where applied_at is null;
