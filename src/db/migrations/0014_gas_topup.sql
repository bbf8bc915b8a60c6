-- Up Migration

-- Gas money for the relayers is an envelope of the funding wallet's own lane: a nonce, stored bytes, the same repairs.
alter table lane_tx add column value units not null default 0;
comment on column lane_tx.value is 'Wei that the transaction carries';
alter table lane_tx drop constraint lane_tx_kind_check;
alter table lane_tx add constraint lane_tx_kind_check check (kind in ('batch', 'noop', 'topup', 'foreign'));
create index lane_tx_topup on lane_tx (chain_id, target, created_at) where kind = 'topup';
