-- Disputes: buyers who ask their banks for the money of a payment, and what merchants answer.

create table dispute (
  id text primary key,
  payment_id text not null references payment,
  attempt_id text not null references attempt,
  merchant_id text not null references merchant,
  livemode boolean not null,
  provider text not null,
  partner_dispute text not null,
  kind text not null check (kind in ('inquiry', 'chargeback')),
  status text not null check (status in ('needs_response', 'under_review', 'won', 'lost', 'closed')),
  reason text not null check (reason in ('fraudulent', 'unrecognized', 'duplicate', 'product_not_received',
    'product_unacceptable', 'credit_not_processed', 'subscription_canceled', 'other')),
  reason_text text,
  amount_minor units not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  taken_minor units not null,
  fee_minor units,
  fee_currency text,
  from_reserve_micro units not null default 0,
  from_platform_micro units not null default 0,
  answered_at text not null check (answered_at in ('api', 'partner')),
  opened_at timestamptz,
  evidence_due_at timestamptz,
  evidence_submitted_at timestamptz,
  asked_at timestamptz not null,
  reminded_for timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  closed_at timestamptz,
  version int not null default 1,
  unique (attempt_id, partner_dispute),
  check ((fee_minor is null) = (fee_currency is null)),
  check ((closed_at is null) = (status in ('needs_response', 'under_review')))
);
comment on table dispute is
  'A dispute of a partner about an order, as the partner last reported it. The readings of the order write it, in the transaction that changes the payment. It decides nothing about money.';
comment on column dispute.partner_dispute is 'The partner''s id of it. A partner that only reverses orders has none: then it is the partner''s id of the order.';
comment on column dispute.kind is '`inquiry`: the bank only asks, and takes no money yet.';
comment on column dispute.reason_text is 'The partner''s own words or code; null: it gave none.';
comment on column dispute.taken_minor is 'What the partner has taken for it and not given back, in minor units of `currency`.';
comment on column dispute.fee_minor is 'What the partner charges the platform for it, in minor units of `fee_currency`; null: it does not say.';
comment on column dispute.from_reserve_micro is 'What it took of the reserve of its payment, in micro-USDC at the locked rate.';
comment on column dispute.from_platform_micro is 'The rest that was lost after the payout, which the platform bears, in micro-USDC at the locked rate.';
comment on column dispute.answered_at is '`api`: the driver can submit evidence. `partner`: only a person can, in the partner''s dashboard.';
comment on column dispute.opened_at is 'When it was opened, by the partner; null: it does not say.';
comment on column dispute.evidence_due_at is 'Until when evidence can be submitted; null: the partner names no time.';
comment on column dispute.evidence_submitted_at is 'When a reading first showed evidence since the bank asks; null: none did.';
comment on column dispute.asked_at is 'When a reading first showed it, or showed that the bank asks again: an inquiry became a chargeback.';
comment on column dispute.reminded_for is 'The deadline of which the merchant was reminded; null: of none.';
comment on column dispute.closed_at is 'When a reading first showed its end; null: it is open.';
comment on column dispute.version is 'Counts the changes.';
create index on dispute (merchant_id, livemode, id);
create index on dispute (payment_id);
create index dispute_to_remind on dispute (evidence_due_at)
  where status = 'needs_response' and reminded_for is distinct from evidence_due_at;

alter table dispute enable row level security;
create policy own on dispute to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
-- Only the readings of orders write disputes.
grant select on dispute to pinrail_tenant;

create table dispute_answer (
  id text primary key,
  dispute_id text not null references dispute,
  merchant_id text not null references merchant,
  livemode boolean not null,
  request text,
  kind text not null check (kind in ('evidence', 'accept')),
  submit boolean not null,
  state text not null default 'sending' check (state in ('sending', 'sent', 'refused')),
  texts text[] not null,
  files text[] not null,
  content jsonb,
  refusal text,
  created_at timestamptz not null,
  repeats int not null default 0,
  due_at timestamptz default now(),
  unique (dispute_id, request),
  check ((due_at is null) = (state <> 'sending')),
  check ((refusal is null) = (state <> 'refused')),
  check (content is null or state = 'sending')
);
comment on table dispute_answer is
  'What a merchant asks the partner of a dispute for. It is stored before the partner is asked, and its id is the partner''s key, so that it has its effect once.';
comment on column dispute_answer.request is 'The Idempotency-Key of the request; null: there was none.';
comment on column dispute_answer.submit is 'True: the partner passes the evidence to the bank, and it cannot be changed any more.';
comment on column dispute_answer.state is '`sending`: the partner has not confirmed it, and is asked again. `refused`: it had no effect.';
comment on column dispute_answer.texts is 'The names of its texts.';
comment on column dispute_answer.files is 'The names of its files.';
comment on column dispute_answer.content is
  'The texts, and the files in base64. They are personal data: deleted when the partner has them, or refuses them.';
comment on column dispute_answer.refusal is 'Why the partner refused it; null: it did not.';
comment on column dispute_answer.repeats is 'How often the partner was asked.';
comment on column dispute_answer.due_at is 'When the partner is asked next, by the clock of the database; null: no more.';
create index dispute_answer_due on dispute_answer (due_at) where due_at is not null;
create unique index dispute_answer_one_at_a_time on dispute_answer (dispute_id) where state = 'sending';

alter table dispute_answer enable row level security;
create policy own on dispute_answer to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode()
    and exists (select from dispute where dispute.id = dispute_id));
-- A merchant's request can answer. It cannot change an answer, or read what is in it.
grant select (id, dispute_id, merchant_id, livemode, request, kind, submit, state, texts, files, refusal, created_at),
  insert (id, dispute_id, merchant_id, livemode, request, kind, submit, texts, files, content, created_at)
  on dispute_answer to pinrail_tenant;

create trigger wakes_worker after insert on dispute_answer for each statement
  execute function wake('pinrail_work', 'dispute_answers');
