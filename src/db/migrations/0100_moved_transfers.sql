-- Up Migration

-- Transfers whose final block left the chain, until they are read again. Mined in another block, the same transaction
-- usually has other log indexes: without this the payment and the books would take it for a second transfer.
create table gone_transfer (
  chain_id int not null,
  -- Which of the two tables of logs it stood in. A payout to an address of a payment stands in both.
  stored_as text not null check (stored_as in ('deposit_log', 'treasury_log')),
  tx_hash chain_hash not null,
  -- The index by which payments and books were told of it.
  told_index int not null,
  token chain_address not null,
  sender chain_address not null,
  recipient chain_address not null,
  -- In the token's smallest unit.
  units numeric(78, 0) not null,
  -- Which of those in its transaction that are like it in all of this.
  nth int not null,
  block_number bigint not null,
  -- Of a treasury's movement.
  direction text check (direction in ('in', 'out')),
  -- When the new chain was read without showing it: it never happened, is booked back, and a person was told.
  concluded_at timestamptz,
  check ((direction is null) = (stored_as = 'deposit_log')),
  primary key (chain_id, stored_as, tx_hash, told_index)
);

-- Null: it is known by its own log index.
alter table deposit_log add column told_index int;
alter table treasury_log add column told_index int;
