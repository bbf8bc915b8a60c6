-- Up Migration

-- Deposits are read apart from payouts: how far, no further than the payouts. A deposit that cannot be read holds up no payout.
alter table chain_cursor add column deposits_number bigint;
update chain_cursor set deposits_number = scanned_number;
alter table chain_cursor alter column deposits_number set not null;
comment on column chain_cursor.deposits_number is 'the last final block that was read for transfers to addresses of payments';
