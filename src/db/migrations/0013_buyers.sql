-- The person who pays, and the mails about the payment. All personal data of buyers is here, so that one update deletes it.

create table payment_buyer (
  payment_id text primary key references payment,
  merchant_id text not null references merchant,
  livemode boolean not null,
  email text check (length(email) <= 254 and email = lower(email)),
  source text not null check (source in ('merchant', 'shared', 'private')),
  shown_email text generated always as (case when source <> 'private' then email end) stored,
  tax_id text,
  language text not null default 'en',
  given_at timestamptz not null
);
comment on table payment_buyer is
  'What is known of the person who pays a payment. It is in no event, no log and no workflow. One row for each payment of which anything is known.';
comment on column payment_buyer.email is 'Where the mails about the payment go; null: unknown, or deleted.';
comment on column payment_buyer.source is
  'Who gave the address. `merchant`: the merchant. `shared`: the buyer, who lets the merchant have it. `private`: the buyer, for the mails only.';
comment on column payment_buyer.shown_email is 'The address if the merchant can have it. A merchant''s request cannot read `email`.';
comment on column payment_buyer.tax_id is 'The tax id of the buyer, from the merchant, for the receipt; null: unknown, or deleted.';
comment on column payment_buyer.language is 'The language in which the buyer last read the checkout.';
comment on column payment_buyer.given_at is 'When the address or the tax id was given. Both are deleted 180 days later.';
create index payment_buyer_shown on payment_buyer (merchant_id, livemode, shown_email, payment_id) where shown_email is not null;
create index payment_buyer_kept on payment_buyer (given_at) where email is not null or tax_id is not null;

alter table payment_buyer enable row level security;
create policy own on payment_buyer to pinrail_tenant
  using (merchant_id = tenant_merchant() and livemode = tenant_livemode());
create policy from_merchant on payment_buyer as restrictive for insert to pinrail_tenant with check (source = 'merchant');
grant select (payment_id, merchant_id, livemode, shown_email, tax_id, given_at), update (email, source, given_at),
  insert (payment_id, merchant_id, livemode, email, source, tax_id, given_at) on payment_buyer to pinrail_tenant;

create table buyer_mail (
  payment_id text not null references payment,
  fact text not null check (fact in ('paid', 'returned') or fact ~ '^re_'),
  due_at timestamptz not null default now(),
  written_at timestamptz,
  mailbox bytea,
  primary key (payment_id, fact)
);
comment on table buyer_mail is
  'A fact about a payment of which its buyer is notified by mail, once. Written by triggers, in the transaction of the fact or of the address, whichever is later.';
comment on column buyer_mail.fact is '`paid`: the payment succeeded. `returned`: it was given back. Else the id of a refund that succeeded.';
comment on column buyer_mail.written_at is 'When its mail was written, or was not because of a limit; null: not yet.';
comment on column buyer_mail.mailbox is
  'The SHA-256 digest of the mailbox to which the mail was written, for a day: it limits the mails to one mailbox. Null: no mail, or an older one.';
create index buyer_mail_due on buyer_mail (due_at) where written_at is null;
create index buyer_mail_of_mailbox on buyer_mail (mailbox) where mailbox is not null;
create trigger wakes_worker after insert on buyer_mail for each statement execute function wake('pinrail_work', 'buyer_mails');

-- The lock orders the fact and the address: of two transactions that write them at the same time, the second one sees both.
create function owe_buyer_mails() returns trigger language plpgsql security definer set search_path from current as $$
declare
  owed text := to_jsonb(new)->>tg_argv[0];
begin
  perform from payment where id = owed for no key update;
  if not exists (select from payment_buyer where payment_id = owed and email is not null) then
    return null;
  end if;
  insert into buyer_mail (payment_id, fact)
  select owed, fact from (
    select 'paid' as fact from payment where id = owed and succeeded_at is not null
    union all
    -- A refund that gives this money back is one fact with it.
    select 'returned' from payment where id = owed and status = 'refunded' and confirmed_minor is not null
      and not exists (select from refund where payment_id = owed and attempt_id = paid_attempt_id
        and fund_from = 'payment' and status in ('pending', 'succeeded'))
    union all
    select id from refund where payment_id = owed and status = 'succeeded') as facts
  on conflict do nothing;
  return null;
end $$;
create trigger owes_buyer_mails after update of status on payment for each row
  when (old.status <> new.status and new.status in ('succeeded', 'refunded')) execute function owe_buyer_mails('id');
create trigger owes_buyer_mails after update of status on refund for each row
  when (old.status <> new.status and new.status in ('succeeded', 'failed')) execute function owe_buyer_mails('payment_id');
create trigger owes_buyer_mails after insert or update of email on payment_buyer for each row
  when (new.email is not null) execute function owe_buyer_mails('payment_id');

-- Otherwise a deleted address would count as notified, and one that is given later would get nothing.
create function drop_buyer_mails() returns trigger language plpgsql security definer set search_path from current as $$
begin
  perform from payment where id = new.payment_id for no key update;
  delete from buyer_mail where payment_id = new.payment_id and written_at is null;
  return null;
end $$;
create trigger drops_buyer_mails after update of email on payment_buyer for each row
  when (old.email is not null and new.email is null) execute function drop_buyer_mails();
