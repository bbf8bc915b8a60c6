-- Money: what was received and given back in parts, what was sold, what is decided and still to be done, and the ledger.

create table part (
  id bigint generated always as identity primary key,
  payment_id text not null references payment,
  attempt_id text not null references attempt,
  key text not null unique,
  kind text not null check (kind in ('receipt', 'reversal', 'return', 'return_outside', 'reversal_outside', 'kept')),
  asset text not null check (asset ~ '^[A-Z]{3,4}$'),
  units signed_units not null check (units <> 0),
  charge_minor signed_units not null,
  state text not null check (state in ('counted', 'surplus', 'late', 'returning', 'returned', 'reversed')),
  state_before text check (state_before in ('counted', 'surplus', 'late')),
  at timestamptz not null,
  check ((kind = 'receipt') = (units > 0)),
  check (asset = 'USDC' or charge_minor = units),
  check ((state = 'returning') = (state_before is not null))
);
comment on table part is
  'An amount of the buyer''s money that was received, reversed by the partner, or returned by our decision. A fact: only its owner state changes. What a payment, an attempt or a page says about money is a sum over these rows.';
comment on column part.key is
  'What makes the fact unique: the partner''s order with the place and sum of its report, or chain, transaction and log.';
comment on column part.kind is
  '`return_outside`: the buyer was paid outside of the partner. `reversal_outside`: the partner took back what had been returned outside. `kept`: too little to be worth anything, ours when the payment is over.';
comment on column part.asset is 'A fiat currency, or USDC.';
comment on column part.units is 'In the smallest unit of the asset: positive for a receipt, negative otherwise.';
comment on column part.charge_minor is 'The same in minor units of the attempt''s currency. Less than one of them is 0.';
comment on column part.state is
  'Who owns it. `counted`: the payment. `surplus`, `late`: an operator must decide. `returning`: it is on its way to the buyer. `returned`, `reversed`: it is gone.';
comment on column part.state_before is 'While it is `returning`: the state that it gets again if the partner refuses.';
create index on part (payment_id);
-- The few parts that wait for a decision, for the view `attention`.
create index part_without_owner on part (payment_id) where state in ('surplus', 'late', 'returning');

create function part_is_a_fact() returns trigger language plpgsql as $$
begin
  raise exception 'a part of money is a fact: only its owner state may change (%)', old.key;
end $$;
create trigger part_is_a_fact before update on part for each row
  when ((old.payment_id, old.attempt_id, old.key, old.kind, old.asset, old.units, old.charge_minor, old.at)
    is distinct from (new.payment_id, new.attempt_id, new.key, new.kind, new.asset, new.units, new.charge_minor,
      new.at))
  execute function part_is_a_fact();
create trigger part_stays before delete on part for each row execute function part_is_a_fact();

alter table part enable row level security;
create policy own on part for select to pinrail_tenant
  using (exists (select 1 from payment where payment.id = payment_id));
grant select on part to pinrail_tenant;

create table sale (
  payment_id text not null references payment,
  number smallint not null check (number > 0),
  attempt_id text not null references attempt,
  units units not null check (units > 0),
  gross_micro units not null,
  fill_micro units,
  reference text,
  state text not null check (state in ('asked', 'filled', 'ended')),
  asked_at timestamptz not null,
  primary key (payment_id, number),
  check ((state = 'filled') = (fill_micro is not null))
);
comment on table sale is
  'An order at the converter that sells the buyer''s money for USDC. It is stored before the converter is asked, and its number is part of its key there. USDC of a buyer is its own sale.';
comment on column sale.units is 'What is sold, in the smallest unit of the asset that the buyer paid.';
comment on column sale.gross_micro is 'What the locked rate gives, in micro-USDC.';
comment on column sale.fill_micro is 'What the converter has bought, in micro-USDC. If the payment does not take it, it was bought for the platform.';
comment on column sale.reference is 'The converter''s id of the fill; null: not filled.';
comment on column sale.state is '`asked`: the converter may have it, and its answer is not stored. `ended`: it has bought nothing, and never will.';
-- An order is ended before another one is asked for.
create unique index sale_open on sale (payment_id) where state = 'asked';
create index sale_waiting on sale (asked_at) where state = 'asked';

alter table sale enable row level security;
create policy own on sale for select to pinrail_tenant
  using (exists (select 1 from payment where payment.id = payment_id));
grant select on sale to pinrail_tenant;

create table intent (
  id bigint generated always as identity primary key,
  payment_id text not null references payment,
  attempt_id text references attempt,
  kind text not null check (kind in ('refund', 'void', 'cancel')),
  key text not null unique,
  state text not null check (state in ('asked', 'pending', 'done', 'refused')),
  operator text not null,
  reason text not null,
  asked_at timestamptz not null
);
comment on table intent is
  'A decision that another party must carry out. It is stored before the party is asked.';
comment on column intent.id is 'A refused intent that is asked for again gets a new id.';
comment on column intent.attempt_id is 'The attempt whose money it concerns; null: the payment as a whole.';
comment on column intent.kind is
  '`refund`: the partner gives the money back. `void`: the payout is proved never to be paid. `cancel`: the partner takes no money for the order any more.';
comment on column intent.key is 'The idempotency key of the effect. A refused intent is asked for again under the same key.';
comment on column intent.state is '`asked`: the party might not know it yet. `pending`: the party has it and works on it.';
comment on column intent.operator is 'Who decided: `merchant`, `buyer`, `system`, or the name of an operator.';
create index intent_open on intent (payment_id) where state in ('asked', 'pending');

