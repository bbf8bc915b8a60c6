-- Up Migration

-- A void that waits for a proof, for ever perhaps, was looked at in every round, and no round was idle.
alter table payout add column rests_until timestamptz;
comment on column payout.rests_until is 'of a void that waits: not looked at before; null: in the next round';
