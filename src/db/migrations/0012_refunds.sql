-- Refunds: money that goes back to buyers because their merchants say so. After the settlement the merchants pay for it in USDC.

create table refund (
  id text primary key,
  payment_id text not null references payment,
  attempt_id text not null references attempt,
  merchant_id text not null references merchant,
  livemode boolean not null,
  number smallint not null default 0,
  request text,
  amount_minor units not null check (amount_minor > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  reason text,
  metadata jsonb,
  fund_from text not null check (fund_from in ('wallet', 'next_payouts', 'payment')),
  payment_version int not null,
  status text not null default 'awaiting_funds' check (status in
    ('awaiting_funds', 'funded', 'pending', 'succeeded', 'failed', 'canceled', 'expired')),
  status_reason text check (status_reason in ('money_gone', 'refused', 'payment_changed', 'usdc_returned', 'wallet_not_allowed', 'no_addresses')),
  rate text not null,
  rate_source text not null,
  required_micro units not null check ((required_micro > 0) = (fund_from <> 'payment')),
  received_micro units not null default 0,
  chain_id int not null default 0,
  token chain_address,
  wallet chain_address,
  address chain_address,
  funding_nonce chain_hash,
  token_name text,
  signed_at timestamptz,
  funding_refusal text check (funding_refusal in
    ('insufficient_balance', 'invalid_signature', 'expired', 'nonce_used', 'blocked', 'paused', 'other')),
  funding_tx_hash chain_hash,
  returned_tx_hash chain_hash,
  partner_key text,
  opened_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  funded_at timestamptz,
  asked_at timestamptz,
  succeeded_at timestamptz,
  failed_at timestamptz,
  repeats integer not null default 0,
  due_at timestamptz default now(),
  version int not null default 1,
  unique (payment_id, number),
  unique (payment_id, request),
  check ((address is null) = (funding_nonce is null) and (address is null) = (token_name is null)),
  check ((due_at is null) = (status in ('succeeded', 'failed', 'canceled', 'expired'))),
  check (status <> 'succeeded' or received_micro >= required_micro)
);
comment on table refund is
  'A refund. Of a settled payment the merchant pays for it in USDC; then the partner gives the money back. Before the settlement the payment''s own money goes back. Its workflow changes the row; each change adds one to `version`.';
comment on column refund.attempt_id is 'The order whose money is the payment''s: its partner gives the money back.';
comment on column refund.number is 'Counted from 1 for each payment.';
comment on column refund.request is 'The Idempotency-Key of its creation; null: there was none.';
comment on column refund.amount_minor is 'What the buyer gets back, in minor units of `currency`, which is the currency that the buyer was charged in.';
comment on column refund.reason is 'The merchant''s own words.';
comment on column refund.fund_from is '`wallet`: the merchant pays in USDC. `next_payouts`: the USDC is deducted from the next payouts of the merchant. `payment`: the payment is not settled, and its own money goes back by a decision.';
comment on column refund.payment_version is 'The version of the payment that the merchant''s request has read.';
comment on column refund.status_reason is 'Why it failed; null: it has not.';
comment on column refund.rate is 'The locked rate: USDC for one major unit of `currency`.';
comment on column refund.required_micro is 'What the merchant pays for it, in micro-USDC, rounded up; 0: the payment''s own money goes back.';
comment on column refund.received_micro is 'What is final at the address, in micro-USDC, whenever it arrived; or what payouts that are final lack for it.';
comment on column refund.wallet is 'The wallet that the payment was paid out to. USDC at the address that the refund does not take goes back to it.';
comment on column refund.address is 'Where the USDC goes (`deposit`); null: a worker is about to make it.';
comment on column refund.funding_nonce is 'The nonce of an authorization (EIP-3009) by which a wallet pays for the refund.';
comment on column refund.token_name is 'The name of the token in such an authorization (EIP-712).';
comment on column refund.signed_at is 'When the wallet signed such an authorization; null: it has not. `deposit_sweep` has it.';
comment on column refund.funding_refusal is 'Why the token refused that transfer when it was last tried without sending it; null: it did not, or nothing is signed.';
comment on column refund.funding_tx_hash is 'The last transfer to the address.';
comment on column refund.returned_tx_hash is 'The last transfer back to the merchant.';
comment on column refund.partner_key is 'The key under which the partner is asked: the id of the refund, or the key of the give-back; null: it was not.';
comment on column refund.opened_at is 'When the merchant could pay for it, or the deductions began; null: a worker is about to open it, or the payment''s own money goes back.';
comment on column refund.expires_at is 'Until when the USDC must be final.';
comment on column refund.repeats is 'How often the relay has woken its workflow since that last said when it acts next.';
comment on column refund.due_at is 'When the relay wakes its workflow next, and starts it if it has none, by the clock of the database; null: the refund is over.';
comment on column refund.version is 'Counts the changes. A writer that read another version changes nothing.';
create index on refund (merchant_id, livemode, id);
-- A payment's own money goes back by one refund at a time.
create unique index refund_gives_back_once on refund (payment_id) where fund_from = 'payment' and status = 'pending';
-- Each payout of the merchant looks for them.
create index refund_deducting on refund (merchant_id, livemode, id) where fund_from = 'next_payouts' and status = 'awaiting_funds';
create index refund_due on refund (due_at) where due_at is not null;

alter table deposit add foreign key (refund_id) references refund;
alter table payment add foreign key (deducted_for) references refund;

alter table refund enable row level security;
create policy own on refund to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
-- A merchant's request can create refunds. It cannot change or delete one.
grant select, insert on refund to pinrail_tenant;

-- The only guard of the sum, and of the number: a refund is created if, and only if, this update finds enough that no
-- other refund and no chargeback has, and fewer than 50 refunds (MAX_REFUNDS). It runs as the owner, because a merchant's request cannot change a payment.
create function refund_takes_its_part() returns trigger language plpgsql security definer set search_path from current as $$
declare most numeric;
begin
  update payment set refunds_minor = refunds_minor + case new.fund_from when 'payment' then 0 else new.amount_minor end,
    refunds_count = refunds_count + 1
  where id = new.payment_id and merchant_id = new.merchant_id and livemode = new.livemode
    and case new.fund_from when 'payment' then payout in ('none', 'handed', 'stopped', 'void') and not held and version = new.payment_version
      else payout = 'paid' end
    and provider_used <> 'crypto' and paid_attempt_id = new.attempt_id and charge_currency = new.currency
    and confirmed_minor - lost_minor - refunds_minor >= new.amount_minor and refunds_count < 50
  returning refunds_count, chain_id, lower(token), lower(destination) into new.number, new.chain_id, new.token, new.wallet;
  if not found then
    raise exception 'payment % has less than % % to refund, or too many refunds', new.payment_id, new.amount_minor, new.currency
      using errcode = 'check_violation', constraint = 'refund_is_of_what_was_paid';
  end if;
  if new.fund_from = 'next_payouts' then
    -- Of two requests at the same moment the second one counts the first.
    select deduction_limit_micro into most from merchant where id = new.merchant_id for no key update;
    if most is null or most < new.required_micro + (select coalesce(sum(required_micro), 0) from refund
        where merchant_id = new.merchant_id and livemode = new.livemode and fund_from = 'next_payouts' and status = 'awaiting_funds') then
      raise exception 'the next payouts of % pay for no more than %', new.merchant_id, most
        using errcode = 'check_violation', constraint = 'refund_is_within_deduction_limit';
    end if;
  end if;
  new.status := case new.fund_from when 'payment' then 'pending' else 'awaiting_funds' end;
  return new;
end $$;
create trigger refund_takes_its_part before insert on refund for each row execute function refund_takes_its_part();

create function refund_gives_its_part_back() returns trigger language plpgsql as $$
begin
  update payment set refunds_minor = refunds_minor - new.amount_minor where id = new.payment_id;
  return null;
end $$;
create trigger refund_gives_its_part_back after update on refund for each row
  when (new.fund_from <> 'payment' and old.status not in ('failed', 'canceled', 'expired') and new.status in ('failed', 'canceled', 'expired'))
  execute function refund_gives_its_part_back();

create function refund_is_fixed() returns trigger language plpgsql as $$
begin
  raise exception 'what refund % is of is fixed, and so is its end', old.id;
end $$;
create trigger refund_is_fixed before update on refund for each row
  when ((old.payment_id, old.attempt_id, old.merchant_id, old.livemode, old.number, old.amount_minor, old.currency, old.required_micro,
      old.fund_from, old.chain_id, old.token, old.wallet)
      is distinct from (new.payment_id, new.attempt_id, new.merchant_id, new.livemode, new.number, new.amount_minor, new.currency,
      new.required_micro, new.fund_from, new.chain_id, new.token, new.wallet)
    or (old.address is not null and old.address is distinct from new.address)
    or (old.status in ('succeeded', 'failed', 'canceled', 'expired') and old.status <> new.status))
  execute function refund_is_fixed();

create trigger wakes_worker after insert or update of due_at on refund for each row
  when (new.due_at <= now()) execute function wake('pinrail_work', 'refunds');
