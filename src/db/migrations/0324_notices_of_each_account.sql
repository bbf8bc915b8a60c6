-- Up Migration

-- Notices are taken by turns of the accounts, in this order; an account may leave any number of them.
create index notice_unsent_of_account on notice (livemode, merchant_id, created_at, id) where sent_at is null;
drop index notice_unsent;