alter table intent enable row level security;
create policy own on intent for select to pinrail_tenant
  using (exists (select 1 from payment where payment.id = payment_id));
grant select on intent to pinrail_tenant;

create table incident (
  id bigint generated always as identity primary key,
  payment_id text not null references payment,
  attempt_id text references attempt,
  kind text not null check (kind in ('chargeback', 'misfit', 'unexpected_settlement', 'outside_reversed')),
  opened_at timestamptz not null,
  closed_at timestamptz,
  misfit jsonb,
  gone boolean not null default false
);
comment on table incident is
  'Something that has gone wrong with money and is no status of the payment. It is open until an operator has dealt with it.';
comment on column incident.attempt_id is 'Null: it concerns the payment as a whole.';
comment on column incident.kind is
  '`misfit`: what the partner reports does not fit the order. `unexpected_settlement`: the payout was paid although the payment had ended without it. `outside_reversed`: the partner took back what had been returned outside.';
comment on column incident.misfit is
  'What the partner reported: {why, status, amount, received}. After an operator has dealt with it, the same report opens nothing. Null for other kinds, and for another token than USDC.';
comment on column incident.gone is
  'True if it closed because its money had gone, or fitted by then, and not by an operator: the same report opens a new one.';
create unique index incident_open on incident (payment_id, kind, coalesce(attempt_id, '')) where closed_at is null;

alter table incident enable row level security;
create policy own on incident for select to pinrail_tenant
  using (exists (select 1 from payment where payment.id = payment_id));
grant select on incident to pinrail_tenant;

-- The guard before a conversion and before a payout: the payment is not held, no decision about its money is open, all parts
-- that were counted when it was confirmed are still there, and no report of the partner puts them in doubt. The domain
-- checks it first (src/domain/payment/money/intents.ts, `isInDoubt` for the last); this is the wall behind it.
create function money_is_free(p payment) returns boolean language sql stable as $$
  select not p.held and p.paid_attempt_id is not null and p.confirmed_minor is not null
    and not exists (
      select 1 from intent i where i.payment_id = p.id and i.state in ('asked', 'pending') and i.kind <> 'cancel'
        and (i.attempt_id is null or i.attempt_id = p.paid_attempt_id))
    and p.confirmed_minor = (
      select coalesce(sum(m.charge_minor), 0) from part m
      where m.payment_id = p.id and m.attempt_id = p.paid_attempt_id and m.state = 'counted')
    and not exists (
      select 1 from incident n where n.payment_id = p.id and n.kind = 'misfit' and n.closed_at is null
        and n.attempt_id = p.paid_attempt_id and n.misfit is not null
        and not (n.misfit ->> 'why' = 'amount' and n.misfit ->> 'status' = 'paid'
          and coalesce((n.misfit #>> '{received,minor}')::numeric, 0) >= p.confirmed_minor))
$$;

create table ledger_transaction (
  id bigint generated always as identity primary key,
  kind text not null,
  reference text not null,
  payment_id text references payment,
  booked_at timestamptz not null,
  unique (kind, reference)
);
comment on table ledger_transaction is
  'A business fact in the books (double entry). Kind and reference make it impossible to book a fact twice.';
comment on column ledger_transaction.reference is 'What the fact is about: the id of a payment, a transfer on chain, or a part''s key.';
comment on column ledger_transaction.payment_id is 'Null: it concerns no single payment.';

create table ledger_entry (
  transaction_id bigint not null references ledger_transaction,
  line int not null,
  account text not null check (account in ('partner_receivable', 'conversion', 'treasury', 'deposits', 'exchange',
    'merchant_payable', 'fee_revenue', 'gas_expense', 'gas_float', 'chargeback_loss', 'suspense')),
  asset text not null,
  amount signed_units not null check (amount <> 0),
  primary key (transaction_id, line)
);
comment on table ledger_entry is 'One line of a transaction in the books.';
comment on column ledger_entry.line is 'The place in the transaction, from 0.';
comment on column ledger_entry.asset is 'A fiat currency, USDC, or POL.';
comment on column ledger_entry.amount is 'In the smallest unit of the asset (POL: wei). Debits are positive, credits negative.';

-- A row for each statement that books: one balance in one row would make every settlement wait for the one before.
create table treasury_change (
  id bigint generated always as identity primary key,
  micro signed_units not null
);
comment on table treasury_change is
  'The balance of the ledger''s account `treasury`, as the sum of its rows. The solvency watch compares it with the chain at each final block and folds the rows into one.';
comment on column treasury_change.micro is 'Micro-USDC.';

create function ledger_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'the ledger is append-only';
end $$;
create trigger ledger_transaction_is_append_only before update or delete on ledger_transaction
  for each row execute function ledger_is_append_only();
create trigger ledger_entry_is_append_only before update or delete on ledger_entry
  for each row execute function ledger_is_append_only();

-- One statement writes all lines of a fact, and perhaps of many facts. If what each statement adds balances, so does every
-- transaction, and nothing that is stored need be read again.
create function ledger_balances() returns trigger language plpgsql as $$
declare off record;
begin
  select transaction_id, asset, sum(amount) as amount into off
    from fresh group by transaction_id, asset having sum(amount) <> 0 limit 1;
  if found then
    raise exception 'ledger transaction % does not balance in %: %', off.transaction_id, off.asset, off.amount;
  end if;
  insert into treasury_change (micro)
    select sum(amount) from fresh where account = 'treasury' having sum(amount) <> 0;
  return null;
end $$;
create trigger ledger_balances after insert on ledger_entry referencing new table as fresh
  for each statement execute function ledger_balances();
