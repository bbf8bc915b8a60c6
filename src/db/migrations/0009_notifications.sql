-- Notifications: what a merchant's people are notified of, by mail and in chats.

create table notice (
  id bigint generated always as identity primary key,
  merchant_id text not null references merchant,
  livemode boolean not null,
  kind text not null,
  data jsonb not null,
  created_at timestamptz not null default now(),
  sent_at timestamptz
);
comment on table notice is
  'Something that an account must know although it did not ask, such as an endpoint that was disabled. It is written with its reason, in one transaction.';
comment on column notice.sent_at is
  'When the worker wrote its mails; null: it waits for that. Deleted 30 days later. Chats read it from `notification`.';
-- The worker takes the accounts in turn, the oldest notice of each first: one account's many notices delay no other.
create index notice_unsent_of_account on notice (livemode, merchant_id, created_at, id) where sent_at is null;

create trigger wakes_worker after insert on notice for each statement
  execute function wake('pinrail_work', 'notices');

-- A merchant's own request leaves a notice too, such as about a change of wallet.
alter table notice enable row level security;
create policy own on notice to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
grant insert on notice to pinrail_tenant;

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

create table channel (
  id text primary key,
  merchant_id text not null references merchant,
  livemode boolean not null,
  kind text not null check (kind in ('email', 'telegram', 'discord', 'slack')),
  name text not null,
  sealed text not null,
  person_id text references person on delete set null,
  events text[] not null,
  language text not null,
  quiet_from smallint check (quiet_from between 0 and 1439),
  quiet_to smallint check (quiet_to between 0 and 1439),
  quiet_zone text,
  broken_at timestamptz,
  broken_reason text,
  paused_until timestamptz,
  swept_at timestamptz,
  removed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((quiet_from is null) = (quiet_to is null) and (quiet_from is null) = (quiet_zone is null)),
  check ((broken_at is null) = (broken_reason is null))
);
comment on table channel is
  'An address, a chat or a webhook URL at which an account is notified. A removed channel stays as a row, so that its messages stay readable.';
comment on column channel.sealed is
  'Where it goes, sealed: the id of the chat, or the URL, which is a secret because anybody who knows it can write there. An e-mail channel goes to its person. Empty: removed.';
comment on column channel.person_id is
  'Who created it; null: a URL, or the person was deleted. An e-mail channel goes to this person, and ends with the membership.';
comment on column channel.events is 'The kinds of events and notices that it gets. A chat gets notices about safety anyway.';
comment on column channel.quiet_from is 'Minutes after midnight in `quiet_zone`: what is not urgent waits until `quiet_to`. Null: no quiet hours.';
comment on column channel.broken_at is 'Since when it accepts nothing, until a person repairs it; null: it works.';
comment on column channel.paused_until is 'It asked for a pause, or the last message was a moment ago; null: no pause.';
comment on column channel.swept_at is 'When its workflow was last started: another start waits. Null: it can start now.';
create index on channel (merchant_id, livemode, id) where removed_at is null;

alter table channel enable row level security;
create policy own on channel to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
grant select, insert, update on channel to pinrail_tenant;

create table channel_message (
  id text primary key,
  channel_id text not null references channel,
  merchant_id text not null references merchant,
  livemode boolean not null,
  state text not null check (state in ('sending', 'sent', 'waiting', 'unknown', 'refused')),
  kind text not null check (kind in ('single', 'digest', 'test')),
  urgent boolean not null,
  count int not null,
  kinds text[] not null,
  tries int not null default 0,
  unanswered int not null default 0,
  failure text,
  next_at timestamptz not null,
  created_at timestamptz not null,
  sent_at timestamptz
);
comment on table channel_message is
  'One message to a channel. It is written before it is sent: a sender that ends in between leaves it as `sending`.';
comment on column channel_message.state is
  '`waiting`: it was not accepted, and is tried again. `unknown`: no answer came, so it is sent again and says so.';
comment on column channel_message.count is 'How many notifications it contains.';
comment on column channel_message.kinds is 'The kinds of these notifications.';
comment on column channel_message.unanswered is 'How many tries had no answer: the message might have arrived that often.';
comment on column channel_message.failure is 'Why the last try failed; null: it did not.';
comment on column channel_message.next_at is
  'No other sender takes it before. infinity: it waits until a person has repaired the channel.';
