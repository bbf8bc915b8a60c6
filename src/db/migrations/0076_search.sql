-- Up Migration

-- What payments are searched by, beside the payments: a payment is changed about eight times in its life, and each
-- change would write the many entries of an index over its words again. These are written once, with the payment.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

create table payment_words (
  payment_id text primary key,
  merchant_id text not null,
  -- Reference and description, with a line break between, which no search can have.
  words text not null
);
-- For what is rare, and for what nearly every payment has: then the newest are found at once by going through them.
create index payment_words_rare on payment_words using gin (merchant_id, words gin_trgm_ops);
create index payment_words_newest on payment_words (merchant_id, payment_id);
-- No merchant reads it but by the function below.
alter table payment_words enable row level security;

-- As the owner, because a merchant may not write it.
create function payment_words_write() returns trigger language plpgsql security definer set search_path from current
as $$ begin
  insert into payment_words values (new.id, new.merchant_id, concat_ws(E'\n', new.reference, new.description));
  return null;
end $$;
create trigger payment_words_write after insert on payment for each row
  when (new.reference is not null or new.description is not null) execute function payment_words_write();

insert into payment_words
select id, merchant_id, concat_ws(E'\n', reference, description) from payment
where reference is not null or description is not null;

-- The ids of the merchant's payments whose words are like the pattern and that pass the filters; at most `most`, next
-- to the cursor, and among as many payments there as the filters say (null: all). Row-level security lets no index
-- serve LIKE, because the operator could tell others' rows by its errors. So this runs as the owner, and keeps to the
-- merchant and mode of the transaction itself. The statement is planned with its values (EXECUTE): which index is the
-- right one depends on how common the words are.
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
      and ($4->>'paymentLink' is null or payment.payment_link = $4->>'paymentLink')
      and ($4->>'createdFrom' is null or payment.created_at >= ($4->>'createdFrom')::timestamptz)
      and ($4->>'createdBefore' is null or payment.created_at < ($4->>'createdBefore')::timestamptz)
    order by among.payment_id %1$s limit $5$query$,
      direction, near || case when filters->>'among' is null then '' else few end)
    using tenant_merchant(), tenant_livemode(), pattern, filters, most;
end $$;
revoke execute on function matching_payments from public;
grant execute on function matching_payments to pinrail_tenant;
