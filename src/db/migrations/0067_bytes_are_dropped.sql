-- Up Migration

-- When calldata, stored bytes and items of an envelope were dropped: it is long final, and nobody needs to send it again.
alter table lane_tx add column dropped_at timestamptz;
create index lane_tx_to_drop on lane_tx (chain_id, ended_at) where ended_at is not null and dropped_at is null;