create index channel_message_open on channel_message (next_at) where state in ('sending', 'waiting', 'unknown');
create index on channel_message (channel_id, created_at);
create index on channel_message (created_at);

-- A person waits for it.
create trigger wakes_worker after insert on channel_message for each row when (new.kind = 'test')
  execute function wake('pinrail_work', 'notifications');

alter table channel_message enable row level security;
create policy own on channel_message to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
grant select, insert, update on channel_message to pinrail_tenant;

-- No foreign key to the channel: a channel that is being changed must not delay a payment.
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
  delayed boolean not null default false,
  message_id text,
  check ((event_id is null) <> (notice_id is null)),
  unique (channel_id, event_id),
  unique (channel_id, notice_id)
);
comment on table notification is
  'One event or one notice for one channel, written with it in one transaction. The worker puts notifications into messages.';
comment on column notification.event_id is 'The event; null: it is about a notice.';
comment on column notification.notice_id is 'The notice; null: it is about an event.';
comment on column notification.urgent is 'True if quiet hours do not hold it.';
comment on column notification.due_at is 'When it can be sent. infinity: the channel is broken or removed.';
comment on column notification.delayed is 'True if quiet hours have delayed it.';
comment on column notification.message_id is 'The message that contains it; null: none yet.';
create index notification_due on notification (due_at) where message_id is null;
create index notification_waiting on notification (channel_id, id) where message_id is null;
create index on notification (message_id) where message_id is not null;
create index on notification (created_at);

-- For each row: most payments are of accounts without a channel. Equal notices of a transaction are one.
create trigger wakes_worker after insert on notification for each row
  execute function wake('pinrail_work', 'notifications');

alter table notification enable row level security;
create policy own on notification to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
grant select, insert, update on notification to pinrail_tenant;

-- A channel gets these four notices only if it subscribes to them. All others are about safety: every chat gets them. People
-- get each notice by mail anyway, so e-mail channels get none.
create function notify_of_notice() returns trigger language plpgsql as $$
declare
  optional boolean := new.kind = any(array['webhook_endpoint.disabled', 'payment_link.stopped', 'payment_link.resumed', 'dispute.evidence_due']);
begin
  insert into notification (channel_id, merchant_id, livemode, kind, notice_id, urgent, created_at, due_at)
  select id, new.merchant_id, new.livemode, new.kind, new.id, not optional, new.created_at,
    case when broken_at is null then new.created_at else 'infinity' end
  from channel
  where merchant_id = new.merchant_id and livemode = new.livemode and removed_at is null and kind <> 'email'
    and (not optional or new.kind = any(events));
  return null;
end $$;
create trigger notify_of_notice after insert on notice for each row execute function notify_of_notice();

create table telegram_link (
  digest bytea primary key check (length(digest) = 32),
  merchant_id text not null references merchant,
  livemode boolean not null,
  person_id text not null references person on delete cascade,
  expires_at timestamptz not null,
  used_at timestamptz
);
comment on table telegram_link is
  'A link that a person opens in Telegram so that a chat becomes a channel of an account: once, for some minutes.';
comment on column telegram_link.digest is 'The digest of the token in the link.';
comment on column telegram_link.used_at is 'When somebody opened it; null: it is open.';
create index on telegram_link (merchant_id, person_id);
create index telegram_link_open on telegram_link (expires_at) where used_at is null;

create table telegram_bot (
  id text primary key,
  username text not null,
  next_update bigint not null default 0,
  leased_until timestamptz not null,
  seen_at timestamptz not null default now()
);
comment on table telegram_bot is
  'The bot of this deployment, and how far its updates were read. One worker at a time reads them: Telegram gives each update once.';
comment on column telegram_bot.id is 'The part of the bot''s token before the colon. Each bot has its own row.';
comment on column telegram_bot.next_update is 'The first update that was not read; 0: whatever comes next.';
comment on column telegram_bot.leased_until is 'Until then one worker reads the updates.';
comment on column telegram_bot.seen_at is
  'When a process last reported that it writes as this bot. After the token was taken away none does, and Telegram channels wait.';
