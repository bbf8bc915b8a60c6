-- Up Migration

-- Where a merchant is told of what happens. One that was removed stays as a row, so that what it was told stays readable.
create table channel (
  id text primary key,
  merchant_id text not null references merchant,
  livemode boolean not null,
  kind text not null check (kind in ('email', 'telegram', 'discord', 'slack')),
  name text not null,
  -- The address, the id of the chat, or the URL, which is a secret: who knows it can write there.
  sealed text not null,
  -- Who made it. A channel by e-mail goes to this person, and ends with the membership.
  person_id text references person on delete set null,
  events text[] not null,
  language text not null,
  quiet_from smallint check (quiet_from between 0 and 1439),
  quiet_to smallint check (quiet_to between 0 and 1439),
  quiet_zone text,
  -- Since when it takes nothing, and what it says. A person mends it.
  broken_at timestamptz,
  broken_reason text,
  -- It asked for a pause, or the last message was a moment ago.
  paused_until timestamptz,
  -- When its workflow was started last. Another start waits a while.
  swept_at timestamptz,
  removed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((quiet_from is null) = (quiet_to is null) and (quiet_from is null) = (quiet_zone is null)),
  check ((broken_at is null) = (broken_reason is null))
);
create index on channel (merchant_id, livemode, id) where removed_at is null;

-- One message to one channel. It is written before it is sent: a sender that dies in between leaves it as `sending`.
create table channel_message (
  id text primary key,
  channel_id text not null references channel,
  merchant_id text not null references merchant,
  livemode boolean not null,
  -- `waiting`: it was not taken and is tried again. `unknown`: no answer came; it is sent again, and says so.
  state text not null check (state in ('sending', 'sent', 'waiting', 'unknown', 'refused')),
  kind text not null check (kind in ('single', 'digest', 'test')),
  urgent boolean not null,
  -- How many notifications it holds, and which kinds.
  count int not null,
  kinds text[] not null,
  tries int not null default 0,
  -- How many of the tries nobody answered: so often it may have come.
  unanswered int not null default 0,
  failure text,
  -- Before that no other sender takes it.
  next_at timestamptz not null,
  created_at timestamptz not null,
  sent_at timestamptz
);
create index channel_message_open on channel_message (next_at) where state in ('sending', 'waiting', 'unknown');
create index on channel_message (channel_id, created_at);
create index on channel_message (created_at);

-- What a channel is to be told: written with the event or the notice, in one transaction. Without a foreign key to the
-- channel: a channel that changes holds up no payment.
create table notification (
  id bigint generated always as identity primary key,
  channel_id text not null,
  merchant_id text not null,
  livemode boolean not null,
  kind text not null,
  event_id text,
  notice_id bigint,
  urgent boolean not null,
  created_at timestamptz not null,
  due_at timestamptz not null,
  -- Quiet hours have held it.
  held boolean not null default false,
  message_id text,
  check ((event_id is null) <> (notice_id is null)),
  unique (channel_id, event_id),
  unique (channel_id, notice_id)
);
create index notification_due on notification (due_at) where message_id is null;
create index notification_waiting on notification (channel_id, id) where message_id is null;
create index on notification (message_id) where message_id is not null;
create index on notification (created_at);

-- Which notices a channel must ask for. All others are about safety: they come to every chat. People get each by mail
-- anyway, so channels by e-mail get none of them.
create function notice_is_told() returns trigger language plpgsql as $$
declare
  optional boolean := new.kind = any(array['webhook_endpoint.disabled', 'payment_link.stopped', 'payment_link.resumed']);
begin
  insert into notification (channel_id, merchant_id, livemode, kind, notice_id, urgent, created_at, due_at)
  select id, new.merchant_id, new.livemode, new.kind, new.id, not optional, new.created_at,
    case when broken_at is null then new.created_at else 'infinity' end
  from channel
  where merchant_id = new.merchant_id and livemode = new.livemode and removed_at is null and kind <> 'email'
    and (not optional or new.kind = any(events));
  return null;
end $$;
create trigger notice_is_told after insert on notice for each row execute function notice_is_told();

do $$
declare name text;
begin
  foreach name in array array['channel', 'channel_message', 'notification'] loop
    execute format('alter table %I enable row level security', name);
    execute format('create policy own on %I to pinrail_tenant
      using (merchant_id = tenant_merchant() and livemode = tenant_livemode())', name);
  end loop;
end $$;
grant select, insert, update on channel, channel_message to pinrail_tenant;
grant select, insert, update on notification to pinrail_tenant;
