-- Payments: the payment, the buyer's orders at partners, what partners report, and the search for payments.

create table payment (
  id text primary key,
  merchant_id text not null references merchant,
  livemode boolean not null,
  status text not null default 'created' check (status in
    ('created', 'pending', 'processing', 'under_review', 'settling', 'succeeded', 'failed', 'expired', 'canceled', 'refunded')),
  status_reason text,
  exception text check (exception in
    ('verification_required', 'underpaid', 'overpaid', 'paid_late', 'duplicate_payment', 'wrong_asset', 'settlement_delayed')),
  held boolean not null default false,
  closed_as text check (closed_as in ('expired', 'canceled', 'failed')),
  payout text not null default 'none' check (payout in ('none', 'handed', 'stopped', 'voiding', 'void', 'paid')),
  stopped_for text,
  stuck text,
  converting_since timestamptz,
  reviews jsonb not null default '[]',
  review_since timestamptz,
  expiry_postponed boolean not null default false,
  expiry_extended boolean not null default false,
  listen_ended boolean not null default false,
  amount_text text not null,
  amount_minor units not null check (amount_minor > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  provider text,
  provider_used text,
  method_used text,
  fallback text not null check (fallback in ('picker', 'none')),
  description text,
  reference text,
  metadata jsonb,
  invoice jsonb,
  success_url text,
  cancel_url text,
  checkout_token text not null unique,
  payment_link text references payment_link,
  shop_api text check (shop_api in ('btcpay')),
  tolerance_percent smallint not null default 1,
  fill_tolerance_percent smallint not null default 2,
  fee_percent numeric not null default 4.5 check (fee_percent between 0 and 50 and scale(fee_percent) <= 2),
  reserve_percent numeric check (reserve_percent > 0 and reserve_percent <= 50 and scale(reserve_percent) <= 2),
  reserve_days int check (reserve_days between 1 and 365),
  destination text not null check (destination ~ '^0x[0-9a-fA-F]{40}$'),
  chain_id int not null,
  token text not null,
  quote jsonb not null,
  quoted_micro units not null default 0,
  paid_attempt_id text,
  charge_currency text,
  confirmed_minor units,
  rate text,
  rate_source text,
  rate_locked_at timestamptz,
  agreed text,
  taken_sale smallint,
  gross_micro units,
  fee_micro units,
  net_micro units,
  tx_hash text,
  log_index int,
  block_number bigint,
  finalized_at timestamptz,
  paid_micro units,
  reserved_micro units not null default 0,
  reserve_released_micro units not null default 0,
  reserve_release_id text references reserve_release,
  deducted_micro units not null default 0,
  deducted_for text,
  deduction_release_id text references reserve_release,
  delayed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  paid_at timestamptz,
  succeeded_at timestamptz,
  failed_at timestamptz,
  canceled_at timestamptz,
  closed_at timestamptz,
  lost_minor units not null default 0,
  refunds_minor units not null default 0,
  refunds_count smallint not null default 0,
  version int not null default 1,
  check ((reserve_percent is null) = (reserve_days is null)),
  check (reserve_percent is not null or (reserved_micro, reserve_released_micro) = (0, 0)),
  check (reserve_release_id is null or reserve_released_micro > 0),
  check ((deducted_for is null) = (deducted_micro = 0)),
  check (deduction_release_id is null or deducted_for is not null),
  check (gross_micro is null or gross_micro = fee_micro + net_micro)
);
comment on table payment is
  'A payment: what a merchant asks a buyer for, and how far it is. Its workflow changes the row; each change adds one to `version`.';
comment on column payment.status_reason is 'Why it has this status; null: nothing to add.';
comment on column payment.exception is 'What was unusual about it; null: nothing.';
comment on column payment.held is 'True while a hold by an operator keeps its money from being converted and paid out.';
comment on column payment.closed_as is 'How it was closed before its money came; null: it was not.';
comment on column payment.payout is
  '`none`: not handed over. `handed`: the settlement pays it. `stopped`: an operator must decide. `voiding`: it is being proved that it can never be paid. `void`: proved, or never handed over and never will be.';
comment on column payment.stopped_for is 'Why the settlement has stopped the payout; null: it has not.';
comment on column payment.stuck is 'The attempt whose sale the converter has refused, or has not answered for half an hour; null: none.';
comment on column payment.converting_since is 'Since when its next step has been a conversion; null: it is not.';
comment on column payment.reviews is
  'What waits for a person: [{reason, attemptId, text}], computed at each change. docs/decide.md says what to do about each.';
comment on column payment.review_since is 'Since when it waits for a person; null: it does not.';
comment on column payment.tolerance_percent is 'Whole percent of the asked amount that may be missing.';
comment on column payment.fill_tolerance_percent is 'Whole percent by which a fill may differ from what the locked rate gives.';
comment on column payment.reserve_percent is
  'What is held back of the net amount for chargebacks, as it was agreed when the payment was created; null: nothing.';
comment on column payment.reserve_days is 'For how many days after the payout it is held back; null: nothing is.';
comment on column payment.reserved_micro is
  'What is held back now, in micro-USDC, without what chargebacks have taken. Computed at each change.';
comment on column payment.reserve_released_micro is
  'What was released of what was held back, in micro-USDC: the sum of its parts in `reserve_release_part`.';
comment on column payment.reserve_release_id is 'The last release of it; null: none.';
comment on column payment.deducted_micro is 'What its payout lacks, in micro-USDC, because it pays for a refund of another payment of the merchant.';
comment on column payment.deducted_for is 'That refund; null: nothing is deducted.';
comment on column payment.deduction_release_id is
  'The release that pays the deduction to the merchant, because the refund has not taken it; null: none.';
comment on column payment.fee_percent is 'The fee in percent of the gross amount, as it was agreed when the payment was created.';
comment on column payment.delayed_at is 'Since when the settlement has been taking longer than it should; null: it is not.';
comment on column payment.expiry_postponed is
  'True if a running identity check has moved `expires_at` by 24 hours. That happens once.';
comment on column payment.expiry_extended is 'True if a buyer who was about to be late got more time. That happens once.';
comment on column payment.listen_ended is 'True if the time in which late money is still accepted is over.';
comment on column payment.amount_text is 'The amount as the merchant wrote it.';
comment on column payment.amount_minor is 'The price, in minor units of `currency`.';
comment on column payment.provider is 'The method that the merchant asked for; null: the buyer chooses.';
comment on column payment.provider_used is 'The provider that has the money of the payment; null: none has.';
comment on column payment.method_used is 'The method of that money; null: there is none.';
comment on column payment.fallback is 'What the checkout offers when `provider` does not work: a choice of others, or nothing.';
comment on column payment.reference is 'The merchant''s own number.';
comment on column payment.invoice is
  'What the merchant adds to the receipt: {number, taxId, items: [{name, quantity, unitMinor, taxPercent}]}; null: nothing. No personal data.';
comment on column payment.checkout_token is
  '128 random bits that open the checkout. The id of the payment does not open it.';
comment on column payment.payment_link is 'The link that created it; null: the API.';
comment on column payment.shop_api is
  'The API of shops that created it: webhooks of its format announce no other payments. Null: another way.';
comment on column payment.destination is 'The merchant''s wallet when the payment was created.';
comment on column payment.token is 'The address of USDC on the chain.';
comment on column payment.quote is
  'The rate at creation, which is an estimate: `rate` in USDC for one major unit, `rateSource`, `netMicro` in micro-USDC, `expiresAt`.';
comment on column payment.quoted_micro is
  'What the price gave at the rate of `quote`, in micro-USDC before the fee: it counts towards the limit of its day.';
comment on column payment.paid_attempt_id is 'The attempt whose money is the payment''s; null: there is none. Computed at each change, as are status, exception, provider_used, method_used, charge_currency, confirmed_minor, rate and paid_at.';
comment on column payment.charge_currency is 'The currency that the buyer paid in; null: no money is confirmed.';
comment on column payment.confirmed_minor is 'What the buyer paid, in minor units of `charge_currency`; null: no money is confirmed.';
comment on column payment.rate is 'The locked rate: USDC for one major unit of `charge_currency`; null: not locked yet.';
comment on column payment.agreed is 'The money that an operator settles as it is, `<attempt>:<units>`, or what the chain has paid, `payout:<micro-USDC>`; null: none.';
comment on column payment.taken_sale is 'The number of the sale whose USDC is paid out; null: not converted yet.';
comment on column payment.gross_micro is 'What the money was converted to, in micro-USDC; null: not converted yet.';
comment on column payment.fee_micro is 'The fee of Pinrail, in micro-USDC.';
comment on column payment.net_micro is 'What the merchant receives, in micro-USDC.';
comment on column payment.tx_hash is 'The transaction that paid the merchant, in a final block; null: not paid. The settlement writes it and the next three columns.';
comment on column payment.log_index is 'The log of the transfer in that transaction.';
comment on column payment.finalized_at is 'The time of the block, whenever it was read: the month of a payment is that of the chain.';
comment on column payment.paid_micro is 'What that transfer paid, in micro-USDC.';
comment on column payment.expires_at is 'Until when the buyer can begin to pay.';
comment on column payment.paid_at is 'When a partner confirmed the money.';
comment on column payment.closed_at is 'When its workflow had nothing left to wait for; null: it must have a workflow.';
comment on column payment.lost_minor is 'What the partner took back after the payout, in minor units of `charge_currency`, beyond what refunds account for. Computed at each change.';
comment on column payment.refunds_minor is 'What refunds have taken or can still take, in minor units of `charge_currency`: the amounts of those that have not failed, expired or been canceled.';
comment on column payment.refunds_count is 'The number of refunds, which is the number of the last one.';
comment on column payment.version is 'Counts the changes. A writer that read another version changes nothing.';
create index on payment (merchant_id, livemode, id);

-- What the payout pays: the net amount less what is held back, which is rounded down, and less what is deducted for a refund.
-- As src/domain/payment/reserve.ts.
create function payout_micro(net_micro numeric, reserve_percent numeric, deducted_micro numeric) returns numeric
  immutable parallel safe language sql
  return net_micro - coalesce(div(net_micro * reserve_percent, 100), 0) - deducted_micro;

-- The first day (UTC) that begins at least so many days after the paying block. As src/domain/payment/reserve.ts.
create function reserve_due_on(finalized_at timestamptz, reserve_days int) returns date immutable parallel safe language sql
  return (finalized_at at time zone 'UTC')::date + reserve_days + 1;

create index payment_reserved on payment (merchant_id, livemode, reserve_due_on(finalized_at, reserve_days))
  where reserved_micro > 0 and finalized_at is not null;
create index payment_reserve_due on payment (livemode, reserve_due_on(finalized_at, reserve_days), merchant_id)
  where reserved_micro > 0 and finalized_at is not null;

create index payment_deducted on payment (deducted_for) where deducted_for is not null;
create index payment_deduction_release on payment (deduction_release_id) where deduction_release_id is not null;

create table reserve_release_part (
  release_id text not null references reserve_release,
  payment_id text not null references payment,
  micro_usdc units not null check (micro_usdc > 0),
  primary key (release_id, payment_id)
);
create index on reserve_release_part (payment_id);
comment on table reserve_release_part is
  'What a release pays of the reserve of a payment. A payment has two if the merchant has won back a chargeback after the first one. Deleted once the reserves of a void release are held back again.';
comment on column reserve_release_part.micro_usdc is 'Micro-USDC.';

create index payment_by_status on payment (merchant_id, livemode, status, id);
create index on payment (merchant_id, livemode, reference) where reference is not null;
create index payment_tx on payment (merchant_id, livemode, tx_hash) where tx_hash is not null;
create index payment_of_link on payment (payment_link, id) where payment_link is not null;
create index payment_unclosed on payment (id) where closed_at is null;
-- A change that concerns no column of an index writes no index. So none has `updated_at`, which every change sets.
-- The metrics read what succeeded in the last day every few seconds.
create index payment_succeeded on payment (succeeded_at) where succeeded_at is not null;
-- For the view `attention`: each of its parts reads an index of the few rows that wait.
create index payment_waiting on payment (status)
  where closed_at is null and status in ('processing', 'under_review', 'settling');
create index payment_review on payment (review_since) where review_since is not null;
create index payment_held on payment (id) where held and closed_at is null;

create function payment_is_fixed() returns trigger language plpgsql as $$
begin
  raise exception 'amount, currency, fee, reserve, destination and merchant of payment % are fixed', old.id;
end $$;
create trigger payment_is_fixed before update on payment for each row
  when (old.amount_minor is distinct from new.amount_minor or old.currency is distinct from new.currency
     or old.destination is distinct from new.destination or old.merchant_id is distinct from new.merchant_id
     or old.livemode is distinct from new.livemode or old.chain_id is distinct from new.chain_id
     or old.token is distinct from new.token or old.fee_percent is distinct from new.fee_percent
     or old.reserve_percent is distinct from new.reserve_percent or old.reserve_days is distinct from new.reserve_days)
  execute function payment_is_fixed();
create trigger payment_keeps_its_link before update on payment for each row
  when (old.payment_link is distinct from new.payment_link) execute function payment_is_fixed();

create function is_open(status text) returns boolean immutable parallel safe language sql return status in ('created', 'pending');
create function ends_unpaid(status text) returns boolean immutable parallel safe language sql
  return status in ('failed', 'expired', 'canceled', 'refunded');

-- Before the row is written, and not after the statement: it takes its lock on the agreement before that on the sequence of
-- the merchant's events, which every transaction takes last.
create function agreement_counts() returns trigger language plpgsql security definer set search_path from current as $$
declare
  made date := (new.created_at at time zone 'UTC')::date;
  opened int := is_open(new.status)::int;
  worth numeric := case when ends_unpaid(new.status) then 0 else new.quoted_micro end;
begin
  if tg_op = 'UPDATE' then
    opened := opened - is_open(old.status)::int;
    worth := worth - case when ends_unpaid(old.status) then 0 else new.quoted_micro end;
  end if;
  -- A count that somebody has set too low stops no payment: an invariant reports it.
  update agreement set open_payments = greatest(open_payments + opened, 0),
    day_micro = case when tg_op = 'INSERT' and day < made then worth
      -- A process whose clock is behind counts towards the day that has begun.
      when tg_op = 'INSERT' or day = made then greatest(day_micro + worth, 0) else day_micro end,
    day = case when tg_op = 'INSERT' then greatest(day, made) else day end
  where merchant_id = new.merchant_id;
  return new;
end $$;
create trigger agreement_counts_new before insert on payment for each row when (is_open(new.status))
  execute function agreement_counts();
create trigger agreement_counts before update on payment for each row
  when (is_open(old.status) <> is_open(new.status) or ends_unpaid(old.status) <> ends_unpaid(new.status))
  execute function agreement_counts();

alter table payment enable row level security;
create policy own on payment to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
-- A merchant's request can create payments, and change their words. It cannot change anything else, or delete one.
grant select, insert, update (description, reference, metadata, updated_at, version) on payment to pinrail_tenant;

-- A trigger, because a foreign key does not check who owns the link.
create function link_is_of_tenant() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from payment_link where id = new.payment_link) then
    raise exception 'the link of a payment must be the tenant''s own' using errcode = 'insufficient_privilege';
  end if;
  return null;
