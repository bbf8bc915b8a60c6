-- Up Migration

-- The payment whose nonce a transfer has used, although it has no payout: a restored backup has forgotten that it was handed
-- over. The payment hands it over again, or, when it has ended without, is told.
alter table treasury_log add nonce_of text references payment;
create index treasury_log_nonce_of on treasury_log (nonce_of) where nonce_of is not null and payment_id is null;

-- What was signed before restored_at may still be paid, and is not known here. It ends with a final block that is later than all
-- of that could be valid.
alter table chain_cursor add may_forget boolean not null default false;
