-- Up Migration

-- What final blocks show of a transaction that carried payouts, stored with the payouts in it: its envelope ends by this, and
-- its receipt, which has every log, is read once.
alter table lane_tx_attempt
  add column final_block bigint,
  add column gas_used bigint,
  -- Wei for one unit of gas, as the receipt says.
  add column gas_price units,
  add check (num_nulls(final_block, gas_used, gas_price) in (0, 3));
