-- Up Migration

-- No row was ever a 'noop': an envelope whose payouts have ended keeps its kind, and an empty transaction takes its nonce.
alter table lane_tx drop constraint lane_tx_kind_check;
alter table lane_tx add constraint lane_tx_kind_check check (kind in ('batch', 'topup', 'foreign'));