end $$;
create trigger link_is_of_tenant after insert on payment for each row
  when (new.payment_link is not null and current_user = 'pinrail_tenant') execute function link_is_of_tenant();

-- On a link with a limit, a payment that its buyer has not continued for five minutes gives its place to the next buyer.
create function gives_way(status text, created_at timestamptz) returns boolean stable language sql as $$
  select status = 'created' and created_at < now() - interval '5 minutes'
$$;

-- Payments that use a place of the link: open or paid ones. One that expired, failed, was canceled or refunded does not,
-- nor one that gives way.
-- It runs as the owner, because payments from before an account claimed the link belong to another merchant.
create function link_places_taken(link text) returns bigint stable language sql security definer as $$
  select count(*) from payment
  where payment_link = link and status not in ('expired', 'failed', 'canceled', 'refunded')
    and not (gives_way(status, created_at)
      and exists (select 1 from payment_link where id = link and max_payments is not null))
$$;
do $$ begin
  execute format('alter function link_places_taken(text) set search_path = %I, pg_temp', current_schema());
end $$;

create table attempt (
  id text primary key,
  payment_id text not null references payment,
  provider text not null,
  method text not null,
  status text not null check (status in ('opening', 'open', 'verification_required', 'confirming', 'on_hold', 'paid',
    'declined', 'canceled', 'expired', 'refunded')),
  amount_minor units not null check (amount_minor > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  asked_micro units check (asked_micro > 0),
  held units not null default 0,
  outside units not null default 0,
  written_off units not null default 0,
  refunded units not null default 0,
  refunding units not null default 0,
  misfit jsonb,
  misfit_answer text not null default 'none' check (misfit_answer in ('none', 'accepted', 'dismissed')),
  back text not null default 'no' check (back in ('no', 'wanted', 'asked')),
  returned boolean not null default false,
  refusals smallint not null default 0,
  cancel_asked boolean not null default false,
  silent boolean not null default false,
  rate text,
  rate_source text,
  rate_locked_at timestamptz,
  paid_at timestamptz,
  confirmed_at timestamptz,
  partner_reference text,
  partner_payments text[] not null default '{}',
  partner_disputes text[] not null default '{}',
  redirect_url text,
  intent_uri text,
  failure_code text,
  silent_after_hours smallint not null default 72,
  revision int not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table attempt is
  'The buyer''s order at a partner: what the partner last said of it, and what was decided. It is stored before the partner is asked, and its id is the order''s key there.';
comment on column attempt.status is '`opening`: its partner has not answered yet. Every other status is the partner''s last word.';
comment on column attempt.amount_minor is 'What the order asks for, in minor units of `currency`.';
comment on column attempt.asked_micro is 'What was asked for in micro-USDC at an address of the platform; null elsewhere.';
comment on column attempt.held is
  'What the partner, or the chain, holds of the buyer''s money: minor units of `currency`, or micro-USDC. Each newer reading replaces it.';
comment on column attempt.outside is 'What the buyer got back from elsewhere, in the same unit.';
comment on column attempt.written_off is 'The loss that an operator has written off, in the same unit.';
comment on column attempt.refunded is 'What refunds after the payout have given to the buyer, in the same unit.';
comment on column attempt.refunding is 'What refunds whose USDC is there might have given to the buyer, in the same unit: they are not over.';
comment on column attempt.misfit is
  'What the partner said that does not fit the order: {why, status, amount, received}; null: it fits.';
comment on column attempt.misfit_answer is 'What an operator has said of that. `accepted`: it may be settled. `dismissed`: there is nothing to do.';
comment on column attempt.back is 'A give-back through the partner: `wanted` is decided, `asked` is stored before the partner is asked.';
comment on column attempt.returned is 'True if money of it was given back. What comes after that goes back by hand.';
comment on column attempt.refusals is 'How often its partner has refused to give the money back: each request has the next key.';
comment on column attempt.cancel_asked is 'True if its partner was, or is to be, asked to take no money for it any more.';
comment on column attempt.silent is 'True if its partner has been confirming for longer than it may.';
comment on column attempt.rate is 'The locked rate: USDC for one major unit of `currency`; null: no money has come.';
comment on column attempt.paid_at is 'When its money came; null: it has none.';
comment on column attempt.confirmed_at is
  'When its partner last said that the money is there. It is sold and paid out only within a minute of that.';
comment on column attempt.partner_reference is 'The partner''s own id of the order; null: the partner has not given one.';
comment on column attempt.partner_payments is
  'The partner''s own ids of payments for the order: a dispute might name nothing else.';
comment on column attempt.partner_disputes is
  'The partner''s own ids of disputes about those payments, which the sweep of disputes has found: each reading asks for them.';
comment on column attempt.redirect_url is 'The partner''s page for the buyer; null: none.';
comment on column attempt.intent_uri is 'What opens the buyer''s app; null: none.';
comment on column attempt.failure_code is 'Why the partner declined; null: it did not, or gave no reason.';
comment on column attempt.silent_after_hours is
  'Hours for which the partner can report the money as confirming before that counts as silence.';
comment on column attempt.revision is
  'Counts what was written about it. An answer of the partner is about the number at which it was asked; with another number it is asked again.';
-- The few that wait for a partner, for the view `attention`.
create index attempt_given_back on attempt (payment_id) where back <> 'no';
create index attempt_refunding on attempt (payment_id) where refunding > 0;
create index attempt_canceling on attempt (payment_id) where cancel_asked and status in ('opening', 'open', 'verification_required');
create index on attempt (payment_id);
create index attempt_partner_payments on attempt using gin (partner_payments) where partner_payments <> '{}';

alter table attempt enable row level security;
create policy own on attempt for select to pinrail_tenant
  using (exists (select 1 from payment where payment.id = payment_id));
grant select on attempt to pinrail_tenant;

create table reading (
  attempt_id text not null references attempt,
  revision int not null,
  at timestamptz not null,
  status text not null,
  held units not null,
  misfit jsonb,
  primary key (attempt_id, revision)
);
comment on table reading is
  'What a partner, or the chain, said of an order whenever it said something new. A fact: it never changes. The attempt has the newest.';
comment on column reading.revision is 'The number that the attempt has since then.';

create function reading_is_a_fact() returns trigger language plpgsql as $$
begin
  raise exception 'a reading is a fact: it never changes (% of %)', old.revision, old.attempt_id;
end $$;
create trigger reading_is_a_fact before update or delete on reading for each row execute function reading_is_a_fact();

alter table reading enable row level security;
create policy own on reading for select to pinrail_tenant
  using (exists (select 1 from attempt where attempt.id = attempt_id));
grant select on reading to pinrail_tenant;

create table partner_callback (
  provider text not null,
  provider_event_id text not null,
  attempt_id text not null references attempt,
  body_sha256 bytea not null check (length(body_sha256) = 32),
  received_at timestamptz not null,
  seq bigint not null generated always as identity,
  applied_at timestamptz,
  repeats integer not null default 0,
  due_at timestamptz not null default now(),
  primary key (provider, provider_event_id)
);
comment on table partner_callback is
  'A callback of a partner, or a transfer on chain, in the inbox of its payment. It is stored before the 2xx answer, and repeated to the workflow until it is applied.';
comment on column partner_callback.provider_event_id is
  'The partner''s id of the callback, with the attempt''s id after it if the partner has used that id for another order.';
comment on column partner_callback.body_sha256 is 'The same id with another body is read again.';
comment on column partner_callback.seq is 'The order of arrival. An answer of the partner covers what had arrived when it was asked.';
comment on column partner_callback.applied_at is 'When a later answer of the partner about the order was applied; null: unread.';
comment on column partner_callback.repeats is 'How often the relay has repeated it to the workflow.';
comment on column partner_callback.due_at is 'When the relay repeats it next, by the clock of the database.';
create index partner_callback_unread on partner_callback (due_at) where applied_at is null;
create index partner_callback_unread_of on partner_callback (attempt_id, seq) where applied_at is null;

-- For the view `attention`: a merchant sees that unread callbacks of its payments exist, and nothing of their content.
alter table partner_callback enable row level security;
create policy own on partner_callback for select to pinrail_tenant
  using (exists (select 1 from attempt where attempt.id = attempt_id));
grant select (attempt_id, provider, received_at, applied_at) on partner_callback to pinrail_tenant;

create table partner_standing (
  provider text primary key,
  down_since timestamptz,
  why text check (why in ('silent', 'refuses_us', 'opens_nothing')),
  suspects jsonb not null default '[]',
  misses smallint not null default 0,
  answers smallint not null default 0,
  falls smallint not null default 0,
  fell_at timestamptz,
  ask_at timestamptz,
  check ((down_since is null) = (why is null))
);
comment on table partner_standing is
  'Whether a partner works, as all processes know it. A provider gets its row when it is first suspected; a payment that works writes nothing here.';
comment on column partner_standing.down_since is 'Null: it works.';
comment on column partner_standing.suspects is
  'The latest payments whose order could not be opened: [{paymentId, merchantId, at}], `at` in Unix milliseconds.';
comment on column partner_standing.misses is 'Checks by the platform in a row without an answer, while it works.';
comment on column partner_standing.answers is 'Checks by the platform in a row with an answer, while it is down.';
comment on column partner_standing.falls is 'How often in a row it went down soon after it had come back.';
comment on column partner_standing.fell_at is 'When it last went down; null: never.';
comment on column partner_standing.ask_at is
  'When it is asked next; null: there is no need. The process that asks moves it ahead, so that only one does.';

create trigger wakes_api after insert or update of down_since on partner_standing for each statement
  execute function wake('pinrail_partners', '');

create table dispute_sweep (
  provider text primary key check (provider in ('wallet_app', 'card_partner', 'local_partner')),
  due_at timestamptz not null default now(),
  begun_at timestamptz
);
comment on table dispute_sweep is
  'When the disputes of each partner are listed next, to find those whose callback was lost or names no payment.';
comment on column dispute_sweep.due_at is
  'The worker that begins moves it ahead, so that only one lists them. A callback about a dispute moves it back.';
comment on column dispute_sweep.begun_at is 'When a worker last began to list them; null: none has.';
insert into dispute_sweep (provider) values ('wallet_app'), ('card_partner'), ('local_partner');

-- No foreign key: the payment is written or read just before, no code deletes it, and to look it up again for every entry was
-- a quarter of all such look-ups.
create table timeline_entry (
  id bigint generated always as identity,
  payment_id text not null,
  at timestamptz not null,
  kind text not null,
  from_status text,
  to_status text,
  actor text not null,
  message text not null,
  data jsonb not null default '{}',
  primary key (payment_id, id)
);
comment on table timeline_entry is
  'Something that happened to a payment, for the merchant, the operator and the auditor. It is written with the change.';
comment on column timeline_entry.from_status is 'The status before; null: the status did not change, or the payment is new.';
comment on column timeline_entry.to_status is 'The status after; null: the status did not change.';
comment on column timeline_entry.actor is 'Who did it: `merchant`, `buyer`, `partner`, `system` or `operator`.';
create index timeline_entry_by_time on timeline_entry using brin (at);
-- A decision about the buyer's way to pay is noted once, however often the page is loaded.
create unique index timeline_route_once on timeline_entry (payment_id, data) where kind = 'checkout.route';

alter table timeline_entry enable row level security;
create policy own on timeline_entry for select to pinrail_tenant
  using (exists (select 1 from payment where payment.id = payment_id));
-- The statement that creates the payment writes the first entry, and cannot see its own row yet.
create policy created on timeline_entry for insert to pinrail_tenant with check (kind = 'payment.created');
grant select, insert on timeline_entry to pinrail_tenant;

create table outbox (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('start_payment', 'payment_changed')),
  subject text not null,
  created_at timestamptz not null default now(),
  unique (kind, subject)
);
comment on table outbox is
  'A message to Temporal, stored with the change that is its reason. The relay sends it again until it can delete the row.';
comment on column outbox.id is 'A newer message about the same subject takes a new id, so that the sender of the older one does not delete it.';
comment on column outbox.kind is '`start_payment`: start the workflow of the payment. `payment_changed`: the payment has changed outside of its workflow.';
comment on column outbox.subject is 'The id of the payment.';

-- A merchant's request can ask only for the start of that merchant's payment: the other messages complete payouts.
alter table outbox enable row level security;
create policy starts on outbox for insert to pinrail_tenant with check (kind = 'start_payment');
grant insert on outbox to pinrail_tenant;
-- A trigger, because a policy does not see the payment that the same statement creates.
create function outbox_is_of_tenant() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from payment where payment.id = new.subject) then
    raise exception 'the payment of a message must be the tenant''s own' using errcode = 'insufficient_privilege';
  end if;
  return null;
