-- Money: what was sold, what operators have decided, and the ledger.

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

create table decision (
  payment_id text not null references payment,
  version int not null,
  say text not null check (say in ('settle', 'give_back', 'write_off', 'hold', 'release', 'refund_succeeded', 'refund_failed')),
  attempt_id text references attempt,
  outside boolean not null default false,
  proof text,
  operator text not null,
  reason text not null,
  at timestamptz not null,
  primary key (payment_id, version),
  check (outside or proof is null or say in ('refund_succeeded', 'refund_failed'))
);
comment on table decision is 'What an operator decided. A fact: it never changes.';
comment on column decision.version is 'The version that the payment has since then.';
comment on column decision.say is '`refund_succeeded` and `refund_failed`: how a refund has ended whose partner does not answer.';
comment on column decision.attempt_id is 'Whose money it is about; null: the payment as a whole.';
comment on column decision.outside is 'True if the buyer got the money from elsewhere.';
comment on column decision.proof is
  'What proves that, or how a refund has ended, such as the reference of a bank. It proves one thing only, however it is written.';

-- `RF18 5390-0754` and `rf1853900754` are one reference.
create function plain_proof(proof text) returns text immutable parallel safe language sql
  return lower(regexp_replace(proof, '[^[:alnum:]]', '', 'g'));
create unique index decision_proof on decision (plain_proof(proof)) where proof is not null;

-- The wall behind the domain (src/domain/payment/funds/next.ts): what is sold or handed over is there, its partner says that it is
-- paid, and nobody gives it back. It looks at what the statement has written.
create function money_is_free() returns trigger language plpgsql as $$
begin
  if new.payout = 'handed' and new.held or not exists (
    select from sale s join attempt a on a.id = s.attempt_id
    where s.payment_id = new.id and s.number = new.taken_sale and s.state = 'filled' and a.status = 'paid' and a.back = 'no'
      and not a.returned and a.held - a.outside >= s.units
      and (a.misfit is null or a.misfit ->> 'why' = 'token' or a.misfit_answer <> 'none'))
  then raise exception 'the money of payment % is not free', new.id;
  end if;
  return null;
end $$;
create trigger money_is_free after update on payment for each row
  when ((new.taken_sale is not null and old.taken_sale is distinct from new.taken_sale)
    or (new.payout = 'handed' and old.payout <> 'handed'))
  execute function money_is_free();

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
comment on column ledger_transaction.reference is 'What the fact is about: the id of a payment, a transfer on chain, or the payment''s version.';
comment on column ledger_transaction.payment_id is 'Null: it concerns no single payment.';

create index ledger_transaction_by_time on ledger_transaction using brin (booked_at);
create index ledger_transaction_of_payment on ledger_transaction (payment_id) where payment_id is not null;

create table ledger_entry (
  transaction_id bigint not null references ledger_transaction,
  line int not null,
  account text not null check (account in ('partner_receivable', 'conversion', 'treasury', 'deposits', 'exchange',
    'merchant_payable', 'reserve', 'fee_revenue', 'gas_expense', 'gas_float', 'chargeback_loss', 'suspense', 'refill', 'spread')),
  asset text not null,
  amount signed_units not null check (amount <> 0),
  primary key (transaction_id, line)
);
comment on table ledger_entry is 'One line of a transaction in the books.';
comment on column ledger_entry.line is 'The place in the transaction, from 0.';
comment on column ledger_entry.asset is 'A fiat currency, USDC, or POL.';
comment on column ledger_entry.amount is 'In the smallest unit of the asset (POL: wei). Debits are positive, credits negative.';
-- The balance of the treasury is read every hour, however long the ledger is.
create index ledger_entry_treasury on ledger_entry (transaction_id) include (amount) where account = 'treasury';
create index ledger_entry_owed on ledger_entry (transaction_id) include (amount) where account in ('merchant_payable', 'reserve') and asset = 'USDC';
-- A statement of a merchant lists them.
create index ledger_entry_charged_back on ledger_entry (transaction_id) include (amount) where account = 'chargeback_loss' and asset = 'USDC';
create index ledger_entry_sold on ledger_entry (asset) include (amount)
  where account in ('conversion', 'exchange', 'chargeback_loss') and asset not in ('USDC', 'POL');

-- The books belong to the platform. A merchant's statement reads what chargebacks took of its reserves.
alter table ledger_transaction enable row level security;
create policy own on ledger_transaction for select to pinrail_tenant
  using (exists (select 1 from payment where payment.id = payment_id));
grant select on ledger_transaction to pinrail_tenant;
alter table ledger_entry enable row level security;
create policy own on ledger_entry for select to pinrail_tenant
  using (account = 'chargeback_loss' and exists (select 1 from ledger_transaction t where t.id = transaction_id));
grant select on ledger_entry to pinrail_tenant;

-- A row for each statement that books: one balance in one row would make every settlement wait for the one before.
create table treasury_change (
  id bigint generated always as identity primary key,
  micro signed_units not null,
  owed_micro signed_units not null
);
comment on table treasury_change is
  'The balances of the ledger''s accounts `treasury`, and `merchant_payable` with `reserve`, in USDC, as the sums of its rows. The solvency watch compares the first with the chain at each final block and folds the rows into one. Their difference is the float.';
comment on column treasury_change.micro is 'Micro-USDC.';
comment on column treasury_change.owed_micro is 'Micro-USDC that merchants are owed, reserves included: a conversion adds it, the settled payout takes it off.';

