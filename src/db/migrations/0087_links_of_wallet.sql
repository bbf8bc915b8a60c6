-- Up Migration

-- A wallet stands only on links that were made without an account. Bringing one into an account takes it out of no count:
-- neither that of a day, nor that of links which an operator has stopped.
drop index anonymous_link_of_wallet;
create index link_of_wallet on payment_link (lower(wallet), created_at) where wallet is not null;
