-- Up Migration

-- moved: the payout has left the envelope while it was still on its way, because its lane did not bring it through or the
-- payout is to be cancelled. Another envelope carries it then; the token accepts one of the two.
alter table lane_tx_item drop constraint lane_tx_item_outcome_check;
alter table lane_tx_item add constraint lane_tx_item_outcome_check check (outcome in ('refused', 'replaced', 'moved'));
