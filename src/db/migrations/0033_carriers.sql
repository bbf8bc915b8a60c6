-- Up Migration

-- moved: the payout has left the envelope while it was still on its way, because its lane did not bring it through or the
-- payout is to be cancelled. Another envelope carries it then; the token accepts one of the two.
alter table lane_tx_item drop constraint lane_tx_item_outcome_check;
alter table lane_tx_item add constraint lane_tx_item_outcome_check check (outcome in ('refused', 'replaced', 'moved'));

-- Who signs: one engine at a time, so that several workers do not pay a key service for the same signatures. Two would be a
-- waste and no danger, because they sign the same nonce; so it has no epoch.
create table signing_lease (
  chain_id int not null,
  token chain_address not null,
  owner text,
  lease_until timestamptz not null default '-infinity',
  primary key (chain_id, token)
);
