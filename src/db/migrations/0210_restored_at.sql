-- Up Migration

-- Until then the current treasury may have signed what this database has forgotten, as a payout that stands on an earlier one.
alter table chain_cursor add column restored_at timestamptz;
comment on column chain_cursor.restored_at is
  'when an operator said that this was a backup, or a worker found that nobody had read the chain for an hour; null: never';
