-- Up Migration

-- What succeeded in the last day, for the metrics: read every few seconds.
create index payment_succeeded on payment (succeeded_at) include (fee_micro) where succeeded_at is not null;
