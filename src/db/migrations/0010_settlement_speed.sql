-- Up Migration

-- Who waits for a signature, by recipient: the settlement engine walks from one to the next. The condition is the one of
-- readPayable, word for word.
create index payout_payable on payout (chain_id, token, livemode, recipient, created_at, payment_id)
  where (state = 'queued' or state = 'held' and hold_reason in ('funds', 'paused'));

-- The statement that writes an item has locked its payout and written its envelope: looking both up again for every item
-- was a tenth of the work of the database.
alter table lane_tx_item drop constraint lane_tx_item_payment_id_fkey,
  drop constraint lane_tx_item_chain_id_wallet_nonce_fkey;

-- 48 KB of signatures a batch, for a short time: compressing them costs more than the room.
alter table lane_tx alter column calldata set storage external;
alter table lane_tx_attempt alter column raw set storage external;
