-- Up Migration

-- Where a key may be used from (addresses and networks; null: anywhere), and when it was used last (to the minute).
alter table api_key add column allowed_ips text[], add column last_used_at timestamptz;

-- What a merchant searches for: the transfer on chain, and lists by state, newest first.
create index payment_tx on payment (merchant_id, livemode, tx_hash) where tx_hash is not null;
create index payment_by_status on payment (merchant_id, livemode, status, id);

-- An event that is sent to one endpoint to try it has no place in the merchant's sequence.
alter table event alter column sequence drop not null;

-- The log of an endpoint, newest first.
create index delivery_of_endpoint on delivery (endpoint_id, event_id);
