-- Up Migration

-- Money comes in parts. A row is a fact: a receipt, a reversal by the partner, or a return by our decision, through the
-- partner or outside of it. Only its owner
-- state changes. All that a payment, an attempt or a page says about money is a sum over these rows.
create table part (
  id bigint generated always as identity primary key,
  payment_id text not null references payment,
  attempt_id text not null references attempt,
  -- The natural key: the partner's order and the place and sum of its report, or chain, transaction and log.
  key text not null unique,
  kind text not null check (kind in ('receipt', 'reversal', 'return', 'return_outside')),
  -- A fiat currency, or USDC, in its smallest unit.
  asset text not null check (asset ~ '^[A-Z]{3,4}$'),
  units signed_units not null check (units <> 0),
  -- The same in minor units of the attempt's currency; less than one of them is zero.
  charge_minor signed_units not null,
  -- The liability in which it is booked.
  account text not null check (account in ('merchant_payable', 'suspense')),
  state text not null check (state in ('counted', 'surplus', 'late', 'returning', 'returned', 'reversed')),
  at timestamptz not null,
  check ((kind = 'receipt') = (units > 0)),
  check (asset = 'USDC' or charge_minor = units)
);
create index on part (payment_id);
-- The few parts that wait for somebody, so that the list of them does not read all the others.
create index part_without_owner on part (payment_id) where state in ('surplus', 'late', 'returning');

create function part_is_a_fact() returns trigger language plpgsql as $$
begin
  raise exception 'a part of money is a fact: only its owner state may change (%)', old.key;
end $$;
create trigger part_is_a_fact before update on part for each row
  when ((old.payment_id, old.attempt_id, old.key, old.kind, old.asset, old.units, old.charge_minor, old.account, old.at)
    is distinct from (new.payment_id, new.attempt_id, new.key, new.kind, new.asset, new.units, new.charge_minor,
      new.account, new.at))
  execute function part_is_a_fact();
create trigger part_stays before delete on part for each row execute function part_is_a_fact();

-- What was decided and another party must still carry out: stored before the party is asked.
create table intent (
  id bigint generated always as identity primary key,
  payment_id text not null references payment,
  -- Null: it concerns the payment as a whole.
  attempt_id text references attempt,
  kind text not null check (kind in ('refund', 'void')),
  -- The idempotency key of the effect, one for life: what was refused is asked again under the same key.
  key text not null unique,
  state text not null check (state in ('asked', 'pending', 'done', 'refused')),
  operator text not null,
  reason text not null,
  asked_at timestamptz not null,
  updated_at timestamptz not null
);
create index intent_open on intent (payment_id) where state in ('asked', 'pending');

-- What has gone wrong with money and is no state of the payment: open until an operator has dealt with it.
create table incident (
  id bigint generated always as identity primary key,
  payment_id text not null references payment,
  attempt_id text references attempt,
  kind text not null check (kind in ('chargeback', 'misfit', 'unexpected_settlement')),
  opened_at timestamptz not null,
  closed_at timestamptz
);
create unique index incident_open on incident (payment_id, kind, coalesce(attempt_id, '')) where closed_at is null;

-- The one guard before a conversion and before a payout: not held, nothing decided about the money that is not carried
-- out, and every part that was counted when the payment was confirmed still there. The domain asks it first, in
-- src/domain/payment/money/intents.ts; this is the wall behind it.
create function money_is_free(p payment) returns boolean language sql stable as $$
  select not p.held and p.paid_attempt_id is not null and p.confirmed_minor is not null
    and not exists (
      select 1 from intent i where i.payment_id = p.id and i.state in ('asked', 'pending')
        and (i.attempt_id is null or i.attempt_id = p.paid_attempt_id))
    and p.confirmed_minor = (
      select coalesce(sum(m.charge_minor), 0) from part m
      where m.payment_id = p.id and m.attempt_id = p.paid_attempt_id and m.state = 'counted')
$$;

-- Money that came before parts existed. It is in the books already.
insert into part (payment_id, attempt_id, key, kind, asset, units, charge_minor, account, state, at)
  select a.payment_id, a.id, a.id || ':0:' || a.received_minor, 'receipt', a.currency, a.received_minor, a.received_minor,
    case when a.status in ('surplus', 'late') then 'suspense' else 'merchant_payable' end,
    case a.status when 'surplus' then 'surplus' when 'late' then 'late' when 'refunded' then 'returned' else 'counted' end,
    a.updated_at
  from attempt a
  where a.received_minor > 0 and a.provider <> 'crypto'
    and a.status in ('confirmed', 'underpaid', 'surplus', 'late', 'refunded');
insert into part (payment_id, attempt_id, key, kind, asset, units, charge_minor, account, state, at)
  select payment_id, attempt_id, attempt_id || ':return:1', 'return', asset, -units, -units, account, state, at
  from part where state = 'returned';
-- Deposits: one part for each, worth its share of what the attempt received.
insert into part (payment_id, attempt_id, key, kind, asset, units, charge_minor, account, state, at)
  select d.payment_id, d.attempt_id, l.chain_id || ':' || l.tx_hash || ':' || l.log_index, 'receipt', 'USDC', l.units,
    floor(a.amount_minor * sum(l.units) over through / d.asked_micro)
      - floor(a.amount_minor * (sum(l.units) over through - l.units) / d.asked_micro),
    'suspense',
    case a.status when 'surplus' then 'surplus' when 'late' then 'late' when 'refunded' then 'returned' else 'counted' end,
    l.finalized_at
  from deposit_log l join deposit d on d.payment_id = l.payment_id and d.token = l.token
    join attempt a on a.id = d.attempt_id
  where l.units > 0
  window through as (partition by l.payment_id order by l.block_number, l.log_index, l.tx_hash);
alter table attempt drop column received_minor;

-- The record of a chargeback that was booked before incidents existed.
insert into incident (payment_id, attempt_id, kind, opened_at)
  select payment_id, reference, 'chargeback', booked_at from ledger_transaction where kind = 'chargeback';

-- Seen by who sees the payment; a merchant writes none of it.
do $$
declare name text;
begin
  foreach name in array array['part', 'intent', 'incident'] loop
    execute format('alter table %I enable row level security', name);
    execute format('create policy own on %I for select to pinrail_tenant
      using (exists (select 1 from payment where payment.id = payment_id))', name);
    execute format('grant select on %I to pinrail_tenant', name);
  end loop;
end $$;