end $$;
create trigger outbox_is_of_tenant after insert on outbox for each row
  when (current_user = 'pinrail_tenant') execute function outbox_is_of_tenant();

-- Apart from the payments: a payment changes about eight times, and each change would write the many entries of an index of
-- its words again. These are written when the words change.
create table payment_words (
  payment_id text primary key,
  merchant_id text not null,
  words text not null
);
comment on table payment_words is 'The words by which a payment is found. A trigger writes the row with the payment, if it has any words.';
comment on column payment_words.words is 'Reference, description and metadata, in at most 2,000 characters, with line breaks between them, which no search contains.';
-- One for rare words. One for words that nearly every payment has: a search then walks along the newest payments.
create index payment_words_rare on payment_words using gin (merchant_id, words gin_trgm_ops);
create index payment_words_newest on payment_words (merchant_id, payment_id);
-- No policy and no grant: a merchant reads it by the function below only.
alter table payment_words enable row level security;

-- As the owner, because a merchant's request cannot write the table.
create function payment_words_write() returns trigger language plpgsql security definer set search_path from current
as $$
declare
  marks text := (select string_agg(key || ': ' || value, E'\n' order by key) from jsonb_each_text(new.metadata));
begin
  insert into payment_words
  values (new.id, new.merchant_id, left(concat_ws(E'\n', new.reference, new.description, marks), 2000))
  on conflict (payment_id) do update set words = excluded.words;
  return null;
