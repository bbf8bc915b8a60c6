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
  say text not null check (say in ('settle', 'give_back', 'write_off', 'hold', 'release')),
  attempt_id text references attempt,
  outside boolean not null default false,
  proof text,
  operator text not null,
  reason text not null,
  at timestamptz not null,
  primary key (payment_id, version),
  check (outside or proof is null)
);
comment on table decision is 'What an operator decided. A fact: it never changes.';
comment on column decision.version is 'The version that the payment has since then.';
comment on column decision.attempt_id is 'Whose money it is about; null: the payment as a whole.';
comment on column decision.outside is 'True if the buyer got the money from elsewhere.';
comment on column decision.proof is
  'What proves that, such as the reference of a bank. It proves one give-back only, however it is written.';

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
    'merchant_payable', 'fee_revenue', 'gas_expense', 'gas_float', 'chargeback_loss', 'suspense')),
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
