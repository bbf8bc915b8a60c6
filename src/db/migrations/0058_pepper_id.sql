-- Up Migration

-- By which pepper the digest was made, so that an operator sees when a retired one is needed no more. Null: by one of
-- before the peppers had names. A key gets a digest by the current pepper when it is used.
alter table api_key add column pepper_id text;