-- Conversions take their turn from here to their commit. A statement sees only what was committed before it began, and a
-- query of a volatile function what was committed until now: the last one before it included.
create function leaves_reserve(reserve_micro numeric, gross_micro numeric) returns boolean volatile language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('float', 0));
  return (select coalesce(sum(micro - owed_micro), 0) from treasury_change) >= reserve_micro + gross_micro;
end $$;
comment on function leaves_reserve is
  'True if a conversion of this gross amount leaves the reserve of the float, whatever other conversions run at this moment.';

-- As above, a row for each payment that a statement books.
create table exposure_change (
  id bigint generated always as identity primary key,
  currency text not null,
  day date not null,
  units signed_units not null,
  cost_micro signed_units not null
);
comment on table exposure_change is
  'The money at partners that payments have brought the platform, by currency and day, as the sums of its rows: what partners have, less what buyers and merchants are owed of it. What refills have taken is in `refill`.';
comment on column exposure_change.day is 'The day (UTC) on which it was booked: partners settle some days later.';
comment on column exposure_change.units is 'In minor units of the currency.';
comment on column exposure_change.cost_micro is 'Micro-USDC that the platform gave for it, at the locked rates, less what it got for refunds of it.';

create table refill (
  id text primary key,
  partner text not null check (partner in ('bridge', 'operator')),
  currency text not null,
  units units not null check (units > 0),
  cost_micro units not null,
  state text not null check (state in ('open', 'done', 'ended')),
  asked_at timestamptz,
  reference text unique,
  word text,
  instructions text,
  is_stuck boolean not null default false,
  tx_hash chain_hash,
  due_at timestamptz not null,
  micro units,
  market_micro units,
  created_at timestamptz not null,
  ended_at timestamptz,
  check ((state = 'done') = (micro is not null)),
  check ((micro is null) = (market_micro is null)),
  check ((state = 'open') = (ended_at is null))
);
comment on table refill is
  'One exchange of a currency''s exposure into USDC for the treasury. It is stored before its partner is asked, and its id is the key there: a partner makes one transfer for it.';
comment on column refill.units is 'What is exchanged, in minor units.';
comment on column refill.cost_micro is 'Micro-USDC that the platform gave for it, at the locked rates.';
comment on column refill.state is '`open`: its USDC has not arrived. `done`: a final transfer to the treasury is claimed by it. `ended`: it brings nothing, and the exposure is as before.';
comment on column refill.asked_at is 'When the partner was first asked; null: never.';
comment on column refill.reference is 'The partner''s id of the transfer; null: no answer had one.';
comment on column refill.word is 'The partner''s last report, or why there is none.';
comment on column refill.instructions is 'Where the money must be sent; null: the partner needs none, or has none.';
comment on column refill.is_stuck is 'True if the partner must act before anything arrives, such as after a transfer that was returned.';
comment on column refill.tx_hash is 'The transaction that brings the USDC; null: not known yet.';
comment on column refill.due_at is 'When the partner is asked next.';
comment on column refill.micro is 'Micro-USDC that arrived; null: not done.';
comment on column refill.market_micro is 'What the market''s rate gave for the units when it was done, in micro-USDC.';
-- One at a time, so that no two take the same exposure; and each transfer is claimed once.
create unique index refill_open on refill (currency) where state = 'open';
create unique index refill_transfer on refill (tx_hash) where tx_hash is not null and state <> 'ended';

-- An end is final, and what was asked for stays what it was.
create function refill_is_fixed() returns trigger language plpgsql as $$
begin
  if old.state <> 'open' or (old.partner, old.currency, old.units, old.cost_micro)
    is distinct from (new.partner, new.currency, new.units, new.cost_micro)
  then raise exception 'refill % is % and stays so', old.id, old.state;
  end if;
  return new;
end $$;
-- A webhook has the partner asked earlier.
create trigger wakes_worker after update of due_at on refill for each row when (new.due_at < old.due_at)
  execute function wake('pinrail_work', 'refills');
create trigger refill_is_fixed before update on refill for each row execute function refill_is_fixed();

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
  insert into treasury_change (micro, owed_micro)
    select micro, owed from (
      select coalesce(sum(amount) filter (where account = 'treasury'), 0) as micro,
        coalesce(-sum(amount) filter (where account in ('merchant_payable', 'reserve')), 0) as owed
      from fresh where asset = 'USDC' and account in ('treasury', 'merchant_payable', 'reserve')) changed
    where micro <> 0 or owed <> 0;
  insert into exposure_change (currency, day, units, cost_micro)
    select currency, (t.booked_at at time zone 'utc')::date, units, case when is_sale then coalesce(cost, 0) else 0 end from (
        select transaction_id, asset as currency, bool_or(account in ('conversion', 'exchange')) as is_sale,
          sum(amount) filter (where account in ('partner_receivable', 'merchant_payable', 'suspense')) as units
        from fresh where asset not in ('USDC', 'POL') group by 1, 2) fiat
      join ledger_transaction t on t.id = transaction_id and t.payment_id is not null
      left join lateral (select sum(amount) as cost from fresh f where f.transaction_id = fiat.transaction_id
        and f.asset = 'USDC' and f.account in ('conversion', 'exchange')) usdc on true
    where units <> 0
    -- The merchant pays in USDC for a refund of money that the platform gave USDC for.
    union all select p.charge_currency, (t.booked_at at time zone 'utc')::date, 0, f.amount
      from fresh f join ledger_transaction t on t.id = f.transaction_id and t.kind = 'refund_taken'
      join payment p on p.id = t.payment_id
      where f.asset = 'USDC' and f.account = 'exchange';
  return null;
end $$;
create trigger ledger_balances after insert on ledger_entry referencing new table as fresh
  for each statement execute function ledger_balances();
