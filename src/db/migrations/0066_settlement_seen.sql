-- Up Migration

-- When the cursor moved last: whether the chain is being read cannot be told from its number alone.
alter table chain_cursor add column scanned_at timestamptz not null default now();

-- The attention list is counted at every scrape, and must not cost more with every transfer that is explained.
create index treasury_log_unknown on treasury_log (chain_id, token) where kind = 'out' and known_as is null;