end $$;
create trigger payment_words_write after insert on payment for each row
  when (new.reference is not null or new.description is not null or new.metadata is not null)
  execute function payment_words_write();
create trigger payment_words_change after update of reference, description, metadata on payment for each row
  execute function payment_words_write();

-- The ids of the merchant's payments whose words match the pattern and that pass the filters: at most `most`, next to the
-- cursor, looked for among as many payments there as the filter `among` says (null: all). With row-level security no index
-- serves LIKE, because an operator's errors could reveal rows of others. So it runs as the owner, for the merchant and mode
-- of the transaction. EXECUTE plans the statement with its values: the right index depends on how common the words are.
create function matching_payments(pattern text, filters jsonb, most integer) returns setof text
stable language plpgsql security definer set search_path from current as $$
declare
  backwards boolean := filters->>'before' is not null and filters->>'after' is null;
  direction text := case when backwards then 'asc' else 'desc' end;
  near text := $near$merchant_id = $1 and ($4->>'after' is null or payment_id < $4->>'after')
    and ($4->>'before' is null or payment_id > $4->>'before')$near$;
  few text := format($few$ order by payment_id %s limit ($4->>'among')::integer$few$, direction);
begin
  return query execute format($query$
    select payment.id from (select payment_id, words from payment_words where %2$s) among
    join payment on payment.id = among.payment_id
    where payment.livemode = $2 and among.words ilike $3
      and ($4->'status' is null or payment.status in (select jsonb_array_elements_text($4->'status')))
      and ($4->>'provider' is null or coalesce(payment.provider_used, payment.provider) = $4->>'provider')
      and ($4->>'currency' is null or payment.currency = $4->>'currency')
      and ($4->>'reference' is null or payment.reference = $4->>'reference')
      and ($4->>'tx_hash' is null or payment.tx_hash = $4->>'tx_hash')
      and ($4->>'customerEmail' is null or exists (select from payment_buyer
        where payment_id = payment.id and shown_email = $4->>'customerEmail'))
      and ($4->>'paymentLink' is null or payment.payment_link = $4->>'paymentLink')
      and ($4->>'shopApi' is null or payment.shop_api = $4->>'shopApi')
      and ($4->>'createdFrom' is null or payment.created_at >= ($4->>'createdFrom')::timestamptz)
      and ($4->>'createdBefore' is null or payment.created_at < ($4->>'createdBefore')::timestamptz)
    order by among.payment_id %1$s limit $5$query$,
      direction, near || case when filters->>'among' is null then '' else few end)
    using tenant_merchant(), tenant_livemode(), pattern, filters, most;
end $$;
revoke execute on function matching_payments from public;
grant execute on function matching_payments to pinrail_tenant;
