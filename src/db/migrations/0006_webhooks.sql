-- Webhooks: a merchant's endpoints, the events that are announced to them, and every try to deliver one.

create table webhook_endpoint (
  id text primary key,
  merchant_id text not null references merchant,
  livemode boolean not null,
  url text not null,
  description text,
  format text not null default 'standard' check (format in ('standard', 'btcpay')),
  enabled_events text[] not null default '{payment.succeeded}',
  secrets jsonb not null,
  disabled_at timestamptz,
  disabled_reason text check (disabled_reason in ('merchant', 'gone', 'failing')),
  failing_since timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
comment on table webhook_endpoint is 'A URL of a merchant to which events are sent.';
comment on column webhook_endpoint.format is
  'How events are written and signed. `standard`: Standard Webhooks. `btcpay`: as BTCPay Server does.';
comment on column webhook_endpoint.secrets is
  'The signing secrets, sealed (AES-256-GCM), the newest first: [{sealed, expires_at}]. While one replaces another there are two, and the older one signs until `expires_at`.';
comment on column webhook_endpoint.disabled_reason is
  '`merchant`: disabled by the merchant. `gone`: it answered 410. `failing`: it failed for days. Null: it is enabled.';
comment on column webhook_endpoint.failing_since is 'The first failure since the last success; null: the last try succeeded.';
create index on webhook_endpoint (merchant_id, livemode);

alter table webhook_endpoint enable row level security;
create policy own on webhook_endpoint to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
grant select, insert, update, delete on webhook_endpoint to pinrail_tenant;

create table event_sequence (
  merchant_id text not null references merchant,
  livemode boolean not null,
  last bigint not null,
  primary key (merchant_id, livemode)
);
comment on table event_sequence is
  'The number of a merchant''s latest event. It stays locked until the commit, so that the numbers have no gap: a transaction locks it last.';

alter table event_sequence enable row level security;
create policy own on event_sequence to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
grant select, insert, update on event_sequence to pinrail_tenant;

-- No foreign key to the merchant, which no code deletes and `event_sequence` refers to: each payment that is changed at the
-- same moment would lock the merchant's row for its event.
create table event (
  id text primary key,
  merchant_id text not null,
  livemode boolean not null,
  sequence bigint,
  type text not null,
  payment_id text references payment,
  body bytea not null,
  created_at timestamptz not null,
  unique (merchant_id, livemode, sequence)
);
comment on table event is
  'Something that is announced to a merchant, written in the transaction in which it happens. Deleted after 90 days.';
comment on column event.sequence is 'The place among the merchant''s events, from 1 without a gap; null: a test event for one endpoint.';
comment on column event.payment_id is 'Null: it concerns no payment.';
comment on column event.body is 'The bytes that are signed and sent, the same at every try.';
create index on event (payment_id);
create index event_by_age on event (created_at);

alter table event enable row level security;
create policy own on event to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
grant select, insert on event to pinrail_tenant;

create table delivery (
  event_id text not null references event,
  endpoint_id text not null references webhook_endpoint on delete cascade,
  merchant_id text not null,
  livemode boolean not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'exhausted', 'disabled')),
  attempts int not null default 0,
  schedule_step int not null default 0,
  created_at timestamptz not null,
  last_attempt_at timestamptz,
  delivered_at timestamptz,
  swept_at timestamptz,
  looked_after_at timestamptz,
  primary key (event_id, endpoint_id)
);
comment on table delivery is 'One event for one endpoint, inserted with the event.';
comment on column delivery.status is '`exhausted`: the retry schedule is used up. `disabled`: the endpoint was off. Both can be sent again.';
comment on column delivery.attempts is 'How many tries there were.';
comment on column delivery.schedule_step is 'How many steps of the retry schedule are used up. A try by hand uses none.';
comment on column delivery.created_at is 'When the event happened.';
comment on column delivery.swept_at is 'When the sweep last gave it a workflow, because none seemed to try it; null: never.';
comment on column delivery.looked_after_at is
  'The `swept_at` for which Temporal has confirmed the workflow: only then the sweep leaves it alone for longer.';
create index delivery_unattempted on delivery (created_at) where status = 'pending' and attempts = 0;
create index delivery_unfinished on delivery (last_attempt_at) where status = 'pending' and attempts > 0;
create index on delivery (endpoint_id, status);
-- The log of an endpoint, newest first.
create index delivery_of_endpoint on delivery (endpoint_id, event_id);

alter table delivery enable row level security;
create policy own on delivery to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
-- A merchant's request that deletes an endpoint deletes its deliveries first.
grant select, insert, update, delete on delivery to pinrail_tenant;

create table delivery_attempt (
  event_id text not null,
  endpoint_id text not null,
  number int not null,
  at timestamptz not null,
  duration_ms int not null,
  response_status int,
  response_headers jsonb,
  response_body text,
  error text,
  primary key (event_id, endpoint_id, number),
  foreign key (event_id, endpoint_id) references delivery on delete cascade
);
comment on table delivery_attempt is 'One try of a delivery. Deleted after 30 days.';
comment on column delivery_attempt.number is 'The number of the try, from 1.';
comment on column delivery_attempt.response_status is 'The HTTP status; null: no answer.';
comment on column delivery_attempt.response_body is 'The beginning of the answer.';
comment on column delivery_attempt.error is 'Why there was no answer, or why the answer does not count (a redirect); null: it counts.';
create index delivery_attempt_by_age on delivery_attempt (at);

alter table delivery_attempt enable row level security;
create policy own on delivery_attempt for select to pinrail_tenant
  using (exists (select 1 from delivery where delivery.event_id = delivery_attempt.event_id
    and delivery.endpoint_id = delivery_attempt.endpoint_id));
grant select on delivery_attempt to pinrail_tenant;
