-- Up Migration

-- Who waits for a signature, by recipient: the settlement engine walks from one to the next. The condition is the one of
-- readPayable, word for word.
create index payout_payable on payout (chain_id, token, livemode, recipient, created_at, payment_id)
  where (state = 'queued' or state = 'held' and hold_reason in ('funds', 'paused'));
